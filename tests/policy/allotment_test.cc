#include "src/policy/allotment.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <numeric>
#include <random>
#include <string>

namespace tieredfilter {
namespace {

using Kinds = std::vector<FilterKind>;
constexpr FilterKind kBloom = FilterKind::kBloom;
constexpr FilterKind kRibbon = FilterKind::kRibbon;
constexpr FilterKind kCuckoo = FilterKind::kCuckoo;

AllotmentLimits LimitsFor(const Kinds& kinds) {
  AllotmentLimits limits;
  limits.kinds = kinds;
  return limits;
}

// Newest run first.
std::vector<AllotmentRun> Tree(const std::vector<double>& entries, double absent_share = 1) {
  const std::vector<double> v = WastedLookups(entries, absent_share);
  std::vector<AllotmentRun> runs;
  for (size_t i = 0; i < entries.size(); ++i) {
    AllotmentRun run;
    run.entries = entries[i];
    run.wasted_lookups = v[i];
    runs.push_back(run);
  }
  return runs;
}

// Ratio 10, four levels and four level-0 files, ten million keys: the driver's standard shape.
std::vector<double> StandardEntries() {
  return {2252, 2252, 2252, 2252, 9009, 90090, 900900, 9000000};
}

double Entries(const std::vector<AllotmentRun>& runs) {
  double total = 0;
  for (const AllotmentRun& run : runs) {
    total += run.entries;
  }
  return total;
}

double Bytes(const std::vector<AllotmentRun>& runs, double bits_per_key) {
  return Entries(runs) * bits_per_key / 8;
}

Allotment AllotBits(const Kinds& kinds, const std::vector<AllotmentRun>& runs,
                    double bits_per_key) {
  return Allot(FilterFrontier(LimitsFor(kinds)), runs, Bytes(runs, bits_per_key));
}

// An exponential curve without least size or fixed cost: what theory is about.
FilterFrontier IdealFrontier(const FilterCurve* curve) {
  AllotmentLimits limits;
  limits.max_bits_per_key = 40;
  return FilterFrontier({{kBloom, curve}}, limits);
}

TEST(AllotmentTest, SharesFollowTheory) {
  const double ln2 = std::log(2.0);
  const FilterCurve bloom({{0.01, 0.01 * ln2}, {40, 40 * ln2}}, 0);
  const FilterCurve fingerprints({{0.01, 0.01}, {40, 40}}, 0);
  const std::vector<AllotmentRun> runs = Tree({1e4, 1e5, 1e6, 1e7});
  struct Case {
    const FilterCurve* curve;
    double step;
  };
  for (const Case& c :
       {Case{&bloom, std::log(10.0) / ln2 / ln2}, Case{&fingerprints, std::log2(10.0)}}) {
    const Allotment result = Allot(IdealFrontier(c.curve), runs, Bytes(runs, 10));
    for (size_t i = 0; i + 1 < runs.size(); ++i) {
      EXPECT_NEAR(result.runs[i].bits_per_key - result.runs[i + 1].bits_per_key, c.step, 0.06);
    }
  }
}

TEST(AllotmentTest, RealBloomAndCuckooStayNearTheory) {
  const std::vector<AllotmentRun> runs = Tree({1e5, 1e6, 1e7});
  const Allotment bloom = AllotBits({kBloom}, runs, 8);
  // Real rates fall more slowly than ideal ones, so a tenth of the rate takes more bits.
  EXPECT_NEAR(bloom.runs[1].bits_per_key - bloom.runs[2].bits_per_key, 4.8, 0.9);
  const Allotment cuckoo = AllotBits({kCuckoo}, runs, 8);
  EXPECT_NEAR(cuckoo.runs[1].bits_per_key - cuckoo.runs[2].bits_per_key, 3.3, 0.6);
}

// The best of a grid, with the best kind for each number of bits; the last run takes what is left.
double BruteForce(const AllotmentLimits& limits, const std::vector<AllotmentRun>& runs,
                  double budget_bytes) {
  constexpr double kStep = 0.25;
  struct Choice {
    double bytes;
    double wasted;
  };
  const auto best_at = [&](const AllotmentRun& run, double bytes) {
    double best = 1;
    for (FilterKind kind : limits.kinds) {
      const double bits = (bytes - CurveOf(kind).bytes_per_table() * run.tables) * 8 / run.entries;
      best = std::min(best, CurveOf(kind).Rate(std::min(bits, limits.max_bits_per_key)));
    }
    return best > limits.worst_rate ? run.wasted_lookups : best * run.wasted_lookups;
  };
  std::vector<Choice> sums = {{0, 0}};
  for (size_t i = 0; i + 1 < runs.size(); ++i) {
    std::vector<Choice> next;
    for (const Choice& sum : sums) {
      for (double bits = 0; bits <= limits.max_bits_per_key; bits += kStep) {
        const double bytes = bits > 0 ? bits * runs[i].entries / 8 + 37 : 0;
        if (sum.bytes + bytes <= budget_bytes) {
          next.push_back({sum.bytes + bytes, sum.wasted + best_at(runs[i], bytes)});
        }
      }
    }
    sums = std::move(next);
  }
  double best = 1e9;
  for (const Choice& sum : sums) {
    best = std::min(best, sum.wasted + best_at(runs.back(), budget_bytes - sum.bytes));
  }
  return best;
}

TEST(AllotmentTest, NoWorseThanBruteForce) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(0, 1);
  const std::vector<Kinds> all_kinds = {
      {kBloom}, {kCuckoo}, {kRibbon}, {kBloom, kCuckoo}, {kBloom, kRibbon, kCuckoo}};
  for (int round = 0; round < 40; ++round) {
    AllotmentLimits limits = LimitsFor(all_kinds[static_cast<size_t>(round) % all_kinds.size()]);
    // What a cheaper kind may cost is a choice, not an error.
    limits.kind_tolerance = 0;
    std::vector<double> entries = {1e5 * (1 + uniform(random))};
    for (int i = 0; i < 2; ++i) {
      entries.push_back(entries.back() * (1 + 11 * uniform(random)));
    }
    const std::vector<AllotmentRun> runs = Tree(entries, uniform(random));
    const double bits = 1 + 12 * uniform(random);
    const Allotment result = Allot(FilterFrontier(limits), runs, Bytes(runs, bits));
    EXPECT_LE(result.wasted_reads, 1.02 * BruteForce(limits, runs, Bytes(runs, bits)))
        << "round " << round << " bits " << bits;
  }
}

// On the standard shape, a search that moves memory from one run to another finds next to nothing.
TEST(AllotmentTest, NoExchangeBetweenRunsHelps) {
  AllotmentLimits limits = LimitsFor({kBloom, kCuckoo, kRibbon});
  limits.kind_tolerance = 0;
  for (double absent : {1.0, 0.5, 0.1}) {
    const std::vector<AllotmentRun> runs = Tree(StandardEntries(), absent);
    const Allotment result = Allot(FilterFrontier(limits), runs, Bytes(runs, 10));
    const auto wasted_with = [&](size_t run, double extra_bytes) {
      const double bits = result.runs[run].bits_per_key + extra_bytes * 8 / runs[run].entries;
      double rate = 1;
      for (FilterKind kind : limits.kinds) {
        rate = std::min(rate, CurveOf(kind).Rate(std::min(bits, limits.max_bits_per_key)));
      }
      return rate * runs[run].wasted_lookups;
    };
    for (size_t from = 0; from < runs.size(); ++from) {
      for (size_t to = 0; to < runs.size(); ++to) {
        for (double share : {0.01, 0.05, 0.2, 0.5, 1.0}) {
          const double bytes = share * result.runs[from].bits_per_key * runs[from].entries / 8;
          const double gain = wasted_with(from, 0) - wasted_with(from, -bytes) +
                              wasted_with(to, 0) - wasted_with(to, bytes);
          EXPECT_TRUE(from == to || gain <= 0.02 * result.wasted_reads)
              << "absent " << absent << " from " << from << " to " << to << " share " << share;
        }
      }
    }
  }
}

TEST(AllotmentTest, NeverOverTheBudgetAndHardlyUnder) {
  for (const Kinds& kinds :
       {Kinds{kBloom}, Kinds{kCuckoo}, Kinds{kRibbon}, Kinds{kBloom, kCuckoo, kRibbon}}) {
    const std::vector<AllotmentRun> runs = Tree(StandardEntries(), 0.8);
    const FilterFrontier frontier(LimitsFor(kinds));
    double previous = 1e9;
    for (double bits = 0.5; bits < 22; bits += 0.05) {
      const Allotment result = Allot(frontier, runs, Bytes(runs, bits));
      ASSERT_LE(result.bytes, Bytes(runs, bits)) << bits;
      if (bits > CurveOf(kinds[0]).min_bits() + 0.5 && bits < 18) {
        ASSERT_GE(result.bytes, 0.99 * Bytes(runs, bits)) << bits;
      }
      // More memory never wastes more reads.
      ASSERT_LE(result.wasted_reads, previous * (1 + 1e-4)) << bits;
      previous = result.wasted_reads;
    }
  }
}

TEST(AllotmentTest, BitsDoNotRiseWithDepth) {
  const Allotment result = AllotBits({kBloom, kCuckoo, kRibbon}, Tree(StandardEntries()), 9);
  for (size_t i = 0; i + 1 < result.runs.size(); ++i) {
    EXPECT_GE(result.runs[i].bits_per_key, result.runs[i + 1].bits_per_key) << i;
  }
}

TEST(AllotmentTest, SmallChangesOfInputMoveLittle) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> one_percent(0.99, 1.01);
  const FilterFrontier frontier(LimitsFor({kBloom, kCuckoo}));
  for (int round = 0; round < 200; ++round) {
    std::vector<double> entries = StandardEntries();
    const double bits = 3 + 0.05 * round;
    const std::vector<AllotmentRun> before = Tree(entries, 0.7);
    for (double& n : entries) {
      n *= one_percent(random);
    }
    const std::vector<AllotmentRun> after = Tree(entries, 0.7 * one_percent(random));
    const Allotment a = Allot(frontier, before, Bytes(before, bits));
    const Allotment b = Allot(frontier, after, Bytes(after, bits));
    for (size_t i = 0; i < a.runs.size(); ++i) {
      if (a.runs[i].kind == b.runs[i].kind) {
        EXPECT_NEAR(a.runs[i].bits_per_key, b.runs[i].bits_per_key,
                    0.04 * a.runs[i].bits_per_key + 0.05)
            << "bits " << bits << " run " << i;
      }
    }
    // Also where a run goes to another kind.
    EXPECT_NEAR(a.wasted_reads, b.wasted_reads, 0.06 * a.wasted_reads) << bits;
  }
}

