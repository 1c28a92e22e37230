// The half of the policy that lives by a memory budget instead of rules.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "plugin/filter_activity.h"
#include "plugin/filter_source.h"
#include "src/policy/absent_share.h"
#include "src/policy/budget_plan.h"
#include "src/policy/budget_spec.h"

namespace ROCKSDB_NAMESPACE {
class Logger;
}  // namespace ROCKSDB_NAMESPACE

namespace tieredfilter {

// Gives each table the filter that the plan of its column family asks for. A plan is made for each
// column family of each database on its own, each with the whole budget, from the sizes that a
// TreeSizesListener has read, or, while there are none, from those the spec states. Builders take a
// mutex for a moment; lookups have nothing to do with it.
class MemoryBudget {
 public:
  // `activity` counts what the filters are asked; `absent:auto` goes by it.
  MemoryBudget(const BudgetSpec& spec, std::shared_ptr<const FilterActivity> activity);

  const BudgetSpec& spec() const { return spec_; }
  // True if sizes have to be read for the budget to mean anything: bytes without a stated shape.
  bool needs_sizes() const { return spec_.bytes != 0 && spec_.shape_entries.empty(); }

  // See FilterSource::NewBuilder. May throw std::bad_alloc.
  ROCKSDB_NAMESPACE::FilterBitsBuilder* NewBuilder(
      const ROCKSDB_NAMESPACE::FilterBuildingContext& context) const;

  // The plan's setting for a table of a column family of the database with this info log.
  FilterSetting PlannedFor(const ROCKSDB_NAMESPACE::Logger* info_log,
                           const std::string& column_family_name, const TableContext& table) const;
  // The absent share that the plan of the column family was made for, and its number; 0: no plan.
  uint32_t SolutionOf(const ROCKSDB_NAMESPACE::Logger* info_log,
                      const std::string& column_family_name, double* absent_share) const;

 private:
  struct Family {
    std::shared_ptr<const TreeSizes> sizes;  // newest; that `plan` was last compared with
    std::shared_ptr<const BudgetPlan> plan;
  };

  Family PlanFor(const ROCKSDB_NAMESPACE::FilterBuildingContext& context) const;
  const FilterSource& SourceFor(const FilterSetting& setting) const;
  BudgetSpec MeasuredSpec(const Family& family, const TreeSizes* sizes) const;
  void Update(Family* family, std::shared_ptr<const TreeSizes> sizes) const;

  const BudgetSpec spec_;
  const FilterFrontier frontier_;
  const std::shared_ptr<const FilterActivity> activity_;
  mutable std::mutex mutex_;
  mutable AbsentShareMeter absent_share_;
  mutable std::map<std::pair<const ROCKSDB_NAMESPACE::Logger*, std::string>, Family> families_;
  // By setting. Never dropped, since builders refer to them; settings are in steps of 0.025 bits,
  // so there are some hundreds at most.
  mutable std::map<std::string, std::unique_ptr<const FilterSource>> sources_;
};

}  // namespace tieredfilter
