// Cuckoo filters at all levels against the same database without filters: whatever is written and
// however it is looked up, the answers are the same. At least half of the lookups are for keys that
// exist (a tester that asks for absent keys only would never see a lost one), and the tickers say
// that the filters were asked. Two broken readers show that either fault would be noticed.
#include <cstdio>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "plugin/rocksdb_compat.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/statistics.h"
#include "src/filter/key_hash.h"
#include "tests/plugin/host_test_util.h"
#include "tests/sanitized.h"

namespace tieredfilter {
namespace {

using ROCKSDB_NAMESPACE::BlockBasedTableOptions;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::FilterBitsReader;
using ROCKSDB_NAMESPACE::FilterPolicy;
using ROCKSDB_NAMESPACE::FlushOptions;
using ROCKSDB_NAMESPACE::Iterator;
using ROCKSDB_NAMESPACE::Options;
using ROCKSDB_NAMESPACE::PinnableSlice;
using ROCKSDB_NAMESPACE::ReadOptions;
using ROCKSDB_NAMESPACE::Slice;
using ROCKSDB_NAMESPACE::Status;
using ROCKSDB_NAMESPACE::WriteOptions;

using PolicyPtr = std::shared_ptr<const FilterPolicy>;

enum class Keys { kWhole, kWholeAndPrefix, kPrefixOnly };

struct Shape {
  const char* name;
  const char* spec;
  Keys keys;
  bool partitioned;
};

// "k", the prefix of five digits, and two more digits. Even numbers may be written, odd ones never
// are, and of every fourth prefix none.
constexpr uint32_t kNumbers = 100000;
constexpr uint32_t kPerPrefix = 16;
constexpr size_t kPrefixBytes = 6;
// From here on, keys are only put once and single-deleted, or the outcome would be undefined.
constexpr uint32_t kFirstSingle = 90000;

std::string NumberKey(uint32_t number) {
  char key[16];
  std::snprintf(key, sizeof(key), "k%05u%02u", number / kPerPrefix, number % kPerPrefix);
  return key;
}

bool IsEverWritten(uint32_t number) { return number % 2 == 0 && number / kPerPrefix % 4 != 3; }

// Appends the operand, with a comma: both the order and the number of operands show.
class AppendOperator final : public ROCKSDB_NAMESPACE::AssociativeMergeOperator {
 public:
  bool Merge(const Slice&, const Slice* existing, const Slice& value, std::string* result,
             ROCKSDB_NAMESPACE::Logger*) const override {
    *result = (existing == nullptr ? "" : existing->ToString() + ",") + value.ToString();
    return true;
  }
  const char* Name() const override { return "AppendOperator"; }
};

struct Outcome {
  uint64_t lookups = 0;
  uint64_t hits = 0;
  uint64_t differences = 0;
  uint64_t useful = 0;
  uint64_t positive = 0;
  uint64_t true_positive = 0;
  uint64_t prefix_useful = 0;

  double hit_rate() const { return static_cast<double>(hits) / static_cast<double>(lookups); }
  // Share of the filter checks for absent keys that said "no".
  double useful_share() const {
    const uint64_t absent = useful + positive - true_positive;
    return absent == 0 ? 0 : static_cast<double>(useful) / static_cast<double>(absent);
  }
};

// The two databases, written alike.
class Pair {
 public:
  Pair(const Shape& shape, PolicyPtr policy)
      : shape_(shape),
        filtered_options_(MakeOptions(std::move(policy))),
        plain_options_(MakeOptions(nullptr)) {
    write_options_.disableWAL = true;  // everything is flushed
    Reopen();
  }

  void Reopen() {
    filtered_.reset();
    plain_.reset();
    filtered_ = Open(filtered_options_, dir_.Path("filtered"));
    plain_ = Open(plain_options_, dir_.Path("plain"));
  }

  // Newer data above older: down to the last level, then the ones above it.
  void Fill() {
    for (const int level : {6, 4, 1, 0, 0}) {
      WriteSome(level == 6 ? (kSanitized ? 10000 : 30000) : 3000);
      for (DB* db : {filtered_.get(), plain_.get()}) {
        ASSERT_OK(db->Flush(FlushOptions()));
        if (level > 0) {
          CompactTo(db, level);
        }
      }
    }
  }

