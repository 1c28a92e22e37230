#include "tools/cold_lookup_bench/per_level_bits.h"

#include <algorithm>
#include <map>

#include "src/policy/budget_spec.h"

namespace tieredfilter::cold_lookup {

std::vector<FilterKind> KindsOfPerLevelWord(const std::string& word) {
  if (word == "best") return {FilterKind::kBloom, FilterKind::kRibbon, FilterKind::kCuckoo};
  FilterKind kind = FilterKind::kNone;
  if (!FindFilterKind(word, &kind) || kind == FilterKind::kNone) return {};
  return {kind};
}

std::vector<RunAllotment> AllotPerRun(const TreePlan& plan, const std::vector<FilterKind>& kinds,
                                      double average_bits) {
  AllotmentLimits limits;
  limits.kinds = kinds;
  std::vector<AllotmentRun> runs;
  for (const RunPlan& run : plan.runs) {
    runs.push_back({static_cast<double>(run.entries), static_cast<double>(run.files), 1.0});
  }
  const double budget_bytes = average_bits / 8 * static_cast<double>(plan.TotalEntries());
  return Allot(FilterFrontier(limits), runs, budget_bytes).runs;
}

std::string SpecPerLevel(const TreePlan& plan, const std::vector<FilterKind>& kinds,
                         double average_bits) {
  const std::vector<RunAllotment> allotted = AllotPerRun(plan, kinds, average_bits);
  std::map<int, FilterSetting> settings;  // the files of level 0 have one size and so one setting
  for (size_t run = 0; run < plan.runs.size(); ++run) {
    settings[plan.runs[run].level] =
        allotted[run].kind == FilterKind::kNone
            ? FilterSetting::None()
            : FilterSetting::WithBits(allotted[run].kind, allotted[run].bits_per_key);
  }
  std::string spec;
  for (const auto& [level, setting] : settings) {
    spec += spec.empty() ? "tieredfilter:" : ",";
    spec += std::to_string(level) + ":" + setting.ToString();
  }
  return spec;
}

std::string SpecWithShape(const std::string& policy, const TreePlan& plan) {
  const std::string id = "tieredfilter:";
  BudgetSpec budget;
  SpecError error;
  if (policy.rfind(id, 0) != 0 || !IsBudgetSpec(policy) ||
      !BudgetSpec::Parse(policy, &budget, &error) || !budget.shape_entries.empty()) {
    return policy;
  }
  for (const RunPlan& run : plan.runs) {
    const auto level = static_cast<size_t>(run.level);
    if (budget.shape_entries.size() <= level) budget.shape_entries.resize(level + 1);
    budget.shape_entries[level] += static_cast<int64_t>(run.entries);
    if (level == 0) ++budget.shape_files;
  }
  budget.shape_files = std::max<int64_t>(budget.shape_files, 1);
  budget.shape_entries[0] /= budget.shape_files;  // of each file
  return id + budget.ToString();
}

}  // namespace tieredfilter::cold_lookup
