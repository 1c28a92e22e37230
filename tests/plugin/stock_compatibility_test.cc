// Databases pass between stock RocksDB and the plugin in both directions: no key is lost, and the
// filters that are there are really consulted. Reading alone would not show that: a filter that is
// ignored loses no key.
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "rocksdb/statistics.h"
#include "tests/plugin/host_test_util.h"

namespace tieredfilter {
namespace {

using ROCKSDB_NAMESPACE::CompactRangeOptions;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::FilterPolicy;
using ROCKSDB_NAMESPACE::FlushOptions;
using ROCKSDB_NAMESPACE::Options;
using ROCKSDB_NAMESPACE::Slice;

constexpr uint64_t kKeys = 8000;
constexpr uint64_t kAbsent = 4000;

using PolicyPtr = std::shared_ptr<const FilterPolicy>;

PolicyPtr StockBloom() { return PolicyPtr(ROCKSDB_NAMESPACE::NewBloomFilterPolicy(10)); }
PolicyPtr StockRibbon() { return PolicyPtr(ROCKSDB_NAMESPACE::NewRibbonFilterPolicy(10, -1)); }

struct FilterCounts {
  uint64_t useful = 0;
  uint64_t positive = 0;
  uint64_t true_positive = 0;

  double useful_share() const {
    const uint64_t false_positive = positive - true_positive;
    return static_cast<double>(useful) / static_cast<double>(useful + false_positive);
  }
};

class StockCompatibilityTest : public ::testing::Test {
 protected:
  Options OptionsFor(const PolicyPtr& policy) {
    Options options = TestOptions(policy);
    options.statistics = ROCKSDB_NAMESPACE::CreateDBStatistics();
    return options;
  }

  // Two runs, one in the last level and one in level 0, that interleave.
  void Write(const PolicyPtr& policy) {
    std::unique_ptr<DB> db = Open(OptionsFor(policy), path_);
    ASSERT_NE(db, nullptr);
    PutKeys(db.get(), 0, kKeys, 2);
    ASSERT_OK(db->Flush(FlushOptions()));
    CompactRangeOptions range;
    range.change_level = true;
    range.target_level = 6;
    range.bottommost_level_compaction =
        ROCKSDB_NAMESPACE::BottommostLevelCompaction::kForceOptimized;
    ASSERT_OK(db->CompactRange(range, nullptr, nullptr));
    PutKeys(db.get(), 1, kKeys, 2);
    ASSERT_OK(db->Flush(FlushOptions()));
  }

  // Opens with the policy, finds every key, and counts what the filters did for absent ones in [0,
  // kAbsent).
  FilterCounts Read(const PolicyPtr& policy) {
    const Options options = OptionsFor(policy);
    std::unique_ptr<DB> db = Open(options, path_);
    FilterCounts counts;
    if (db == nullptr) {
      return counts;
    }
    EXPECT_EQ(CountLost(db.get(), 0, kKeys), 0u);
    EXPECT_OK(options.statistics->Reset());
    EXPECT_EQ(LookUpAbsent(db.get(), 1, 1 + kAbsent), 0u);
    counts.useful = options.statistics->getTickerCount(ROCKSDB_NAMESPACE::BLOOM_FILTER_USEFUL);
    counts.positive =
        options.statistics->getTickerCount(ROCKSDB_NAMESPACE::BLOOM_FILTER_FULL_POSITIVE);
    counts.true_positive =
        options.statistics->getTickerCount(ROCKSDB_NAMESPACE::BLOOM_FILTER_FULL_TRUE_POSITIVE);
    return counts;
  }

  // Every absent key asks the filters of both runs, and at this rate 98% of the answers are "no".
  void ExpectConsulted(const FilterCounts& counts) {
    EXPECT_EQ(counts.useful + counts.positive, 2 * kAbsent);
    EXPECT_EQ(counts.true_positive, 0u);
    EXPECT_GE(counts.useful_share(), 0.98);
  }

  void ExpectSameCounts(const FilterCounts& a, const FilterCounts& b) {
    EXPECT_EQ(a.useful, b.useful);
    EXPECT_EQ(a.positive, b.positive);
  }

