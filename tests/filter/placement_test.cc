#include "src/filter/placement.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "src/filter/hash_sort.h"
#include "src/filter/placement_plan.h"
#include "tests/filter/test_keys.h"

namespace tieredfilter {
namespace {

std::vector<uint64_t> SortedHashes(uint64_t seed, size_t n) {
  std::vector<uint64_t> hashes = RandomHashes(seed, n);
  hashes.resize(SortUnique(hashes.data(), n));
  return hashes;
}

// Where the keys of a placement are, by asking it, line by line.
std::map<uint64_t, std::vector<uint32_t>> LinesOfKeys(const Placement& placement) {
  std::map<uint64_t, std::vector<uint32_t>> lines_of;
  std::vector<uint64_t> received;
  for (uint32_t line = 0; line < placement.lines(); ++line) {
    const uint64_t* kept = placement.kept_hashes(line);
    for (uint32_t i = 0; i < placement.kept(line); ++i) lines_of[kept[i]].push_back(line);
    received.assign(placement.received(line), 0);
    placement.ReceivedHashes(line, received.data());
    EXPECT_TRUE(std::is_sorted(received.begin(), received.end()));
    for (uint64_t hash : received) lines_of[hash].push_back(line);
  }
  return lines_of;
}

// What a lookup does with the thresholds must lead to where the key is.
void ExpectLookupsFindEveryKey(const Placement& placement, const std::vector<uint64_t>& hashes) {
  const auto lines_of = LinesOfKeys(placement);
  ASSERT_EQ(lines_of.size(), hashes.size());
  size_t loads = 0, moved = 0;
  for (uint64_t hash : hashes) {
    const PrimarySlot slot = PrimaryOf(hash, placement.lines());
    const uint32_t secondary = SecondaryOf(slot.line, EquationOf(hash).spread, placement.lines());
    ASSERT_NE(secondary, slot.line);
    const bool away = slot.group < placement.threshold(slot.line);
    moved += away;
    const auto found = lines_of.find(hash);
    ASSERT_NE(found, lines_of.end());
    ASSERT_EQ(found->second,
              std::vector<uint32_t>{away ? secondary : static_cast<uint32_t>(slot.line)});
  }
  for (uint32_t line = 0; line < placement.lines(); ++line) {
    ASSERT_EQ(placement.load(line), placement.kept(line) + placement.received(line));
    ASSERT_LE(placement.threshold(line), Placement::kLastGroup);
    loads += placement.load(line);
  }
  EXPECT_EQ(loads, hashes.size());
  EXPECT_EQ(moved, placement.keys_given());
}

TEST(PlacementTest, StartsWithEveryKeyInItsPrimaryLine) {
  for (uint32_t lines : {2u, 3u, 17u, 500u}) {
    const std::vector<uint64_t> hashes = SortedHashes(lines, 5000);
    Placement placement(hashes.data(), hashes.size(), lines);
    placement.Settle();
    EXPECT_EQ(placement.lines(), lines);
    EXPECT_EQ(placement.keys_given(), 0u);
    for (uint32_t line = 0; line < lines; ++line) EXPECT_EQ(placement.threshold(line), 0u);
    ExpectLookupsFindEveryKey(placement, hashes);
  }
}

TEST(PlacementTest, EmptyLinesAndNoKeys) {
  const Placement none(nullptr, 0, 5);
  for (uint32_t line = 0; line < 5; ++line) EXPECT_EQ(none.load(line), 0u);
  const std::vector<uint64_t> hashes = {1, 2, ~uint64_t{0}};
  const Placement few(hashes.data(), hashes.size(), 1000);
  EXPECT_EQ(few.own(0), 2u);
  EXPECT_EQ(few.own(500), 0u);
  EXPECT_EQ(few.own(999), 1u);
}

TEST(PlacementTest, GivingAwayKeepsEveryKeyInOneOfItsTwoLines) {
  const std::vector<uint64_t> hashes = SortedHashes(7, 20000);
  Placement placement(hashes.data(), hashes.size(), 300);
  placement.Settle();
  TestRandom random(8);
  size_t given = 0;
  for (int step = 0; step < 1000; ++step) {
    const auto line = static_cast<uint32_t>(random.Below(300));
    const auto keep = static_cast<uint32_t>(random.Below(80));
    const uint32_t before = placement.kept(line);
    const size_t late_before = placement.late_keys();
    const bool done = placement.GiveAway(line, keep);
    EXPECT_TRUE(!done || placement.kept(line) <= keep || before <= keep);
    given += before - placement.kept(line);
    EXPECT_EQ(placement.keys_given(), given);
    EXPECT_EQ(placement.late_keys() - late_before, before - placement.kept(line));
    for (size_t i = late_before; i < placement.late_keys(); ++i) {
      EXPECT_NE(placement.late_receiver(i), line);
    }
  }
  ExpectLookupsFindEveryKey(placement, hashes);
}

// Keys of one rank group go together: the threshold cannot tell them apart.
TEST(PlacementTest, GivesAwayWholeGroupsFromTheLowest) {
  const std::vector<uint64_t> hashes = SortedHashes(9, 3000);
  Placement placement(hashes.data(), hashes.size(), 40);
  placement.Settle();
  for (uint32_t line = 0; line < 40; ++line) {
    for (uint32_t group = 3; group < Placement::kLastGroup; group += 17) {
      EXPECT_TRUE(placement.GiveAwayThrough(line, group));
      EXPECT_LE(placement.threshold(line), group + 1);
      for (uint32_t i = 0; i < placement.kept(line); ++i) {
        ASSERT_GT(placement.group_of(placement.kept_hashes(line)[i]), group);
      }
    }
  }
  ExpectLookupsFindEveryKey(placement, hashes);
}

// Seven bits of threshold cannot send away the last group; the caller has to be told.
TEST(PlacementTest, TheLastGroupStays) {
  const std::vector<uint64_t> hashes = SortedHashes(10, 3000);
  Placement placement(hashes.data(), hashes.size(), 10);
  uint32_t last_group = 0;
  for (uint64_t hash : hashes) {
    const PrimarySlot slot = PrimaryOf(hash, 10);
    last_group += slot.line == 4 && slot.group == Placement::kLastGroup;
  }
  ASSERT_GT(last_group, 0u);
  EXPECT_FALSE(placement.GiveAway(4, 0));
  EXPECT_EQ(placement.kept(4), last_group);
  EXPECT_EQ(placement.GiveAway(4, last_group), true);
  placement.Settle();
  ExpectLookupsFindEveryKey(placement, hashes);
}

// The bytes must not depend on the order in which lines gave keys away.
TEST(PlacementTest, ArrivalOrderDoesNotShow) {
  const std::vector<uint64_t> hashes = SortedHashes(11, 5000);
  Placement forward(hashes.data(), hashes.size(), 80), backward(hashes.data(), hashes.size(), 80);
  forward.Settle();
  backward.Settle();
  for (uint32_t line = 0; line < 80; ++line) {
    forward.GiveAway(line, 50);
    backward.GiveAway(79 - line, 50);
  }
  EXPECT_EQ(LinesOfKeys(forward), LinesOfKeys(backward));
}

// Settling moves what was received into another form, once, in the middle of it all.
TEST(PlacementTest, SettlingLosesNothing) {
  const std::vector<uint64_t> hashes = SortedHashes(12, 20000);
  for (int settle_at : {0, 1, 100, 199}) {
    Placement placement(hashes.data(), hashes.size(), 300),
        plain(hashes.data(), hashes.size(), 300);
    plain.Settle();  // so that every key is a late one
    TestRandom random(13);
    for (int step = 0; step < 200; ++step) {
      if (step == settle_at) placement.Settle();
      const auto line = static_cast<uint32_t>(random.Below(300));
      const auto keep = static_cast<uint32_t>(random.Below(80));
      placement.GiveAway(line, keep);
      plain.GiveAway(line, keep);
    }
    ExpectLookupsFindEveryKey(placement, hashes);
    EXPECT_EQ(LinesOfKeys(placement), LinesOfKeys(plain)) << settle_at;
    EXPECT_EQ(plain.late_keys(), plain.keys_given());
  }
}

// A plan is the least that has to move, so it is the same in whatever order lines are looked at.
TEST(PlacementTest, APlanDependsOnNoOrder) {
  constexpr uint32_t kLines = 300, kCapacity = 62;
  const std::vector<uint64_t> hashes = SortedHashes(14, 17800);
  Placement planned(hashes.data(), hashes.size(), kLines);
  PlanPlacement(&planned, [](uint32_t) { return kCapacity; });
  planned.Settle();
  ExpectLookupsFindEveryKey(planned, hashes);
  EXPECT_GT(planned.keys_given(), hashes.size() / 50);
  Placement shuffled(hashes.data(), hashes.size(), kLines);
  TestRandom random(15);
  for (uint32_t step = 0; step < 100 * kLines; ++step) {
    const auto line = static_cast<uint32_t>(random.Below(kLines));
    const uint32_t received = shuffled.received(line);
    shuffled.GiveAway(line, received < kCapacity ? kCapacity - received : 0);
  }
  shuffled.Settle();
  for (uint32_t line = 0; line < kLines; ++line) EXPECT_LE(planned.load(line), kCapacity);
  EXPECT_EQ(LinesOfKeys(planned), LinesOfKeys(shuffled));
}

}  // namespace
}  // namespace tieredfilter
