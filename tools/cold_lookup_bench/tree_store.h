// Loaded trees that later runs with the same flags use again.
#pragma once

#include <functional>
#include <string>

#include "rocksdb/status.h"
#include "tools/cold_lookup_bench/config.h"
#include "tools/cold_lookup_bench/policy_choice.h"

namespace tieredfilter::cold_lookup {

// All that the content of a loaded tree depends on, one line each: every flag but those that only
// say how it is looked up in, the policy, the versions of RocksDB and of this program. `source` is
// what TreeSource::Identity() says.
std::string DescribeTree(const Config& config, const PolicyChoice& policy,
                         const std::string& source);

// Finds the database for a tree in `folder`, or lets `load` make it there. `description` is
// written beside the database as
// TREE_DESCRIPTION, and only a tree with the very same one is used again. Sets *path to the
// database and *reused if nothing had to be loaded.
//
// A tree is loaded under another name, and gets its own, in one step, when its description is
// safely on the disk: a half-loaded one is never used. Two runs may load the same tree at the same
// time; the one that ends later uses the other's. What an interrupted run leaves behind are folders
// named loading.*, which can be removed.
ROCKSDB_NAMESPACE::Status FindOrLoadTree(
    const std::string& folder, const std::string& description,
    const std::function<ROCKSDB_NAMESPACE::Status(const std::string& path)>& load,
    std::string* path, bool* reused);

}  // namespace tieredfilter::cold_lookup
