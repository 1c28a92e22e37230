// Freezes the key hash. A changed value means that filters already stored lose keys: never update
// the golden values without a new format version.
#include "src/filter/key_hash.h"

#include <cstring>
#include <string>
#include <unordered_set>
#include <vector>

#include "gtest/gtest.h"
#include "tests/filter/test_keys.h"

namespace tieredfilter {
namespace {

constexpr uint64_t kGolden[] = {
#include "tests/filter/key_hash_golden.inc"
};

// Every byte value, half of them 0x80 and above, where a hash that reads `char` as a signed number
// goes wrong.
std::string TestBytes() {
  std::string bytes(512, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>(i * 167 + (i >> 8) * 13 + 129);
  }
  return bytes;
}

TEST(KeyHashTest, GoldenValuesOfEveryLength) {
  const std::string bytes = TestBytes();
  static_assert(sizeof(kGolden) / sizeof(kGolden[0]) == 513, "lengths 0 to 512");
  for (size_t length = 0; length <= 512; ++length) {
    EXPECT_EQ(HashKey(bytes.data(), length), kGolden[length]) << length;
  }
}

// The values that xxHash's own sanity check publishes for XXH3_64bits, seed 0, over the bytes its
// generator makes: the hash is XXH3 and not something that merely stayed the same. One per length
// class of the algorithm.
TEST(KeyHashTest, AgreesWithPublishedXxh3Values) {
  std::vector<char> bytes(512);
  uint64_t generator = 2654435761U;
  for (char& byte : bytes) {
    byte = static_cast<char>(generator >> 56);
    generator *= 11400714785074694797ULL;
  }
  const struct {
    size_t length;
    uint64_t hash;
  } kPublished[] = {
      {0, 0x2d06800538d394c2ULL},   {1, 0xc44bdff4074eecdbULL},   {6, 0x27b56a84cd2d7325ULL},
      {12, 0xa713daf0dfbb77e7ULL},  {24, 0xa3fe70bf9d3510ebULL},  {48, 0x397da259ecba1f11ULL},
      {80, 0xbcdefbbb2c47c90aULL},  {195, 0xcd94217ee362ec3aULL}, {403, 0xcdeb804d65c6dea4ULL},
      {512, 0x617e49599013cb6bULL},
  };
  for (const auto& published : kPublished) {
    EXPECT_EQ(HashKey(bytes.data(), published.length), published.hash) << published.length;
  }
}

TEST(KeyHashTest, DoesNotDependOnAlignmentOrOnWhatFollows) {
  const std::string bytes = TestBytes();
  std::vector<char> buffer(bytes.size() + 128);
  for (size_t offset = 0; offset < 64; ++offset) {
    std::memset(buffer.data(), static_cast<int>(offset * 3), buffer.size());
    for (size_t length : {0, 1, 3, 4, 8, 9, 16, 17, 128, 129, 240, 241, 512}) {
      std::memcpy(buffer.data() + offset, bytes.data(), length);
      EXPECT_EQ(HashKey(buffer.data() + offset, length), kGolden[length]) << length;
    }
  }
}

// RocksDB's Slice of an empty key may carry any pointer.
TEST(KeyHashTest, TheEmptyKeyNeedsNoBytes) {
  EXPECT_EQ(HashKey(nullptr, 0), kGolden[0]);
  EXPECT_EQ(HashKey("x", 0), kGolden[0]);
}

TEST(KeyHashTest, StructuredKeysDoNotCollide) {
  for (KeyFamily family : kKeyFamilies) {
    std::unordered_set<uint64_t> hashes;
    for (uint64_t i = 0; i < 50000; ++i) hashes.insert(HashOf(FamilyKey(family, i)));
    EXPECT_EQ(hashes.size(), 50000u) << static_cast<int>(family);
  }
}

}  // namespace
}  // namespace tieredfilter
