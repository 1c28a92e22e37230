// Collecting key hashes: which repeats are dropped, and that memory grows in small steps.
#include "src/filter/hash_collector.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace tieredfilter {
namespace {

std::vector<uint64_t> Hashes(HashCollector* collector) {
  return std::vector<uint64_t>(collector->hashes(), collector->hashes() + collector->size());
}

TEST(HashCollectorTest, DropsRepeatsOfTheLastKey) {
  HashCollector collector;
  EXPECT_TRUE(collector.empty());
  for (const uint64_t hash : {0, 0, 5, 5, 5, 0, 7, 5}) collector.AddKey(hash);
  EXPECT_EQ(Hashes(&collector), (std::vector<uint64_t>{0, 5, 0, 7, 5}));
}

TEST(HashCollectorTest, DropsRepeatsAmongKeysAndAlternates) {
  constexpr uint64_t kA = 1, kA1 = 11, kA2 = 12, kB = 2, kB1 = 21, kC = 3, kC1 = 31;
  HashCollector collector;
  collector.AddKeyAndAlt(kA1, kA);
  collector.AddKeyAndAlt(kA1, kA);  // the same again
  collector.AddKeyAndAlt(kA2, kA);  // a shared prefix
  collector.AddKeyAndAlt(kB, kB);   // a key that is its own prefix
  collector.AddKeyAndAlt(kB1, kB);
  EXPECT_EQ(Hashes(&collector), (std::vector<uint64_t>{kA, kA1, kA2, kB, kB1}));
  collector.AddKeyAndAlt(kC1, kC);
  collector.AddKeyAndAlt(kC, kC);  // in reverse order the prefix comes last
  EXPECT_EQ(collector.size(), 7u);
  collector.AddKey(kC);
  EXPECT_EQ(collector.size(), 7u);
  collector.AddKeyAndAlt(kC1, kC);
  EXPECT_EQ(collector.size(), 8u) << "kC1 came two keys ago";
  collector.AddKey(kC);
  EXPECT_EQ(collector.size(), 9u) << "a key by itself is compared with the last key only";
}

// Whatever is dropped is there already.
TEST(HashCollectorTest, NeverDropsTheOnlyCopy) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    HashCollector collector;
    std::map<uint64_t, bool> added;
    for (int i = 0; i < 12; ++i) {
      const uint64_t key = random() % 4, alt = random() % 4;
      added[key] = true;
      if (random() % 3 == 0) {
        collector.AddKey(key);
      } else {
        collector.AddKeyAndAlt(key, alt);
        added[alt] = true;
      }
      const std::vector<uint64_t> hashes = Hashes(&collector);
      for (const auto& [hash, yes] : added) {
        ASSERT_EQ(std::count(hashes.begin(), hashes.end(), hash) > 0, yes) << round;
      }
    }
  }
}

TEST(HashCollectorTest, ClearStartsAfresh) {
  HashCollector collector;
  collector.AddKeyAndAlt(1, 2);
  collector.Clear();
  EXPECT_EQ(collector.size(), 0u);
  EXPECT_TRUE(collector.ChecksumHolds());
  collector.AddKeyAndAlt(1, 2);
  EXPECT_EQ(Hashes(&collector), (std::vector<uint64_t>{2, 1}));
  collector.Clear();
  collector.AddKey(1);
  EXPECT_EQ(collector.size(), 1u);
}

TEST(HashCollectorTest, KeepsEveryHashWhileGrowing) {
  constexpr uint64_t kMany = 300000;
  HashCollector collector;
  for (uint64_t i = 0; i < kMany; ++i) {
    collector.AddKey(i * 0x9e3779b97f4a7c15u);
    // 9 bytes per hash, and 8 KiB at the start.
    ASSERT_LE(collector.memory_bytes(), 9 * (i + 1) + 8192);
  }
  collector.ShrinkToFit();
  EXPECT_EQ(collector.memory_bytes(), 8 * kMany);
  EXPECT_TRUE(collector.complete());
  ASSERT_EQ(collector.size(), kMany);
  for (uint64_t i = 0; i < kMany; ++i) {
    ASSERT_EQ(collector.hashes()[i], i * 0x9e3779b97f4a7c15u);
  }
}

TEST(HashCollectorTest, HoldsLittleWhenIdle) {
  HashCollector collector;
  EXPECT_EQ(collector.memory_bytes(), 0u);
  for (uint64_t i = 0; i < 100000; ++i) collector.AddKey(i);
  collector.Clear();
  EXPECT_LT(collector.memory_bytes(), 64u * 1024);
  for (uint64_t i = 0; i < 500; ++i) collector.AddKey(i);
  collector.Clear();
  EXPECT_LT(collector.memory_bytes(), 64u * 1024);
}

TEST(HashCollectorTest, ChecksumDependsOnTheHashesNotTheirOrder) {
  HashCollector collector;
  EXPECT_TRUE(collector.ChecksumHolds());
  for (uint64_t i = 0; i < 1000; ++i) collector.AddKey(i * i);
  EXPECT_TRUE(collector.ChecksumHolds());
  std::reverse(collector.hashes(), collector.hashes() + collector.size());
  EXPECT_TRUE(collector.ChecksumHolds());
  for (int bit = 0; bit < 64; ++bit) {
    collector.hashes()[77] ^= uint64_t{1} << bit;
    EXPECT_FALSE(collector.ChecksumHolds()) << bit;
    collector.hashes()[77] ^= uint64_t{1} << bit;
  }
}

TEST(HashCollectorTest, SwapExchangesAll) {
  HashCollector a, b;
  for (uint64_t i = 0; i < 10; ++i) a.AddKey(i);
  b.AddKeyAndAlt(100, 101);
  a.Swap(&b);
  EXPECT_EQ(Hashes(&a), (std::vector<uint64_t>{101, 100}));
  EXPECT_EQ(b.size(), 10u);
  EXPECT_TRUE(a.ChecksumHolds());
  EXPECT_TRUE(b.ChecksumHolds());
  a.AddKeyAndAlt(100, 101);
  b.AddKey(9);
  EXPECT_EQ(a.size(), 2u);
  EXPECT_EQ(b.size(), 10u);
}

}  // namespace
}  // namespace tieredfilter
