#include "src/filter/cuckoo_geometry.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "gtest/gtest.h"

namespace tieredfilter {
namespace {

constexpr double kBits[] = {4,  4.25, 4.5, 5,  5.5, 6.25, 7,    8, 8.6,
                            10, 12.3, 14,  16, 18,  20,   22.5, 24};

size_t Bytes(size_t keys, double bits) { return GeometryForBits(keys, bits).data_bytes(); }

// Partition sizing walks up to the most keys that fit in so many bytes; it would miss its target if
// one more key could make a filter smaller.
TEST(CuckooGeometryTest, BytesNeverFallWithKeys) {
  for (double bits : kBits) {
    size_t last = 0;
    for (size_t keys = 0; keys < 3000; ++keys) {
      const size_t bytes = Bytes(keys, bits);
      EXPECT_GE(bytes, keys == 0 ? 0 : last) << keys << " keys, " << bits << " bits";
      if (keys > 0) last = bytes;
    }
    for (size_t keys = 3000; keys < 2000000000; keys += keys / 7) {
      const size_t bytes = Bytes(keys, bits);
      EXPECT_GE(bytes, last) << keys << " keys, " << bits << " bits";
      last = bytes;
    }
  }
}

TEST(CuckooGeometryTest, BytesAreTheBitsAskedForToTheLine) {
  for (double bits : kBits) {
    for (size_t keys : {200u, 1000u, 12345u, 1000000u, 50000000u}) {
      const double asked = static_cast<double>(keys) * bits / 8;
      const auto bytes = static_cast<double>(Bytes(keys, bits));
      EXPECT_GE(bytes, asked) << keys << " keys, " << bits << " bits";
      EXPECT_LT(bytes, asked + kLineBytes) << keys << " keys, " << bits << " bits";
    }
  }
}

// The rule that builders use for "how many keys fit in so many bytes".
TEST(CuckooGeometryTest, MostKeysForBytesCanBeFoundByBisection) {
  for (double bits : {4.0, 4.5, 8.6, 10.0, 24.0}) {
    for (size_t bytes = 1; bytes <= 100000; bytes += 1 + bytes / 50) {
      size_t fits = 0, too_many = bytes * 8;
      while (too_many - fits > 1) {
        const size_t middle = (fits + too_many) / 2;
        (Bytes(middle, bits) <= bytes ? fits : too_many) = middle;
      }
      if (fits == 0) continue;
      EXPECT_LE(Bytes(fits, bits), bytes) << bytes << " bytes, " << bits << " bits";
      EXPECT_GT(Bytes(fits + 1, bits), bytes) << bytes << " bytes, " << bits << " bits";
    }
  }
}

TEST(CuckooGeometryTest, HugeCountsNeitherWrapNorFall) {
  for (double bits : kBits) {
    size_t last = 0;
    for (size_t keys :
         {size_t{1} << 20, size_t{0x7fffffff}, size_t{1} << 31, size_t{0xffffffff}, size_t{1} << 32,
          (size_t{1} << 32) + 1, size_t{1} << 40, size_t{1} << 52, ~size_t{0} >> 1, ~size_t{0}}) {
      const CuckooGeometry geometry = GeometryForBits(keys, bits);
      EXPECT_GE(geometry.lines, 1u);
      EXPECT_LE(geometry.lines, kMaxLines);
      EXPECT_LE(geometry.more, geometry.lines);
      EXPECT_GE(geometry.planes, kMinPlanes);
      EXPECT_LE(geometry.planes, kMaxPlanes);
      EXPECT_GE(geometry.data_bytes(), last) << keys << " keys, " << bits << " bits";
      last = geometry.data_bytes();
    }
    EXPECT_EQ(last, kMaxLines * kLineBytes);
  }
}

TEST(CuckooGeometryTest, PlanesStayInRangeForEverySmallCount) {
  for (double bits : kBits) {
    for (size_t keys = 1; keys < 2000; ++keys) {
      const CuckooGeometry geometry = GeometryForBits(keys, bits);
      ASSERT_GE(geometry.planes, kMinPlanes) << keys << " keys, " << bits << " bits";
      ASSERT_LE(geometry.planes, kMaxPlanes) << keys << " keys, " << bits << " bits";
      ASSERT_LE(geometry.more, geometry.lines) << keys << " keys, " << bits << " bits";
    }
  }
}

// A power-of-two table doubles for one key too many; ours must not (up to a line).
TEST(CuckooGeometryTest, OneKeyMoreNeverCostsMoreThanALine) {
  for (double bits : kBits) {
    for (uint32_t k = 8; k <= 20; ++k) {
      const auto keys = static_cast<size_t>(0.95 * 4 * static_cast<double>(size_t{1} << k)) + 1;
      EXPECT_LE(Bytes(keys, bits), Bytes(keys - 1, bits) + kLineBytes) << keys;
    }
  }
}

TEST(CuckooGeometryTest, RateFallsSmoothlyWithBits) {
  double last = RateForBits(5.25);
  for (double bits = 5.5; bits <= 18; bits += 0.25) {
    const double rate = RateForBits(bits);
    EXPECT_GT(last / rate, 1.05) << bits;
    EXPECT_LT(last / rate, 1.30) << bits;
    last = rate;
  }
}

TEST(CuckooGeometryTest, BitsForRateIsTheInverseOfRateForBits) {
  for (double bits = 5; bits <= 23; bits += 0.37) {
    bool met = false;
    EXPECT_NEAR(BitsForRate(RateForBits(bits), &met), bits, 0.001);
    EXPECT_TRUE(met);
  }
}

TEST(CuckooGeometryTest, BitsForRateSaysWhenItCannotReachTheRate) {
  bool met = true;
  EXPECT_NEAR(BitsForRate(1e-12, &met), 24, 1e-6);
  EXPECT_FALSE(met);
  EXPECT_NEAR(BitsForRate(0.9, &met), 4, 1e-6);
  EXPECT_TRUE(met);
}

// The sizes this coding is chosen for; a change of the fill that loses them should be noticed.
TEST(CuckooGeometryTest, NeedsFewBitsForTheUsualRates) {
  EXPECT_LE(BitsForRate(0.008), 7.75);
  EXPECT_LE(BitsForRate(0.004), 8.7);
  EXPECT_LE(BitsForRate(0.001), 10.95);
  EXPECT_LE(BitsForRate(0.0001), 15.0);
}

}  // namespace
}  // namespace tieredfilter
