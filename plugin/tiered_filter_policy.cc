#include "plugin/tiered_filter_policy.h"

#include <utility>

#include "plugin/filter_reader.h"
#include "plugin/rocksdb_compat.h"
#include "plugin/table_context_adapter.h"

namespace tieredfilter {

TieredFilterPolicy::TieredFilterPolicy(PolicySpec spec) : spec_(std::move(spec)) {
  for (const PolicyRule& rule : spec_.rules()) {
    sources_.push_back(NewFilterSource(rule.setting));
  }
  sources_.push_back(NewFilterSource(PolicySpec::SettingWithoutRule()));
}

TieredFilterPolicy::~TieredFilterPolicy() = default;

std::string TieredFilterPolicy::GetId() const {
  return std::string(kPolicyId) + ":" + spec_.ToString();
}

const char* TieredFilterPolicy::CompatibilityName() const {
  // Asked of a stock policy, since no exported constant has had the same name in all versions.
  static const std::unique_ptr<const FilterPolicy> stock(
      ROCKSDB_NAMESPACE::NewBloomFilterPolicy(10));
  return stock->CompatibilityName();
}

ROCKSDB_NAMESPACE::FilterBitsBuilder* TieredFilterPolicy::GetBuilderWithContext(
    const ROCKSDB_NAMESPACE::FilterBuildingContext& context) const {
  return sources_[spec_.RuleFor(ToTableContext(context))]->NewBuilder(context);
}

ROCKSDB_NAMESPACE::FilterBitsReader* TieredFilterPolicy::GetFilterBitsReader(
    const ROCKSDB_NAMESPACE::Slice& contents) const {
  return NewFilterBitsReader(contents);
}

}  // namespace tieredfilter
