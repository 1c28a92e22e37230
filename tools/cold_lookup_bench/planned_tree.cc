#include "tools/cold_lookup_bench/planned_tree.h"

#include "tools/cold_lookup_bench/tree_builder.h"

namespace tieredfilter::cold_lookup {

using ROCKSDB_NAMESPACE::FilterPolicy;
using ROCKSDB_NAMESPACE::Options;
using ROCKSDB_NAMESPACE::Status;

Status PlannedTree::MakeOptions(const std::shared_ptr<const FilterPolicy>& policy,
                                Options* options) const {
  return cold_lookup::MakeOptions(config_, policy, options);
}

Status PlannedTree::Load(const Options& options, const std::string& path, const std::string& label,
                         FilterBuildCost* cost) const {
  return BuildTree(options, path, plan_, *keys_, label, cost);
}

Status PlannedTree::Check(const TreeFiles& files) const { return CheckAgainstPlan(plan_, files); }

Status PlannedTree::Verify(const Options& options, const std::string& path, int threads,
                           const std::string& label, VerifyResult* result) const {
  return VerifyKeys(options, path, plan_, *keys_, threads, label, result);
}

}  // namespace tieredfilter::cold_lookup
