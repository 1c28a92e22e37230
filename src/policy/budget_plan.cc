#include "src/policy/budget_plan.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "src/policy/spec_text.h"

namespace tieredfilter {
namespace {

// Settings are whole multiples of this, rounded down: about 0.1% of the memory, and it bounds how
// many different settings a policy can ever come to.
constexpr int64_t kStepMillibits = 25;
// How far the correction may take the bytes for new tables from the budget. Filters that are too
// big (moved down from level 0 without being rewritten, say) can be made up for only as far as new
// ones still are of use.
constexpr double kLeastCorrection = 0.5;
constexpr double kMostCorrection = 1.25;
// Below this share of the budget a difference is rounding.
constexpr double kSameBytes = 0.003;
// A plan is kept as long as a new one would save no more than this share of the wasted reads, and
// it takes no more than this share over the budget.
constexpr double kSavingWorthAChange = 0.05;
constexpr double kOverBudget = 0.005;
// What a flush may add beyond the budget, which leaves room for levels that are being rewritten;
// asked only where nearly all filters' sizes are known.
constexpr double kFlushOverBudget = 0.015;
constexpr double kAlmostAll = 0.95;

// While level 0 is empty, its next file is in the plan: it will be there most of the time, and has
// to find its memory then.
TreeSizes WithNextFlush(TreeSizes sizes) {
  if (sizes.level0_entries.empty() && sizes.flush_entries > 0) {
    sizes.levels.resize(std::max<size_t>(sizes.levels.size(), 1));
    sizes.level0_entries = {sizes.flush_entries};
    sizes.levels[0].entries = sizes.flush_entries;
    sizes.levels[0].tables = 1;
  }
  return sizes;
}

double BudgetBytes(const BudgetSpec& spec, double entries) {
  return spec.bytes != 0 ? static_cast<double>(spec.bytes)
                         : entries * static_cast<double>(spec.millibits_per_key) / 8e3;
}

FilterSetting ToSetting(const RunAllotment& run) {
  FilterSetting setting;
  setting.kind = run.kind;
  if (run.kind != FilterKind::kNone) {
    const auto millibits = static_cast<int64_t>(run.bits_per_key * 1e3 + 0.5);
    setting.millibits_per_key =
        std::max(millibits / kStepMillibits * kStepMillibits, LimitsOf(run.kind).min_millibits);
  }
  return setting;
}

}  // namespace

double TreeSizes::Entries() const {
  double sum = 0;
  for (const LevelSizes& level : levels) {
    sum += level.entries;
  }
  return sum;
}

double TreeSizes::MeasuredFilterBytes() const {
  double sum = 0;
  for (const LevelSizes& level : levels) {
    sum += level.measured_filter_bytes;
  }
  return sum;
}

TreeSizes StatedSizes(const BudgetSpec& spec) {
  std::vector<int64_t> entries = spec.shape_entries;
  int64_t files = spec.shape_files;
  if (entries.empty()) {
    entries = {25, 100, 1000, 10000};
    files = 4;
  }
  TreeSizes sizes;
  for (size_t level = 0; level < entries.size(); ++level) {
    const auto count = static_cast<double>(entries[level]);
    LevelSizes one;
    one.entries = level == 0 ? count * static_cast<double>(files) : count;
    // Fixed costs are left out where all that is known is proportions.
    one.tables = spec.shape_entries.empty() ? 0 : 1;
    sizes.levels.push_back(one);
    if (level == 0 && count > 0) {
      sizes.level0_entries.assign(static_cast<size_t>(files), count);
    }
  }
  return sizes;
}

FilterFrontier FrontierFor(const BudgetSpec& spec) {
  AllotmentLimits limits;
  limits.kinds = spec.kinds;
  limits.max_bits_per_key = static_cast<double>(spec.cap_millibits) / 1e3;
  if (spec.cap_bytes != 0) {
    limits.max_bytes_per_table = static_cast<double>(spec.cap_bytes);
  }
  return FilterFrontier(limits);
}

BudgetPlan::BudgetPlan(const BudgetSpec& spec, const FilterFrontier& frontier, TreeSizes sizes,
                       bool sizes_are_stated, uint32_t number)
    : spec_(spec),
      frontier_(&frontier),
      written_entries_(sizes.Entries()),
      sizes_(WithNextFlush(std::move(sizes))),
      sizes_are_stated_(sizes_are_stated),
      number_(number) {
  Solve();
}

void BudgetPlan::Solve() {
  std::vector<double> entries;
  for (double file : sizes_.level0_entries) {
    AllotmentRun run;
    run.entries = file;
    run.tables = sizes_.levels[0].tables > 0 ? 1 : 0;
    runs_.push_back(run);
    run_levels_.push_back(0);
    entries.push_back(file);
  }
  for (size_t level = 1; level < sizes_.levels.size(); ++level) {
    if (sizes_.levels[level].entries > 0) {
      AllotmentRun run;
      run.entries = sizes_.levels[level].entries;
      run.tables = sizes_.levels[level].tables;
      runs_.push_back(run);
      run_levels_.push_back(level);
      entries.push_back(run.entries);
    }
  }
  const std::vector<double> wasted = WastedLookups(entries, spec_.absent_share());
  for (size_t i = 0; i < runs_.size(); ++i) {
    runs_[i].wasted_lookups = wasted[i];
  }
  budget_bytes_ = BudgetBytes(spec_, sizes_.Entries());
  allotment_ = Allot(*frontier_, runs_, budget_bytes_);
  // What is already written, against what the plan gives those levels.
  double over = 0;
  for (size_t level = 0; level < sizes_.levels.size(); ++level) {
    const LevelSizes& size = sizes_.levels[level];
    if (size.measured_entries > 0 && Has(level)) {
      const double share = size.entries > 0 ? size.measured_entries / size.entries : 0;
      double planned = 0;
      for (size_t i = 0; i < runs_.size(); ++i) {
        if (run_levels_[i] == level && allotment_.runs[i].kind != FilterKind::kNone) {
          planned +=
              runs_[i].entries * allotment_.runs[i].bits_per_key / 8 +
              runs_[i].tables * frontier_->CurveOf(allotment_.runs[i].kind).bytes_per_table();
        }
      }
      over += size.measured_filter_bytes - planned * share;
    }
  }
  corrected_bytes_ = std::clamp(budget_bytes_ - over, kLeastCorrection * budget_bytes_,
                                kMostCorrection * budget_bytes_);
  if (corrected_bytes_ < budget_bytes_ * (1 - kSameBytes) ||
      corrected_bytes_ > budget_bytes_ * (1 + kSameBytes)) {
    allotment_ = Allot(*frontier_, runs_, corrected_bytes_);
  } else {
    corrected_bytes_ = budget_bytes_;
  }
}

bool BudgetPlan::Has(size_t level) const {
  return std::find(run_levels_.begin(), run_levels_.end(), level) != run_levels_.end();
}

// The first run of a level: in level 0, the newest file, which is most like the next one.
RunAllotment BudgetPlan::At(size_t level) const {
  for (size_t i = 0; i < run_levels_.size(); ++i) {
    if (run_levels_[i] == level) {
      return allotment_.runs[i];
    }
  }
  return RunAllotment();
}

// A flush may not take the whole over the budget. It would where tables move down from level 0
// without being rewritten: each of them keeps the many bits of level 0 for good, which correcting
// later ones by what is over on the whole never catches up with.
RunAllotment BudgetPlan::WithinBudget(RunAllotment flush) const {
  double measured = 0;
  for (const LevelSizes& level : sizes_.levels) {
    measured += level.measured_entries;
  }
  if (sizes_.flush_entries <= 0 || measured < kAlmostAll * written_entries_) {
    return flush;
  }
  const double budget = BudgetBytes(spec_, written_entries_ + sizes_.flush_entries);
  const double left = budget * (1 + kFlushOverBudget) - sizes_.MeasuredFilterBytes();
  // Less than half the average is of little use in level 0, and would make up for little.
  const double least = budget * 8 / (written_entries_ + sizes_.flush_entries) / 2;
  const double bits = std::max(left * 8 / sizes_.flush_entries, least);
  if (bits >= flush.bits_per_key) {
    return flush;
  }
  RunAllotment smaller;
  for (const FilterFrontier::KindCurve& entry : frontier_->curves()) {
    const double rate = entry.curve->Rate(bits);
    if (rate < smaller.rate) {
      smaller = {entry.kind, bits, rate};
    }
  }
  return smaller;
}

bool BudgetPlan::IsStillGood(const BudgetPlan& fresh) const {
  double bytes = 0, wasted_reads = 0;
  for (size_t i = 0; i < fresh.runs_.size(); ++i) {
    if (!Has(fresh.run_levels_[i])) {
      return false;
    }
    const RunAllotment ours = At(fresh.run_levels_[i]);
    if (ours.kind != FilterKind::kNone) {
      bytes += fresh.runs_[i].entries * ours.bits_per_key / 8 +
               fresh.runs_[i].tables * frontier_->CurveOf(ours.kind).bytes_per_table();
    }
    wasted_reads += fresh.runs_[i].wasted_lookups * ours.rate;
  }
  return bytes <= fresh.corrected_bytes_ * (1 + kOverBudget) &&
         wasted_reads <= fresh.allotment_.wasted_reads * (1 + kSavingWorthAChange);
}

std::shared_ptr<const BudgetPlan> BudgetPlan::Next(std::shared_ptr<const BudgetPlan> previous,
                                                   TreeSizes sizes) {
  auto fresh = std::make_shared<const BudgetPlan>(previous->spec_, *previous->frontier_,
                                                  std::move(sizes), false, previous->number_ + 1);
  if (!previous->sizes_are_stated_ && previous->IsStillGood(*fresh)) {
    return previous;
  }
  return fresh;
}

FilterSetting BudgetPlan::SettingFor(const TableContext& table) const {
  size_t level = table.level_at_creation > 0 ? static_cast<size_t>(table.level_at_creation) : 0;
  if (sizes_are_stated_) {
    // The stated levels stand for those that will have data: from the top, or, where dynamic level
    // sizes leave the upper ones empty, from the bottom.
    const size_t stated = sizes_.levels.size();
    const auto levels = static_cast<size_t>(std::max(table.num_levels, 1));
    if (level > 0 && table.is_bottommost) {
      level = stated - 1;
    } else if (level >= stated) {
      const size_t above_last = levels > level ? levels - 1 - level : 0;
      level = stated - 1 - std::min(above_last, stated - 1);
    }
  }
  if (Has(level)) {
    return ToSetting(level == 0 ? WithinBudget(At(0)) : At(level));
  }
  // Nothing there yet: the tree as it will be when this table is in place.
  TreeSizes later = sizes_;
  later.levels.resize(std::max(later.levels.size(), level + 1));
  const double entries = std::max(sizes_.Entries(), 1.0);
  if (level == 0) {
    // A hundredth of the tree, if nothing better is known: the shape of a tree of three levels.
    const double flush = std::max(entries / 100, 1.0);
    later.level0_entries = {flush};
    later.levels[0].entries = flush;
    later.levels[0].tables = sizes_.Entries() > 0 ? 1 : 0;
  } else {
    double above = 0;
    for (size_t upper = 0; upper < level && upper < sizes_.levels.size(); ++upper) {
      above += sizes_.levels[upper].entries;
    }
    later.levels[level].entries = std::max(above, 1.0);
    later.levels[level].tables = above > 0 ? 1 : 0;
    if (later.level0_entries.size() > 1) {
      // Level 0 is what the data comes from; a newer file may be there by then.
      later.level0_entries.resize(1);
      later.levels[0].entries = later.level0_entries[0];
      later.levels[0].tables = 1;
    }
  }
  // What is written now will be gone or elsewhere.
  for (LevelSizes& size : later.levels) {
    size.measured_entries = 0;
    size.measured_filter_bytes = 0;
  }
  const BudgetPlan plan(spec_, *frontier_, std::move(later), false, number_);
  return ToSetting(plan.At(level));
}

std::string BudgetPlan::ToString() const {
  std::string text = "solution " + std::to_string(number_) + ":";
  for (size_t i = 0; i < run_levels_.size(); ++i) {
    if (i == 0 || run_levels_[i] != run_levels_[i - 1]) {
      text += " level " + std::to_string(run_levels_[i]) + " " +
              ToSetting(allotment_.runs[i]).ToString() + ",";
    }
  }
  char numbers[256];
  std::snprintf(
      numbers, sizeof(numbers),
      " expected %.6f wasted reads per lookup, %.1f times fewer than one setting for all%s",
      allotment_.wasted_reads, allotment_.gain(),
      allotment_.is_worth_it() ? "" : " (hardly any: the tree is shallow)");
  text += numbers;
  if (!sizes_are_stated_) {
    std::snprintf(
        numbers, sizeof(numbers),
        "; %.0f keys, budget %.0f bytes, %.0f for new tables, %.0f bytes of filters known",
        sizes_.Entries(), budget_bytes_, corrected_bytes_, sizes_.MeasuredFilterBytes());
    text += numbers;
  }
  return text;
}

}  // namespace tieredfilter
