#include "plugin/memory_budget.h"

#include <chrono>
#include <cmath>

#include "plugin/cuckoo_bits_builder.h"
#include "plugin/table_context_adapter.h"
#include "plugin/tree_sizes.h"
#include "rocksdb/env.h"
#include "rocksdb/filter_policy.h"

namespace tieredfilter {

using ROCKSDB_NAMESPACE::FilterBitsBuilder;
using ROCKSDB_NAMESPACE::FilterBuildingContext;

namespace {

// A plan for stated sizes is made anew when the measured share has moved this far; plans for real
// sizes are compared with a new one at every change of them anyway.
constexpr double kOtherShare = 0.05;

double SecondsNow() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

MemoryBudget::MemoryBudget(const BudgetSpec& spec, std::shared_ptr<const FilterActivity> activity)
    : spec_(spec), frontier_(FrontierFor(spec)), activity_(std::move(activity)) {}

// Holds mutex_. With the absent share as it is now, of all that this policy's filters are asked.
BudgetSpec MemoryBudget::MeasuredSpec(const Family& family, const TreeSizes* sizes) const {
  BudgetSpec spec = spec_;
  if (!spec.absent_is_measured) {
    return spec;
  }
  std::vector<LevelLookups> totals;
  for (const ActivityCount& count : activity_->Totals()) {
    totals.push_back({count.probes, count.negatives});
  }
  totals.pop_back();  // of no known level
  absent_share_.Add(totals, SecondsNow());
  const TreeSizes& tree = sizes != nullptr ? *sizes : family.plan->sizes();
  std::vector<LevelShape> levels;
  for (size_t level = 0; level < tree.levels.size(); ++level) {
    const double runs = level == 0 ? static_cast<double>(tree.level0_entries.size()) : 1;
    levels.push_back({tree.levels[level].entries, family.plan->RateOf(level), runs});
  }
  spec.absent_per_myriad =
      static_cast<int64_t>(absent_share_.Share(levels, spec_.absent_share()) * 1e4);
  return spec;
}

// Holds mutex_.
void MemoryBudget::Update(Family* family, std::shared_ptr<const TreeSizes> sizes) const {
  if (family->plan == nullptr) {
    family->plan =
        std::make_shared<const BudgetPlan>(spec_, frontier_, StatedSizes(spec_), true, 1);
  }
  if (sizes != nullptr && sizes != family->sizes) {
    family->plan = BudgetPlan::Next(family->plan, MeasuredSpec(*family, sizes.get()), *sizes);
    family->sizes = std::move(sizes);
  } else if (family->plan->sizes_are_stated() && spec_.absent_is_measured) {
    const BudgetSpec spec = MeasuredSpec(*family, nullptr);
    if (std::abs(spec.absent_share() - family->plan->absent_share()) > kOtherShare) {
      family->plan = std::make_shared<const BudgetPlan>(spec, frontier_, StatedSizes(spec), true,
                                                        family->plan->number() + 1);
    }
  }
}

MemoryBudget::Family MemoryBudget::PlanFor(const FilterBuildingContext& context) const {
  std::shared_ptr<const TreeSizes> sizes =
      FindTreeSizes(context.info_log, context.column_family_name);
  const std::lock_guard<std::mutex> lock(mutex_);
  Family& family = families_[{context.info_log, context.column_family_name}];
  const std::shared_ptr<const BudgetPlan> before = family.plan;
  Update(&family, std::move(sizes));
  if (family.plan != before) {
    const char* name = context.column_family_name.c_str();
    if (family.plan->sizes_are_stated()) {
      ROCKSDB_NAMESPACE::Warn(
          context.info_log,
          "tieredfilter: the sizes of [%s] are not known: the budget %s is divided for %s; open "
          "the "
          "database with the listener %s to have them read",
          name, spec_.ToString().c_str(),
          spec_.shape_entries.empty() ? "the usual shape, a size ratio of 10" : "the stated shape",
          kSizesListenerId);
    }
    ROCKSDB_NAMESPACE::Info(context.info_log, "tieredfilter: [%s] %s", name,
                            family.plan->ToString().c_str());
  }
  return family;
}

FilterSetting MemoryBudget::PlannedFor(const ROCKSDB_NAMESPACE::Logger* info_log,
                                       const std::string& column_family_name,
                                       const TableContext& table) const {
  std::shared_ptr<const TreeSizes> sizes = FindTreeSizes(info_log, column_family_name);
  const std::lock_guard<std::mutex> lock(mutex_);
  Family& family = families_[{info_log, column_family_name}];
  Update(&family, std::move(sizes));
  return family.plan->PlannedFor(table);
}

uint32_t MemoryBudget::SolutionOf(const ROCKSDB_NAMESPACE::Logger* info_log,
                                  const std::string& column_family_name,
                                  double* absent_share) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto family = families_.find({info_log, column_family_name});
  if (family == families_.end() || family->second.plan == nullptr) {
    return 0;
  }
  *absent_share = family->second.plan->absent_share();
  return family->second.plan->number();
}

const FilterSource& MemoryBudget::SourceFor(const FilterSetting& setting) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::unique_ptr<const FilterSource>& source = sources_[setting.ToString()];
  if (source == nullptr) {
    source = NewFilterSource(setting);
  }
  return *source;
}

FilterBitsBuilder* MemoryBudget::NewBuilder(const FilterBuildingContext& context) const {
  const Family family = PlanFor(context);
  const TableContext table = ToTableContext(context);
  const FilterSetting setting = family.sizes == nullptr
                                    ? family.plan->SettingFor(table)
                                    : family.plan->SettingFor(table, *family.sizes);
  if (setting.kind == FilterKind::kCuckoo) {
    BlockRequest request = RequestFor(setting);
    request.solution = family.plan->number();
    return NewCuckooBuilder(request, context);
  }
  return SourceFor(setting).NewBuilder(context);
}

}  // namespace tieredfilter
