// One policy on its own database: load, look up, check.
#pragma once

#include <memory>
#include <string>

#include "rocksdb/options.h"
#include "rocksdb/status.h"
#include "tools/cold_lookup_bench/config.h"
#include "tools/cold_lookup_bench/lookup_choice.h"
#include "tools/cold_lookup_bench/policy_choice.h"
#include "tools/cold_lookup_bench/report.h"
#include "tools/cold_lookup_bench/timed_policy.h"
#include "tools/cold_lookup_bench/tree_files.h"
#include "tools/cold_lookup_bench/tree_source.h"

namespace tieredfilter::cold_lookup {

// What is the same for all policies of a run.
struct Setup {
  const Config& config;
  const TreeSource& source;
  const KeyPicker& picker;
};

class PolicyRun {
 public:
  // Makes its database in `path`, which must not hold one, unless the source is measured in place.
  // All arguments must outlive it.
  PolicyRun(const Setup& setup, const PolicyChoice& choice, std::string path);

  // Loads the tree, makes the lookups and, if asked for, looks every stored key up.
  ROCKSDB_NAMESPACE::Status Run();

  // Only loads the tree and reads what files it has, for a look at the filters.
  ROCKSDB_NAMESPACE::Status LoadOnly();

  const TreeFiles& files() const { return files_; }
  PolicyReport TakeReport() { return std::move(report_); }

 private:
  ROCKSDB_NAMESPACE::Status Load();
  ROCKSDB_NAMESPACE::Status LoadTree();
  ROCKSDB_NAMESPACE::Status LookUp();
  ROCKSDB_NAMESPACE::Status Verify();
  bool MakeLookup(uint64_t number, std::string* key) const;
  void CheckPolicyName();

  const Setup& setup_;
  const PolicyChoice& choice_;
  std::string path_;
  const std::shared_ptr<FilterBuildCost> build_cost_;
  ROCKSDB_NAMESPACE::Options options_;
  TreeFiles files_;
  PolicyReport report_;
};

}  // namespace tieredfilter::cold_lookup