// Up to nine runs, each one to twelve times as big as the one above.
std::vector<double> RandomEntries(std::mt19937_64* random) {
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<double> entries = {1e4 * (1 + 9 * uniform(*random))};
  const auto runs = 1 + static_cast<size_t>(9 * uniform(*random));
  while (entries.size() < runs) {
    entries.push_back(entries.back() * (1 + 11 * uniform(*random)));
  }
  return entries;
}

TEST(AllotmentTest, RandomTreesKeepTheBudgetAndAreMonotone) {
  std::mt19937_64 random(17);
  std::uniform_real_distribution<double> share(0, 1);
  const FilterFrontier frontier(LimitsFor({kBloom, kCuckoo, kRibbon}));
  for (int round = 0; round < 60; ++round) {
    const std::vector<AllotmentRun> runs = Tree(RandomEntries(&random), share(random));
    double previous = 1e9;
    for (double bits = 0.5; bits < 20; bits += 0.25) {
      const Allotment result = Allot(frontier, runs, Bytes(runs, bits));
      ASSERT_LE(result.bytes, Bytes(runs, bits)) << "round " << round << " bits " << bits;
      ASSERT_LE(result.wasted_reads, previous * (1 + 1e-3))
          << "round " << round << " bits " << bits;
      previous = result.wasted_reads;
    }
  }
}

