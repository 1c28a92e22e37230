// Writes a planned tree into a new database, each file created by RocksDB on its own level.
#pragma once

#include <memory>
#include <string>

#include "rocksdb/db.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/options.h"
#include "rocksdb/status.h"
#include "rocksdb/write_batch.h"
#include "tools/cold_lookup_bench/config.h"
#include "tools/cold_lookup_bench/key_space.h"
#include "tools/cold_lookup_bench/progress.h"
#include "tools/cold_lookup_bench/timed_policy.h"
#include "tools/cold_lookup_bench/tree_plan.h"

namespace tieredfilter::cold_lookup {

// The options all phases of a run share. Compactions are ours alone.
ROCKSDB_NAMESPACE::Status MakeOptions(
    const Config& config, const std::shared_ptr<const ROCKSDB_NAMESPACE::FilterPolicy>& policy,
    ROCKSDB_NAMESPACE::Options* options);

// Lets the shape of a tree be what is written into it: no compaction but those asked for, one file
// per flush and per compaction.
void KeepShape(ROCKSDB_NAMESPACE::Options* options);

// Writes a new database file by file. Needs memory for the entries of one file.
//
// A file is written to level 0 and then compacted alone to its level, so that the filter policy is
// asked with the level, the reason and the "bottommost" flag it would see in service; a file made
// by SstFileWriter and ingested would not be.
class TreeWriter {
 public:
  // `what` and `total` are for the progress line; the total is in entries. `cost` may be null; see
  // TreeSource::Load().
  TreeWriter(const std::string& what, uint64_t total, FilterBuildCost* cost)
      : progress_(what, total), cost_(cost) {}

  ROCKSDB_NAMESPACE::Status Create(const ROCKSDB_NAMESPACE::Options& options,
                                   const std::string& path);

  // Adds entries to the file under way. Aborted on Ctrl-C.
  ROCKSDB_NAMESPACE::Status Write(ROCKSDB_NAMESPACE::WriteBatch* batch);

  // Files must come from the oldest to the newest and so from the bottom up: nothing may lie above
  // `level` yet. A file without entries is left out.
  ROCKSDB_NAMESPACE::Status FinishFile(int level);

  ROCKSDB_NAMESPACE::Status Close();

 private:
  ROCKSDB_NAMESPACE::Status MoveDown(int level);
  void PauseFilters(bool pause);

  Progress progress_;
  FilterBuildCost* const cost_;
  std::unique_ptr<ROCKSDB_NAMESPACE::DB> db_;
};

// Creates the database `path` and writes every run of the plan. Aborted on Ctrl-C.
ROCKSDB_NAMESPACE::Status BuildTree(const ROCKSDB_NAMESPACE::Options& options,
                                    const std::string& path, const TreePlan& plan,
                                    const KeySpace& keys, const std::string& label,
                                    FilterBuildCost* cost = nullptr);

}  // namespace tieredfilter::cold_lookup
