// A memory budget applied to a tree of known sizes: which filter a new table gets at each level.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "src/policy/allotment.h"
#include "src/policy/budget_spec.h"
#include "src/policy/filter_setting.h"
#include "src/policy/table_context.h"

namespace tieredfilter {

struct LevelSizes {
  double entries = 0;
  double tables = 0;
  // Of the tables whose filter's size is known: entries, and bytes of filters really written.
  double measured_entries = 0;
  double measured_filter_bytes = 0;
  // Of the tables that running jobs are still to write; part of `entries`.
  double coming_entries = 0;
};

// All tables together once some of the running jobs are done.
struct JobsOutcome {
  double entries = 0;
  // Of the tables whose filter's size is known: entries, and bytes of filters.
  double measured_entries = 0;
  double measured_filter_bytes = 0;
  // By level: of the tables that those jobs are still to write; part of `entries`.
  std::vector<double> coming_entries;
};

// The sorted runs of a column family as they will be when the jobs that run now are done (see
// TreeState). Plain data.
struct TreeSizes {
  std::vector<double> level0_entries;  // of each file, newest first
  std::vector<LevelSizes> levels;      // by level; [0] is all of level 0
  // Of the latest flush; 0: not known. What a flush is taken for while level 0 is empty.
  double flush_entries = 0;
  // If only the flushes end, or only the compactions into the level of the index: which job ends
  // first is not known, and the budget is to be kept in between, too. Empty or without coming
  // entries where there is no such job.
  JobsOutcome after_flushes;
  std::vector<JobsOutcome> after_compactions;

  double Entries() const;
  JobsOutcome AfterAll() const;
  double MeasuredFilterBytes() const;
};

// The tree that a spec states, or, where it states none, what RocksDB's default options tend to: a
// size ratio of ten, four level-0 files and three more levels.
TreeSizes StatedSizes(const BudgetSpec& spec);

// The limits and kinds of a spec, as the solver takes them.
FilterFrontier FrontierFor(const BudgetSpec& spec);

// An immutable answer of the solver, with what it was asked. Safe to read from many threads.
class BudgetPlan {
 public:
  // `frontier` must outlive the plan. `sizes_are_stated`: they stand for a tree that is not known.
  BudgetPlan(const BudgetSpec& spec, const FilterFrontier& frontier, TreeSizes sizes,
             bool sizes_are_stated, uint32_t number);

  // `previous` if it is still good for `sizes`: it keeps the budget and wastes hardly more reads
  // than a new one, so that small changes of size move no table's filter. Else a new plan with the
  // next number. `spec` is that of the previous plan but for the absent share, which may have been
  // measured since.
  static std::shared_ptr<const BudgetPlan> Next(std::shared_ptr<const BudgetPlan> previous,
                                                const BudgetSpec& spec, TreeSizes sizes);

  // The filter for a new table of a tree that now is as `now`: what the plan has for its level,
  // with as many bits more or fewer as keep the whole near the budget. A level that the plan does
  // not know gets the average.
  FilterSetting SettingFor(const TableContext& table, const TreeSizes& now) const;
  FilterSetting SettingFor(const TableContext& table) const { return SettingFor(table, sizes_); }
  // What the plan has for a level, without that.
  FilterSetting PlannedFor(size_t level) const;
  FilterSetting PlannedFor(const TableContext& table) const;
  // What the filters of a level are expected to let through; 1 for none.
  double RateOf(size_t level) const { return Has(level) ? At(level).rate : 1; }

  // Counts up from 1.
  uint32_t number() const { return number_; }
  bool sizes_are_stated() const { return sizes_are_stated_; }
  double absent_share() const { return spec_.absent_share(); }
  const TreeSizes& sizes() const { return sizes_; }
  const Allotment& allotment() const { return allotment_; }
  // What the budget comes to in bytes for these sizes, and that less (or plus) what the filters
  // already written have over (or under) what the plan gives their levels.
  double budget_bytes() const { return budget_bytes_; }
  double corrected_bytes() const { return corrected_bytes_; }

  // One line for a log.
  std::string ToString() const;

 private:
  void Solve();
  bool Has(size_t level) const;
  RunAllotment At(size_t level) const;
  size_t StatedLevel(const TableContext& table, size_t level) const;
  RunAllotment BestWith(double bits) const;
  double MissingBits(const JobsOutcome& outcome) const;
  double MissingBits(const TableContext& table, const TreeSizes& now) const;
  bool IsStillGood(const BudgetPlan& fresh) const;

  const BudgetSpec spec_;
  const FilterFrontier* const frontier_;
  const TreeSizes sizes_;
  const bool sizes_are_stated_;
  const uint32_t number_;
  double budget_bytes_ = 0;
  double corrected_bytes_ = 0;
  std::vector<AllotmentRun> runs_;
  std::vector<size_t> run_levels_;  // level of each run
  Allotment allotment_;
};

}  // namespace tieredfilter
