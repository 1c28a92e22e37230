#include "src/policy/budget_plan.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace tieredfilter {
namespace {

BudgetSpec Spec(const std::string& text) {
  BudgetSpec spec;
  SpecError error;
  EXPECT_TRUE(BudgetSpec::Parse(text, &spec, &error)) << text << ": " << error.ToString();
  return spec;
}

// Level 0 as files of equal size, and the levels below.
TreeSizes Sizes(size_t files, double entries_per_file, const std::vector<double>& lower) {
  TreeSizes sizes;
  sizes.level0_entries.assign(files, entries_per_file);
  sizes.levels.resize(1 + lower.size());
  sizes.levels[0].entries = entries_per_file * static_cast<double>(files);
  sizes.levels[0].tables = static_cast<double>(files);
  for (size_t i = 0; i < lower.size(); ++i) {
    sizes.levels[i + 1].entries = lower[i];
    sizes.levels[i + 1].tables = lower[i] > 0 ? 1 : 0;
  }
  return sizes;
}

TableContext Table(int level, bool is_bottommost = false) {
  TableContext table;
  table.level_at_creation = level;
  table.is_bottommost = is_bottommost;
  table.num_levels = 7;
  return table;
}

// Bytes that the tables of these sizes take with the plan's settings.
double PlannedBytes(const BudgetPlan& plan) {
  double bytes = 0;
  for (size_t level = 0; level < plan.sizes().levels.size(); ++level) {
    const double entries = plan.sizes().levels[level].entries;
    if (entries > 0) {
      bytes += entries * plan.SettingFor(Table(static_cast<int>(level))).bits_per_key() / 8;
    }
  }
  return bytes;
}

TEST(BudgetPlanTest, SettingsKeepTheBudget) {
  for (const char* text :
       {"budget:10", "budget:6", "budget:14,absent:0.5", "budget:10,kinds:cuckoo", "budget:12MB",
        "budget:8,kinds:bloom+ribbon+cuckoo"}) {
    const BudgetSpec spec = Spec(text);
    const FilterFrontier frontier = FrontierFor(spec);
    const BudgetPlan plan(spec, frontier, Sizes(4, 2500, {0, 0, 0, 1e5, 1e6, 9e6}), false, 1);
    EXPECT_LE(PlannedBytes(plan), plan.budget_bytes()) << text;
    EXPECT_GE(PlannedBytes(plan), 0.985 * plan.budget_bytes()) << text;
    EXPECT_GT(plan.SettingFor(Table(0)).bits_per_key(), plan.SettingFor(Table(6)).bits_per_key());
  }
}

TEST(BudgetPlanTest, FirstTablesOfAnEmptyTreeGetTheAverage) {
  const BudgetSpec spec = Spec("budget:10");
  const FilterFrontier frontier = FrontierFor(spec);
  const BudgetPlan empty(spec, frontier, TreeSizes(), false, 1);
  EXPECT_NEAR(10, empty.SettingFor(Table(0)).bits_per_key(), 0.1);
  // A level that the plan does not know.
  const BudgetPlan flushed(spec, frontier, Sizes(4, 1e5, {}), false, 1);
  EXPECT_NEAR(10, flushed.SettingFor(Table(0)).bits_per_key(), 0.1);
  EXPECT_NEAR(10, flushed.SettingFor(Table(6, true)).bits_per_key(), 0.1);
}

TEST(BudgetPlanTest, RecoveredMemtablesGetTheAverage) {
  TableContext recovered = Table(0);
  recovered.reason = TableReason::kRecovery;
  for (const auto& [text, bits] : {std::pair<const char*, double>{"budget:7", 7},
                                   {"budget:12MB", 10},
                                   {"budget:7,shape:4x1k+100k+1M", 10}}) {
    const BudgetSpec spec = Spec(text);
    const FilterFrontier frontier = FrontierFor(spec);
    const BudgetPlan plan(spec, frontier, StatedSizes(spec), true, 1);
    const FilterSetting setting = plan.SettingFor(recovered);
    if (spec.shape_entries.empty()) {
      EXPECT_NEAR(bits, setting.bits_per_key(), 0.1) << text;
    } else {
      EXPECT_EQ(plan.SettingFor(Table(0)), setting) << text;
      EXPECT_GT(setting.bits_per_key(), bits) << text;
    }
  }
}

TEST(BudgetPlanTest, FirstFlushAfterOpeningGetsTheAverage) {
  const BudgetSpec spec = Spec("budget:10");
  const FilterFrontier frontier = FrontierFor(spec);
  TreeSizes sizes = Sizes(1, 1e3, {1e5, 1e6});
  const BudgetPlan plan(spec, frontier, sizes, false, 1);
  TableContext flush = Table(0);
  flush.reason = TableReason::kFlush;
  EXPECT_NEAR(10, plan.SettingFor(flush, sizes).bits_per_key(), 0.05);
  sizes.flush_entries = 1e3;
  EXPECT_GT(plan.SettingFor(flush, sizes).bits_per_key(), 15);
}

// What is known to be over or under the budget when the running jobs are done.
TEST(BudgetPlanTest, TablesToComeKeepTheWholeNearTheBudget) {
  const BudgetSpec spec = Spec("budget:10");
  const FilterFrontier frontier = FrontierFor(spec);
  const TreeSizes planned = Sizes(0, 0, {1e4, 1e5, 1e6});
  const BudgetPlan plan(spec, frontier, planned, false, 1);
  TableContext table = Table(2);
  table.reason = TableReason::kCompaction;
  const double wanted = plan.PlannedFor(2).bits_per_key();
  // Level 2 is being written and 1.1 million entries are not; bits that those have on average.
  const auto bits_with = [&](double bits) {
    TreeSizes now = planned;
    for (size_t level : {1, 3}) {
      now.levels[level].measured_entries = now.levels[level].entries;
      now.levels[level].measured_filter_bytes = now.levels[level].entries * bits / 8;
    }
    now.levels[2].coming_entries = now.levels[2].entries;
    return plan.SettingFor(table, now).bits_per_key();
  };
  EXPECT_NEAR(wanted, bits_with(9.7), 0.03);
  // 1.01 million x 10.1 bits and 100 thousand x 10.65 bits are 1.5% over 1.11 million x 10.
  EXPECT_NEAR(10.65, bits_with(10.1), 0.05);
  EXPECT_NEAR(5, bits_with(12), 0.03) << "less than half the average would be of no use";
  EXPECT_NEAR(wanted + 2, bits_with(8), 0.03) << "more than two bits more would be of no use";
}

TEST(BudgetPlanTest, StatedShapeMapsFromTheTopOrTheBottom) {
  const BudgetSpec spec = Spec("budget:10,shape:4x2500+10k+100k+10M");
  const FilterFrontier frontier = FrontierFor(spec);
  const BudgetPlan plan(spec, frontier, StatedSizes(spec), true, 1);
  EXPECT_EQ(plan.SettingFor(Table(3)), plan.SettingFor(Table(6)));
  EXPECT_EQ(plan.SettingFor(Table(2)), plan.SettingFor(Table(5)));
  EXPECT_EQ(plan.SettingFor(Table(3)), plan.SettingFor(Table(1, true)));
  EXPECT_GT(plan.SettingFor(Table(1)).bits_per_key(), plan.SettingFor(Table(2)).bits_per_key());
}

TEST(BudgetPlanTest, KeptWhileItIsGood) {
  const BudgetSpec spec = Spec("budget:10");
  const FilterFrontier frontier = FrontierFor(spec);
  const auto plan =
      std::make_shared<const BudgetPlan>(spec, frontier, Sizes(4, 2500, {1e5, 1e6}), false, 1);
  EXPECT_EQ(plan, BudgetPlan::Next(plan, spec, Sizes(2, 2500, {1.01e5, 1e6})));
  const auto grown = BudgetPlan::Next(plan, spec, Sizes(4, 2500, {1e5, 3e6}));
  EXPECT_NE(plan, grown);
  EXPECT_EQ(2u, grown->number());
  EXPECT_NE(plan, BudgetPlan::Next(plan, spec, Sizes(4, 2500, {1e5, 1e6, 1e7})));
}

TEST(BudgetPlanTest, FiltersThatAreTooBigAreMadeUpFor) {
  const BudgetSpec spec = Spec("budget:10");
  const FilterFrontier frontier = FrontierFor(spec);
  TreeSizes sizes = Sizes(4, 2500, {1e5, 1e6});
  const BudgetPlan plan(spec, frontier, sizes, false, 1);
  sizes.levels[2].measured_entries = 1e6;
  sizes.levels[2].measured_filter_bytes = 1e6 * 12 / 8;
  const BudgetPlan over(spec, frontier, sizes, false, 1);
  EXPECT_LT(over.corrected_bytes(), plan.corrected_bytes());
  EXPECT_LT(over.SettingFor(Table(2)).bits_per_key(), plan.SettingFor(Table(2)).bits_per_key());
  sizes.levels[2].measured_filter_bytes = 1e6 * 8 / 8;
  const BudgetPlan under(spec, frontier, sizes, false, 1);
  EXPECT_GT(under.SettingFor(Table(2)).bits_per_key(), plan.SettingFor(Table(2)).bits_per_key());
}

TEST(BudgetPlanTest, SameSizesSamePlan) {
  const BudgetSpec spec = Spec("budget:10,absent:0.3");
  const FilterFrontier frontier = FrontierFor(spec);
  const BudgetPlan a(spec, frontier, Sizes(3, 2500, {1e5, 1e6}), false, 1);
  const FilterFrontier other = FrontierFor(spec);
  const BudgetPlan b(spec, other, Sizes(3, 2500, {1e5, 1e6}), false, 1);
  EXPECT_EQ(a.ToString(), b.ToString());
}

TEST(BudgetPlanTest, SaysWhenTheTreeIsTooShallow) {
  const BudgetSpec spec = Spec("budget:10,kinds:bloom");
  const FilterFrontier frontier = FrontierFor(spec);
  EXPECT_NE(std::string::npos,
            BudgetPlan(spec, frontier, Sizes(1, 1e6, {1e7}), false, 1).ToString().find("shallow"));
  EXPECT_EQ(std::string::npos,
            BudgetPlan(spec, frontier, Sizes(4, 2500, {1e4, 1e5, 1e6, 1e7}), false, 1)
                .ToString()
                .find("shallow"));
}

}  // namespace
}  // namespace tieredfilter
