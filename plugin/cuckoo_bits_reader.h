// Reads the cuckoo filter's blocks for RocksDB.
#pragma once

#include <memory>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
class FilterBitsReader;
class Slice;
}  // namespace ROCKSDB_NAMESPACE

namespace tieredfilter {

class FilterActivity;

// A new reader, which the caller owns, for a block that ends in our marker. It refers to
// `contents`, which must outlive it. A block that is not proven whole answers "may match" and is
// counted (FilterCounters::unusable_blocks_read). The block alone decides how it is read. Lookups
// take no lock and change no state but the counts of `activity`, which may be null. May throw
// std::bad_alloc, as RocksDB's own readers may.
ROCKSDB_NAMESPACE::FilterBitsReader* NewCuckooBitsReader(
    const ROCKSDB_NAMESPACE::Slice& contents, std::shared_ptr<FilterActivity> activity = nullptr);

}  // namespace tieredfilter
