// The shape of the tree every policy is measured on: which sorted run lies on which level, with how
// many keys in how many files. Pure arithmetic, so that the same flags give the same tree on every
// machine.
#pragma once

#include <cstdint>
#include <vector>

#include "rocksdb/status.h"

namespace tieredfilter::cold_lookup {

struct TreeShape {
  uint64_t num_keys = 0;          // in the whole tree
  int num_levels = 0;             // as RocksDB's option: level 0 up to num_levels - 1
  int sorted_levels = 0;          // how many of them, counted from the last one, hold data
  int level0_files = 0;           // each one a sorted run of its own
  double size_ratio = 0;          // keys of a level / keys of the level above it
  uint64_t entries_per_file = 0;  // upper bound for the files below level 0
};

// One sorted run: a level below level 0, or one file of level 0.
struct RunPlan {
  int level = 0;
  uint64_t entries = 0;
  uint64_t files = 0;

  // Index of the first key of file `file` inside the run; `file == files` gives `entries`. Files of
  // a run differ by at most one key.
  uint64_t FirstEntryOfFile(uint64_t file) const;
};

struct TreePlan {
  // Oldest data first: the last level, then upwards, then level 0 from its oldest file to its
  // newest. Writing the runs in this order gives every run the sequence numbers its place asks for.
  std::vector<RunPlan> runs;

  uint64_t TotalEntries() const;
  uint64_t TotalFiles() const;
};

// All files of level 0 together hold as many keys as the uppermost sorted level, as in a tree where
// level 0 is compacted into a level of its own size. InvalidArgument names the flag when the shape
// cannot be built.
ROCKSDB_NAMESPACE::Status PlanTree(const TreeShape& shape, TreePlan* plan);

}  // namespace tieredfilter::cold_lookup
