#include "src/policy/tree_state.h"

#include <gtest/gtest.h>

namespace tieredfilter {
namespace {

// Tables 1 and 2 in level 0, 3 in level 1, 4 and 5 in level 3; ten bits per key.
TreeState SmallTree() {
  TreeState state;
  state.SetTables(
      {{1, 0, 100, 0}, {2, 0, 80, 0}, {3, 1, 1000, 0}, {4, 3, 5000, 0}, {5, 3, 6000, 0}});
  for (const auto& [table, bytes] :
       {std::pair<uint64_t, double>{1, 125}, {2, 100}, {3, 1250}, {4, 6250}, {5, 7500}}) {
    state.SetFilterBytes(table, bytes);
  }
  return state;
}

TEST(TreeStateTest, WithoutJobsItIsWhatIsThere) {
  const TreeSizes sizes = SmallTree().Sizes();
  EXPECT_EQ((std::vector<double>{100, 80}), sizes.level0_entries);
  ASSERT_EQ(4u, sizes.levels.size());
  EXPECT_EQ(12180, sizes.Entries());
  EXPECT_EQ(15225, sizes.MeasuredFilterBytes());
  EXPECT_EQ(11000, sizes.levels[3].measured_entries);
  EXPECT_EQ(2, sizes.levels[3].tables);
  EXPECT_EQ(0, sizes.levels[3].coming_entries);
}

TEST(TreeStateTest, InputsAreGoneAndOutputsToCome) {
  TreeState state = SmallTree();
  state.BeginCompaction(/*thread=*/1, /*job=*/7, /*output_level=*/1, {1, 2, 3});
  TreeSizes sizes = state.Sizes();
  EXPECT_TRUE(sizes.level0_entries.empty());
  EXPECT_EQ(1180, sizes.levels[1].entries);
  EXPECT_EQ(1180, sizes.levels[1].coming_entries);
  EXPECT_EQ(0, sizes.levels[1].measured_filter_bytes);
  EXPECT_EQ(13750, sizes.MeasuredFilterBytes());
  // One of its tables is done.
  state.AddOutput(7, 8, 600, 800);
  sizes = state.Sizes();
  EXPECT_EQ(1180, sizes.levels[1].entries);
  EXPECT_EQ(600, sizes.levels[1].measured_entries);
  EXPECT_EQ(800, sizes.levels[1].measured_filter_bytes);
  EXPECT_EQ(580, sizes.levels[1].coming_entries);
  // Another one than was expected is still to come.
  state.AddOutput(7, 9, 590, 700);
  EXPECT_EQ(595, state.Sizes().levels[1].coming_entries);
  // Installed, though its end is not reported yet.
  state.SetTables({{8, 1, 600, 0}, {9, 1, 590, 0}, {4, 3, 5000, 0}, {5, 3, 6000, 0}});
  EXPECT_EQ(1190, state.Sizes().levels[1].entries);
  EXPECT_EQ(0, state.Sizes().levels[1].coming_entries);
}

TEST(TreeStateTest, EachKindOfJobAlone) {
  TreeState state = SmallTree();
  state.EndFlush(1, 90);
  state.BeginFlush(1, 10);
  state.BeginCompaction(2, 11, 3, {3, 4});
  const TreeSizes sizes = state.Sizes();
  EXPECT_EQ(90, sizes.levels[0].coming_entries);
  EXPECT_EQ((std::vector<double>{90, 100, 80}), sizes.level0_entries);
  EXPECT_EQ(12270, sizes.after_flushes.entries);
  EXPECT_EQ(15225, sizes.after_flushes.measured_filter_bytes);
  ASSERT_EQ(4u, sizes.after_compactions.size());
  EXPECT_EQ(12180, sizes.after_compactions[3].entries);
  EXPECT_EQ(6000, sizes.after_compactions[3].coming_entries[3]);
  EXPECT_TRUE(sizes.after_compactions[1].coming_entries.empty());
}

TEST(TreeStateTest, Tombstones) {
  TreeState state;
  state.SetTables({{1, 1, 1000, 400}, {2, 2, 2000, 0}, {3, 3, 9000, 0}});
  state.BeginCompaction(1, 1, 2, {1, 2});
  // They may be for keys of the inputs, and stay, for what is below.
  EXPECT_EQ(2600, state.Sizes().levels[2].coming_entries);
  state.EndCompaction(1);
  state.BeginCompaction(1, 2, 3, {1, 2, 3});
  EXPECT_EQ(11200, state.Sizes().levels[3].coming_entries);
  state.EndCompaction(2);
  // Nothing but tombstones: they stay.
  state.SetTables({{1, 0, 1000, 1000}, {2, 0, 1000, 1000}, {3, 3, 9000, 0}});
  state.BeginCompaction(1, 3, 0, {1, 2});
  EXPECT_EQ(2000, state.Sizes().levels[0].coming_entries);
}

TEST(TreeStateTest, AThreadRunsOneJob) {
  TreeState state = SmallTree();
  state.BeginCompaction(1, 1, 3, {4});
  state.ForgetJobsOfThread(1);
  state.BeginCompaction(1, 2, 1, {3});
  EXPECT_EQ(0, state.Sizes().levels[3].coming_entries);
  EXPECT_EQ(1000, state.Sizes().levels[1].coming_entries);
}

}  // namespace
}  // namespace tieredfilter
