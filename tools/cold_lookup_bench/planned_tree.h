// The tree of a plan, filled with keys that are known by number.
#pragma once

#include <memory>
#include <string>

#include "tools/cold_lookup_bench/config.h"
#include "tools/cold_lookup_bench/key_space.h"
#include "tools/cold_lookup_bench/tree_source.h"

namespace tieredfilter::cold_lookup {

class PlannedTree : public TreeSource {
 public:
  // `config` must outlive it.
  PlannedTree(const Config& config, const TreePlan& plan, std::unique_ptr<KeySpace> keys)
      : config_(config), plan_(plan), keys_(std::move(keys)) {}

  const TreePlan& plan() const override { return plan_; }
  const LookupKeys& keys() const override { return *keys_; }
  ROCKSDB_NAMESPACE::Status MakeOptions(
      const std::shared_ptr<const ROCKSDB_NAMESPACE::FilterPolicy>& policy,
      ROCKSDB_NAMESPACE::Options* options) const override;
  ROCKSDB_NAMESPACE::Status Load(const ROCKSDB_NAMESPACE::Options& options, const std::string& path,
                                 const std::string& label, FilterBuildCost* cost) const override;
  ROCKSDB_NAMESPACE::Status Check(const TreeFiles& files) const override;
  ROCKSDB_NAMESPACE::Status Verify(const ROCKSDB_NAMESPACE::Options& options,
                                   const std::string& path, int threads, const std::string& label,
                                   VerifyResult* result) const override;

 private:
  const Config& config_;
  const TreePlan plan_;
  const std::unique_ptr<KeySpace> keys_;
};

}  // namespace tieredfilter::cold_lookup
