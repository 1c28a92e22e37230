// Keys, prefixes, comparators and ways of writing that have cost other filters rows: each database
// is written twice, with cuckoo filters and with none, and has to show the same by Get, MultiGet,
// seeks in both directions and scans.
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "rocksdb/compaction_filter.h"
#include "rocksdb/comparator.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/statistics.h"
#include "tests/plugin/host_test_util.h"

namespace tieredfilter {
namespace {

using ROCKSDB_NAMESPACE::BlockBasedTableOptions;
using ROCKSDB_NAMESPACE::CompactRangeOptions;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::FlushOptions;
using ROCKSDB_NAMESPACE::Iterator;
using ROCKSDB_NAMESPACE::Options;
using ROCKSDB_NAMESPACE::PinnableSlice;
using ROCKSDB_NAMESPACE::ReadOptions;
using ROCKSDB_NAMESPACE::Slice;
using ROCKSDB_NAMESPACE::SliceTransform;
using ROCKSDB_NAMESPACE::Status;
using ROCKSDB_NAMESPACE::WriteOptions;

using Strings = std::vector<std::string>;

struct Filtering {
  bool whole_keys;
  bool partitioned;
};
constexpr Filtering kFilterings[] = {{true, false}, {true, true}, {false, false}, {false, true}};

// Scans of the whole, whatever there is of prefixes and filters.
std::string Everything(DB* db) {
  ReadOptions read;
  read.total_order_seek = true;
  const std::unique_ptr<Iterator> iterator(db->NewIterator(read));
  std::string shown;
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    shown += iterator->key().ToString() + "=" + iterator->value().ToString() + ";";
  }
  return shown + iterator->status().ToString();
}

std::string ByMultiGet(DB* db, const Strings& keys) {
  std::vector<Slice> slices(keys.begin(), keys.end());
  std::vector<PinnableSlice> values(keys.size());
  std::vector<Status> statuses(keys.size());
  db->MultiGet(ReadOptions(), db->DefaultColumnFamily(), keys.size(), slices.data(), values.data(),
               statuses.data());
  std::string shown;
  for (size_t i = 0; i < keys.size(); ++i) {
    shown += statuses[i].ok() ? values[i].ToString() + ";" : statuses[i].ToString();
  }
  return shown;
}

class CuckooOddKeysTest : public ::testing::TestWithParam<Filtering> {
 protected:
  // Opens both databases anew. `change` says what is special about them.
  void Start(const std::function<void(Options*)>& change) {
    for (const bool filtered : {false, true}) {
      Options options = TestOptions(filtered ? Policy("cuckoo:12") : nullptr);
      options.statistics = ROCKSDB_NAMESPACE::CreateDBStatistics();
      change(&options);
      options = WithTableOptions(options, [](BlockBasedTableOptions* table) {
        table->whole_key_filtering = GetParam().whole_keys;
        table->block_size = 256;
        if (GetParam().partitioned) {
          table->partition_filters = true;
          table->index_type = BlockBasedTableOptions::kTwoLevelIndexSearch;
          table->metadata_block_size = 64;
        }
      });
      const std::string path =
          dir_.Path(std::to_string(databases_++) + (filtered ? "filtered" : "plain"));
      (filtered ? filtered_ : plain_) = Open(options, path);
    }
  }

  void Both(const std::function<Status(DB*)>& act) {
    ASSERT_OK(act(plain_.get()));
    ASSERT_OK(act(filtered_.get()));
  }
  // In two runs, so that a filter that says "no" hides something.
  void Write(const Strings& keys) {
    for (const size_t first : {size_t{0}, size_t{1}}) {
      for (size_t i = first; i < keys.size(); i += 2) {
        Both([&](DB* db) { return db->Put(WriteOptions(), keys[i], std::to_string(i)); });
      }
      Both([](DB* db) { return db->Flush(FlushOptions()); });
    }
  }

