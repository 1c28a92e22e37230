// Reads any filter block: RocksDB's own and ours.
#pragma once

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
class FilterBitsReader;
class Slice;
}  // namespace ROCKSDB_NAMESPACE

namespace tieredfilter {

// Returns a new reader that the caller owns; never null. It refers to `contents`, which must
// outlive it. The block alone decides how it is read; one that is truncated, unknown or
// inconsistent answers "may match". An empty block is a filter without keys and answers "no match",
// as in RocksDB. Lookups take no lock and change no state.
ROCKSDB_NAMESPACE::FilterBitsReader* NewFilterBitsReader(const ROCKSDB_NAMESPACE::Slice& contents);

}  // namespace tieredfilter