TEST(AllotmentTest, RandomTreesAreStable) {
  std::mt19937_64 random(23);
  std::uniform_real_distribution<double> one_percent(0.99, 1.01), share(0.1, 1), amount(5, 16);
  const FilterFrontier frontier(LimitsFor({kBloom, kCuckoo}));
  for (int round = 0; round < 300; ++round) {
    std::vector<double> entries = RandomEntries(&random);
    const double bits = amount(random), absent = share(random);
    const std::vector<AllotmentRun> before = Tree(entries, absent);
    for (double& n : entries) {
      n *= one_percent(random);
    }
    const std::vector<AllotmentRun> after = Tree(entries, absent);
    const Allotment a = Allot(frontier, before, Bytes(before, bits));
    const Allotment b = Allot(frontier, after, Bytes(after, bits));
    for (size_t i = 0; i < a.runs.size(); ++i) {
      if (a.runs[i].kind == b.runs[i].kind) {
        EXPECT_NEAR(a.runs[i].bits_per_key, b.runs[i].bits_per_key,
                    0.04 * a.runs[i].bits_per_key + 0.05)
            << "round " << round << " run " << i;
      }
    }
    EXPECT_NEAR(a.wasted_reads, b.wasted_reads, 0.06 * a.wasted_reads) << "round " << round;
  }
}

TEST(AllotmentTest, NothingAbsentMeansNoFilterForTheLastLevel) {
  const Allotment result = AllotBits({kBloom, kCuckoo}, Tree(StandardEntries(), 0), 1);
  EXPECT_EQ(FilterKind::kNone, result.runs.back().kind);
  EXPECT_NE(FilterKind::kNone, result.runs.front().kind);
}

