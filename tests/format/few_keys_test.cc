// What the short form is for: filters of few keys against stock Bloom filters of the same bytes.
#include <cmath>
#include <set>

#include "gtest/gtest.h"
#include "src/filter/short_geometry.h"
#include "src/policy/bloom_rate.h"
#include "tests/format/test_blocks.h"

namespace tieredfilter {
namespace {

// Bytes of RocksDB's filter for `bloom` with 10 bits per key: whole lines of 64 bytes, and five.
size_t BloomLineBytes(size_t keys) { return (keys * 10 + 511) / 512 * 64; }
size_t BloomBytes(size_t keys) { return BloomLineBytes(keys) + 5; }

// The most bits per key with which our block has at most so many bytes.
double BitsFor(size_t keys, size_t bytes) {
  return static_cast<double>(bytes - kShortTrailerBytes) * 8 / static_cast<double>(keys) - 1e-9;
}

BlockRequest RequestFor(double bits) {
  BlockRequest request;
  request.bits_per_key = bits;
  return request;
}

// With the model's rate for the bits that Bloom really has after rounding up to lines: better than
// its real rate, since RocksDB chooses the probes for the bits asked for.
TEST(FewKeysTest, AQuarterOfBloomsFalsePositivesInItsBytes) {
  for (size_t keys = 128; keys <= 500; ++keys) {
    const BlockRequest request = RequestFor(BitsFor(keys, BloomBytes(keys)));
    EXPECT_LE(BlockBytes(keys, request), BloomBytes(keys)) << keys;
    const double bloom_bits =
        static_cast<double>(BloomLineBytes(keys)) * 8 / static_cast<double>(keys);
    EXPECT_LE(ExpectedRate(keys, request), BloomRateForBits(bloom_bits) / 4) << keys;
  }
}

// What was expected is what is built, and what is looked up.
TEST(FewKeysTest, RealBlocksHaveTheExpectedRate) {
  double expected = 0, matched = 0;
  constexpr uint64_t kLookups = 40000;
  for (size_t keys = 128; keys <= 500; keys += 3) {
    std::vector<uint64_t> hashes = RandomHashes(keys, keys);
    const BlockRequest request = RequestFor(BitsFor(keys, BloomBytes(keys)));
    const BuiltBlock block = BuildBlock(hashes.data(), keys, request, DefaultCpuKernel());
    ASSERT_TRUE(block.ok) << keys;
    EXPECT_EQ(block.size, BlockBytes(keys, request)) << keys;
    EXPECT_NEAR(block.metadata.fp_rate() / ExpectedRate(keys, request), 1, 0.003) << keys;
    const BlockReader reader(block.data.get(), block.size, DefaultCpuKernel());
    TestRandom random(keys + 1000);
    for (uint64_t i = 0; i < kLookups; ++i) matched += reader.HashMayMatch(random.Next());
    expected += kLookups * ExpectedRate(keys, request);
  }
  // Lines with one more plane have the fewest keys, so they are asked a little more often.
  EXPECT_LE(matched, expected + 5 * std::sqrt(expected));
  EXPECT_GE(matched, 0.98 * expected - 5 * std::sqrt(expected));
}

// A short block has exactly the bits asked for; whole lines take over at the end of its range.
TEST(FewKeysTest, BytesAreTheBitsAskedForAndTheTrailer) {
  for (double bits : {4.0, 7.3, 10.0, 24.0}) {
    const BlockRequest request = RequestFor(bits);
    EXPECT_EQ(BlockBytes(0, request), kShortTrailerBytes);
    for (size_t keys = 1; keys <= kMaxShortKeys; ++keys) {
      const auto data_bytes = static_cast<size_t>(std::ceil(static_cast<double>(keys) * bits / 8));
      EXPECT_EQ(BlockBytes(keys, request), data_bytes + kShortTrailerBytes) << keys;
    }
    const size_t whole = BlockBytes(kMaxShortKeys + 1, request);
    EXPECT_EQ(whole % kLineBytes, kTrailerBytes);
    EXPECT_LE(whole, BlockBytes(kMaxShortKeys, request) + kLineBytes + kTrailerBytes);
  }
}

// The other coding has no short form, and is given none.
TEST(FewKeysTest, FingerprintsHaveWholeLines) {
  BlockRequest request = RequestFor(10);
  request.coding = BlockCoding::kFingerprints;
  EXPECT_EQ(BlockBytes(0, request), kTrailerBytes);
  EXPECT_EQ(BlockBytes(5, request), kLineBytes + kTrailerBytes);
}

}  // namespace
}  // namespace tieredfilter
