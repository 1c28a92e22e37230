#include "src/policy/bloom_rate.h"

#include <cmath>
#include <cstddef>

#include "gtest/gtest.h"

namespace tieredfilter {
namespace {

TEST(BloomRateTest, FallsWithBitsAllTheWay) {
  double last = 1;
  for (double bits = 1; bits <= 64; bits += 0.25) {
    const double rate = BloomRateForBits(bits);
    EXPECT_LT(rate, last) << bits;
    EXPECT_GT(rate, 0) << bits;
    last = rate;
  }
}

TEST(BloomRateTest, BitsForRateAreTheFewestThatReachIt) {
  for (double rate = 0.5; rate > 1e-6; rate /= 3) {
    const double bits = BloomBitsForRate(rate);
    EXPECT_LE(BloomRateForBits(bits), rate) << rate;
    EXPECT_GT(BloomRateForBits(bits - 0.01), rate) << rate;
  }
}

TEST(BloomRateTest, StaysInsideItsRange) {
  EXPECT_NEAR(BloomBitsForRate(0.99), 1, 0.001);
  EXPECT_NEAR(BloomBitsForRate(1e-30), 64, 0.001);
}

// A blocked filter is worse than an ideal one, the more so the lower the rate, but never by much in
// this range.
TEST(BloomRateTest, CloseToButAboveAnIdealBloomFilter) {
  for (double bits = 2; bits <= 24; bits += 1) {
    const double ideal = std::pow(0.6185, bits);
    EXPECT_GT(BloomRateForBits(bits), ideal) << bits;
    EXPECT_LT(BloomRateForBits(bits), ideal * (1 + 0.01 * bits * bits)) << bits;
  }
}

}  // namespace
}  // namespace tieredfilter
