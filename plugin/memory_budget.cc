#include "plugin/memory_budget.h"

#include "plugin/cuckoo_bits_builder.h"
#include "plugin/table_context_adapter.h"
#include "plugin/tree_sizes.h"
#include "rocksdb/env.h"
#include "rocksdb/filter_policy.h"

namespace tieredfilter {

using ROCKSDB_NAMESPACE::FilterBitsBuilder;
using ROCKSDB_NAMESPACE::FilterBuildingContext;

MemoryBudget::MemoryBudget(const BudgetSpec& spec) : spec_(spec), frontier_(FrontierFor(spec)) {}

MemoryBudget::Family MemoryBudget::PlanFor(const FilterBuildingContext& context) const {
  std::shared_ptr<const TreeSizes> sizes =
      FindTreeSizes(context.info_log, context.column_family_name);
  const std::lock_guard<std::mutex> lock(mutex_);
  Family& family = families_[{context.info_log, context.column_family_name}];
  const std::shared_ptr<const BudgetPlan> before = family.plan;
  if (family.plan == nullptr) {
    family.plan = std::make_shared<const BudgetPlan>(spec_, frontier_, StatedSizes(spec_), true, 1);
  }
  if (sizes != nullptr && sizes != family.sizes) {
    family.plan = BudgetPlan::Next(family.plan, *sizes);
    family.sizes = std::move(sizes);
  }
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
