// Where the trees of a run come from. Everything else - lookups, counts, reports - is the same for
// all of them.
#pragma once

#include <memory>
#include <string>

#include "rocksdb/filter_policy.h"
#include "rocksdb/options.h"
#include "rocksdb/status.h"
#include "tools/cold_lookup_bench/lookup_keys.h"
#include "tools/cold_lookup_bench/read_only_database.h"
#include "tools/cold_lookup_bench/timed_policy.h"
#include "tools/cold_lookup_bench/tree_files.h"
#include "tools/cold_lookup_bench/tree_plan.h"
#include "tools/cold_lookup_bench/verify_phase.h"

namespace tieredfilter::cold_lookup {

class TreeSource {
 public:
  TreeSource() = default;
  virtual ~TreeSource() = default;
  TreeSource(const TreeSource&) = delete;
  TreeSource& operator=(const TreeSource&) = delete;

  virtual const TreePlan& plan() const = 0;
  virtual const LookupKeys& keys() const = 0;

  // The options of a database with this tree under a policy, for loading and for reading.
  virtual ROCKSDB_NAMESPACE::Status MakeOptions(
      const std::shared_ptr<const ROCKSDB_NAMESPACE::FilterPolicy>& policy,
      ROCKSDB_NAMESPACE::Options* options) const = 0;

  // Writes the tree into a new database. `cost`, if not null, is that of the timed policy in the
  // options, which then builds the filters of the final tables only. Aborted on Ctrl-C.
  virtual ROCKSDB_NAMESPACE::Status Load(const ROCKSDB_NAMESPACE::Options& options,
                                         const std::string& path, const std::string& label,
                                         FilterBuildCost* cost) const = 0;

  // Corruption unless a loaded database has the files it should have.
  virtual ROCKSDB_NAMESPACE::Status Check(const TreeFiles& files) const = 0;

  // Looks up every key that the tree holds.
  virtual ROCKSDB_NAMESPACE::Status Verify(const ROCKSDB_NAMESPACE::Options& options,
                                           const std::string& path, int threads,
                                           const std::string& label,
                                           VerifyResult* result) const = 0;

  // Tells this source from others that the same flags may lead to: another state of an existing
  // database, another outcome of a natural load.
  virtual std::string Identity() const { return ""; }

  // The database to measure as it is, without loading; empty: Load() is to make one.
  virtual std::string InPlace() const { return ""; }
  virtual FamilyChoice Family() const { return FamilyChoice(); }
};

}  // namespace tieredfilter::cold_lookup
