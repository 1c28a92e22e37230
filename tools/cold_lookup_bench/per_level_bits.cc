#include "tools/cold_lookup_bench/per_level_bits.h"

#include <map>

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

}  // namespace tieredfilter::cold_lookup