TEST(AllotmentTest, LevelZeroFilesAreNotFree) {
  // Eight files with a tenth of the keys each take 80% of the memory of the rest: giving them ten
  // bits more each has to come out of somewhere.
  const std::vector<AllotmentRun> runs = Tree({1e5, 1e5, 1e5, 1e5, 1e5, 1e5, 1e5, 1e5, 1e6});
  const Allotment result = AllotBits({kBloom}, runs, 10);
  EXPECT_LE(result.bytes, Bytes(runs, 10));
  const double extra = result.runs[0].bits_per_key - result.runs[8].bits_per_key;
  EXPECT_LT(extra, 6.5);
  EXPECT_LT(result.runs[8].bits_per_key, 8.5);
  for (int i = 1; i < 8; ++i) {
    EXPECT_EQ(result.runs[0].bits_per_key, result.runs[static_cast<size_t>(i)].bits_per_key);
  }
}

TEST(AllotmentTest, ShallowTreesAreToldThatItIsNotWorthIt) {
  const Allotment shallow = AllotBits({kBloom}, Tree({1e6, 1e7}), 10);
  EXPECT_FALSE(shallow.is_worth_it()) << shallow.gain();
  const Allotment deep = AllotBits({kBloom}, Tree(StandardEntries()), 10);
  EXPECT_TRUE(deep.is_worth_it()) << deep.gain();
  EXPECT_GT(deep.gain(), 4);
}

TEST(AllotmentTest, CapsHold) {
  AllotmentLimits limits = LimitsFor({kBloom, kCuckoo});
  limits.max_bits_per_key = 12;
  limits.max_bytes_per_table = 512 * 1024;
  std::vector<AllotmentRun> runs = Tree({1e5, 4e6});
  const Allotment result = Allot(FilterFrontier(limits), runs, Bytes(runs, 16));
  for (size_t i = 0; i < runs.size(); ++i) {
    EXPECT_LE(result.runs[i].bits_per_key, 12);
    EXPECT_LE(result.runs[i].bits_per_key * runs[i].entries / 8, 512 * 1024);
    EXPECT_GT(result.runs[i].bits_per_key, 0.5);
  }
  // Four million keys in 512 kB leave a Bloom filter of one bit.
  EXPECT_EQ(kBloom, result.runs[1].kind);
}

TEST(AllotmentTest, DegenerateInputs) {
  const FilterFrontier frontier(LimitsFor({kBloom, kCuckoo}));
  EXPECT_EQ(0, Allot(frontier, {}, 1000).bytes);
  EXPECT_EQ(0, Allot(frontier, Tree({1e5, 1e6}), 0).bytes);
  EXPECT_EQ(2u, Allot(frontier, Tree({1e5, 1e6}), -1).runs.size());
  EXPECT_EQ(FilterKind::kNone, Allot(frontier, Tree({0, 1e6}), 1e6).runs[0].kind);
  EXPECT_EQ(FilterKind::kNone, Allot(FilterFrontier(LimitsFor({})), Tree({1e6}), 1e6).runs[0].kind);
}

TEST(AllotmentTest, CheapKindWhereItCostsAlmostNothing) {
  // Ribbon is a little smaller than cuckoo at these rates, by less than the tolerance at some.
  AllotmentLimits limits = LimitsFor({kCuckoo, kRibbon});
  limits.kind_tolerance = 0.1;
  const std::vector<AllotmentRun> runs = Tree({1e5, 1e6});
  for (const RunAllotment& run : Allot(FilterFrontier(limits), runs, Bytes(runs, 9)).runs) {
    EXPECT_EQ(kCuckoo, run.kind);
  }
}

TEST(AllotmentTest, WastedLookups) {
  EXPECT_EQ((std::vector<double>{1, 1}), WastedLookups({1, 9}, 1));
  const std::vector<double> found = WastedLookups({1, 9}, 0);
  EXPECT_DOUBLE_EQ(0.9, found[0]);
  EXPECT_DOUBLE_EQ(0, found[1]);
  EXPECT_DOUBLE_EQ(0.25 + 0.75 * 0.5, WastedLookups({1, 9}, 0.25, {0.5, 0.5})[0]);
}

TEST(AllotmentTest, PrintsItsTime) {
  const FilterFrontier frontier(LimitsFor({kBloom, kCuckoo, kRibbon}));
  const std::vector<AllotmentRun> runs = Tree(StandardEntries(), 0.8);
  const auto start = std::chrono::steady_clock::now();
  double sum = 0;
  for (int i = 0; i < 100; ++i) {
    sum += Allot(frontier, runs, Bytes(runs, 5 + 0.1 * i)).bytes;
  }
  const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
  RecordProperty("microseconds_per_solution", std::to_string(time.count() / 100));
  std::printf("%.1f us per solution\n", time.count() / 100);
  EXPECT_GT(sum, 0);
}

}  // namespace
}  // namespace tieredfilter