  void ExpectTheSame(const Strings& probes, const std::vector<ReadOptions>& reads) {
    EXPECT_EQ(Everything(filtered_.get()), Everything(plain_.get()));
    EXPECT_EQ(ByMultiGet(filtered_.get(), probes), ByMultiGet(plain_.get(), probes));
    for (const std::string& key : probes) {
      std::string value, expected_value;
      const Status expected = plain_->Get(ReadOptions(), key, &expected_value);
      EXPECT_EQ(filtered_->Get(ReadOptions(), key, &value).code(), expected.code()) << key;
      EXPECT_EQ(value, expected_value) << key;
      for (const ReadOptions& read : reads) {
        for (const bool backwards : {false, true}) {
          EXPECT_EQ(ShowAround(filtered_.get(), key, read, backwards, 3),
                    ShowAround(plain_.get(), key, read, backwards, 3))
              << key << (backwards ? ", backwards" : "");
        }
      }
    }
  }

  uint64_t Useful() const {
    const auto& statistics = filtered_->GetDBOptions().statistics;
    return statistics->getTickerCount(ROCKSDB_NAMESPACE::BLOOM_FILTER_USEFUL) +
           statistics->getTickerCount(ROCKSDB_NAMESPACE::BLOOM_FILTER_PREFIX_USEFUL);
  }

  ScratchDir dir_;
  int databases_ = 0;
  std::unique_ptr<DB> plain_, filtered_;
};

ReadOptions TotalOrder() {
  ReadOptions read;
  read.total_order_seek = true;
  return read;
}
// Beyond the prefix, answers are not defined.
ReadOptions SamePrefix() {
  ReadOptions read;
  read.prefix_same_as_start = true;
  return read;
}
ReadOptions AutoPrefix() {
  ReadOptions read;
  read.auto_prefix_mode = true;
  return read;
}

// All keys of one to three letters.
Strings AllWords() {
  Strings words;
  const std::string letters = "abc";
  for (const char a : letters) {
    words.emplace_back(1, a);
    for (const char b : letters) {
      words.push_back({a, b});
      for (const char c : letters) words.push_back({a, b, c});
    }
  }
  return words;
}

// The empty key, zero bytes, the highest bytes, long ones, and keys too short to have the prefix.
TEST_P(CuckooOddKeysTest, KeysAtTheEdges) {
  Start([](Options* options) {
    options->prefix_extractor.reset(ROCKSDB_NAMESPACE::NewFixedPrefixTransform(3));
  });
  Strings keys = {"", std::string(1, '\0'), std::string(2, '\0'), std::string(3, '\0'), "a", "ab"};
  for (const size_t length : {1, 2, 3, 4, 100}) keys.emplace_back(length, '\xff');
  for (const char* key : {"abc", "abcd", "abd"}) keys.push_back(key);
  keys.emplace_back(65536, 'x');
  keys.emplace_back(65537, 'x');
  Write(keys);
  Strings probes = keys;
  for (const char* absent : {"b", "abcde", "abx", "xxx", "zzzz"}) probes.push_back(absent);
  probes.emplace_back(65535, 'x');
  probes.emplace_back(4, '\0');
  ExpectTheSame(probes, {TotalOrder(), AutoPrefix()});
}

TEST_P(CuckooOddKeysTest, EveryPrefixSeekOfSmallDatabases) {
  const Strings words = AllWords();
  std::mt19937 random(7);
  for (int round = 0; round < 8; ++round) {
    Start([](Options* options) {
      options->prefix_extractor.reset(ROCKSDB_NAMESPACE::NewFixedPrefixTransform(1));
    });
    Strings keys;
    for (const std::string& word : words) {
      if (random() % 8 < 1 + static_cast<unsigned>(round) % 4) keys.push_back(word);
    }
    Write(keys);
    ExpectTheSame(words, {TotalOrder(), SamePrefix(), AutoPrefix()});
  }
}

TEST_P(CuckooOddKeysTest, ReverseOrderAndCappedPrefixes) {
  Start([](Options* options) {
    options->comparator = ROCKSDB_NAMESPACE::ReverseBytewiseComparator();
    options->prefix_extractor.reset(ROCKSDB_NAMESPACE::NewCappedPrefixTransform(2));
  });
  const Strings words = AllWords();
  Strings keys;
  for (size_t i = 0; i < words.size(); i += 3) keys.push_back(words[i]);
  Write(keys);
  ExpectTheSame(words, {TotalOrder(), SamePrefix()});
}

// What stands in front of the first '/', which keys of one range need not share.
class UntilSlash final : public SliceTransform {
 public:
  const char* Name() const override { return "UntilSlash"; }
  Slice Transform(const Slice& key) const override { return Slice(key.data(), Length(key)); }
  bool InDomain(const Slice& key) const override { return Length(key) < key.size(); }

