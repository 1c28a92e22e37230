#include "src/policy/filter_curves.h"

#include <gtest/gtest.h>

#include <cmath>

#include "src/format/block.h"
#include "src/policy/bloom_rate.h"

namespace tieredfilter {
namespace {

constexpr FilterKind kKinds[] = {FilterKind::kBloom, FilterKind::kRibbon, FilterKind::kCuckoo};

TEST(FilterCurvesTest, BloomIsTheModelOfTheStockFilter) {
  const FilterCurve& curve = CurveOf(FilterKind::kBloom);
  for (int bits = 1; bits <= 24; ++bits) {
    const double model = BloomRateForBits(bits);
    EXPECT_NEAR(curve.Rate(bits) / model, 1, 0.001) << bits;
  }
  for (double bits : {1.5, 2.5, 9.5, 15.25}) {
    EXPECT_NEAR(curve.Rate(bits) / BloomRateForBits(bits), 1, 0.03) << bits;
  }
}

TEST(FilterCurvesTest, CuckooIsWhatABlockHas) {
  const FilterCurve& curve = CurveOf(FilterKind::kCuckoo);
  constexpr size_t kKeys = 300 * 1000;
  for (double bits = 4; bits <= 20; bits += 0.31) {
    BlockRequest request;
    request.bits_per_key = bits;
    EXPECT_NEAR(curve.Rate(bits) / ExpectedRate(kKeys, request), 1, 0.015) << bits;
    const double real = static_cast<double>(BlockBytes(kKeys, request));
    EXPECT_NEAR(real, kKeys * bits / 8 + curve.bytes_per_table(), 64) << bits;
  }
}

TEST(FilterCurvesTest, MoreBitsNeverHurtAndTheInverseFits) {
  for (FilterKind kind : kKinds) {
    const FilterCurve& curve = CurveOf(kind);
    double previous = 1;
    for (double bits = curve.min_bits(); bits < curve.max_bits(); bits += 0.05) {
      const double rate = curve.Rate(bits);
      EXPECT_LT(rate, previous) << NameOf(kind) << " " << bits;
      EXPECT_NEAR(curve.BitsForHalvings(-std::log2(rate)), bits, 1e-6) << NameOf(kind);
      previous = rate;
    }
  }
}

TEST(FilterCurvesTest, BeyondTheEnds) {
  for (FilterKind kind : kKinds) {
    const FilterCurve& curve = CurveOf(kind);
    EXPECT_EQ(1, curve.Rate(curve.min_bits() - 0.01));
    EXPECT_EQ(curve.Rate(curve.max_bits()), curve.Rate(curve.max_bits() + 5));
    EXPECT_EQ(curve.min_bits(), curve.BitsForHalvings(0));
    EXPECT_TRUE(std::isinf(curve.BitsForHalvings(curve.max_halvings() + 0.01)));
  }
}

}  // namespace
}  // namespace tieredfilter
