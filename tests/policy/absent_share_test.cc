#include "src/policy/absent_share.h"

#include <gtest/gtest.h>

namespace tieredfilter {
namespace {

constexpr double kWeek = 7 * 24 * 3600;

// Two files of level 0, level 1 and level 2, with rates of 0.1%, 1% and 5%.
std::vector<LevelShape> Shape() { return {{2000, 0.001, 2}, {10000, 0.01, 1}, {88000, 0.05, 1}}; }

// What the filters of that tree are asked and answer. Found keys are looked for in proportion to
// entries, the newest run first.
std::vector<LevelLookups> Lookups(double absent, double found) {
  std::vector<LevelLookups> levels;
  double asking = absent + found, held_above = 0;
  for (const LevelShape& level : Shape()) {
    double probes = 0, negatives = 0;
    for (double run = 0; run < level.runs; ++run) {
      const double here = found * level.entries / level.runs / 100000;
      probes += asking - held_above;
      negatives += (asking - held_above - here) * (1 - level.rate);
      held_above += here;
    }
    levels.push_back({static_cast<uint64_t>(probes), static_cast<uint64_t>(negatives)});
  }
  return levels;
}

void Add(const std::vector<LevelLookups>& more, std::vector<LevelLookups>* totals) {
  totals->resize(more.size());
  for (size_t i = 0; i < more.size(); ++i) {
    (*totals)[i].probes += more[i].probes;
    (*totals)[i].negatives += more[i].negatives;
  }
}

TEST(AbsentShareTest, FindsTheShare) {
  for (double share : {1.0, 0.9, 0.5, 0.1, 0.03}) {
    AbsentShareMeter meter;
    meter.Add(Lookups(1e6 * share, 1e6 * (1 - share)), 100);
    EXPECT_NEAR(share, meter.Share(Shape(), 0.123), 0.001) << share;
  }
}

TEST(AbsentShareTest, AlsoWithoutAFilterInTheLastLevel) {
  for (double share : {1.0, 0.5, 0.1}) {
    std::vector<LevelLookups> lookups = Lookups(1e6 * share, 1e6 * (1 - share));
    lookups.pop_back();
    AbsentShareMeter meter;
    meter.Add(lookups, 100);
    EXPECT_NEAR(share, meter.Share(Shape(), 0.123), 0.02) << share;
  }
}

TEST(AbsentShareTest, NothingMeansTheDefaultAndNeverQuiteNone) {
  AbsentShareMeter meter;
  EXPECT_EQ(0.7, meter.Share(Shape(), 0.7));
  std::vector<LevelLookups> totals;
  Add(Lookups(500, 500), &totals);
  meter.Add(totals, 100);
  EXPECT_EQ(0.7, meter.Share(Shape(), 0.7));
  Add(Lookups(0, 1e6), &totals);
  meter.Add(totals, 200);
  EXPECT_EQ(AbsentShareMeter::kLeastShare, meter.Share(Shape(), 0.7));
  EXPECT_EQ(0.7, meter.Share({}, 0.7));
}

TEST(AbsentShareTest, LastWeeksTrafficDoesNotDecide) {
  AbsentShareMeter meter;
  std::vector<LevelLookups> totals;
  Add(Lookups(1e9, 0), &totals);
  meter.Add(totals, 100);
  EXPECT_NEAR(1, meter.Share(Shape(), 0.7), 0.001);
  Add(Lookups(1e4, 3e4), &totals);
  meter.Add(totals, 100 + kWeek);
  EXPECT_NEAR(0.25, meter.Share(Shape(), 0.7), 0.002);
  // And none at all for a week is no evidence.
  meter.Add(totals, 100 + 2 * kWeek);
  EXPECT_EQ(0.7, meter.Share(Shape(), 0.7));
}

TEST(AbsentShareTest, ForgetsByHalf) {
  AbsentShareMeter meter;
  std::vector<LevelLookups> totals;
  Add(Lookups(1e6, 0), &totals);
  meter.Add(totals, 0);
  Add(Lookups(0, 1e6), &totals);
  meter.Add(totals, AbsentShareMeter::kHalfLifeSeconds);
  EXPECT_NEAR(1.0 / 3, meter.Share(Shape(), 0.7), 0.002);
  // A clock that goes back changes nothing.
  meter.Add(totals, 1);
  EXPECT_NEAR(1.0 / 3, meter.Share(Shape(), 0.7), 0.002);
}

}  // namespace
}  // namespace tieredfilter