 private:
  static size_t Length(const Slice& key) {
    size_t length = 0;
    while (length < key.size() && key[length] != '/') ++length;
    return length;
  }
};

TEST_P(CuckooOddKeysTest, PrefixesOfAnyLength) {
  Start([](Options* options) { options->prefix_extractor = std::make_shared<UntilSlash>(); });
  const Strings keys = {"example", "example/a", "example/b", "example.org/a", "example.org/b c",
                        "/",       "/a",        "a/",        "no slash",      "zz/1"};
  Write(keys);
  Strings probes = keys;
  for (const char* absent : {"example/", "example.com/a", "b/", "//"}) probes.push_back(absent);
  ExpectTheSame(probes, {TotalOrder()});
}

// Buffered building: the table's keys reach the filter only when the dictionary is trained.
TEST_P(CuckooOddKeysTest, DictionariesAreTrainedFirst) {
  Start([](Options* options) {
    options->prefix_extractor.reset(ROCKSDB_NAMESPACE::NewFixedPrefixTransform(8));
    options->compression = ROCKSDB_NAMESPACE::kZSTD;
    options->compression_opts.max_dict_bytes = 4096;
    options->compression_opts.zstd_max_train_bytes = 65536;
  });
  Strings keys, probes;
  for (uint64_t i = 0; i < 3000; ++i) keys.push_back(Key(10 * i));
  Write(keys);
  for (uint64_t i = 0; i < 300; ++i) {
    probes.push_back(keys[10 * i]);
    probes.push_back(AbsentKey(100 * i));
  }
  ExpectTheSame(probes, {TotalOrder()});
  if (GetParam().whole_keys) {
    EXPECT_GT(Useful(), 100u);
  }
}

// Removes "b" and, unseen, everything up to "c".
class SkipsRanges final : public ROCKSDB_NAMESPACE::CompactionFilter {
 public:
  const char* Name() const override { return "SkipsRanges"; }
  Decision FilterV2(int, const Slice& key, ValueType, const Slice&, std::string*,
                    std::string* skip_until) const override {
    if (key.empty() || key[0] != 'b') return Decision::kKeep;
    *skip_until = "c";
    return Decision::kRemoveAndSkipUntil;
  }
};

TEST_P(CuckooOddKeysTest, CompactionsThatSkip) {
  const SkipsRanges filter;
  Start([&](Options* options) {
    options->prefix_extractor.reset(ROCKSDB_NAMESPACE::NewFixedPrefixTransform(1));
    options->compaction_filter = &filter;
  });
  const Strings words = AllWords();
  Write(words);
  Both([](DB* db) {
    CompactRangeOptions compact;
    compact.bottommost_level_compaction =
        ROCKSDB_NAMESPACE::BottommostLevelCompaction::kForceOptimized;
    return db->CompactRange(compact, nullptr, nullptr);
  });
  EXPECT_NE(Everything(filtered_.get()).find(";cba="), std::string::npos);
  EXPECT_EQ(Everything(filtered_.get()).find(";b"), std::string::npos);
  ExpectTheSame(words, {TotalOrder(), SamePrefix()});
  filtered_.reset();  // before the filter it was given
  plain_.reset();
}

INSTANTIATE_TEST_SUITE_P(Filterings, CuckooOddKeysTest, ::testing::ValuesIn(kFilterings),
                         [](const auto& test) {
                           return std::string(test.param.whole_keys ? "Whole" : "Prefixes") +
                                  (test.param.partitioned ? "Partitioned" : "Full");
                         });

}  // namespace
}  // namespace tieredfilter