  void LookUp(int rounds) {
    for (int i = 0; i < rounds; ++i) {
      CompareGet(NumberKey(NumberToLookUp()));
      if (i % 8 == 0) {
        CompareMultiGet();
      }
      if (i % 8 == 4) {
        CompareSeek(NumberKey(NumberToLookUp()), ReadOptions());
        ReadOptions total_order;
        total_order.total_order_seek = true;
        CompareSeek(NumberKey(NumberToLookUp()), total_order);
      }
    }
  }

  // Everything that a scan without filters shows.
  void CompareEveryKey() {
    ReadOptions read;
    read.total_order_seek = true;
    const std::unique_ptr<Iterator> iterator(plain_->NewIterator(read));
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
      std::string value;
      const Status status = filtered_->Get(ReadOptions(), iterator->key(), &value);
      Count(true, status.ok() && value == iterator->value());
    }
    ASSERT_OK(iterator->status());
  }

  Outcome Finish() {
    const auto ticker = [&](ROCKSDB_NAMESPACE::Tickers which) {
      return filtered_options_.statistics->getTickerCount(which);
    };
    outcome_.useful = ticker(ROCKSDB_NAMESPACE::BLOOM_FILTER_USEFUL);
    outcome_.positive = ticker(ROCKSDB_NAMESPACE::BLOOM_FILTER_FULL_POSITIVE);
    outcome_.true_positive = ticker(ROCKSDB_NAMESPACE::BLOOM_FILTER_FULL_TRUE_POSITIVE);
    outcome_.prefix_useful = ticker(ROCKSDB_NAMESPACE::BLOOM_FILTER_PREFIX_USEFUL);
    std::printf("%s: %llu lookups, %.0f%% of existing keys; %.2f%% of the checks useful\n",
                shape_.name, static_cast<unsigned long long>(outcome_.lookups),
                100 * outcome_.hit_rate(), 100 * outcome_.useful_share());
    return outcome_;
  }

 private:
  Options MakeOptions(PolicyPtr policy) {
    Options options = TestOptions(std::move(policy));
    options.statistics = ROCKSDB_NAMESPACE::CreateDBStatistics();
    options.merge_operator = std::make_shared<AppendOperator>();
    if (shape_.keys != Keys::kWhole) {
      options.prefix_extractor.reset(ROCKSDB_NAMESPACE::NewFixedPrefixTransform(kPrefixBytes));
    }
    return WithTableOptions(options, [this](BlockBasedTableOptions* table) {
      table->whole_key_filtering = shape_.keys != Keys::kPrefixOnly;
      table->block_size = 1024;
      if (shape_.partitioned) {
        table->partition_filters = true;
        table->index_type = BlockBasedTableOptions::kTwoLevelIndexSearch;
        table->metadata_block_size = 128;  // a hundred keys per filter: edges everywhere
      }
    });
  }

  static void CompactTo(DB* db, int level) {
    std::vector<std::string> files;
    for (const TableOnDisk& table : Tables(db)) {
      if (table.level <= level) {
        files.push_back(table.path);
      }
    }
    ASSERT_OK(db->CompactFiles(ROCKSDB_NAMESPACE::CompactionOptions(), files, level));
  }

  void Both(const std::function<Status(DB*)>& write) {
    ASSERT_OK(write(filtered_.get()));
    ASSERT_OK(write(plain_.get()));
  }

  uint32_t NumberToWrite() {
    uint32_t number;
    do {
      number = static_cast<uint32_t>(random_() % kNumbers);
    } while (!IsEverWritten(number));
    return number;
  }

  uint32_t NumberToLookUp() {
    if (random_() % 4 != 0 && !written_.empty()) {
      return written_[random_() % written_.size()];
    }
    uint32_t number;
    do {
      number = static_cast<uint32_t>(random_() % kNumbers);
    } while (IsEverWritten(number));
    return number;
  }

