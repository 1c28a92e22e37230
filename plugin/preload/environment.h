// What the environment asks of the preload object.
#pragma once

#include <memory>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
class FilterPolicy;
struct ColumnFamilyOptions;
}  // namespace ROCKSDB_NAMESPACE

namespace tieredfilter {

// Gives the environment's filter policy to *options if the environment asks for it and the options
// are for block-based tables. Says on stderr, once per process, what it does, or why it does
// nothing. Never throws; safe from many threads.
//
//   TIEREDFILTER_POLICY=<spec>   every column family that sets no filter gets this policy (""
//   counts as not set) TIEREDFILTER_REPLACE=1       also those that set one (0 and "" are the same
//   as not set)
//
// A spec or a value that makes no sense leaves the program exactly as it is: whoever preloads this
// into a server would rather have it run without our filters than not at all.
void ApplyEnvironment(ROCKSDB_NAMESPACE::ColumnFamilyOptions* options);

}  // namespace tieredfilter
