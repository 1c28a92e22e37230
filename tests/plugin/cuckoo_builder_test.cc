// The cuckoo filter's builder and reader behind RocksDB's interface, without a database: what goes
// in is found, sizes and rates are what the builder said, and whatever goes wrong costs reads
// instead of keys.
#include <sys/resource.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "plugin/cuckoo_bits_builder.h"
#include "plugin/cuckoo_bits_reader.h"
#include "plugin/filter_reader.h"
#include "plugin/tieredfilter.h"
#include "rocksdb/cache.h"
#include "rocksdb/table.h"
#include "src/filter/cuckoo_geometry.h"
#include "tests/plugin/host_test_util.h"

namespace tieredfilter {
namespace {

using ROCKSDB_NAMESPACE::BlockBasedTableOptions;
using ROCKSDB_NAMESPACE::Cache;
using ROCKSDB_NAMESPACE::FilterBitsReader;
using ROCKSDB_NAMESPACE::Slice;
using ROCKSDB_NAMESPACE::Status;

BlockRequest Request(double bits_per_key) {
  BlockRequest request;
  request.bits_per_key = bits_per_key;
  return request;
}

std::unique_ptr<CuckooBitsBuilder> NewBuilder(
    double bits_per_key, const BlockBasedTableOptions& options = BlockBasedTableOptions()) {
  return std::make_unique<CuckooBitsBuilder>(Request(bits_per_key), options, nullptr);
}

BlockBasedTableOptions Detecting() {
  BlockBasedTableOptions options;
  options.detect_filter_construct_corruption = true;
  return options;
}

void AddKeys(CuckooBitsBuilder* builder, uint64_t begin, uint64_t end) {
  for (uint64_t i = begin; i < end; ++i) {
    builder->AddKey(Key(i));
  }
}

std::string Finish(CuckooBitsBuilder* builder) {
  std::unique_ptr<const char[]> buffer;
  Status status;
  const std::string block = builder->Finish(&buffer, &status).ToString();
  EXPECT_OK(status);
  return block;
}

std::string Block(double bits_per_key, uint64_t keys) {
  const auto builder = NewBuilder(bits_per_key);
  AddKeys(builder.get(), 0, keys);
  return Finish(builder.get());
}

std::unique_ptr<FilterBitsReader> Reader(const Slice& block) {
  return std::unique_ptr<FilterBitsReader>(NewFilterBitsReader(block));
}

uint64_t CountLost(const std::string& block, uint64_t begin, uint64_t end) {
  const auto reader = Reader(block);
  uint64_t lost = 0;
  for (uint64_t i = begin; i < end; ++i) {
    lost += reader->MayMatch(Key(i)) ? 0 : 1;
  }
  return lost;
}

uint64_t CountFalsePositives(const std::string& block, uint64_t lookups) {
  const auto reader = Reader(block);
  uint64_t count = 0;
  for (uint64_t i = 0; i < lookups; ++i) {
    count += reader->MayMatch(AbsentKey(i)) ? 1 : 0;
  }
  return count;
}

TEST(CuckooBuilderTest, FindsItsKeys) {
  for (const double bits : {4.0, 4.5, 6.0, 8.6, 10.0, 15.3, 24.0}) {
    for (const uint64_t keys : {1, 2, 3, 10, 63, 64, 65, 100, 1000, 30000}) {
      EXPECT_EQ(CountLost(Block(bits, keys), 0, keys), 0u) << bits << " bits, " << keys << " keys";
    }
  }
}

TEST(CuckooBuilderTest, ReallyFilters) {
  const std::string block = Block(10, 50000);
  EXPECT_LT(CountFalsePositives(block, 100000), 300u);  // 0.17%; 0.96% with Bloom
}

TEST(CuckooBuilderTest, SizesAreThoseAnnounced) {
  for (const double bits : {4.0, 4.5, 7.25, 10.0, 24.0}) {
    const auto builder = NewBuilder(bits);
    for (const uint64_t keys : {0, 1, 2, 9, 64, 200, 5000, 40000}) {
      AddKeys(builder.get(), 0, keys);
      EXPECT_EQ(Finish(builder.get()).size(), builder->CalculateSpace(keys)) << bits << " " << keys;
    }
    const double stored = 8.0 * static_cast<double>(builder->CalculateSpace(1000000)) / 1e6;
    EXPECT_NEAR(stored, bits, 0.002);
  }
}

// Distinct keys count, not calls: neighbours at once, the others when the block is built.
TEST(CuckooBuilderTest, RepeatsAreNotStored) {
  const auto builder = NewBuilder(10);
  for (int copy = 0; copy < 200; ++copy) {
    for (uint64_t i = 0; i < 101; ++i) {
      builder->AddKey(Key(i));
      builder->AddKey(Key(i));
    }
  }
  EXPECT_EQ(builder->EstimateEntriesAdded(), 200u * 101u);
  const std::string block = Finish(builder.get());
  EXPECT_EQ(block.size(), builder->CalculateSpace(101));
  EXPECT_EQ(CountLost(block, 0, 101), 0u);
}

TEST(CuckooBuilderTest, KeysAndPrefixesAreBothFound) {
  const auto builder = NewBuilder(10);
  const std::vector<std::pair<std::string, std::string>> keys = {
      {"a1", "a"}, {"a2", "a"}, {"b", "b"}, {"b1", "b"}};
  for (const auto& [key, prefix] : keys) {
    builder->AddKeyAndAlt(key, prefix);
  }
  EXPECT_EQ(builder->EstimateEntriesAdded(), 5u);  // a, a1, a2, b, b1
  const std::string block = Finish(builder.get());
  for (const auto& [key, prefix] : keys) {
    EXPECT_TRUE(Reader(block)->MayMatch(key)) << key;
    EXPECT_TRUE(Reader(block)->MayMatch(prefix)) << prefix;
  }
  EXPECT_FALSE(Reader(block)->MayMatch("")) << "nobody added the empty key";
}

TEST(CuckooBuilderTest, EntriesAreZeroIfAndOnlyIfNothingWasAdded) {
  const auto builder = NewBuilder(10);
  for (int partition = 0; partition < 3; ++partition) {
    EXPECT_EQ(builder->EstimateEntriesAdded(), 0u);
    builder->AddKey("");
    EXPECT_EQ(builder->EstimateEntriesAdded(), 1u);
    EXPECT_TRUE(Reader(Finish(builder.get()))->MayMatch(""));
  }
}

TEST(CuckooBuilderTest, OnePartitionAfterTheOther) {
  for (const bool detect : {false, true}) {
    const auto builder = NewBuilder(9, detect ? Detecting() : BlockBasedTableOptions());
    for (const uint64_t keys : {5000, 1, 300, 5000}) {
      AddKeys(builder.get(), 0, keys);
      const std::string block = Finish(builder.get());
      EXPECT_EQ(block, Block(9, keys));
      // Callers may leave out the verification.
      if (keys != 300) {
        EXPECT_OK(builder->MaybePostVerify(block));
      }
    }
  }
}

// The block lives in the buffer handed over, whatever becomes of the builder.
TEST(CuckooBuilderTest, TheBlockOutlivesTheBuilder) {
  auto builder = NewBuilder(10);
  AddKeys(builder.get(), 0, 10000);
  std::unique_ptr<const char[]> buffer;
  const Slice block = builder->Finish(&buffer);
  EXPECT_EQ(block.data(), buffer.get());
  AddKeys(builder.get(), 10000, 20000);
  const std::string second = Finish(builder.get());
  builder.reset();
  EXPECT_EQ(CountLost(block.ToString(), 0, 10000), 0u);
  EXPECT_EQ(CountLost(second, 10000, 20000), 0u);
}

// A file may hold nothing but range tombstones; its filter must not hide them.
TEST(CuckooBuilderTest, NoKeysMatchEverything) {
  const std::string block = Finish(NewBuilder(10).get());
  EXPECT_EQ(block.size(), kShortTrailerBytes);
  EXPECT_TRUE(Reader(block)->MayMatch("key"));
  EXPECT_TRUE(Reader(block)->MayMatch(""));
}

TEST(CuckooBuilderTest, EntriesForASizeFitIntoIt) {
  for (const double bits : {4.0, 8.6, 10.0, 24.0}) {
    const auto builder = NewBuilder(bits);
    size_t last = 0;
    for (size_t bytes = 1; bytes <= 8192; ++bytes) {
      const size_t entries = builder->ApproximateNumEntries(bytes);
      ASSERT_GE(entries, last) << bits << " " << bytes;
      if (entries >= 1) {
        ASSERT_LE(builder->CalculateSpace(entries), bytes) << bits;
      }
      last = entries;
    }
    // RocksDB cuts partitions by this number; 4 KiB must not come out half empty.
    const size_t entries = builder->ApproximateNumEntries(4096);
    EXPECT_GE(static_cast<double>(entries) * bits, 0.97 * 8 * 4096);
  }
}

TEST(CuckooBuilderTest, HugeNumbersDoNotWrap) {
  const std::vector<size_t> sizes = {0,
                                     1,
                                     (size_t{1} << 31) - 1,
                                     size_t{1} << 31,
                                     (size_t{1} << 32) - 1,
                                     size_t{1} << 32,
                                     size_t{1} << 40,
                                     std::numeric_limits<size_t>::max()};
  for (const double bits : {4.0, 4.5, 10.0, 24.0}) {
    const auto builder = NewBuilder(bits);
    size_t last_space = 0, last_entries = 0;
    for (const size_t n : sizes) {
      const size_t space = builder->CalculateSpace(n), entries = builder->ApproximateNumEntries(n);
      EXPECT_GE(space, last_space);
      EXPECT_LT(space, uint64_t{1} << 32);
      EXPECT_GE(entries, last_entries);
      EXPECT_LT(entries, uint64_t{1} << 33);
      const double rate = builder->EstimatedFpRate(n, space);
      EXPECT_TRUE(rate > 0 && rate <= 1) << n << " " << rate;
      EXPECT_EQ(builder->EstimatedFpRate(n, 0), 1.0);
      EXPECT_GT(builder->EstimatedFpRate(n, std::numeric_limits<size_t>::max()), 0.0);
      last_space = space;
      last_entries = entries;
    }
  }
}

// Five standard deviations; fixed keys, so the outcome is always the same.
TEST(CuckooBuilderTest, TheEstimatedRateIsTheMeasuredOne) {
  constexpr uint64_t kLookups = 300000;
  for (const double bits : {4.0, 4.6, 6.1, 8.0, 10.0, 12.0}) {
    for (const uint64_t keys : {40, 700, 20000}) {
      const auto builder = NewBuilder(bits);
      const std::string block = Block(bits, keys);
      const double expected = builder->EstimatedFpRate(keys, block.size()) * kLookups;
      const double count = static_cast<double>(CountFalsePositives(block, kLookups));
      EXPECT_LE(count, expected + 5 * std::sqrt(expected)) << bits << " bits, " << keys << " keys";
      EXPECT_GE(count, 0.8 * expected - 5 * std::sqrt(expected)) << bits << " bits, " << keys;
    }
  }
}

TEST(CuckooBuilderTest, EstimatesForSizesOtherThanOurs) {
  const auto builder = NewBuilder(10);
  const double at_10 = builder->EstimatedFpRate(100000, builder->CalculateSpace(100000));
  EXPECT_NEAR(at_10, builder->EstimatedFpRate(100000, builder->CalculateSpace(100000) + 64),
              0.01 * at_10);
  EXPECT_GT(builder->EstimatedFpRate(100000, 100000), 2 * at_10);    // 8 bits
  EXPECT_LT(builder->EstimatedFpRate(100000, 150000), 0.5 * at_10);  // 12 bits
  EXPECT_EQ(builder->EstimatedFpRate(100000, 1000), 1.0);
  EXPECT_EQ(builder->EstimatedFpRate(0, 1000), 1.0);
}

TEST(CuckooBuilderTest, SettingsBecomeRequests) {
  BlockRequest request = RequestFor(FilterSetting::WithBits(FilterKind::kCuckoo, 8.625));
  EXPECT_EQ(request.bits_per_key, 8.625);
  EXPECT_EQ(request.asked_millibits, 8625);
  FilterSetting rate;
  rate.kind = FilterKind::kCuckoo;
  rate.rate_per_billion = 10 * 1000 * 1000;  // 1%
  request = RequestFor(rate);
  EXPECT_EQ(request.asked_millibits, 0);
  EXPECT_NEAR(request.bits_per_key, 7.3, 0.3);
  EXPECT_LE(RateForBits(request.bits_per_key), 0.01);
  rate.rate_per_billion = kMaxRatePerBillion;
  EXPECT_EQ(RequestFor(rate).bits_per_key, 4.0);
  rate.rate_per_billion = kMinRatePerBillion;
  for (const CuckooCoding coding : {CuckooCoding::kEquations, CuckooCoding::kFingerprints}) {
    rate.coding = coding;
    request = RequestFor(rate);
    EXPECT_LE(ExpectedRate(10 * 1000 * 1000, request), 1.01e-6);
    EXPECT_LE(request.bits_per_key, 24.0);
  }
}

TEST(CuckooBuilderTest, AllocatorSizesDoNotChangeTheBytes) {
  BlockBasedTableOptions options;
  options.optimize_filters_for_memory = true;
  const auto builder = NewBuilder(10, options);
  for (uint64_t keys = 1; keys < 5000; keys += 37) {
    AddKeys(builder.get(), 0, keys);
    EXPECT_EQ(Finish(builder.get()), Block(10, keys)) << keys;
  }
}

TEST(CuckooBuilderTest, AChangedHashIsNoticedBeforeBuilding) {
  for (const bool detect : {false, true}) {
    const auto builder = NewBuilder(10, detect ? Detecting() : BlockBasedTableOptions());
    AddKeys(builder.get(), 0, 1000);
    builder->TEST_collector().hashes()[500] ^= 1;
    std::unique_ptr<const char[]> buffer;
    Status status;
    const std::string block = builder->Finish(&buffer, &status).ToString();
    EXPECT_EQ(status.IsCorruption(), detect) << status.ToString();
    if (detect) {
      EXPECT_EQ(CountLost(block, 0, 1000), 0u);  // should a caller use it all the same
    }
    EXPECT_EQ(builder->EstimateEntriesAdded(), 0u);
    AddKeys(builder.get(), 0, 1000);
    EXPECT_EQ(Finish(builder.get()), Block(10, 1000)) << "the next partition is unharmed";
  }
}

TEST(CuckooBuilderTest, AChangedBlockIsNoticedBeforeWriting) {
  const auto builder = NewBuilder(10, Detecting());
  uint64_t noticed = 0, harmful = 0;
  for (size_t byte = 3; byte < 1250; byte += 5) {
    AddKeys(builder.get(), 0, 1000);
    std::string block = Finish(builder.get());
    block[byte] = static_cast<char>(block[byte] ^ 4);
    const bool loses_keys = CountLost(block, 0, 1000) > 0;
    const Status status = builder->MaybePostVerify(block);
    harmful += loses_keys ? 1 : 0;
    noticed += status.IsCorruption() ? 1 : 0;
    EXPECT_TRUE(!loses_keys || status.IsCorruption()) << byte;
  }
  EXPECT_GT(harmful, 200u) << "hardly any bit mattered: this tests nothing";
  EXPECT_EQ(noticed, harmful);
}

TEST(CuckooBuilderTest, DamagedMetadataIsNoticedBeforeWriting) {
  const auto builder = NewBuilder(10, Detecting());
  AddKeys(builder.get(), 0, 1000);
  std::string block = Finish(builder.get());
  block[block.size() - 10] = static_cast<char>(block[block.size() - 10] ^ 1);
  EXPECT_TRUE(builder->MaybePostVerify(block).IsCorruption());
}

TEST(CuckooBuilderTest, WithoutTheOptionNothingIsVerified) {
  const auto builder = NewBuilder(10);
  AddKeys(builder.get(), 0, 1000);
  EXPECT_EQ(Finish(builder.get()).size(), builder->CalculateSpace(1000));
  EXPECT_OK(builder->MaybePostVerify(Slice()));
}

#ifndef TIEREDFILTER_SANITIZED  // they end the process instead of throwing
// In a process of its own, which really runs out of memory.
void FinishWithoutMemory(uint64_t keys, rlim_t bytes_left, bool expect_block) {
  const uint64_t before = GetFilterCounters().match_all_blocks_written;
  const auto builder = NewBuilder(10);
  AddKeys(builder.get(), 0, keys / 2);
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  unsigned long pages = 0;
  if (std::fscanf(file, "%lu", &pages) != 1) std::_Exit(3);
  std::fclose(file);
  const rlim_t limit = pages * 4096ull + bytes_left;
  const struct rlimit address_space = {limit, limit};
  setrlimit(RLIMIT_AS, &address_space);
  AddKeys(builder.get(), keys / 2, keys);
  if (builder->EstimateEntriesAdded() != keys) std::_Exit(4);
  std::unique_ptr<const char[]> buffer;
  const Slice block = builder->Finish(&buffer);
  if (block.size() != (expect_block ? builder->CalculateSpace(keys) : kShortTrailerBytes)) {
    std::_Exit(5);
  }
  const uint64_t given_up = GetFilterCounters().match_all_blocks_written - before;
  if (given_up != (expect_block ? 0u : 1u)) std::_Exit(6);
  const auto reader = Reader(block);
  for (uint64_t i = 0; i < keys; i += 97) {
    if (!reader->MayMatch(Key(i))) std::_Exit(7);
  }
  std::_Exit(0);
}

TEST(CuckooBuilderDeathTest, WithoutMemoryNoKeyIsLost) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  constexpr uint64_t kMany = 1500 * 1000;
  // No room for the second half of the hashes (6 MB); for those but not for the block; for all.
  EXPECT_EXIT(FinishWithoutMemory(kMany, 2 << 20, false), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(FinishWithoutMemory(kMany, 8 << 20, false), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(FinishWithoutMemory(kMany, 200 << 20, true), ::testing::ExitedWithCode(0), "");
}
#endif

class CuckooReaderTest : public ::testing::Test {
 protected:
  static constexpr uint64_t kKeys = 2000;
  const std::string block_ = Block(10, kKeys);
};

TEST_F(CuckooReaderTest, BatchesOfAnyLengthAgreeWithSingleLookups) {
  const auto reader = Reader(block_);
  std::vector<std::string> keys;
  for (uint64_t i = 0; i < 100; ++i) {
    keys.push_back(i % 3 == 0 ? Key(i) : AbsentKey(i * 7));
  }
  std::vector<Slice> slices(keys.begin(), keys.end());
  slices[5] = Slice();
  for (const int count : {0, 1, 2, 31, 32, 33, 64, 65, 100}) {
    std::vector<Slice*> pointers;
    for (int i = 0; i < count; ++i) pointers.push_back(&slices[static_cast<size_t>(i)]);
    // One more than there are keys, to see that it stays as it is.
    const std::unique_ptr<bool[]> may_match(new bool[static_cast<size_t>(count) + 1]());
    may_match[static_cast<size_t>(count)] = true;
    reader->MayMatch(count, pointers.data(), may_match.get());
    for (int i = 0; i < count; ++i) {
      EXPECT_EQ(may_match[static_cast<size_t>(i)],
                reader->MayMatch(*pointers[static_cast<size_t>(i)]));
    }
    EXPECT_TRUE(may_match[static_cast<size_t>(count)]);
  }
}

TEST_F(CuckooReaderTest, EveryTruncationMayMatchAndIsCounted) {
  for (const size_t cut : {1, 2, 5, 27, 28, 29, 64, 1000}) {
    const uint64_t before = GetFilterCounters().unusable_blocks_read;
    // NewFilterBitsReader would take most of these for other kinds, since the marker is gone.
    const Slice part(block_.data(), block_.size() - cut);
    const std::unique_ptr<FilterBitsReader> reader(NewCuckooBitsReader(part));
    for (uint64_t i = 0; i < 100; ++i) {
      ASSERT_TRUE(reader->MayMatch(Key(i)));
      ASSERT_TRUE(reader->MayMatch(AbsentKey(i)));
    }
    EXPECT_EQ(GetFilterCounters().unusable_blocks_read, before + 1);
  }
}

TEST_F(CuckooReaderTest, ANewerVersionMayMatchAndIsCounted) {
  const uint64_t before = GetFilterCounters().unusable_blocks_read;
  std::string newer = block_;
  newer[newer.size() - kTrailerBytes + 2] = 99;
  EXPECT_EQ(CountFalsePositives(newer, 100), 100u);
  EXPECT_EQ(GetFilterCounters().unusable_blocks_read, before + 1);
  EXPECT_LT(CountFalsePositives(block_, 100), 10u);
  EXPECT_EQ(GetFilterCounters().unusable_blocks_read, before + 1);
}

}  // namespace
}  // namespace tieredfilter
