// The pure parts of cold_lookup_bench that decide what is written and asked: tree plan, keys, bits
// per level, flags.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tools/cold_lookup_bench/config.h"
#include "tools/cold_lookup_bench/equalize.h"
#include "tools/cold_lookup_bench/generated_keys.h"
#include "tools/cold_lookup_bench/lookup_choice.h"
#include "tools/cold_lookup_bench/per_level_bits.h"
#include "tools/cold_lookup_bench/policy_choice.h"
#include "tools/cold_lookup_bench/progress.h"
#include "tools/cold_lookup_bench/tree_plan.h"

namespace tieredfilter::cold_lookup {
namespace {

using ROCKSDB_NAMESPACE::Status;

TreeShape Shape(uint64_t num_keys) {
  TreeShape shape;
  shape.num_keys = num_keys;
  shape.num_levels = 5;
  shape.sorted_levels = 4;
  shape.level0_files = 4;
  shape.size_ratio = 10;
  shape.entries_per_file = 10000;
  return shape;
}

TreePlan Plan(const TreeShape& shape) {
  TreePlan plan;
  const Status s = PlanTree(shape, &plan);
  EXPECT_TRUE(s.ok()) << s.ToString();
  return plan;
}

TEST(TreePlanTest, HoldsEveryKeyOnceWithTheAskedRatio) {
  for (const uint64_t num : {20000, 123457, 1000000}) {
    const TreePlan plan = Plan(Shape(num));
    EXPECT_EQ(plan.TotalEntries(), num);
    ASSERT_EQ(plan.runs.size(), 8u);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(plan.runs[i].level, 4 - i);
      EXPECT_NEAR(
          static_cast<double>(plan.runs[i].entries) / static_cast<double>(plan.runs[i + 1].entries),
          10, 1);
    }
    uint64_t level0 = 0;
    for (size_t i = 4; i < 8; ++i) {
      EXPECT_EQ(plan.runs[i].level, 0);
      EXPECT_EQ(plan.runs[i].files, 1u);
      level0 += plan.runs[i].entries;
    }
    EXPECT_NEAR(static_cast<double>(level0), static_cast<double>(plan.runs[3].entries), 4);
  }
}

TEST(TreePlanTest, FilesOfARunCoverItAndDifferByOneKeyAtMost) {
  const TreePlan plan = Plan(Shape(123457));
  for (const RunPlan& run : plan.runs) {
    EXPECT_EQ(run.FirstEntryOfFile(0), 0u);
    EXPECT_EQ(run.FirstEntryOfFile(run.files), run.entries);
    for (uint64_t file = 0; file < run.files; ++file) {
      const uint64_t keys = run.FirstEntryOfFile(file + 1) - run.FirstEntryOfFile(file);
      EXPECT_GE(keys, run.entries / run.files);
      EXPECT_LE(keys, run.entries / run.files + 1);
      EXPECT_LE(keys, 10000u);
    }
  }
}

TEST(TreePlanTest, RefusesShapesThatCannotBeBuiltAndNamesTheFlag) {
  const auto message = [](TreeShape shape) {
    TreePlan plan;
    const Status s = PlanTree(shape, &plan);
    EXPECT_TRUE(s.IsInvalidArgument());
    return s.ToString();
  };
  TreeShape shape = Shape(1000);
  EXPECT_NE(message(shape).find("--num=1000"), std::string::npos);
  shape = Shape(20000);
  shape.sorted_levels = 5;
  EXPECT_NE(message(shape).find("--sorted_levels=5"), std::string::npos);
  shape = Shape(20000);
  shape.size_ratio = std::nan("");
  EXPECT_NE(message(shape).find("--max_bytes_for_level_multiplier"), std::string::npos);
  shape = Shape(20000);
  shape.level0_files = 1000;
  EXPECT_NE(message(shape).find("--level0_files=1000"), std::string::npos);
  shape = Shape(20000);
  shape.level0_files = -1;
  EXPECT_NE(message(shape).find("--level0_files=-1"), std::string::npos);
  shape = Shape(20000);
  shape.entries_per_file = 0;
  EXPECT_NE(message(shape).find("--target_file_size_base"), std::string::npos);
}

TEST(TreePlanTest, TheNumberOfKeysItAsksForIsEnough) {
  TreePlan plan;
  const std::string message = PlanTree(Shape(1000), &plan).ToString();
  const std::string marker = "wants --num=";
  const uint64_t wanted = std::stoull(message.substr(message.find(marker) + marker.size()));
  EXPECT_TRUE(PlanTree(Shape(wanted), &plan).ok());
}

TEST(KeySpaceTest, KeysOfARunAscendAndNoTwoRunsShareOne) {
  const TreePlan plan = Plan(Shape(20000));
  const GeneratedKeys keys(plan, 7, 16, 100);
  std::set<std::string> all;
  std::string key;
  for (size_t run = 0; run < plan.runs.size(); ++run) {
    std::string last;
    for (uint64_t i = 0; i < plan.runs[run].entries; ++i) {
      keys.EntryKey({run, i}, &key);
      EXPECT_EQ(key.size(), 16u);
      EXPECT_LT(last, key);
      last = key;
      all.insert(key);
    }
  }
  EXPECT_EQ(all.size(), 20000u);
}

TEST(KeySpaceTest, AbsentKeysAreAbsentAndInsideEveryRun) {
  const TreePlan plan = Plan(Shape(20000));
  const GeneratedKeys keys(plan, 7, 8, 8);
  std::set<std::string> present;
  std::string first;
  std::string last = "\xff\xff\xff\xff\xff\xff\xff\xff";
  std::string key;
  for (size_t run = 0; run < plan.runs.size(); ++run) {
    for (uint64_t i = 0; i < plan.runs[run].entries; ++i) {
      keys.EntryKey({run, i}, &key);
      present.insert(key);
      first = i == 0 ? std::max(first, key) : first;
    }
    last = std::min(last, key);
  }
  std::set<std::string> absent;
  for (uint64_t number = 0; number < 20000; ++number) {
    keys.AbsentKey(number, &key);
    EXPECT_EQ(present.count(key), 0u);
    EXPECT_GT(key, first);
    EXPECT_LT(key, last);
    absent.insert(key);
  }
  EXPECT_EQ(absent.size(), 20000u);
}

TEST(KeySpaceTest, AnotherSeedGivesOtherKeysAndLookups) {
  const TreePlan plan = Plan(Shape(20000));
  const GeneratedKeys one(plan, 1, 16, 32);
  const GeneratedKeys same(plan, 1, 16, 32);
  const GeneratedKeys other(plan, 2, 16, 32);
  std::string a;
  std::string b;
  one.EntryKey({0, 17}, &a);
  same.EntryKey({0, 17}, &b);
  EXPECT_EQ(a, b);
  other.EntryKey({0, 17}, &b);
  EXPECT_NE(a, b);
  one.AbsentKey(3, &a);
  other.AbsentKey(3, &b);
  EXPECT_NE(a, b);
  one.ValueOf({0, 17}, &a);
  one.ValueOf({0, 18}, &b);
  EXPECT_NE(a, b);
  EXPECT_EQ(a.size(), 32u);
}

TEST(KeySpaceTest, NumbersTheKeysFromTheOldestToTheNewest) {
  const TreePlan plan = Plan(Shape(20000));
  const GeneratedKeys keys(plan, 1, 16, 8);
  uint64_t number = 0;
  std::string expected;
  std::string key;
  for (size_t run = 0; run < plan.runs.size(); ++run) {
    for (uint64_t i = 0; i < plan.runs[run].entries; ++i) {
      keys.EntryKey({run, i}, &expected);
      keys.PresentKey(number++, &key);
      ASSERT_EQ(key, expected);
    }
  }
}

TEST(KeyPickerTest, UniformAsksForEveryPartAsOften) {
  const KeyPicker picker(Distribution::kUniform, 0.5, 1000, 7);
  std::vector<int> picked(10);
  for (uint64_t number = 0; number < 100000; ++number) {
    ++picked.at(picker.Pick(number) / 100);
  }
  for (const int count : picked) {
    EXPECT_NEAR(count, 10000, 5 * std::sqrt(10000));
  }
}

TEST(KeyPickerTest, RecentAsksForTheNewestKeysAsOftenAsZipfSays) {
  constexpr uint64_t kKeys = 1000000;
  constexpr double kPicks = 200000;
  for (const double theta : {0.5, 0.99}) {
    const KeyPicker picker(Distribution::kRecent, theta, kKeys, 7);
    double newest = 0;
    double newest_hundred = 0;
    for (uint64_t number = 0; number < kPicks; ++number) {
      const uint64_t key = picker.Pick(number);
      ASSERT_LT(key, kKeys);
      newest += key == kKeys - 1 ? 1 : 0;
      newest_hundred += key >= kKeys - 100 ? 1 : 0;
    }
    // The sums of the definition, added up here one by one.
    double all = 0;
    double hundred = 0;
    for (double rank = 1; rank <= kKeys; ++rank) {
      all += std::pow(rank, -theta);
      hundred += rank <= 100 ? std::pow(rank, -theta) : 0;
    }
    EXPECT_NEAR(newest, kPicks / all, 5 * std::sqrt(kPicks / all));
    // The formula is an approximation beyond the second rank.
    EXPECT_NEAR(newest_hundred / (kPicks * hundred / all), 1, 0.1) << theta;
  }
}

TEST(KeyPickerTest, ZipfianHasFewPopularKeysSpreadOverAll) {
  const KeyPicker picker(Distribution::kZipfian, 0.99, 1000000, 7);
  std::map<uint64_t, int> picked;
  int upper_half = 0;
  for (uint64_t number = 0; number < 100000; ++number) {
    const uint64_t key = picker.Pick(number);
    EXPECT_EQ(key, picker.Pick(number));
    ++picked[key];
  }
  std::vector<std::pair<int, uint64_t>> by_count;
  for (const auto& [key, count] : picked) {
    by_count.emplace_back(count, key);
  }
  std::sort(by_count.rbegin(), by_count.rend());
  for (int i = 0; i < 100; ++i) {
    upper_half += by_count[i].second >= 500000 ? 1 : 0;
  }
  EXPECT_NEAR(upper_half, 50, 25);
  EXPECT_GT(by_count[0].first, 100 * by_count[by_count.size() / 2].first);
}

TEST(KeyPickerTest, WorksForAHandfulOfKeys) {
  for (const uint64_t keys : {1, 2, 3}) {
    for (const Distribution distribution :
         {Distribution::kUniform, Distribution::kZipfian, Distribution::kRecent}) {
      const KeyPicker picker(distribution, 0.99, keys, 1);
      for (uint64_t number = 0; number < 1000; ++number) {
        ASSERT_LT(picker.Pick(number), keys);
      }
    }
  }
}

// How well the solver divides is tested beside it; here, that the driver asks it for this tree.
TEST(PerLevelBitsTest, SpendsTheBudgetAndGivesSmallRunsMore) {
  const TreePlan plan = Plan(Shape(10000000));
  for (const char* word : {"bloom", "ribbon", "cuckoo", "best"}) {
    for (const double average : {6.0, 10.0, 14.0}) {
      const std::vector<RunAllotment> runs = AllotPerRun(plan, KindsOfPerLevelWord(word), average);
      double spent = 0;
      for (size_t run = 0; run < plan.runs.size(); ++run) {
        spent += runs[run].bits_per_key * static_cast<double>(plan.runs[run].entries);
        EXPECT_LE(runs[run].rate, runs[run > 0 ? run - 1 : 0].rate) << word;
      }
      EXPECT_LE(spent / 1e7, average) << word;
      EXPECT_GE(spent / 1e7, 0.98 * average) << word;
    }
  }
}

TEST(PerLevelBitsTest, ALevelUpGetsFourPointEightBitsOfBloomMore) {
  const std::vector<RunAllotment> runs =
      AllotPerRun(Plan(Shape(10000000)), {FilterKind::kBloom}, 8.0);
  // ln(10) / ln(2)^2 for ideal filters; real ones need a little more at low rates.
  EXPECT_NEAR(runs[1].bits_per_key - runs[0].bits_per_key, 4.8, 0.4);
}

TEST(PerLevelBitsTest, NamesEveryLevelInTheSpec) {
  const std::string spec = SpecPerLevel(Plan(Shape(1000000)), {FilterKind::kBloom}, 1.0);
  EXPECT_NE(spec.find("4:none"), std::string::npos) << spec;
  EXPECT_NE(spec.find("0:bloom:"), std::string::npos) << spec;
  EXPECT_TRUE(KindsOfPerLevelWord("none").empty());
  EXPECT_TRUE(KindsOfPerLevelWord("blom").empty());
}

TEST(PerLevelBitsTest, StatesTheShapeToBudgetsThatStateNone) {
  const TreePlan plan{{{4, 1000000, 2}, {2, 10001, 1}, {0, 1000, 1}, {0, 1000, 1}}};
  EXPECT_EQ(SpecWithShape("tieredfilter:budget:10,absent:0.5", plan),
            "tieredfilter:budget:10,absent:0.5,shape:2x1k+0+10001+0+1M");
  EXPECT_EQ(SpecWithShape("tieredfilter:budget:10", {{{1, 5000, 1}}}),
            "tieredfilter:budget:10,shape:1x0+5k");
  for (const char* other : {"tieredfilter:budget:10,shape:4x25k+1M", "tieredfilter:budget:x",
                            "tieredfilter:0:none", "tieredfilter", "bloomfilter:10", "none"}) {
    EXPECT_EQ(SpecWithShape(other, plan), other);
  }
}

TEST(SplitPoliciesTest, SplitsAtSemicolonsAndBlanksOutsideBraces) {
  using List = std::vector<std::string>;
  EXPECT_EQ(SplitPolicies(""), List());
  EXPECT_EQ(SplitPolicies(" ; ;"), List());
  EXPECT_EQ(SplitPolicies("none bloomfilter:10"), (List{"none", "bloomfilter:10"}));
  EXPECT_EQ(SplitPolicies("tieredfilter:0-1:bloom:14,2+:bloom:7;none"),
            (List{"tieredfilter:0-1:bloom:14,2+:bloom:7", "none"}));
  EXPECT_EQ(SplitPolicies("{id=tieredfilter;spec=bloom:7} none"),
            (List{"{id=tieredfilter;spec=bloom:7}", "none"}));
}

TEST(ShiftBitsTest, ShiftsBitsAndNothingElse) {
  const auto shifted = [](double bits, std::string spec) {
    return ShiftBits(bits, &spec) ? spec : "refused: " + spec;
  };
  EXPECT_EQ(shifted(0.5, "bloomfilter:10"), "bloomfilter:10.500");
  EXPECT_EQ(shifted(-1, "ribbonfilter:10:3"), "ribbonfilter:9.000:3");
  EXPECT_EQ(shifted(1, "per-level-bloom:9.5"), "per-level-bloom:10.500");
  EXPECT_EQ(shifted(1, "tieredfilter:0-1:bloom:14,2+:ribbon:7,last:none"),
            "tieredfilter:0-1:bloom:15.000,2+:ribbon:8.000,last:none");
  EXPECT_EQ(shifted(1, "tieredfilter:0:bloom:1%,1+:cuckoo:9"),
            "tieredfilter:0:bloom:1%,1+:cuckoo:10.000");
  EXPECT_EQ(shifted(1, "none"), "refused: none");
  EXPECT_EQ(shifted(-9.5, "bloomfilter:10"), "refused: bloomfilter:10");
}

TEST(KeySpaceTest, AsksForAbsentKeysAsOftenAsTold) {
  const GeneratedKeys keys(Plan(Shape(20000)), 1, 16, 8);
  for (const double percent : {0.0, 30.0, 100.0}) {
    uint64_t absent = 0;
    for (uint64_t number = 0; number < 100000; ++number) {
      absent += keys.IsAbsentLookup(number, percent) ? 1 : 0;
    }
    EXPECT_NEAR(static_cast<double>(absent), percent * 1000, percent == 30 ? 700 : 0);
  }
}

TEST(PolicyChoiceTest, PutsTheBaselineFirstAndOnce) {
  const TreePlan plan = Plan(Shape(20000));
  std::vector<PolicyChoice> choices;
  ASSERT_TRUE(
      ChoosePolicies({"bloomfilter:10", "none", "per-level-bloom:10"}, plan, &choices).ok());
  ASSERT_EQ(choices.size(), 3u);
  EXPECT_EQ(choices[0].spec, "none");
  EXPECT_EQ(choices[0].policy, nullptr);
  EXPECT_EQ(choices[1].requested, "bloomfilter:10");
  ASSERT_NE(choices[1].policy, nullptr);
  EXPECT_EQ(choices[2].requested, "per-level-bloom:10");
  EXPECT_EQ(choices[2].spec.rfind("tieredfilter:0:bloom:", 0), 0u) << choices[2].spec;
  ASSERT_NE(choices[2].policy, nullptr);
}

TEST(PolicyChoiceTest, RefusesWhatRocksdbDoesNotTakeAndNamesIt) {
  const TreePlan plan = Plan(Shape(20000));
  for (const char* bad : {"blomfilter:10", "tieredfilter:0:bloom:-3", "per-level-bloom:",
                          "per-level-bloom:ten", "per-level-bloom:99", "nullptr"}) {
    std::vector<PolicyChoice> choices;
    const Status s = ChoosePolicies({bad}, plan, &choices);
    EXPECT_TRUE(s.IsInvalidArgument()) << bad;
    EXPECT_NE(s.ToString().find(bad), std::string::npos) << s.ToString();
  }
}

TEST(ProgressLineTest, ShowsRateAndTimeLeftAndFitsTheTerminal) {
  EXPECT_EQ(ProgressLine("loading", 2500000, 10000000, 5, 100),
            "loading [#######.......................]  25%  500k/s  0:15 left");
  EXPECT_EQ(ProgressLine("loading", 0, 100, 0, 100),
            "loading [..............................]   0%  0/s  27:46:40 left");
  EXPECT_EQ(ProgressLine("loading", 120, 100, 2, 100),
            "loading [##############################] 100%  60/s  0:00 left");
  const std::string name(100, 'n');
  for (size_t columns = 0; columns < 140; ++columns) {
    EXPECT_LE(ProgressLine(name, 1234567, 40000000, 2, columns).size() + 1,
              std::max<size_t>(columns, 1));
  }
}

}  // namespace
}  // namespace tieredfilter::cold_lookup
