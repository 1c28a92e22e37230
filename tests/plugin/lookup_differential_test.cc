// Every way of looking up, over full and partitioned filters, whole keys and prefixes, against a
// model that has no filter at all. Filters of several kinds lie in one database, one per level, as
// the policy makes them.
#include <map>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "rocksdb/slice_transform.h"
#include "tests/plugin/host_test_util.h"

namespace tieredfilter {
namespace {

using ROCKSDB_NAMESPACE::BlockBasedTableOptions;
using ROCKSDB_NAMESPACE::CompactionOptions;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::FlushOptions;
using ROCKSDB_NAMESPACE::Iterator;
using ROCKSDB_NAMESPACE::Options;
using ROCKSDB_NAMESPACE::PinnableSlice;
using ROCKSDB_NAMESPACE::ReadOptions;
using ROCKSDB_NAMESPACE::Slice;
using ROCKSDB_NAMESPACE::Status;
using ROCKSDB_NAMESPACE::WriteOptions;

using Model = std::map<std::string, std::string>;

enum class Keys { kWhole, kWholeAndPrefix, kPrefixOnly };

struct Shape {
  const char* name;
  bool partitioned;
  Keys keys;
};

constexpr size_t kPrefixBytes = 2;

class LookupDifferentialTest : public ::testing::TestWithParam<Shape> {
 protected:
  Options MakeOptions() {
    Options options = TestOptions(
        Policy("flush:bloom:14,1:ribbon:7,2:none,bottommost:ribbon:1%,unknown:bloom:5"));
    if (GetParam().keys != Keys::kWhole) {
      options.prefix_extractor.reset(ROCKSDB_NAMESPACE::NewFixedPrefixTransform(kPrefixBytes));
    }
    return WithTableOptions(options, [](BlockBasedTableOptions* table) {
      table->whole_key_filtering = GetParam().keys != Keys::kPrefixOnly;
      table->block_size = 256;
      if (GetParam().partitioned) {
        table->partition_filters = true;
        table->index_type = BlockBasedTableOptions::kTwoLevelIndexSearch;
        table->metadata_block_size = 128;  // many partitions, hence many edges
      }
    });
  }

  // Keys of one to four letters: few enough to be hit often, short enough to lie outside the prefix
  // domain at times.
  std::string RandomKey() {
    std::string key;
    for (size_t letters = 1 + random_() % 4; letters > 0; --letters) {
      key += static_cast<char>('a' + random_() % 6);
    }
    return key;
  }

  void Put(const std::string& key) {
    const std::string value = key + "@" + std::to_string(random_() % 1000);
    ASSERT_OK(db_->Put(WriteOptions(), key, value));
    model_[key] = value;
  }

  void Delete(const std::string& key) {
    ASSERT_OK(db_->Delete(WriteOptions(), key));
    model_.erase(key);
  }

  void DeleteRange(std::string begin, std::string end) {
    if (end < begin) {
      std::swap(begin, end);
    }
    ASSERT_OK(db_->DeleteRange(WriteOptions(), db_->DefaultColumnFamily(), begin, end));
    model_.erase(model_.lower_bound(begin), model_.lower_bound(end));
  }

  void FlushTo(int level) {
    ASSERT_OK(db_->Flush(FlushOptions()));
    if (level == 0) {
      return;
    }
    // All files above, so that newer data stays above older data.
    std::vector<std::string> files;
    for (const TableOnDisk& table : Tables(db_.get())) {
      if (table.level <= level) {
        files.push_back(table.path);
      }
    }
    ASSERT_OK(db_->CompactFiles(CompactionOptions(), files, level));
  }

  void FillLevels() {
    for (const int level : {6, 2, 1, 0, 0}) {
      for (int i = 0; i < 150; ++i) {
        Put(RandomKey());
      }
      for (int i = 0; i < 20; ++i) {
        Delete(RandomKey());
      }
      const std::string begin = RandomKey();
      DeleteRange(begin, begin + "c");
      FlushTo(level);
    }
  }

  void CheckGet(const std::string& key) {
    std::string value;
    const Status status = db_->Get(ReadOptions(), key, &value);
    const auto expected = model_.find(key);
    ++lookups_;
    if (expected == model_.end()) {
      EXPECT_TRUE(status.IsNotFound()) << key << " is a ghost";
    } else {
      ++hits_;
      EXPECT_TRUE(status.ok()) << key << " is lost: " << status.ToString();
      EXPECT_EQ(value, expected->second) << key;
    }
  }

  void CheckMultiGet() {
    std::vector<std::string> keys(32);
    std::vector<Slice> slices;
    for (std::string& key : keys) {
      key = RandomKey();
      slices.emplace_back(key);
    }
    std::vector<PinnableSlice> values(keys.size());
    std::vector<Status> statuses(keys.size());
    db_->MultiGet(ReadOptions(), db_->DefaultColumnFamily(), keys.size(), slices.data(),
                  values.data(), statuses.data());
    for (size_t i = 0; i < keys.size(); ++i) {
      const auto expected = model_.find(keys[i]);
      if (expected == model_.end()) {
        EXPECT_TRUE(statuses[i].IsNotFound()) << keys[i];
      } else {
        ASSERT_TRUE(statuses[i].ok()) << keys[i] << " is lost";
        EXPECT_EQ(values[i].ToString(), expected->second);
      }
    }
  }

