// Reads any filter block: RocksDB's own and ours.
#pragma once

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
class FilterBitsReader;
class Slice;
}  // namespace ROCKSDB_NAMESPACE

namespace tieredfilter {

// The byte five from the end of a block tells its kind. RocksDB has used -1 and -2 for Bloom and
// Ribbon, counts up from 1 for legacy Bloom, and answers "may match" for every other negative
// value; ours is far from all of them.
constexpr unsigned char kOurBlockMarker = 0xA5;

// Returns a new reader that the caller owns; never null. It refers to `contents`, which must
// outlive it. The block alone decides how it is read; one that is truncated, unknown or
// inconsistent answers "may match". An empty block is a filter without keys and answers "no match",
// as in RocksDB. Lookups take no lock and change no state.
ROCKSDB_NAMESPACE::FilterBitsReader* NewFilterBitsReader(const ROCKSDB_NAMESPACE::Slice& contents);

}  // namespace tieredfilter
