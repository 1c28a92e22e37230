// tieredfilter: a RocksDB filter policy that chooses a filter per LSM level.
//
// This is the only header a user includes. See README.md for the spec grammar.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
class EventListener;
class FilterPolicy;
class ObjectLibrary;
}  // namespace ROCKSDB_NAMESPACE

namespace tieredfilter {

// Creates the filter policy that `spec` describes, e.g. "0-1:bloom:14,2-4:bloom:10,5+:bloom:7".
// `spec` may carry the policy id in front ("tieredfilter:...") as it stands in an options file; an
// empty spec is the documented default ladder. "cuckoofilter:8.6" or "cuckoofilter:1%" is the
// policy of that name: one cuckoo filter setting for every table. "budget:10" divides ten bits per
// key among the levels, see src/policy/budget_spec.h and NewSizesListener().
//
// On success *policy is set. On a spec that makes no sense the Status is InvalidArgument, names the
// offending piece and its position and says what would be right; *policy is untouched. Never
// throws. The policy is immutable and safe to share between threads, column families and databases.
ROCKSDB_NAMESPACE::Status NewFilterPolicy(
    const std::string& spec, std::shared_ptr<const ROCKSDB_NAMESPACE::FilterPolicy>* policy);

// Creates the listener that tells policies with a memory budget how big the levels really are. Put
// it into DBOptions::listeners of every database whose policy has a budget; in an options string or
// file it is "listeners={tieredfilter_sizes}". It reads the list of files before the first flush or
// compaction after opening, and after each one. One listener may serve several databases, as long
// as they do not share an info log. Without it a budget is divided for the shape that the spec
// states. Thread-safe; never throws into RocksDB.
std::shared_ptr<ROCKSDB_NAMESPACE::EventListener> NewSizesListener();

// What went wrong with filters of ours in this process. Nothing here loses a key: such a filter
// answers "may match", so the file is read without one.
struct FilterCounters {
  // Blocks with our marker that were read but are damaged, or of a newer version or another coding
  // than this code knows. A block counts each time it is loaded.
  uint64_t unusable_blocks_read = 0;
  // Filters that could not be built, for lack of memory or of a placement.
  uint64_t match_all_blocks_written = 0;
};

// Safe from any thread.
FilterCounters GetFilterCounters();

// Registers the policy ids `tieredfilter` and `cuckoofilter`, and the listener
// `tieredfilter_sizes`, with `library`, so that
// FilterPolicy::CreateFromString and options files know them. `arg` is unused (RocksDB's registrar
// signature). Returns the number of factories the library has now. Call it once, before options are
// read.
int RegisterFilterPolicies(ROCKSDB_NAMESPACE::ObjectLibrary& library, const std::string& arg);

}  // namespace tieredfilter
