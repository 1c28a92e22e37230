// The FilterPolicy itself.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "plugin/filter_source.h"
#include "rocksdb/filter_policy.h"
#include "src/policy/policy_spec.h"

namespace tieredfilter {

// Chooses each table's filter by the rules of a PolicySpec and reads every filter of the stock
// family.
//
// The policy does not change once it is in use: RocksDB calls it from many threads, and nothing
// here takes a lock.
class TieredFilterPolicy final : public ROCKSDB_NAMESPACE::FilterPolicy {
 public:
  explicit TieredFilterPolicy(PolicySpec spec);
  ~TieredFilterPolicy() override;

  static const char* kClassName() { return kPolicyId; }
  const char* Name() const override { return kClassName(); }
  // "tieredfilter:" and the canonical spec, also where no spec was given: an options file then says
  // what was in effect when it was written, whatever a later version's default is.
  std::string GetId() const override;
  // The stock family, so that existing Bloom and Ribbon filters stay in use, and stock RocksDB uses
  // ours after a rollback.
  const char* CompatibilityName() const override;

  ROCKSDB_NAMESPACE::FilterBitsBuilder* GetBuilderWithContext(
      const ROCKSDB_NAMESPACE::FilterBuildingContext& context) const override;
  ROCKSDB_NAMESPACE::FilterBitsReader* GetFilterBitsReader(
      const ROCKSDB_NAMESPACE::Slice& contents) const override;

  const PolicySpec& spec() const { return spec_; }

 private:
  PolicySpec spec_;
  // One per rule, and one more for tables without a rule.
  std::vector<std::unique_ptr<const FilterSource>> sources_;
};

}  // namespace tieredfilter