  // Seeks within the prefix, where the prefix filter may be used; only answers with this prefix are
  // defined.
  void CheckPrefixSeek(const std::string& key) {
    if (key.size() < kPrefixBytes) {
      return;  // outside the domain of the extractor
    }
    const std::string prefix = key.substr(0, kPrefixBytes);
    const std::unique_ptr<Iterator> iterator(db_->NewIterator(ReadOptions()));
    iterator->Seek(key);
    const auto expected = model_.lower_bound(key);
    if (expected != model_.end() && expected->first.compare(0, kPrefixBytes, prefix) == 0) {
      ASSERT_TRUE(iterator->Valid()) << "no " << expected->first << " after " << key;
      EXPECT_EQ(iterator->key().ToString(), expected->first);
    } else if (iterator->Valid()) {
      EXPECT_FALSE(iterator->key().starts_with(prefix)) << iterator->key().ToString();
    }
    iterator->SeekForPrev(key);
    auto previous = model_.upper_bound(key);
    if (previous != model_.begin() && (--previous)->first.compare(0, kPrefixBytes, prefix) == 0) {
      ASSERT_TRUE(iterator->Valid()) << "no " << previous->first << " before " << key;
      EXPECT_EQ(iterator->key().ToString(), previous->first);
    }
  }

  void CheckScan() {
    ReadOptions read;
    read.total_order_seek = true;
    const std::unique_ptr<Iterator> iterator(db_->NewIterator(read));
    auto expected = model_.begin();
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next(), ++expected) {
      ASSERT_NE(expected, model_.end());
      ASSERT_EQ(iterator->key().ToString(), expected->first);
      CheckGet(expected->first);  // everything a scan shows, a lookup finds
    }
    EXPECT_EQ(expected, model_.end());
  }

  void CheckAll() {
    CheckScan();
    for (int i = 0; i < 1000; ++i) {
      const std::string key = RandomKey();
      CheckGet(key);
      CheckPrefixSeek(key);
    }
    for (int i = 0; i < 20; ++i) {
      CheckMultiGet();
    }
  }

  ScratchDir dir_;
  std::mt19937 random_{20};
  std::unique_ptr<DB> db_;
  Model model_;
  uint64_t lookups_ = 0;
  uint64_t hits_ = 0;
};

TEST_P(LookupDifferentialTest, AgreesWithTheModel) {
  const Options options = MakeOptions();
  db_ = Open(options, dir_.Path("db"));
  ASSERT_NE(db_, nullptr);
  for (int round = 0; round < 3; ++round) {
    FillLevels();
    CheckAll();
  }
  db_.reset();
  db_ = Open(options, dir_.Path("db"));
  CheckAll();
  // A tester that mostly asks for absent keys would not notice lost ones.
  EXPECT_GT(hits_, lookups_ * 3 / 10) << hits_ << " of " << lookups_;
  EXPECT_LT(hits_, lookups_ * 9 / 10) << hits_ << " of " << lookups_;
}

TEST_P(LookupDifferentialTest, OddKeys) {
  db_ = Open(MakeOptions(), dir_.Path("db"));
  ASSERT_NE(db_, nullptr);
  const std::vector<std::string> keys = {
      "",     std::string(1, '\0'), std::string(2, '\0'),    std::string(3, '\0'),
      "\xff", "\xff\xff\xff\xff",   std::string(65536, 'x'), std::string(65536, 'x') + "y"};
  for (const std::string& key : keys) {
    Put(key);
  }
  FlushTo(0);
  FlushTo(1);
  CheckScan();
}

// An older value in a file below must stay hidden under a range tombstone whose file's filter
// denies the key.
TEST_P(LookupDifferentialTest, ARangeTombstoneHidesKeysItsFilterDenies) {
  db_ = Open(MakeOptions(), dir_.Path("db"));
  ASSERT_NE(db_, nullptr);
  for (const char* key : {"caa", "cab", "cac"}) {
    Put(key);
  }
  FlushTo(6);
  Put("zzz");
  DeleteRange("c", "d");
  FlushTo(0);
  for (const char* key : {"caa", "cab", "cac", "zzz"}) {
    CheckGet(key);
  }
  for (int i = 0; i < 10; ++i) {
    CheckMultiGet();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, LookupDifferentialTest,
    ::testing::Values(Shape{"FullWhole", false, Keys::kWhole},
                      Shape{"FullWholeAndPrefix", false, Keys::kWholeAndPrefix},
                      Shape{"FullPrefixOnly", false, Keys::kPrefixOnly},
                      Shape{"PartitionedWhole", true, Keys::kWhole},
                      Shape{"PartitionedWholeAndPrefix", true, Keys::kWholeAndPrefix},
                      Shape{"PartitionedPrefixOnly", true, Keys::kPrefixOnly}),
    [](const ::testing::TestParamInfo<Shape>& shape) { return shape.param.name; });

}  // namespace
}  // namespace tieredfilter
