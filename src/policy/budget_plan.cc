#include "src/policy/budget_plan.h"

#include <algorithm>
#include <cmath>
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
// How far from the budget the whole may come out once the running jobs are done, as shares of it:
// further than this, the tables to come get more or fewer bits than the plan has for them. What is
// left of the 3% that are promised is for what cannot be known beforehand, such as how many keys
// merge into one.
constexpr double kMostOver = 0.015;
constexpr double kMostUnder = 0.02;
// What a table gets for which nothing is known to divide: as many bits as RocksDB's users know.
constexpr double kUsualBits = 10;
// Asked only where nearly all filters' sizes are known.
constexpr double kAlmostAll = 0.95;
// At most so many bits per key are added: beyond, they would hardly save reads. And what is left is
// at least this share of the average: less is of little use, and makes up for little.
constexpr double kMostAdded = 2;
constexpr double kLeastOfAverage = 0.5;

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

size_t LevelOf(const TableContext& table) {
  return static_cast<size_t>(std::max(table.level_at_creation, 0));
}

FilterSetting ToSetting(const RunAllotment& run) {
  FilterSetting setting;
  setting.kind = run.kind;
  if (run.kind != FilterKind::kNone) {
    const int64_t millibits = std::llround(run.bits_per_key * 1e3);
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

JobsOutcome TreeSizes::AfterAll() const {
  JobsOutcome outcome;
  for (const LevelSizes& level : levels) {
    outcome.entries += level.entries;
    outcome.measured_entries += level.measured_entries;
    outcome.measured_filter_bytes += level.measured_filter_bytes;
    outcome.coming_entries.push_back(level.coming_entries);
  }
  return outcome;
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

// The kind with the lowest rate for so many bits per key.
RunAllotment BudgetPlan::BestWith(double bits) const {
  RunAllotment best;
  for (const FilterFrontier::KindCurve& entry : frontier_->curves()) {
    const double rate = entry.curve->Rate(bits);
    if (rate < best.rate) {
      best = {entry.kind, bits, rate};
    }
  }
  return best;
}

// By how many bits per key the tables to come have to differ from the plan (negative: fewer) for
// all filters together to come out near the budget: what is left of it, divided among the entries
// to come. The plan alone would not do. Its levels are as big as they were when it was made, and
// tables that move down without being rewritten keep the many bits of level 0 for good.
double BudgetPlan::MissingBits(const JobsOutcome& outcome) const {
  double coming = 0, planned_bits = 0;
  for (size_t level = 0; level < outcome.coming_entries.size(); ++level) {
    const double entries = outcome.coming_entries[level];
    coming += entries;
    planned_bits += entries * (Has(level) ? At(level).bits_per_key : 0);
  }
  if (coming <= 0 || outcome.measured_entries + coming < kAlmostAll * outcome.entries) {
    return 0;
  }
  const double budget_bits = BudgetBytes(spec_, outcome.entries) * 8;
  const double left_bits = budget_bits - outcome.measured_filter_bytes * 8;
  const double most = left_bits + kMostOver * budget_bits;
  const double least = left_bits - kMostUnder * budget_bits;
  if (planned_bits > most) {
    return (most - planned_bits) / coming;
  }
  // The plan may leave memory unused where it buys nothing, and a cap per table is the plan's.
  const bool may_add = spec_.cap_bytes == 0 && allotment_.bytes >= kAlmostAll * corrected_bytes_;
  return may_add && planned_bits < least ? std::min((least - planned_bits) / coming, kMostAdded)
                                         : 0;
}

double BudgetPlan::MissingBits(const TableContext& table, const TreeSizes& now) const {
  const double missing = MissingBits(now.AfterAll());
  const size_t level = LevelOf(table);
  if (table.reason == TableReason::kFlush) {
    return std::min(missing, MissingBits(now.after_flushes));
  }
  return level < now.after_compactions.size()
             ? std::min(missing, MissingBits(now.after_compactions[level]))
             : missing;
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
                                                   const BudgetSpec& spec, TreeSizes sizes) {
  auto fresh = std::make_shared<const BudgetPlan>(spec, *previous->frontier_, std::move(sizes),
                                                  false, previous->number_ + 1);
  if (!previous->sizes_are_stated_ && previous->IsStillGood(*fresh)) {
    return previous;
  }
  return fresh;
}

// The stated levels stand for those that will have data: from the top, or, where dynamic level
// sizes leave the upper ones empty, from the bottom.
size_t BudgetPlan::StatedLevel(const TableContext& table, size_t level) const {
  const size_t stated = sizes_.levels.size();
  const auto levels = static_cast<size_t>(std::max(table.num_levels, 1));
  if (level > 0 && table.is_bottommost) {
    return stated - 1;
  }
  if (level < stated) {
    return level;
  }
  const size_t above_last = levels > level ? levels - 1 - level : 0;
  return stated - 1 - std::min(above_last, stated - 1);
}

FilterSetting BudgetPlan::PlannedFor(size_t level) const {
  if (Has(level)) {
    return ToSetting(At(level));
  }
  const bool is_known = !sizes_are_stated_ || !spec_.shape_entries.empty();
  const double entries = is_known ? sizes_.Entries() : 0;
  const double average = spec_.bytes == 0 ? static_cast<double>(spec_.millibits_per_key) / 1e3
                         : entries > 0    ? static_cast<double>(spec_.bytes) * 8 / entries
                                          : kUsualBits;
  return ToSetting(BestWith(std::min(average, static_cast<double>(spec_.cap_millibits) / 1e3)));
}

FilterSetting BudgetPlan::PlannedFor(const TableContext& table) const {
  size_t level = LevelOf(table);
  if (sizes_are_stated_) {
    // While a database is opened, nothing can be known of it. The usual shape's many bits for level
    // 0 could take a small tree far over its budget; the average, for an unknown level, cannot.
    const bool is_average = table.reason == TableReason::kRecovery && spec_.shape_entries.empty();
    level = is_average ? sizes_.levels.size() : StatedLevel(table, level);
  }
  return PlannedFor(level);
}

FilterSetting BudgetPlan::SettingFor(const TableContext& table, const TreeSizes& now) const {
  const size_t level = LevelOf(table);
  if (!Has(level) || sizes_are_stated_) {
    return PlannedFor(table);
  }
  if (table.reason == TableReason::kFlush && now.flush_entries <= 0) {
    // The first flush since the database was opened: as nobody knows how big it is, only the
    // average is sure to keep the budget. A process that is killed again and again has many of
    // them.
    return PlannedFor(sizes_.levels.size());
  }
  const RunAllotment planned = At(level);
  const double missing = MissingBits(table, now);
  if (missing == 0) {
    return ToSetting(planned);
  }
  const double average = BudgetBytes(spec_, now.Entries()) * 8 / now.Entries();
  const double least = std::min(planned.bits_per_key, kLeastOfAverage * average);
  const double bits = std::clamp(planned.bits_per_key + missing, least,
                                 static_cast<double>(spec_.cap_millibits) / 1e3);
  return ToSetting(BestWith(bits));
}

std::string BudgetPlan::ToString() const {
  std::string text = "solution " + std::to_string(number_) + ":";
  if (spec_.absent_is_measured) {
    text += " absent share " + FormatDecimal(spec_.absent_per_myriad, 4) + ",";
  }
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