  ScratchDir dir_;
  const std::string path_ = dir_.Path("db");
};

TEST_F(StockCompatibilityTest, StockBloomReadByPlugin) {
  Write(StockBloom());
  const FilterCounts stock = Read(StockBloom());
  ExpectConsulted(stock);
  ExpectSameCounts(Read(Policy("")), stock);
  ExpectSameCounts(Read(Policy("ribbon:7")), stock);
  ExpectSameCounts(Read(Policy("none")), stock);  // settings are for writing only
}

TEST_F(StockCompatibilityTest, StockRibbonReadByPlugin) {
  Write(StockRibbon());
  const FilterCounts stock = Read(StockRibbon());
  ExpectConsulted(stock);
  ExpectSameCounts(Read(Policy("")), stock);
  ExpectSameCounts(Read(Policy("bloom:10")), stock);
}

TEST_F(StockCompatibilityTest, PluginReadByStock) {
  for (const char* spec : {"bloom:10", "ribbon:7", "flush:bloom:14,bottommost:ribbon:1%"}) {
    Write(Policy(spec));
    const FilterCounts plugin = Read(Policy(spec));
    ExpectConsulted(plugin);
    ExpectSameCounts(Read(StockBloom()), plugin);
    ExpectSameCounts(Read(StockRibbon()), plugin);
    Read(nullptr);  // no policy at all: every key is still there
    ASSERT_OK(ROCKSDB_NAMESPACE::DestroyDB(path_, OptionsFor(nullptr)));
  }
}

// Stock RocksDB does not know cuckoo filters: it asks them, is told "may match", and loses no key.
TEST_F(StockCompatibilityTest, CuckooReadByStock) {
  Write(Policy("cuckoo:9"));
  ExpectConsulted(Read(Policy("cuckoo:9")));
  ExpectConsulted(Read(Policy("bloom:10")));  // the block says how it is read, not the settings
  for (const PolicyPtr& stock : {StockBloom(), StockRibbon()}) {
    const FilterCounts counts = Read(stock);
    EXPECT_EQ(counts.useful, 0u);
    EXPECT_EQ(counts.positive, 2 * kAbsent);
  }
  Read(nullptr);
}

TEST_F(StockCompatibilityTest, BackAndForthWithCompaction) {
  Write(Policy("flush:bloom:14,bottommost:cuckoo:9"));
  for (const PolicyPtr& policy :
       {StockBloom(), Policy("bloom:10"), Policy("cuckoo:9"), PolicyPtr(), Policy("")}) {
    {
      std::unique_ptr<DB> db = Open(OptionsFor(policy), path_);
      ASSERT_NE(db, nullptr);
      CompactRangeOptions range;
      range.bottommost_level_compaction = ROCKSDB_NAMESPACE::BottommostLevelCompaction::kForce;
      ASSERT_OK(db->CompactRange(range, nullptr, nullptr));
    }
    Read(Policy("ribbon:7"));
  }
}

TEST_F(StockCompatibilityTest, ARunWithoutFilterIsReadAndCountsNothing) {
  Write(Policy("none"));
  const FilterCounts counts = Read(Policy("bloom:10"));
  EXPECT_EQ(counts.useful + counts.positive, 0u);
}

// Files of 0 to a few keys: the smallest filters of each kind.
TEST_F(StockCompatibilityTest, TinyTables) {
  for (const char* spec : {"bloom:10", "ribbon:7", "bloom:1", "ribbon:1", "bloom:64", "ribbon:32",
                           "cuckoo:4", "cuckoo:9", "cuckoo:24"}) {
    for (const uint64_t keys : {1, 3, 1000}) {
      const Options options = OptionsFor(Policy(spec));
      {
        std::unique_ptr<DB> db = Open(options, path_);
        PutKeys(db.get(), 0, keys);
        ASSERT_OK(db->Flush(FlushOptions()));
        // A table with a range tombstone only, hence a filter without keys.
        ASSERT_OK(db->DeleteRange(ROCKSDB_NAMESPACE::WriteOptions(), db->DefaultColumnFamily(),
                                  Key(kKeys), Key(kKeys + 1)));
        ASSERT_OK(db->Flush(FlushOptions()));
        EXPECT_EQ(CountLost(db.get(), 0, keys), 0u) << spec << " " << keys;
      }
      {
        std::unique_ptr<DB> db = Open(OptionsFor(StockBloom()), path_);
        EXPECT_EQ(CountLost(db.get(), 0, keys), 0u) << spec << " " << keys;
      }
      ASSERT_OK(ROCKSDB_NAMESPACE::DestroyDB(path_, options));
    }
  }
}

// Forwards what every wrapper must, and nothing else.
class MinimalWrapper final : public FilterPolicy {
 public:
  explicit MinimalWrapper(PolicyPtr wrapped) : wrapped_(std::move(wrapped)) {}
  const char* Name() const override { return "wrapper"; }
  const char* CompatibilityName() const override { return wrapped_->CompatibilityName(); }
  ROCKSDB_NAMESPACE::FilterBitsBuilder* GetBuilderWithContext(
      const ROCKSDB_NAMESPACE::FilterBuildingContext& context) const override {
    return wrapped_->GetBuilderWithContext(context);
  }
  ROCKSDB_NAMESPACE::FilterBitsReader* GetFilterBitsReader(const Slice& contents) const override {
    return wrapped_->GetFilterBitsReader(contents);
  }

 private:
  const PolicyPtr wrapped_;
};

std::vector<std::string> FilterBlocks(const std::string& path, const Options& options) {
  std::vector<std::string> blocks;
  std::unique_ptr<DB> db = Open(options, path);
  if (db != nullptr) {
    for (const TableOnDisk& table : Tables(db.get())) {
      blocks.push_back(ReadFilterBlock(table.path));
      EXPECT_EQ(blocks.back().size(), table.filter_bytes) << "the test reads the wrong block";
    }
  }
  return blocks;
}

TEST_F(StockCompatibilityTest, WrappingChangesNoByte) {
  const PolicyPtr policy = Policy("flush:cuckoo:12,bottommost:ribbon:7");
  Write(policy);
  const std::vector<std::string> plain = FilterBlocks(path_, OptionsFor(policy));
  ASSERT_EQ(plain.size(), 2u);
  ASSERT_OK(ROCKSDB_NAMESPACE::DestroyDB(path_, OptionsFor(nullptr)));
  const PolicyPtr wrapper = std::make_shared<MinimalWrapper>(policy);
  Write(wrapper);
  EXPECT_EQ(FilterBlocks(path_, OptionsFor(wrapper)), plain);
  ExpectConsulted(Read(wrapper));
}

TEST_F(StockCompatibilityTest, BloomBlocksInTheFileAreStockBlocks) {
  Write(StockBloom());
  const std::vector<std::string> stock = FilterBlocks(path_, OptionsFor(nullptr));
  ASSERT_OK(ROCKSDB_NAMESPACE::DestroyDB(path_, OptionsFor(nullptr)));
  Write(Policy("bloom:10"));
  EXPECT_EQ(FilterBlocks(path_, OptionsFor(nullptr)), stock);
  ASSERT_EQ(stock.size(), 2u);
  EXPECT_NE(stock[0], "");
}

}  // namespace
}  // namespace tieredfilter
