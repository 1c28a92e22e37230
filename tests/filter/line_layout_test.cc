#include "src/filter/line_layout.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "src/filter/cuckoo_geometry.h"
#include "src/filter/equations_builder.h"
#include "src/filter/hash_sort.h"
#include "src/filter/lookup.h"
#include "tests/filter/test_keys.h"

namespace tieredfilter {
namespace {

TEST(LineLayoutTest, SaltsCanBeUndone) {
  const std::vector<uint64_t> hashes = RandomHashes(1, 200);
  for (uint32_t salt = 0; salt < 256; ++salt) {
    for (uint64_t hash : hashes) {
      const auto s = static_cast<uint8_t>(salt);
      ASSERT_EQ(UnsaltHash(SaltHash(hash, s), s), hash) << salt;
      ASSERT_EQ(SaltHash(UnsaltHash(hash, s), s), hash) << salt;
    }
  }
  for (uint64_t hash : {uint64_t{0}, ~uint64_t{0}, uint64_t{1} << 63}) {
    EXPECT_EQ(SaltHash(hash, 0), hash);
    EXPECT_NE(SaltHash(hash, 1), SaltHash(hash, 2));
  }
}

TEST(LineLayoutTest, ConstantsFitTheLine) {
  for (uint32_t planes : {kMinPlanes, kMinPlanes + 1}) {
    EXPECT_EQ(planes * (kNearColumns + FarColumns(planes)), kMatrixBits);
    EXPECT_LE(FarColumns(planes), 49u);  // more bits of FarCoefficients may not be uniform
  }
  for (uint32_t planes = kWidePlanes; planes <= kMaxPlanes + 1; ++planes) {
    EXPECT_LE(planes * LineColumns(planes), kMatrixBits);
    if (planes < kNarrowPlanes) {
      EXPECT_EQ(LineColumns(planes), kWordColumns + TailColumns(planes));
      EXPECT_LE(TailColumns(planes), kMaxTailColumns);
    } else {
      EXPECT_LE(LineColumns(planes), kWordColumns);
    }
  }
}

// Every line is some key's secondary, the primary never, and all about equally often.
TEST(LineLayoutTest, SecondaryIsAnotherLineAndUniform) {
  TestRandom random(2);
  for (uint32_t lines : {2u, 3u, 5u, 7u, 10u, 16u, 100u}) {
    for (uint32_t primary : {0u, lines / 2, lines - 1}) {
      std::vector<uint32_t> hits(lines);
      const uint32_t draws = 2000 * lines;
      for (uint32_t i = 0; i < draws; ++i) {
        const uint32_t line = SecondaryOf(primary, random.Next(), lines);
        ASSERT_LT(line, lines);
        ++hits[line];
      }
      EXPECT_EQ(hits[primary], 0u);
      const double expected = draws / (lines - 1.0);
      for (uint32_t line = 0; line < lines; ++line) {
        if (line == primary) continue;
        EXPECT_NEAR(hits[line], expected, 6 * std::sqrt(expected)) << line << " of " << lines;
      }
    }
  }
  EXPECT_EQ(SecondaryOf(0, ~uint64_t{0}, 1), 0u);
}

// Arithmetic alone, with more lines than a filter may have: 32-bit steps would wrap or leave the
// upper lines unused.
TEST(LineLayoutTest, IndexesHoldForHugeCounts) {
  TestRandom random(3);
  for (uint32_t lines : {0x7fffffffu, 0x80000007u, 0xffffffffu}) {
    uint32_t upper = 0, secondary_upper = 0;
    constexpr uint32_t kDraws = 100000;
    for (uint32_t i = 0; i < kDraws; ++i) {
      const uint64_t hash = random.Next();
      const PrimarySlot slot = PrimaryOf(hash, lines);
      ASSERT_LT(slot.line, lines);
      ASSERT_LT(slot.group, 128u);
      const uint32_t other = SecondaryOf(slot.line, random.Next(), lines);
      ASSERT_LT(other, lines);
      ASSERT_NE(other, slot.line);
      upper += slot.line >= lines / 2;
      secondary_upper += other >= lines / 2;
    }
    EXPECT_NEAR(upper, kDraws / 2.0, 5 * std::sqrt(kDraws) / 2);
    EXPECT_NEAR(secondary_upper, kDraws / 2.0, 5 * std::sqrt(kDraws) / 2);
    EXPECT_EQ(SecondaryOf(lines - 1, ~uint64_t{0}, lines), lines - 2);
    EXPECT_EQ(SecondaryOf(lines - 1, 0, lines), 0u);
  }
}

TEST(LineLayoutTest, SortingHashesSortsByLineAndGroup) {
  std::vector<uint64_t> hashes = RandomHashes(4, 10000);
  SortUnique(hashes.data(), hashes.size());
  for (uint32_t lines : {1u, 3u, 64u, 1000u}) {
    PrimarySlot last{0, 0};
    for (uint64_t hash : hashes) {
      const PrimarySlot slot = PrimaryOf(hash, lines);
      ASSERT_TRUE(slot.line > last.line || (slot.line == last.line && slot.group >= last.group));
      last = slot;
    }
  }
}

// Each bit of an equation is set half of the time. Not the highest bits of `high`: the high half of
// a product is below the constant factor. It does no harm that a fingerprint bit is, say, 0 in 60%
// of all keys, as long as the coefficients are uniform: the parity it is compared with then is.
TEST(LineLayoutTest, EquationBitsAreBalanced) {
  constexpr int kHashes = 20000;
  constexpr uint32_t kUniform = 58;
  constexpr uint32_t kFar = 49;
  std::vector<int> set(63 + kUniform + kFar);
  for (uint64_t hash : RandomHashes(5, kHashes)) {
    const KeyEquation key = EquationOf(hash);
    ASSERT_EQ(key.coefficients >> 63, 0u);
    for (uint32_t b = 0; b < 63; ++b) set[b] += (key.coefficients >> b) & 1;
    for (uint32_t b = 0; b < kUniform; ++b) set[63 + b] += (key.high >> b) & 1;
    for (uint32_t b = 0; b < kFar; ++b) set[63 + kUniform + b] += (FarCoefficients(key) >> b) & 1;
  }
  for (size_t b = 0; b < set.size(); ++b) {
    EXPECT_NEAR(set[b], kHashes / 2.0, 5.5 * std::sqrt(kHashes) / 2) << b;
  }
}

struct Filter {
  std::vector<char> bytes;
  LinesView view;
};

Filter BuildFilter(uint64_t seed, size_t keys, double bits) {
  std::vector<uint64_t> hashes(keys);
  // Real hashes of keys, not random numbers: what an equation may not do is depend on the hash's
  // structure.
  for (size_t i = 0; i < keys; ++i) {
    hashes[i] = HashOf(FamilyKey(KeyFamily::kBigEndian, (seed << 24) + i));
  }
  hashes.resize(SortUnique(hashes.data(), keys));
  const CuckooGeometry geometry = GeometryForBits(keys, bits);
  Filter filter;
  filter.bytes.resize(geometry.data_bytes());
  const BuiltLines built = BuildEquations(hashes.data(), hashes.size(), bits, geometry,
                                          DefaultCpuKernel(), filter.bytes.data());
  EXPECT_TRUE(built.ok);
  filter.view.lines = filter.bytes.data();
  filter.view.count = geometry.lines;
  filter.view.planes = built.planes;
  filter.view.salt = built.salt;
  return filter;
}

// The rate of a line of R planes is exactly 2^-R, for keys that read their primary line and for
// those that a threshold sends to the other one. Bits of a key's equation that were predictable
// from others would show here: the solver would use them, and whole lines would accept everything.
TEST(LineLayoutTest, RateOfMovedAndUnmovedKeysIsTwoToTheMinusPlanes) {
  for (double bits : {4.0, 5.0, 6.4, 7.5, 8.6, 10.0}) {
    const Filter filter = BuildFilter(1, 60000, bits);
    const LinesView& view = filter.view;
    const LookupKernel& lookup = LookupFor(DefaultCpuKernel(), view.planes, view.salt != 0);
    uint64_t asked[2] = {}, matched[2] = {};
    double expected[2] = {};
    for (uint64_t i = 0; i < 3000000; ++i) {
      const std::string text = FamilyKey(KeyFamily::kBigEndian, (uint64_t{200} << 24) + i);
      const uint64_t hash = HashOf(text), salted = SaltHash(hash, view.salt);
      const PrimarySlot slot = PrimaryOf(salted, view.count);
      const char* line = view.lines + size_t{slot.line} * kLineBytes;
      const bool moved = GroupIsGivenAway(slot.group, PortableKernel::Tag(line));
      if (moved) {
        line = view.lines +
               kLineBytes * size_t{SecondaryOf(slot.line, EquationOf(salted).spread, view.count)};
      }
      ++asked[moved];
      expected[moved] += std::ldexp(
          1.0, -static_cast<int>(view.planes + (PortableKernel::Tag(line) & kTagMorePlanes)));
      matched[moved] += lookup.match_hash(view, hash);
    }
    for (int moved : {0, 1}) {
      EXPECT_GT(asked[moved], 50000u);
      EXPECT_NEAR(static_cast<double>(matched[moved]), expected[moved],
                  5 * std::sqrt(expected[moved]))
          << bits << " bits, " << (moved ? "moved" : "unmoved");
    }
  }
}

}  // namespace
}  // namespace tieredfilter
