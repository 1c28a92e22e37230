// Writes a planned tree into a new database, each file created by RocksDB on its own level.
#pragma once

#include <memory>
#include <string>

#include "rocksdb/filter_policy.h"
#include "rocksdb/options.h"
#include "rocksdb/status.h"
#include "tools/cold_lookup_bench/config.h"
#include "tools/cold_lookup_bench/key_space.h"
#include "tools/cold_lookup_bench/tree_plan.h"

namespace tieredfilter::cold_lookup {

// The options all phases of a run share. Compactions are ours alone.
ROCKSDB_NAMESPACE::Status MakeOptions(
    const Config& config, const std::shared_ptr<const ROCKSDB_NAMESPACE::FilterPolicy>& policy,
    ROCKSDB_NAMESPACE::Options* options);

// Creates the database `path` and writes every run of the plan. Aborted on Ctrl-C.
//
// A file is written to level 0 and then compacted alone to its level, so that the filter policy is
// asked with the level, the reason and the "bottommost" flag it would see in service; a file made
// by SstFileWriter and ingested would not be.
ROCKSDB_NAMESPACE::Status BuildTree(const ROCKSDB_NAMESPACE::Options& options,
                                    const std::string& path, const TreePlan& plan,
                                    const KeySpace& keys, const std::string& label);

}  // namespace tieredfilter::cold_lookup
