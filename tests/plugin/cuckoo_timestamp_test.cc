// User-defined timestamps: filters hold keys without their timestamp, and are asked so by every
// kind of lookup. The same database without filters gives the answers.
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "rocksdb/comparator.h"
#include "rocksdb/convenience.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/statistics.h"
#include "tests/plugin/host_test_util.h"

namespace tieredfilter {
namespace {

using ROCKSDB_NAMESPACE::BlockBasedTableOptions;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::Options;
using ROCKSDB_NAMESPACE::PinnableSlice;
using ROCKSDB_NAMESPACE::ReadOptions;
using ROCKSDB_NAMESPACE::Slice;
using ROCKSDB_NAMESPACE::Status;
using ROCKSDB_NAMESPACE::WriteOptions;

constexpr uint64_t kKeys = 4000;
constexpr uint64_t kLastTime = 4;
constexpr size_t kPrefixBytes = 13;  // of Key()'s 15: a hundred keys share one

// As the u64ts comparator reads it: little-endian.
std::string Time(uint64_t time) {
  std::string bytes(sizeof(time), '\0');
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>(time >> (8 * i));
  }
  return bytes;
}

struct Shape {
  const char* name;
  bool partitioned;
  bool prefixes;
};

class CuckooTimestampTest : public ::testing::TestWithParam<Shape> {
 protected:
  Options MakeOptions(const std::shared_ptr<const ROCKSDB_NAMESPACE::FilterPolicy>& policy) {
    Options options = TestOptions(policy);
    options.statistics = ROCKSDB_NAMESPACE::CreateDBStatistics();
    EXPECT_OK(ROCKSDB_NAMESPACE::Comparator::CreateFromString(ROCKSDB_NAMESPACE::ConfigOptions(),
                                                              "leveldb.BytewiseComparator.u64ts",
                                                              &options.comparator));
    if (GetParam().prefixes) {
      options.prefix_extractor.reset(ROCKSDB_NAMESPACE::NewFixedPrefixTransform(kPrefixBytes));
    }
    return WithTableOptions(options, [](BlockBasedTableOptions* table) {
      if (GetParam().partitioned) {
        table->partition_filters = true;
        table->index_type = BlockBasedTableOptions::kTwoLevelIndexSearch;
        table->metadata_block_size = 256;
      }
    });
  }

  // One file per time, each with two keys in three, the oldest in the last level.
  static void Write(DB* db) {
    std::mt19937 random(5);
    for (uint64_t time = 1; time <= kLastTime; ++time) {
      for (uint64_t i = 0; i < kKeys; ++i) {
        if (random() % 3 != 0) {
          ASSERT_OK(random() % 8 == 0
                        ? db->Delete(WriteOptions(), db->DefaultColumnFamily(), Key(i), Time(time))
                        : db->Put(WriteOptions(), db->DefaultColumnFamily(), Key(i), Time(time),
                                  std::to_string(time * kKeys + i)));
        }
      }
      ASSERT_OK(db->Flush(ROCKSDB_NAMESPACE::FlushOptions()));
      if (time == 2) {
        ASSERT_OK(db->CompactRange(ROCKSDB_NAMESPACE::CompactRangeOptions(), nullptr, nullptr));
      }
    }
  }

  void Compare(DB* filtered, DB* plain, uint64_t time) {
    const std::string bytes = Time(time);
    const Slice timestamp(bytes);
    ReadOptions read;
    read.timestamp = &timestamp;
    std::vector<std::string> keys;
    for (uint64_t i = 0; i < kKeys; ++i) {
      keys.push_back(i % 4 == 3 ? AbsentKey(i) : Key(i));
    }
    for (const std::string& key : keys) {
      std::string value, expected_value, at, expected_at;
      const Status status = filtered->Get(read, key, &value, &at);
      const Status expected = plain->Get(read, key, &expected_value, &expected_at);
      ASSERT_EQ(status.code(), expected.code()) << key << " at " << time;
      ASSERT_EQ(value, expected_value);
      hits_ += expected.ok() ? 1 : 0;
      ++lookups_;
    }
    const std::vector<Slice> slices(keys.begin(), keys.end());
    std::vector<PinnableSlice> values(kKeys), expected_values(kKeys);
    std::vector<std::string> times(kKeys), expected_times(kKeys);
    std::vector<Status> statuses(kKeys), expected(kKeys);
    filtered->MultiGet(read, filtered->DefaultColumnFamily(), kKeys, slices.data(), values.data(),
                       times.data(), statuses.data());
    plain->MultiGet(read, plain->DefaultColumnFamily(), kKeys, slices.data(),
                    expected_values.data(), expected_times.data(), expected.data());
    for (size_t i = 0; i < kKeys; ++i) {
      ASSERT_EQ(statuses[i].code(), expected[i].code()) << keys[i] << " at " << time;
      if (expected[i].ok()) {
        ASSERT_EQ(values[i], expected_values[i]);
        ASSERT_EQ(times[i], expected_times[i]);
      }
    }
    CompareSeeks(filtered, plain, read);
  }

  static void CompareSeeks(DB* filtered, DB* plain, ReadOptions read) {
    read.prefix_same_as_start = GetParam().prefixes;
    for (uint64_t i = 0; i < kKeys; i += 7) {
      for (const bool backwards : {false, true}) {
        ASSERT_EQ(ShowAround(filtered, Key(i), read, backwards, 5),
                  ShowAround(plain, Key(i), read, backwards, 5));
      }
    }
  }

  ScratchDir dir_;
  uint64_t lookups_ = 0;
  uint64_t hits_ = 0;
};

TEST_P(CuckooTimestampTest, SameAnswersAsWithoutFilters) {
  const Options options = MakeOptions(Policy("cuckoo:10"));
  std::unique_ptr<DB> filtered = Open(options, dir_.Path("filtered"));
  std::unique_ptr<DB> plain = Open(MakeOptions(nullptr), dir_.Path("plain"));
  ASSERT_NE(filtered, nullptr);
  ASSERT_NE(plain, nullptr);
  Write(filtered.get());
  Write(plain.get());
  for (uint64_t time = 1; time <= kLastTime; ++time) {
    Compare(filtered.get(), plain.get(), time);
  }
  EXPECT_GE(hits_ * 2, lookups_) << "mostly absent keys, which lose nothing";
  const uint64_t useful =
      options.statistics->getTickerCount(ROCKSDB_NAMESPACE::BLOOM_FILTER_USEFUL);
  // Each key is absent from most of the files it is looked for in.
  EXPECT_GT(useful, lookups_);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, CuckooTimestampTest,
    ::testing::Values(Shape{"Full", false, false}, Shape{"FullPrefix", false, true},
                      Shape{"Partitioned", true, false}, Shape{"PartitionedPrefix", true, true}),
    [](const ::testing::TestParamInfo<Shape>& shape) { return shape.param.name; });

}  // namespace
}  // namespace tieredfilter
