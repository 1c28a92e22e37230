// The trailer, the builder's promises, and blocks that are not what they say.
#include "src/format/block.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/filter/reference_lookup.h"
#include "tests/format/test_blocks.h"

namespace tieredfilter {
namespace {

// Offsets in the trailer, from FORMAT.md and not from block.cc: a moved field has to show.
constexpr size_t kMagicAt = 0, kVersionAt = 2, kCodingAt = 3, kPlanesAt = 4, kSaltAt = 5,
                 kShortAt = 6, kMoreAt = 7, kKeysAt = 8, kLevelAt = 12, kAskedAt = 13,
                 kSolutionAt = 15, kChecksumAt = 19, kMarkerAt = 23;

// Makes the checksum right again, so that what is tested is not the checksum.
void Reseal(std::string* block) {
  char* trailer = &(*block)[block->size() - kTrailerBytes];
  const auto checksum = static_cast<uint32_t>(
      XXH3_64bits_withSeed(trailer, kChecksumAt, block->size() - kTrailerBytes));
  for (int i = 0; i < 4; ++i) trailer[kChecksumAt + i] = static_cast<char>(checksum >> (8 * i));
}

uint64_t Field(const std::string& block, size_t at, int bytes) {
  uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) {
    value |= uint64_t{static_cast<unsigned char>(block[block.size() - kTrailerBytes + at + i])}
             << (8 * i);
  }
  return value;
}

bool MatchesEverything(const std::string& block) {
  const BlockReader reader(block.data(), block.size(), DefaultCpuKernel());
  if (reader.filters()) return false;
  TestRandom random(block.size());
  for (int i = 0; i < 1000; ++i) {
    if (!reader.HashMayMatch(random.Next())) return false;
  }
  const KeyView keys[2] = {{"a", 1}, {nullptr, 0}};
  bool may_match[2] = {};
  reader.MayMatch(keys, 2, may_match);
  return may_match[0] && may_match[1] && reader.MayMatch("key", 3) && reader.MayMatch(nullptr, 0);
}

class BlockTest : public ::testing::TestWithParam<BlockCase> {};

TEST_P(BlockTest, TheTrailerSaysWhatWasBuilt) {
  const BuiltBlock built = Build(GetParam(), DefaultCpuKernel());
  const std::string block = BytesOf(built);
  EXPECT_TRUE(built.ok);
  EXPECT_EQ(block.size(), built.metadata.data_bytes + kTrailerBytes);
  BlockRequest request;
  request.coding = GetParam().coding;
  request.bits_per_key = GetParam().bits;
  EXPECT_EQ(block.size(), BlockBytes(GetParam().keys, request));
  EXPECT_EQ(Field(block, kMagicAt, 2), 0x4654u);
  EXPECT_EQ(Field(block, kVersionAt, 1), kFormatVersion);
  EXPECT_EQ(Field(block, kCodingAt, 1), static_cast<uint64_t>(GetParam().coding));
  EXPECT_EQ(Field(block, kPlanesAt, 1), built.metadata.planes);
  EXPECT_EQ(Field(block, kSaltAt, 1), built.metadata.salt);
  EXPECT_EQ(Field(block, kShortAt, 1), built.metadata.short_columns);
  EXPECT_EQ(Field(block, kMoreAt, 1), built.metadata.more_share);
  EXPECT_EQ(Field(block, kKeysAt, 4), GetParam().keys);
  EXPECT_EQ(Field(block, kLevelAt, 1), GetParam().seed % 7);
  EXPECT_EQ(Field(block, kAskedAt, 2), static_cast<uint16_t>(GetParam().bits * 1000));
  EXPECT_EQ(Field(block, kSolutionAt, 4), GetParam().seed * 0x01010101);
  EXPECT_EQ(Field(block, kMarkerAt, 5), 0xa5u);

  BlockMetadata parsed;
  ASSERT_TRUE(ParseBlock(block.data(), block.size(), &parsed));
  EXPECT_EQ(parsed.keys, GetParam().keys);
  EXPECT_EQ(parsed.planes, built.metadata.planes);
  EXPECT_EQ(parsed.data_bytes, built.metadata.data_bytes);
  EXPECT_DOUBLE_EQ(parsed.fp_rate(), built.metadata.fp_rate());
  std::string again(block.size(), '\0');
  WriteTrailer(parsed, &again[0]);
  EXPECT_EQ(again.substr(parsed.data_bytes), block.substr(parsed.data_bytes));
}

TEST_P(BlockTest, HandsTheHashesBackDistinctAndWithoutSalt) {
  std::vector<uint64_t> hashes = HashesOf(GetParam());
  const std::set<uint64_t> expected(hashes.begin(), hashes.end());
  hashes.insert(hashes.end(), hashes.begin(), hashes.end());
  BlockRequest request;
  request.coding = GetParam().coding;
  request.bits_per_key = GetParam().bits;
  const BuiltBlock built = BuildBlock(hashes.data(), hashes.size(), request, DefaultCpuKernel());
  ASSERT_EQ(built.metadata.keys, expected.size());
  hashes.resize(built.metadata.keys);
  EXPECT_EQ(std::set<uint64_t>(hashes.begin(), hashes.end()), expected);
}

TEST_P(BlockTest, EveryOrderOfKeysGivesTheSameBytes) {
  std::vector<uint64_t> hashes = HashesOf(GetParam());
  std::reverse(hashes.begin(), hashes.end());
  BlockRequest request;
  request.coding = GetParam().coding;
  request.bits_per_key = GetParam().bits;
  const BuiltBlock one = BuildBlock(hashes.data(), hashes.size(), request, DefaultCpuKernel());
  std::sort(hashes.begin(), hashes.end());
  const BuiltBlock two = BuildBlock(hashes.data(), hashes.size(), request, DefaultCpuKernel());
  EXPECT_EQ(BytesOf(one), BytesOf(two));
}

TEST_P(BlockTest, TheBlockMayStartAnywhere) {
  const std::string block = BytesOf(Build(GetParam(), DefaultCpuKernel()));
  const std::vector<uint64_t> hashes = HashesOf(GetParam());
  const std::vector<uint64_t> others = RandomHashes(999, 200);
  const BlockReader aligned(block.data(), block.size(), DefaultCpuKernel());
  std::vector<char> buffer(block.size() + 64);
  for (size_t offset = 0; offset < 64; ++offset) {
    std::memcpy(buffer.data() + offset, block.data(), block.size());
    for (CpuKernel kernel : SupportedCpuKernels()) {
      const BlockReader reader(buffer.data() + offset, block.size(), kernel);
      ASSERT_EQ(reader.filters(), GetParam().keys > 0);
      for (size_t i = 0; i < hashes.size(); i += 1 + hashes.size() / 300) {
        ASSERT_TRUE(reader.HashMayMatch(hashes[i])) << offset;
      }
      for (uint64_t hash : others) {
        ASSERT_EQ(reader.HashMayMatch(hash), aligned.HashMayMatch(hash)) << offset;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Blocks, BlockTest, ::testing::ValuesIn(kBlockCases),
                         [](const auto& test) { return std::string(test.param.name); });

// Blocks damaged in one way each, their checksum made right again, and whether they may still
// answer "no".
TEST(CorruptBlockTest, HandMadeBlocks) {
  const std::string whole =
      BytesOf(Build({"", BlockCoding::kEquations, 500, 8.6, 1}, DefaultCpuKernel()));
  const std::string is_short =
      BytesOf(Build({"", BlockCoding::kEquations, 30, 10, 2}, DefaultCpuKernel()));
  const std::string fingerprints =
      BytesOf(Build({"", BlockCoding::kFingerprints, 500, 10, 3}, DefaultCpuKernel()));
  const auto set = [](std::string block, size_t at, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) {
      block[block.size() - kTrailerBytes + at + static_cast<size_t>(i)] =
          static_cast<char>(value >> (8 * i));
    }
    Reseal(&block);
    return block;
  };
  const auto resealed = [](std::string block) {
    Reseal(&block);
    return block;
  };
  const std::string trailer = whole.substr(whole.size() - kTrailerBytes);
  const struct {
    const char* what;
    std::string block;
    bool filters;
  } kTable[] = {
      {"untouched", resealed(whole), true},
      {"untouched, short", resealed(is_short), true},
      {"untouched, fingerprints", resealed(fingerprints), true},
      {"other magic", set(whole, kMagicAt, 0x4655, 2), false},
      {"version 0", set(whole, kVersionAt, 0, 1), false},
      {"a later version", set(whole, kVersionAt, kFormatVersion + 1, 1), false},
      {"version 255", set(whole, kVersionAt, 255, 1), false},
      {"coding 0", set(whole, kCodingAt, 0, 1), false},
      {"coding 3", set(whole, kCodingAt, 3, 1), false},
      {"coding 255", set(whole, kCodingAt, 255, 1), false},
      {"planes 0", set(whole, kPlanesAt, 0, 1), false},
      {"too few planes", set(whole, kPlanesAt, kMinPlanes - 1, 1), false},
      {"too many planes", set(whole, kPlanesAt, kMaxPlanes + 1, 1), false},
      {"planes 255", set(whole, kPlanesAt, 255, 1), false},
      {"a short line of whole lines' size", set(whole, kShortAt, 40, 1), false},
      {"short columns 64", set(is_short, kShortAt, 64, 1), false},
      {"short columns 255", set(is_short, kShortAt, 255, 1), false},
      {"a short line taken for whole ones", set(is_short, kShortAt, 0, 1), false},
      {"short with more planes than its size allows", set(is_short, kPlanesAt, 24, 1), false},
      {"no keys but data", set(whole, kKeysAt, 0, 4), false},
      {"no keys but a short line", set(is_short, kKeysAt, 0, 4), false},
      {"keys but no data", resealed(trailer), false},
      {"keys but no data, short", resealed(is_short.substr(is_short.size() - kTrailerBytes)),
       false},
      {"half a line more", resealed(std::string(32, 'x') + whole), false},
      {"half a line less", resealed(whole.substr(32)), false},
      {"a byte more", resealed("x" + whole), false},
      {"a byte less", resealed(is_short.substr(1)), false},
      {"fingerprints: remainders of 0 bits", set(fingerprints, kPlanesAt, 0, 1), false},
      {"fingerprints: remainders of 255 bits", set(fingerprints, kPlanesAt, 255, 1), false},
      {"fingerprints: short", set(fingerprints, kShortAt, 30, 1), false},
      {"wrong marker", set(whole, kMarkerAt, 0xa6, 1), false},
      {"stock Bloom's marker", set(whole, kMarkerAt, 0xff, 1), false},
      {"nonzero after the marker", set(whole, kMarkerAt + 1, 1, 1), false},
      // These say nothing about how the data is read.
      {"most keys", set(whole, kKeysAt, 0xffffffff, 4), true},
      {"any level", set(whole, kLevelAt, 200, 1), true},
      {"any bits asked for", set(whole, kAskedAt, 0xffff, 2), true},
      {"any solution", set(whole, kSolutionAt, 0xffffffff, 4), true},
      {"any share of lines with one more plane", set(whole, kMoreAt, 255, 1), true},
      {"any salt", set(whole, kSaltAt, 255, 1), true},
  };
  for (const auto& row : kTable) {
    const BlockReader reader(row.block.data(), row.block.size(), DefaultCpuKernel());
    EXPECT_EQ(reader.filters(), row.filters) << row.what;
    EXPECT_NE(MatchesEverything(row.block), row.filters) << row.what;
  }
}

TEST(CorruptBlockTest, ForeignContentMatchesEverything) {
  const BlockReader none(nullptr, 0, DefaultCpuKernel());
  EXPECT_FALSE(none.filters());
  EXPECT_TRUE(none.MayMatch("key", 3));
  TestRandom random(1);
  for (size_t size = 0; size < 300; ++size) {
    std::string noise(size, '\0');
    for (char& c : noise) c = static_cast<char>(random.Next());
    EXPECT_TRUE(MatchesEverything(noise)) << size;
    EXPECT_TRUE(MatchesEverything(std::string(size, '\0'))) << size;
    EXPECT_TRUE(MatchesEverything(std::string(size, '\xff'))) << size;
  }
}

// What the metadata says about the rate against what the lines themselves say.
TEST(BlockRateTest, EstimateAgreesWithTheLines) {
  for (double bits : {4.0, 4.3, 4.7, 5.5, 6.5, 7.5, 8.6, 9.7, 12.0, 17.0}) {
    std::vector<uint64_t> hashes = RandomHashes(11, 100000);
    BlockRequest request;
    request.bits_per_key = bits;
    const BuiltBlock block = BuildBlock(hashes.data(), hashes.size(), request, DefaultCpuKernel());
    ASSERT_TRUE(block.ok);
    const auto lines = static_cast<uint32_t>(block.metadata.data_bytes / kLineBytes);
    // Absent keys look into a line for its own groups from the threshold on, and into any line, in
    // place of the groups below the thresholds.
    double rate = 0, moved = 0, mean = 0;
    for (uint32_t i = 0; i < lines; ++i) {
      const ReferenceLine line(block.data.get() + size_t{i} * kLineBytes, block.metadata.planes);
      const double matches = std::ldexp(1.0, -static_cast<int>(line.planes()));
      const double away = line.threshold() / 128.0;
      rate += (1 - away) * matches / lines;
      moved += away / lines;
      mean += matches / lines;
    }
    rate += moved * mean;
    EXPECT_NEAR(block.metadata.fp_rate() / rate, 1, 0.02) << bits;
  }
}

// Lines of the fewest planes have hardly more columns than such filters have keys a line: a count
// that rounding makes unlucky would fall back to matching everything.
TEST(BlockBuildTest, EveryCountFiltersAtTheFewestBits) {
  for (size_t n = 0; n <= 2000; ++n) {
    const double others[] = {4.1, 4.25, 4.4, 4.5};
    for (double bits : {4.0, others[n % 4]}) {
      std::vector<uint64_t> hashes = RandomHashes(n, n);
      BlockRequest request;
      request.bits_per_key = bits;
      const BuiltBlock block = BuildBlock(hashes.data(), n, request, DefaultCpuKernel());
      ASSERT_TRUE(block.ok) << n << " keys, " << bits << " bits";
      const BlockReader reader(block.data.get(), block.size, DefaultCpuKernel());
      ASSERT_EQ(reader.filters(), n > 0);
      for (uint64_t hash : hashes) ASSERT_TRUE(reader.HashMayMatch(hash)) << n << ", " << bits;
    }
  }
}

// Hashes that cannot be told apart by their primary lines: bounded attempts, counted and not timed.
TEST(BlockBuildTest, CraftedHashesAreBoundedInAttempts) {
  constexpr size_t kHashes = 10000;
  const std::vector<uint64_t> random = RandomHashes(12, kHashes);
  for (BlockCoding coding : {BlockCoding::kEquations, BlockCoding::kFingerprints}) {
    const auto attempts = [&](const std::function<uint64_t(size_t)>& hash_of) {
      std::vector<uint64_t> hashes;
      for (size_t i = 0; i < kHashes; ++i) hashes.push_back(hash_of(i));
      BlockRequest request;
      request.coding = coding;
      request.bits_per_key = 8.6;
      const BuiltBlock block =
          BuildBlock(hashes.data(), hashes.size(), request, DefaultCpuKernel());
      EXPECT_TRUE(block.ok);
      const BlockReader reader(block.data.get(), block.size, DefaultCpuKernel());
      for (size_t i = 0; i < kHashes; ++i) EXPECT_TRUE(reader.HashMayMatch(hash_of(i)));
      return block.attempts;
    };
    EXPECT_LE(attempts([&](size_t i) { return random[i]; }), 2u);
    EXPECT_LE(attempts([&](size_t i) { return (random[0] & ~0xffffffffULL) | i; }), 4u);
    EXPECT_LE(attempts([&](size_t i) { return (uint64_t{i} << 32) | 7; }), 4u);
    EXPECT_LE(attempts([&](size_t i) { return (random[i] & ~0xffffffffULL) | 7; }), 4u);
    EXPECT_LE(attempts([&](size_t i) { return (random[i % 3] & ~0xffffffffffULL) | i; }), 4u);
  }
}

TEST(BlockSizeTest, MonotoneUpToHugeCounts) {
  for (BlockCoding coding : {BlockCoding::kEquations, BlockCoding::kFingerprints}) {
    BlockRequest request;
    request.coding = coding;
    for (double bits : {4.0, 4.5, 8.6, 10.0, 24.0}) {
      request.bits_per_key = bits;
      size_t last = 0;
      for (size_t keys = 0; keys < 2000; ++keys) {
        EXPECT_GE(BlockBytes(keys, request), last) << keys;
        last = BlockBytes(keys, request);
      }
      for (size_t keys : {size_t{1} << 20, size_t{1} << 31, size_t{0xffffffff}, size_t{1} << 32,
                          size_t{1} << 40, ~size_t{0}}) {
        EXPECT_GE(BlockBytes(keys, request), last) << keys;
        last = BlockBytes(keys, request);
        EXPECT_LE(last, (uint64_t{1} << 31) + kTrailerBytes);
      }
    }
  }
}

TEST(BlockSizeTest, NeverASizeThatStockRocksDbReadsAsNoMatch) {
  for (size_t keys = 0; keys < 100; ++keys) EXPECT_GE(BlockBytes(keys, BlockRequest()), 16u);
}

}  // namespace
}  // namespace tieredfilter
