// tieredfilter: a RocksDB filter policy that chooses a filter per LSM level.
//
// This is the only header a user includes. See README.md for the spec grammar.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
class ColumnFamilyHandle;
class DB;
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

// One level of a column family. What it holds now, and what the filters that were created for it
// have been asked; a file that was moved down unchanged still counts its lookups where it began.
struct FilterLevelFigures {
  int level = -1;  // -1: not known (files made for ingestion)
  uint64_t files = 0;
  uint64_t keys = 0;  // in filters; entries of files without one
  uint64_t filter_bytes = 0;
  // What the filters would take if they were all made now.
  uint64_t planned_bytes = 0;
  std::string planned;  // the setting of a file made now, as in a spec
  // Files whose filter is more than a tenth (and 256 bytes) bigger or smaller than it would be if
  // it were made now, and the bytes of their filters: files that moved down unchanged, or that are
  // older than the policy.
  uint64_t drifted_files = 0;
  uint64_t drifted_filter_bytes = 0;
  // Lookups of cuckoo filters since the policy was created, and how many of them said "no match".
  // RocksDB's own Bloom and Ribbon readers are not counted: their blocks do not say which level
  // they are for, and a wrapper would slow them down.
  uint64_t probes = 0;
  uint64_t negatives = 0;
};

struct FilterFile {
  std::string name;  // as in RocksDB's metadata: "/000123.sst"
  int level = -1;
  uint64_t keys = 0;
  uint64_t filter_bytes = 0;
  uint64_t planned_bytes = 0;
};

struct FilterFigures {
  std::vector<FilterLevelFigures> levels;
  std::vector<FilterFile> drifted;  // those farthest from the plan, in bytes, first
  // Of a memory budget: the plan's number (0: none), and the absent share it was made for.
  uint32_t solution = 0;
  double absent_share = 1;

  // A table for people, one line per level.
  std::string ToString() const;
};

// Reads the figures of a column family whose policy is tieredfilter or cuckoofilter;
// InvalidArgument for another one. Probes and negatives are those of the policy object: where
// several column families or databases share it, of all of them together. Reads the properties of
// every file, which opens those that are not; not for every second. Thread-safe; *figures is
// untouched on failure. Never throws.
ROCKSDB_NAMESPACE::Status GetFilterFigures(ROCKSDB_NAMESPACE::DB* db,
                                           ROCKSDB_NAMESPACE::ColumnFamilyHandle* family,
                                           FilterFigures* figures);

// Rewrites up to `max_files` of the drifted files below level 0, the worst first, each within its
// level, and adds them to *compacted. (CompactRange does not do: unless forced, it leaves the last
// level's files alone.) Runs in the calling thread and takes as long as the compactions do. A file
// that is in another compaction is passed over. Never throws.
ROCKSDB_NAMESPACE::Status CompactDriftedFiles(ROCKSDB_NAMESPACE::DB* db,
                                              ROCKSDB_NAMESPACE::ColumnFamilyHandle* family,
                                              size_t max_files, std::vector<FilterFile>* compacted);

// Registers the policy ids `tieredfilter` and `cuckoofilter`, and the listener
// `tieredfilter_sizes`, with `library`, so that
// FilterPolicy::CreateFromString and options files know them. `arg` is unused (RocksDB's registrar
// signature). Returns the number of factories the library has now. Call it once, before options are
// read.
int RegisterFilterPolicies(ROCKSDB_NAMESPACE::ObjectLibrary& library, const std::string& arg);

}  // namespace tieredfilter
