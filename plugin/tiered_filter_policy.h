// The FilterPolicy itself.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "plugin/filter_activity.h"
#include "plugin/filter_source.h"
#include "plugin/memory_budget.h"
#include "rocksdb/filter_policy.h"
#include "src/policy/policy_spec.h"

namespace tieredfilter {

// The id of the policy that is one cuckoo setting for every table: "cuckoofilter:8.6" is
// "tieredfilter:*:cuckoo:8.6" under the name RocksDB users look for next to bloomfilter and
// ribbonfilter.
constexpr char kCuckooPolicyId[] = "cuckoofilter";

// Chooses each table's filter by the rules of a PolicySpec, or by a memory budget (BudgetSpec), and
// reads every filter of the stock family.
//
// The policy does not change once it has built a filter: RocksDB calls it from many threads, and
// nothing here takes a lock but the builders of a budget. Until then RocksDB may set the option
// "spec", or those of a budget, which is how "{id=tieredfilter;budget=10;absent=0.8}" arrives.
class TieredFilterPolicy final : public ROCKSDB_NAMESPACE::FilterPolicy {
 public:
  // A text that is no spec makes a policy that refuses to be used: status() says why, and RocksDB
  // asks for it before it creates a policy from a string (PrepareOptions) and before it opens a
  // database for writing (ValidateOptions). An error returned by a factory alone would not do:
  // inside a table-options string RocksDB drops it and goes on without any filter.
  explicit TieredFilterPolicy(const std::string& spec_text);
  ~TieredFilterPolicy() override;

  const ROCKSDB_NAMESPACE::Status& status() const { return status_; }
  // The rules; the default ones, and without effect, if there is a budget.
  const PolicySpec& spec() const { return spec_; }
  // Null without a budget.
  const MemoryBudget* budget() const { return budget_.get(); }

  const FilterActivity& activity() const { return *activity_; }
  // The filter that a table of the column family would get now, if a flush or compaction made it;
  // `info_log` is the database's. For a budget, without what keeps the whole near it.
  FilterSetting PlannedFor(const ROCKSDB_NAMESPACE::Logger* info_log,
                           const std::string& column_family_name, const TableContext& table) const;

  static const char* kClassName() { return kPolicyId; }
  // The id that the text began with, by default tieredfilter.
  const char* Name() const override { return is_cuckoo_filter_ ? kCuckooPolicyId : kPolicyId; }
  // The policy id, ":" and the canonical spec, also where no spec was given: an options file then
  // says what was in effect when it was written, whatever a later version's default is.
  std::string GetId() const override;
  // The stock family, so that existing Bloom and Ribbon filters stay in use, and stock RocksDB uses
  // ours after a rollback.
  const char* CompatibilityName() const override;

  ROCKSDB_NAMESPACE::FilterBitsBuilder* GetBuilderWithContext(
      const ROCKSDB_NAMESPACE::FilterBuildingContext& context) const override;
  ROCKSDB_NAMESPACE::FilterBitsReader* GetFilterBitsReader(
      const ROCKSDB_NAMESPACE::Slice& contents) const override;

  ROCKSDB_NAMESPACE::Status PrepareOptions(
      const ROCKSDB_NAMESPACE::ConfigOptions& config_options) override;
  // Also refuses rules for levels that the column family does not have (PolicySpec::FitsNumLevels).
  ROCKSDB_NAMESPACE::Status ValidateOptions(
      const ROCKSDB_NAMESPACE::DBOptions& db_options,
      const ROCKSDB_NAMESPACE::ColumnFamilyOptions& cf_options) const override;

 protected:
  ROCKSDB_NAMESPACE::Status ConfigureOptions(
      const ROCKSDB_NAMESPACE::ConfigOptions& config_options,
      const std::unordered_map<std::string, std::string>& properties,
      std::unordered_map<std::string, std::string>* unused) override;

 private:
  ROCKSDB_NAMESPACE::Status SetSpec(const std::string& spec_text);
  ROCKSDB_NAMESPACE::Status SetSpecOption(const std::string& spec_text);
  ROCKSDB_NAMESPACE::Status SetBudget(const std::string& spec_text);
  ROCKSDB_NAMESPACE::Status SetBudgetOption(const std::string& name, const std::string& value);
  void WarnOnce(const ROCKSDB_NAMESPACE::FilterBuildingContext& context,
                const FilterSetting& setting) const;

  void WarnOfUnusableBlocks(const ROCKSDB_NAMESPACE::FilterBuildingContext& context) const;

  const std::shared_ptr<FilterActivity> activity_ = std::make_shared<FilterActivity>();
  const bool is_cuckoo_filter_;  // named by kCuckooPolicyId
  std::string spec_text_;        // as given, without the policy id
  PolicySpec spec_;
  std::unique_ptr<const MemoryBudget> budget_;
  // Those that have arrived one by one, by name.
  std::map<std::string, std::string> budget_options_;
  ROCKSDB_NAMESPACE::Status status_;
  // One per rule, and one more for tables without a rule.
  std::vector<std::unique_ptr<const FilterSource>> sources_;
  mutable std::atomic<bool> in_use_{false};
  mutable std::atomic<bool> warned_{false};
  mutable std::atomic<bool> warned_of_unusable_blocks_{false};
};

}  // namespace tieredfilter