  void WriteSome(int count) {
    for (int i = 0; i < count; ++i) {
      const uint32_t number = NumberToWrite();
      const std::string key = NumberKey(number), value = std::to_string(random_() % 100000);
      const unsigned kind = random_() % 20;
      const bool single_delete = number >= kFirstSingle && singles_.erase(number) > 0;
      if (number >= kFirstSingle && !single_delete) {
        singles_.insert(number);
      }
      Both([&](DB* db) {
        if (single_delete) {
          return db->SingleDelete(write_options_, key);
        }
        if (kind < 14 || number >= kFirstSingle) {
          return db->Put(write_options_, key, value);
        }
        return kind < 16 ? db->Delete(write_options_, key) : db->Merge(write_options_, key, value);
      });
      written_.push_back(number);
    }
    const auto begin = static_cast<uint32_t>(random_() % (kFirstSingle - 200));
    Both([&](DB* db) {
      return db->DeleteRange(write_options_, db->DefaultColumnFamily(), NumberKey(begin),
                             NumberKey(begin + 200));
    });
  }

  void Count(bool exists, bool same) {
    ++outcome_.lookups;
    outcome_.hits += exists ? 1 : 0;
    outcome_.differences += same ? 0 : 1;
  }

  void CompareGet(const std::string& key) {
    std::string filtered, plain;
    const Status status = filtered_->Get(ReadOptions(), key, &filtered);
    const Status expected = plain_->Get(ReadOptions(), key, &plain);
    Count(expected.ok(), status.code() == expected.code() && filtered == plain);
    if (expected.ok() && !filtered_->KeyMayExist(ReadOptions(), key, &filtered)) {
      ++outcome_.differences;
    }
  }

  void CompareMultiGet() {
    constexpr size_t kBatch = 40;  // more than the 32 that go to a filter at once
    std::vector<std::string> keys(kBatch);
    std::vector<Slice> slices;
    for (std::string& key : keys) {
      key = NumberKey(NumberToLookUp());
      slices.emplace_back(key);
    }
    std::vector<PinnableSlice> filtered(kBatch), plain(kBatch);
    std::vector<Status> statuses(kBatch), expected(kBatch);
    filtered_->MultiGet(ReadOptions(), filtered_->DefaultColumnFamily(), kBatch, slices.data(),
                        filtered.data(), statuses.data());
    plain_->MultiGet(ReadOptions(), plain_->DefaultColumnFamily(), kBatch, slices.data(),
                     plain.data(), expected.data());
    for (size_t i = 0; i < kBatch; ++i) {
      Count(expected[i].ok(), statuses[i].code() == expected[i].code() &&
                                  (!expected[i].ok() || filtered[i] == plain[i]));
    }
  }

  // Without total order within the prefix only, beyond which the answers are not defined.
  void CompareSeek(const std::string& key, ReadOptions read) {
    read.prefix_same_as_start = !read.total_order_seek;
    for (const bool backwards : {false, true}) {
      const std::string expected = ShowAround(plain_.get(), key, read, backwards, 12);
      Count(expected.find('=') != std::string::npos,
            ShowAround(filtered_.get(), key, read, backwards, 12) == expected);
    }
  }

