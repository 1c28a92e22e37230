#include "src/filter/hash_sort.h"

#include <algorithm>
#include <vector>

#include "gtest/gtest.h"
#include "src/filter/line_layout.h"
#include "tests/filter/test_keys.h"

namespace tieredfilter {
namespace {

void ExpectSortedUnique(std::vector<uint64_t> hashes, const char* what) {
  std::vector<uint64_t> expected = hashes;
  std::sort(expected.begin(), expected.end());
  expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
  hashes.resize(SortUnique(hashes.data(), hashes.size()));
  EXPECT_EQ(hashes, expected) << what << ", " << expected.size() << " distinct";
}

// Around the sizes where the sort goes over to another algorithm: insertion to buckets (32), one
// chunk to radix (8,192). The crowded hashes below reach further radix levels.
TEST(HashSortTest, SortsRandomHashesOfEverySizeClass) {
  for (size_t n :
       {0, 1, 2, 3, 31, 32, 33, 100, 1000, 8191, 8192, 8193, 16384, 16385, 100000, 1000000}) {
    ExpectSortedUnique(RandomHashes(n, n), "random");
  }
  for (size_t n = 0; n < 300; ++n) ExpectSortedUnique(RandomHashes(n + 7, n), "random");
}

TEST(HashSortTest, SortsHashesThatAreNotSpreadEvenly) {
  constexpr size_t kHashes = 40000;
  const std::vector<uint64_t> random = RandomHashes(1, kHashes);
  std::vector<uint64_t> hashes(kHashes);
  const auto fill = [&](auto hash_of) {
    for (size_t i = 0; i < kHashes; ++i) hashes[i] = hash_of(i);
    return hashes;
  };
  ExpectSortedUnique(fill([](size_t i) { return i; }), "ascending");
  ExpectSortedUnique(fill([](size_t i) { return kHashes - i; }), "descending");
  ExpectSortedUnique(fill([&](size_t i) { return random[i] >> 32; }), "equal high halves");
  ExpectSortedUnique(fill([&](size_t i) { return random[i] << 32; }), "equal low halves");
  ExpectSortedUnique(fill([&](size_t i) { return random[i] | (~uint64_t{0} << 12); }),
                     "all at the top");
  ExpectSortedUnique(fill([&](size_t i) { return random[i] & 0xff000000000000ffULL; }),
                     "a hole in the middle");
  ExpectSortedUnique(fill([](size_t i) { return i % 2 == 0 ? 0 : ~uint64_t{0}; }), "both extremes");
}

TEST(HashSortTest, DropsEqualHashesWhereverTheyAre) {
  ExpectSortedUnique(std::vector<uint64_t>(100000, 42), "all equal");
  std::vector<uint64_t> interleaved;
  const std::vector<uint64_t> others = RandomHashes(2, 1000);
  for (size_t i = 0; i < 200000; ++i) {
    interleaved.push_back(i % 200 == 0 ? others[i / 200] : 0x123456789abcdefULL);
  }
  ExpectSortedUnique(interleaved, "one hash among others");
}

TEST(HashSortTest, AnotherSaltKeepsHashesSortedAndDistinct) {
  constexpr size_t kHashes = 20000;
  std::vector<uint64_t> hashes = RandomHashes(3, kHashes);
  ASSERT_EQ(SortUnique(hashes.data(), kHashes), kHashes);
  const std::vector<uint64_t> unsalted = hashes;
  uint8_t salt = 0;
  for (const uint8_t new_salt : {7, 7, 255, 0}) {
    ChangeSalt(hashes.data(), kHashes, &salt, new_salt);
    EXPECT_EQ(salt, new_salt);
    std::vector<uint64_t> expected = unsalted;
    for (uint64_t& hash : expected) hash = SaltHash(hash, salt);
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(hashes, expected);
  }
}

}  // namespace
}  // namespace tieredfilter
