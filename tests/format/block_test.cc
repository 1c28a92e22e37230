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
                 kReservedAt = 6, kMoreAt = 7, kKeysAt = 8, kLevelAt = 12, kAskedAt = 13,
                 kSolutionAt = 15, kMarkerAt = 23;
// And in a short block's.
constexpr size_t kShortSaltAt = 0, kShapeAt = 1, kKeysAndLevelAt = 2, kShortAskedAt = 4,
                 kShortSolutionAt = 6, kShortMarkerAt = 10;

// `at` in the trailer of `trailer_bytes` bytes.
uint64_t Field(const std::string& block, size_t trailer_bytes, size_t at, int bytes) {
  uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) {
    value |= uint64_t{static_cast<unsigned char>(block[block.size() - trailer_bytes + at + i])}
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

void ExpectWholeLinesTrailer(const std::string& block, const BlockCase& test,
                             const BlockMetadata& m) {
  const auto field = [&](size_t at, int bytes) { return Field(block, 28, at, bytes); };
  EXPECT_EQ(field(kMagicAt, 2), 0x4654u);
  EXPECT_EQ(field(kVersionAt, 1), kFormatVersion);
  EXPECT_EQ(field(kCodingAt, 1), static_cast<uint64_t>(test.coding));
  EXPECT_EQ(field(kPlanesAt, 1), m.planes);
  EXPECT_EQ(field(kSaltAt, 1), m.salt);
  EXPECT_EQ(field(kReservedAt, 1), 0u);
  EXPECT_EQ(field(kMoreAt, 1), m.more_share);
  EXPECT_EQ(field(kKeysAt, 4), test.keys);
  EXPECT_EQ(field(kLevelAt, 1), test.seed % 7);
  EXPECT_EQ(field(kAskedAt, 2), static_cast<uint16_t>(test.bits * 1000));
  EXPECT_EQ(field(kSolutionAt, 4), test.seed * 0x01010101);
  EXPECT_EQ(field(kMarkerAt, 5), 0xa5u);
}

void ExpectShortTrailer(const std::string& block, const BlockCase& test, const BlockMetadata& m) {
  const auto field = [&](size_t at, int bytes) { return Field(block, 15, at, bytes); };
  EXPECT_EQ(field(kShortSaltAt, 1), m.salt);
  EXPECT_EQ(field(kShapeAt, 1) % 32, m.planes);
  EXPECT_EQ(field(kShapeAt, 1) / 32, m.short_lines - 1u);
  EXPECT_EQ(field(kKeysAndLevelAt, 2) % 1024, test.keys);
  EXPECT_EQ(field(kKeysAndLevelAt, 2) / 1024, test.seed % 7);
  EXPECT_EQ(field(kShortAskedAt, 2), static_cast<uint16_t>(test.bits * 1000));
  EXPECT_EQ(field(kShortSolutionAt, 4), test.seed * 0x01010101);
  EXPECT_EQ(field(kShortMarkerAt, 1), 0xa4u);
  EXPECT_EQ(static_cast<unsigned char>(block[block.size() - 5]), 0xa4u);
}

TEST_P(BlockTest, TheTrailerSaysWhatWasBuilt) {
  const BuiltBlock built = Build(GetParam(), DefaultCpuKernel());
  const std::string block = BytesOf(built);
  EXPECT_TRUE(built.ok);
  EXPECT_EQ(block.size(), built.metadata.data_bytes + built.metadata.trailer_bytes());
  const BlockRequest request = RequestOf(GetParam());
  EXPECT_EQ(block.size(), BlockBytes(GetParam().keys, request));
  EXPECT_EQ(built.metadata.trailer_bytes(), TrailerBytes(GetParam().keys, request));
  if (GetParam().form == BlockForm::kShort) {
    ExpectShortTrailer(block, GetParam(), built.metadata);
  } else {
    ExpectWholeLinesTrailer(block, GetParam(), built.metadata);
  }

  BlockMetadata parsed;
  ASSERT_TRUE(ParseBlock(block.data(), block.size(), &parsed));
  EXPECT_EQ(parsed.keys, GetParam().keys);
  EXPECT_EQ(parsed.planes, built.metadata.planes);
  EXPECT_EQ(parsed.data_bytes, built.metadata.data_bytes);
  EXPECT_EQ(parsed.short_lines, built.metadata.short_lines);
  EXPECT_EQ(parsed.more_share, built.metadata.more_share);
  EXPECT_DOUBLE_EQ(parsed.fp_rate(), built.metadata.fp_rate());
  std::string again(block.size(), '\0');
  WriteTrailer(parsed, &again[0]);
  EXPECT_EQ(again.substr(parsed.data_bytes), block.substr(parsed.data_bytes));
}

TEST_P(BlockTest, HandsTheHashesBackDistinctAndWithoutSalt) {
  std::vector<uint64_t> hashes = HashesOf(GetParam());
  const std::set<uint64_t> expected(hashes.begin(), hashes.end());
  hashes.insert(hashes.end(), hashes.begin(), hashes.end());
  const BlockRequest request = RequestOf(GetParam());
  const BuiltBlock built = BuildBlock(hashes.data(), hashes.size(), request, DefaultCpuKernel());
  ASSERT_EQ(built.metadata.keys, expected.size());
  hashes.resize(built.metadata.keys);
  EXPECT_EQ(std::set<uint64_t>(hashes.begin(), hashes.end()), expected);
}

TEST_P(BlockTest, EveryOrderOfKeysGivesTheSameBytes) {
  std::vector<uint64_t> hashes = HashesOf(GetParam());
  std::reverse(hashes.begin(), hashes.end());
  const BlockRequest request = RequestOf(GetParam());
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

std::string Resealed(std::string block) {
  Reseal(&block);
  return block;
}

// The block with another value at `at` in the trailer that it has by its marker.
std::string With(std::string block, size_t at, uint64_t value, int bytes) {
  const bool is_short = static_cast<unsigned char>(block[block.size() - 5]) == kShortBlockMarker;
  const size_t trailer = block.size() - (is_short ? kShortTrailerBytes : kTrailerBytes);
  for (int i = 0; i < bytes; ++i) {
    block[trailer + at + static_cast<size_t>(i)] = static_cast<char>(value >> (8 * i));
  }
  return Resealed(block);
}

void ExpectFilters(const std::string& block, bool filters, const char* what) {
  const BlockReader reader(block.data(), block.size(), DefaultCpuKernel());
  EXPECT_EQ(reader.filters(), filters) << what;
  EXPECT_NE(MatchesEverything(block), filters) << what;
}

// Blocks damaged in one way each, their checksum made right again, and whether they may still
// answer "no".
TEST(CorruptBlockTest, HandMadeBlocks) {
  const std::string whole =
      BytesOf(Build({"", BlockCoding::kEquations, 500, 8.6, 1}, DefaultCpuKernel()));
  const std::string fingerprints =
      BytesOf(Build({"", BlockCoding::kFingerprints, 500, 10, 3}, DefaultCpuKernel()));
  const std::string trailer = whole.substr(whole.size() - kTrailerBytes);
  const struct {
    const char* what;
    std::string block;
    bool filters;
  } kTable[] = {
      {"untouched", Resealed(whole), true},
      {"untouched, fingerprints", Resealed(fingerprints), true},
      {"other magic", With(whole, kMagicAt, 0x4655, 2), false},
      {"version 0", With(whole, kVersionAt, 0, 1), false},
      {"a short block's version", With(whole, kVersionAt, kShortFormatVersion, 1), false},
      {"an earlier version", With(whole, kVersionAt, 1, 1), false},
      {"the version before", With(whole, kVersionAt, kFormatVersion - 1, 1), false},
      {"a later version", With(whole, kVersionAt, kFormatVersion + 1, 1), false},
      {"version 255", With(whole, kVersionAt, 255, 1), false},
      {"coding 0", With(whole, kCodingAt, 0, 1), false},
      {"coding 3", With(whole, kCodingAt, 3, 1), false},
      {"coding 255", With(whole, kCodingAt, 255, 1), false},
      {"planes 0", With(whole, kPlanesAt, 0, 1), false},
      {"too few planes", With(whole, kPlanesAt, kMinPlanes - 1, 1), false},
      {"too many planes", With(whole, kPlanesAt, kMaxPlanes + 1, 1), false},
      {"planes 255", With(whole, kPlanesAt, 255, 1), false},
      {"reserved byte 1", With(whole, kReservedAt, 1, 1), false},
      {"reserved byte 255", With(whole, kReservedAt, 255, 1), false},
      {"no keys but data", With(whole, kKeysAt, 0, 4), false},
      {"keys but no data", Resealed(trailer), false},
      {"half a line more", Resealed(std::string(32, 'x') + whole), false},
      {"half a line less", Resealed(whole.substr(32)), false},
      {"a byte more", Resealed("x" + whole), false},
      {"fingerprints: remainders of 0 bits", With(fingerprints, kPlanesAt, 0, 1), false},
      {"fingerprints: remainders of 255 bits", With(fingerprints, kPlanesAt, 255, 1), false},
      {"fingerprints: reserved byte", With(fingerprints, kReservedAt, 30, 1), false},
      {"wrong marker", With(whole, kMarkerAt, 0xa6, 1), false},
      {"stock Bloom's marker", With(whole, kMarkerAt, 0xff, 1), false},
      {"nonzero after the marker", With(whole, kMarkerAt + 1, 1, 1), false},
      // These say nothing about how the data is read.
      {"most keys", With(whole, kKeysAt, 0xffffffff, 4), true},
      {"any level", With(whole, kLevelAt, 200, 1), true},
      {"any bits asked for", With(whole, kAskedAt, 0xffff, 2), true},
      {"any solution", With(whole, kSolutionAt, 0xffffffff, 4), true},
      {"any share of lines with one more plane", With(whole, kMoreAt, 255, 1), true},
      {"any salt", With(whole, kSaltAt, 255, 1), true},
  };
  for (const auto& row : kTable) ExpectFilters(row.block, row.filters, row.what);
}

TEST(CorruptBlockTest, HandMadeShortBlocks) {
  const auto build = [](size_t keys, double bits) {
    return BytesOf(
        Build({"", BlockCoding::kEquations, keys, bits, 1, BlockForm::kShort}, DefaultCpuKernel()));
  };
  const std::string lone = build(30, 10), several = build(200, 10), one_key = build(1, 10);
  const auto shape = [](uint64_t lines, uint64_t planes) { return (lines - 1) << 5 | planes; };
  const struct {
    const char* what;
    std::string block;
    bool filters;
  } kTable[] = {
      {"untouched, one line", Resealed(lone), true},
      {"untouched, several lines", Resealed(several), true},
      {"planes 0", With(several, kShapeAt, shape(3, 0), 1), false},
      {"too few planes", With(several, kShapeAt, shape(3, 2), 1), false},
      {"too many planes", With(several, kShapeAt, shape(3, 25), 1), false},
      {"planes 31", With(several, kShapeAt, shape(8, 31), 1), false},
      {"fewer bits than planes", With(one_key, kShapeAt, shape(1, 17), 1), false},
      {"lines without room for a plane", With(one_key, kShapeAt, shape(2, 3), 1), false},
      {"more lines than bytes", With(one_key, kShapeAt, shape(3, 3), 1), false},
      {"no keys but data", With(lone, kKeysAndLevelAt, 3 << 10, 2), false},
      {"keys but no data", Resealed(lone.substr(lone.size() - kShortTrailerBytes)), false},
      {"lines longer than can be", Resealed(std::string(70000, 'x') + lone), false},
      {"whole lines' marker", With(lone, kShortMarkerAt, 0xa5, 1), false},
      {"wrong marker", With(lone, kShortMarkerAt, 0xa3, 1), false},
      {"stock Ribbon's marker", With(several, kShortMarkerAt, 0xfe, 1), false},
      // Such a block has other equations, but every bit pattern can be read.
      {"a byte more", Resealed("x" + several), true},
      {"a byte less", Resealed(several.substr(1)), true},
      {"more planes", With(several, kShapeAt, shape(3, 24), 1), true},
      {"more lines", With(several, kShapeAt, shape(8, 9), 1), true},
      {"one line", With(several, kShapeAt, shape(1, 9), 1), true},
      // These say nothing about how the data is read.
      {"most keys and any level", With(several, kKeysAndLevelAt, 0xffff, 2), true},
      {"any bits asked for", With(several, kShortAskedAt, 0xffff, 2), true},
      {"any solution", With(several, kShortSolutionAt, 0xffffffff, 4), true},
      {"any salt", With(several, kShortSaltAt, 255, 1), true},
  };
  for (const auto& row : kTable) ExpectFilters(row.block, row.filters, row.what);
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

TEST(ShortTrailerTest, LevelsFitOrAreUnknown) {
  for (int level : {0, 1, 6, 62, 63, 64, 200, 255}) {
    BlockMetadata metadata, parsed;
    metadata.short_lines = 1;
    metadata.level = static_cast<uint8_t>(level);
    std::string block(kShortTrailerBytes, '\0');
    WriteTrailer(metadata, &block[0]);
    ASSERT_TRUE(ParseBlock(block.data(), block.size(), &parsed)) << level;
    EXPECT_EQ(parsed.level, level < 63 ? level : kUnknownLevel) << level;
    EXPECT_EQ(parsed.keys, 0u);
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
  for (size_t keys = 0; keys < 100; ++keys) EXPECT_GT(BlockBytes(keys, BlockRequest()), 5u);
}

}  // namespace
}  // namespace tieredfilter
