// The parts of cold_lookup_bench that turn counts into figures and sentences, and filter blocks
// into what they lead one to expect.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tools/cold_lookup_bench/device.h"
#include "tools/cold_lookup_bench/filter_rate.h"
#include "tools/cold_lookup_bench/latency_histogram.h"
#include "tools/cold_lookup_bench/report.h"
#include "tools/cold_lookup_bench/report_format.h"
#include "tools/cold_lookup_bench/report_page.h"
#include "tools/cold_lookup_bench/report_verdict.h"
#include "tools/cold_lookup_bench/table_filter.h"

namespace tieredfilter::cold_lookup {
namespace {

TEST(LatencyHistogramTest, PercentilesAreWithinThreePercent) {
  LatencyHistogram histogram;
  EXPECT_EQ(histogram.Percentile(50), 0);
  LatencyHistogram half;
  for (uint64_t value = 1; value <= 100000; ++value) {
    (value % 2 == 0 ? histogram : half).Add(value * 100);
  }
  histogram.Merge(half);
  EXPECT_EQ(histogram.count(), 100000u);
  EXPECT_EQ(histogram.max(), 10000000u);
  EXPECT_DOUBLE_EQ(histogram.Mean(), 5000050.0);
  for (const double percent : {1.0, 50.0, 90.0, 99.0, 99.9, 100.0}) {
    EXPECT_NEAR(histogram.Percentile(percent) / (100000 * percent), 1, 0.035) << percent;
  }
  histogram.Add(~uint64_t{0});
  histogram.Add(0);
  uint64_t counted = 0;
  uint64_t last = 0;
  for (const auto& [bound, count] : histogram.Buckets()) {
    EXPECT_TRUE(bound > last || counted == 0);
    last = bound;
    counted += count;
  }
  EXPECT_EQ(counted, histogram.count());
}

TEST(ExpectationTest, TheIntervalHoldsChanceAndNothingElse) {
  Expectation expected;
  expected.AddFile(100000, 0.01);
  EXPECT_TRUE(expected.Covers(1000));
  EXPECT_TRUE(expected.Covers(1090));
  EXPECT_FALSE(expected.Covers(1150));
  EXPECT_FALSE(expected.Covers(850));
  expected.AddFile(0, -1);  // a file no lookup came to
  EXPECT_TRUE(expected.known);
  expected.AddFile(1, -1);
  EXPECT_FALSE(expected.known);
}

TEST(SpreadTest, MeanAndStandardDeviationOfTheSample) {
  EXPECT_EQ((Spread{{3}}).StandardDeviation(), 0);
  EXPECT_DOUBLE_EQ((Spread{{1, 2, 3}}).Mean(), 2);
  EXPECT_DOUBLE_EQ((Spread{{1, 2, 3}}).StandardDeviation(), 1);
}

TEST(HtmlTest, TextFromTheUserCannotBreakThePage) {
  EXPECT_EQ(EscapeHtml("<b a='\"&"), "&lt;b a=&#39;&quot;&amp;");
  EXPECT_EQ(EscapeHtml(std::string("a\x01\xff\0b", 5)), "a???b");
}

TEST(TableFilterTest, KnowsKindsByTheMarker) {
  const auto block = [](int marker) {
    return std::string(64, 'x') + static_cast<char>(marker) + std::string(4, '\0');
  };
  EXPECT_EQ(FilterKindOf(block(-1)), "bloom");
  EXPECT_EQ(FilterKindOf(block(-2)), "ribbon");
  EXPECT_EQ(FilterKindOf(block(0xA5)), "cuckoo");
  EXPECT_EQ(FilterKindOf(block(0xA4)), "cuckoo");
  EXPECT_EQ(FilterKindOf(block(6)), "legacy bloom");
  EXPECT_EQ(FilterKindOf(block(0)), "unknown");
  EXPECT_EQ(FilterKindOf(block(-9)), "unknown");
  EXPECT_EQ(FilterKindOf(std::string(5, '\xff')), "empty");
  EXPECT_EQ(FilterKindOf(""), "empty");
}

TEST(FilterRateTest, BloomIsTheShareOfSetBitsToThePowerOfTheProbes) {
  std::string block(128, '\0');
  std::fill(block.begin(), block.begin() + 32, '\xff');          // half of the first line
  const std::string trailer = {'\xff', '\0', '\6', '\0', '\0'};  // six probes
  EXPECT_DOUBLE_EQ(ExpectedRateOf(block + trailer), (std::pow(0.5, 6) + 0) / 2);
  EXPECT_LT(ExpectedRateOf(block.substr(1) + trailer), 0);  // not whole lines
  EXPECT_LT(ExpectedRateOf(std::string("\xff\0\0\0", 4)), 0);
}

TEST(FilterRateTest, RibbonHalvesWithEveryColumn) {
  const auto block = [](size_t columns) {
    return std::string(columns * 16, 'x') +
           std::string({'\xfe', '\0', '\4', '\0', '\0'});  // four blocks
  };
  EXPECT_DOUBLE_EQ(ExpectedRateOf(block(4 * 7)), 1.0 / 128);
  EXPECT_DOUBLE_EQ(ExpectedRateOf(block(4 * 7 + 2)), (1.0 / 128 + 1.0 / 256) / 2);
  EXPECT_LT(ExpectedRateOf(block(3)), 0);
}

TEST(DeviceTest, KnowsNamesAndMicrosecondsAndRefusesTheRest) {
  std::vector<Device> devices;
  ASSERT_TRUE(ParseDevices("nvme,hdd,250.5", &devices).ok());
  ASSERT_EQ(devices.size(), 3u);
  EXPECT_EQ(devices[0].name, "nvme");
  EXPECT_TRUE(devices[1].one_at_a_time);
  EXPECT_EQ(devices[2].name, "250.5 us");
  EXPECT_EQ(devices[2].access_us, 250.5);
  ASSERT_TRUE(ParseDevices("none", &devices).ok());
  EXPECT_TRUE(devices.empty());
  for (const char* bad : {"floppy", "nvme,,hdd", "-1", "nan", "1e99", "nvme,"}) {
    EXPECT_TRUE(ParseDevices(bad, &devices).IsInvalidArgument()) << bad;
  }
}

TEST(DeviceTest, ModelsAccessesAndBytesOnTopOfTheCpu) {
  // A Get of one block, and a MultiRead of three blocks, two of them in one request.
  const std::vector<FileRead> reads = {{1, 0, 4000, 4000, true, true},
                                       {2, 0, 4000, 4000, true, true},
                                       {2, 4000, 4000, 4000, false, false},
                                       {2, 90000, 4000, 4000, true, false}};
  const Device flash = {"flash", 100, 1000, false};
  EXPECT_EQ(ModelledNanoseconds(flash, 700, reads), 700u + 2 * 100000 + 16000);
  const Device disk = {"disk", 100, 1000, true};
  EXPECT_EQ(ModelledNanoseconds(disk, 700, reads), 700u + 3 * 100000 + 16000);
  const Device plain = {"100 us", 100, 0, false};
  EXPECT_EQ(ModelledNanoseconds(plain, 700, {}), 700u);
}

// A policy that wasted so many reads in 10,000 lookups, with so many bytes of filters.
PolicyReport Policy(const std::string& name, uint64_t wasted, uint64_t bytes) {
  PolicyReport policy;
  policy.requested = policy.spec = name;
  policy.total.counts.lookups = 10000;
  policy.total.counts.wasted_data_block_reads = wasted;
  policy.total.filter_bytes = bytes;
  policy.wasted_reads_per_lookup.values = {static_cast<double>(wasted) / 10000};
  return policy;
}

std::string VerdictOn(const PolicyReport& policy, const RunReport& base = RunReport()) {
  RunReport report = base;
  report.policies = {Policy("none", 80000, 0), Policy("bloomfilter:10", 400, 1000000), policy};
  const std::vector<std::string> verdicts = Verdicts(report);
  EXPECT_EQ(verdicts.size(), 1u);
  return verdicts.empty() ? "" : verdicts[0];
}

bool Says(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

TEST(VerdictTest, CallsAWinnerOnlyBeyondChance) {
  EXPECT_TRUE(Says(VerdictOn(Policy("x", 100, 1005000)), "4.0 times fewer"));
  EXPECT_TRUE(Says(VerdictOn(Policy("x", 100, 1005000)), "same filter memory"));
  EXPECT_TRUE(Says(VerdictOn(Policy("x", 800, 1000000)), "2.0 times more"));
  // sqrt(400 + 360) is 28, so a difference of 40 is less than three of them.
  EXPECT_TRUE(Says(VerdictOn(Policy("x", 360, 1000000)), "no difference"));
  EXPECT_TRUE(Says(VerdictOn(Policy("x", 290, 1000000)), "1.4 times fewer"));
  EXPECT_TRUE(Says(VerdictOn(Policy("x", 0, 1000000)), "400.0 times fewer"));
}

TEST(VerdictTest, CallsNoWinnerWhereNothingIsEqual) {
  EXPECT_TRUE(Says(VerdictOn(Policy("x", 100, 2000000)), "no winner"));
  EXPECT_TRUE(Says(VerdictOn(Policy("x", 900, 500000)), "no winner"));
  EXPECT_FALSE(Says(VerdictOn(Policy("x", 100, 500000)), "no winner"));
  EXPECT_TRUE(Says(VerdictOn(Policy("x", 390, 700000)), "70% of the filter memory"));
}

TEST(VerdictTest, TheSpreadOverSeedsCountsWhereItIsLarger) {
  RunReport base;
  base.seeds = 3;
  PolicyReport policy = Policy("x", 100, 1000000);
  policy.wasted_reads_per_lookup.values = {0.010, 0.012, 0.011};
  EXPECT_TRUE(Says(VerdictOn(policy, base), "times fewer"));
  policy.wasted_reads_per_lookup.values = {0.001, 0.060, 0.002};
  EXPECT_TRUE(Says(VerdictOn(policy, base), "no difference"));
}

TEST(VerdictTest, OneSeedOfASkewedLoadTellsTooLittle) {
  RunReport base;
  base.absent_percent = 50;
  base.popularity = "zipfian";
  EXPECT_TRUE(Says(VerdictOn(Policy("x", 100, 1000000), base), "tells too little"));
  base.seeds = 5;
  EXPECT_TRUE(Says(VerdictOn(Policy("x", 100, 1000000), base), "times fewer"));
}

TEST(VerdictTest, FiltersThatCostMoreThanTheySaveAreNamed) {
  LevelCounts none;
  none.data_block_reads = 10;
  none.data_bytes = 40960;
  LevelCounts filtered;
  filtered.data_block_reads = 1;
  filtered.data_bytes = 4096;
  filtered.filter_block_reads = 20;
  filtered.filter_bytes = 200000;
  PolicyReport policy = Policy("x", 100, 1000000);
  policy.total.saved = Difference(none, filtered);
  EXPECT_EQ(policy.total.saved->data_block_reads, 9);
  EXPECT_EQ(policy.total.saved->other_block_reads, -20);
  EXPECT_EQ(policy.total.saved->NetReads(), -11);
  EXPECT_EQ(policy.total.saved->NetBytes(), 40960 - 4096 - 200000);
  EXPECT_TRUE(Says(VerdictOn(policy), "reads 163.1 kB more than without filters"));
  RunReport report;
  report.policies = {policy};
  EXPECT_TRUE(Says(ReportAsText(report, true), "-163.1 kB"));
}

TEST(FormatTest, FiguresAreShort) {
  EXPECT_EQ(WithUnit(9999), "9999 B");
  EXPECT_EQ(WithUnit(791300), "791.3 kB");
  EXPECT_EQ(WithUnit(-12345678), "-12.3 MB");
  EXPECT_EQ(Duration(12345), "12.3 us");
  EXPECT_EQ(Duration(4.2e6), "4.2 ms");
  EXPECT_EQ(Duration(1.5e9), "1.5 s");
  EXPECT_EQ(Short(0.126), "0.13");
  EXPECT_EQ(Plural(1, "file"), "1 file");
  EXPECT_EQ(Plural(4, "file"), "4 files");
}

}  // namespace
}  // namespace tieredfilter::cold_lookup