  const Shape shape_;
  ScratchDir dir_;
  const Options filtered_options_;
  const Options plain_options_;
  WriteOptions write_options_;
  std::unique_ptr<DB> filtered_;
  std::unique_ptr<DB> plain_;
  std::mt19937 random_{31};
  std::vector<uint32_t> written_;
  std::set<uint32_t> singles_;
  Outcome outcome_;
};

Outcome RunWorkload(const Shape& shape, PolicyPtr policy) {
  Pair pair(shape, std::move(policy));
  pair.Fill();
  pair.LookUp(1000);
  pair.Fill();
  pair.Reopen();
  pair.LookUp(2000);
  pair.CompareEveryKey();
  return pair.Finish();
}

// With prefixes only, a filter knows nothing of the absent keys whose prefix exists.
bool FiltersWereAsked(const Shape& shape, const Outcome& outcome) {
  return outcome.useful > 10000 &&
         outcome.useful_share() > (shape.keys == Keys::kPrefixOnly ? 0.5 : 0.95) &&
         (shape.keys == Keys::kWhole || outcome.prefix_useful > 100);
}

class CuckooDifferentialTest : public ::testing::TestWithParam<Shape> {};

TEST_P(CuckooDifferentialTest, SameAnswersAsWithoutFilters) {
  const Outcome outcome = RunWorkload(GetParam(), Policy(GetParam().spec));
  EXPECT_EQ(outcome.differences, 0u);
  EXPECT_GE(outcome.hit_rate(), 0.5);
  EXPECT_LE(outcome.hit_rate(), 0.9);
  EXPECT_TRUE(FiltersWereAsked(GetParam(), outcome))
      << outcome.useful << " useful, " << outcome.useful_share()
      << " of the checks for absent keys, " << outcome.prefix_useful << " prefixes";
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, CuckooDifferentialTest,
    ::testing::Values(Shape{"FullWhole", "cuckoo:8.6", Keys::kWhole, false},
                      Shape{"FullWholeAndPrefix", "cuckoo:12", Keys::kWholeAndPrefix, false},
                      Shape{"FullPrefixOnly", "cuckoofilter:10", Keys::kPrefixOnly, false},
                      Shape{"FullFingerprints", "cuckoo:10:fingerprints", Keys::kWhole, false},
                      Shape{"PartitionedWhole", "cuckoofilter:1%", Keys::kWhole, true},
                      Shape{"PartitionedWholeAndPrefix", "cuckoo:6.6", Keys::kWholeAndPrefix, true},
                      Shape{"PartitionedPrefixOnly", "cuckoo:15", Keys::kPrefixOnly, true}),
    [](const ::testing::TestParamInfo<Shape>& shape) { return shape.param.name; });

// A policy whose readers answer something else than they should.
class BrokenPolicy final : public FilterPolicy {
 public:
  // In place of the true answer for this key.
  using Answer = std::function<bool(const Slice& key, bool truth)>;

  BrokenPolicy(PolicyPtr good, Answer answer)
      : good_(std::move(good)), answer_(std::move(answer)) {}
  const char* Name() const override { return "broken"; }
  const char* CompatibilityName() const override { return good_->CompatibilityName(); }
  ROCKSDB_NAMESPACE::FilterBitsBuilder* GetBuilderWithContext(
      const ROCKSDB_NAMESPACE::FilterBuildingContext& context) const override {
    return good_->GetBuilderWithContext(context);
  }
  FilterBitsReader* GetFilterBitsReader(const Slice& contents) const override {
    return new Reader(good_->GetFilterBitsReader(contents), &answer_);
  }

 private:
  class Reader final : public FilterBitsReader {
   public:
    Reader(FilterBitsReader* good, const Answer* answer) : good_(good), answer_(answer) {}
    using FilterBitsReader::MayMatch;  // batches ask for one key after the other
    bool MayMatch(const Slice& key) override { return (*answer_)(key, good_->MayMatch(key)); }

   private:
    const std::unique_ptr<FilterBitsReader> good_;
    const Answer* const answer_;
  };

  const PolicyPtr good_;
  const Answer answer_;
};

TEST(CuckooDifferentialMutantTest, AReaderThatLosesOneKeyInTenThousandIsNoticed) {
  const Shape shape = {"LosesKeys", "cuckoo:10", Keys::kWhole, false};
  const auto loses = [](const Slice& key, bool truth) {
    return truth && HashKey(key.data(), key.size()) % 10000 != 0;
  };
  EXPECT_GT(
      RunWorkload(shape, std::make_shared<BrokenPolicy>(Policy(shape.spec), loses)).differences,
      0u);
}

TEST(CuckooDifferentialMutantTest, AReaderThatNeverSaysNoIsNoticed) {
  const Shape shape = {"NeverSaysNo", "cuckoo:10", Keys::kWhole, false};
  const auto always = [](const Slice&, bool) { return true; };
  const Outcome outcome =
      RunWorkload(shape, std::make_shared<BrokenPolicy>(Policy(shape.spec), always));
  EXPECT_EQ(outcome.differences, 0u);
  EXPECT_FALSE(FiltersWereAsked(shape, outcome));
}

}  // namespace
}  // namespace tieredfilter
