// Reads any filter block: RocksDB's own and ours.
#pragma once

#include <memory>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
class FilterBitsReader;
class Slice;
}  // namespace ROCKSDB_NAMESPACE

namespace tieredfilter {

class FilterActivity;

// Returns a new reader that the caller owns; never null. It refers to `contents`, which must
// outlive it. The block alone decides how it is read; one that is truncated, unknown or
// inconsistent answers "may match". An empty block is a filter without keys and answers "no match",
// as in RocksDB. Lookups take no lock and change no state but the counts of `activity`, which may
// be null. Only lookups of blocks of ours are counted: RocksDB's own readers are handed out as they
// are, since a wrapper would cost their lookups a call, and their blocks do not say which level
// they are for.
ROCKSDB_NAMESPACE::FilterBitsReader* NewFilterBitsReader(
    const ROCKSDB_NAMESPACE::Slice& contents, std::shared_ptr<FilterActivity> activity = nullptr);

}  // namespace tieredfilter
