// Databases with cuckoo filters meet stock RocksDB and other settings: no key is lost in either
// direction, a block is read by what it says about itself, and it is really asked.
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "plugin/tieredfilter.h"
#include "rocksdb/convenience.h"
#include "rocksdb/statistics.h"
#include "rocksdb/utilities/object_registry.h"
#include "rocksdb/utilities/options_util.h"
#include "src/format/block.h"
#include "tests/plugin/host_test_util.h"
#include "tests/sanitized.h"

namespace tieredfilter {
namespace {

using ROCKSDB_NAMESPACE::BlockBasedTableOptions;
using ROCKSDB_NAMESPACE::BottommostLevelCompaction;
using ROCKSDB_NAMESPACE::CompactRangeOptions;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::FilterPolicy;
using ROCKSDB_NAMESPACE::FlushOptions;
using ROCKSDB_NAMESPACE::Options;

using PolicyPtr = std::shared_ptr<const FilterPolicy>;

constexpr uint64_t kAbsent = 4000;

PolicyPtr StockBloom() { return PolicyPtr(ROCKSDB_NAMESPACE::NewBloomFilterPolicy(10)); }

class CuckooStockTest : public ::testing::Test {
 protected:
  static Options OptionsFor(const PolicyPtr& policy) {
    Options options = TestOptions(policy);
    options.statistics = ROCKSDB_NAMESPACE::CreateDBStatistics();
    return options;
  }

  static void Compact(DB* db) {
    CompactRangeOptions range;
    range.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    ASSERT_OK(db->CompactRange(range, nullptr, nullptr));
  }

  // One file of so many keys, and one of a range tombstone only.
  void Write(const PolicyPtr& policy, uint64_t keys) {
    ASSERT_OK(ROCKSDB_NAMESPACE::DestroyDB(path_, Options()));
    const std::unique_ptr<DB> db = Open(OptionsFor(policy), path_);
    ASSERT_NE(db, nullptr);
    // Below the file with the tombstone, and hidden by it.
    PutKeys(db.get(), keys, keys + 5);
    ASSERT_OK(db->Flush(FlushOptions()));
    ASSERT_OK(db->DeleteRange(ROCKSDB_NAMESPACE::WriteOptions(), db->DefaultColumnFamily(),
                              Key(keys), Key(keys + 5)));
    ASSERT_OK(db->Flush(FlushOptions()));
    PutKeys(db.get(), 0, keys);
    ASSERT_OK(db->Flush(FlushOptions()));
  }

  void ExpectAllThere(DB* db, uint64_t keys, const std::string& what) {
    EXPECT_EQ(CountLost(db, 0, keys), 0u) << what << ", " << keys << " keys";
    EXPECT_EQ(CountLost(db, keys, keys + 5), 5u) << what << ": deleted keys came back";
  }

  // The share of the checks for absent keys that said "no". Each key lies within the range of the
  // file.
  double UsefulShare(const PolicyPtr& policy) {
    const Options options = OptionsFor(policy);
    const std::unique_ptr<DB> db = Open(options, path_);
    EXPECT_EQ(LookUpAbsent(db.get(), 0, kAbsent), 0u);
    const auto useful = options.statistics->getTickerCount(ROCKSDB_NAMESPACE::BLOOM_FILTER_USEFUL);
    const auto positive =
        options.statistics->getTickerCount(ROCKSDB_NAMESPACE::BLOOM_FILTER_FULL_POSITIVE);
    return useful + positive == 0
               ? 0
               : static_cast<double>(useful) / static_cast<double>(useful + positive);
  }

  ScratchDir dir_;
  const std::string path_ = dir_.Path("db");
};

TEST_F(CuckooStockTest, ThereAndBackAgain) {
  for (const char* spec : {"cuckoo:4", "cuckoofilter:10", "cuckoo:24", "cuckoo:8:fingerprints"}) {
    for (const uint64_t keys : {0, 1, 2, 10, 500, 1000, kSanitized ? 30000 : 100000}) {
      if (keys > 1000 && std::string(spec) != "cuckoofilter:10") {
        continue;  // large blocks differ in nothing that matters here
      }
      for (const PolicyPtr& stock : {StockBloom(), PolicyPtr()}) {
        Write(Policy(spec), keys);
        {
          const std::unique_ptr<DB> db = Open(OptionsFor(stock), path_);
          ASSERT_NE(db, nullptr);
          ExpectAllThere(db.get(), keys, std::string(spec) + " in stock RocksDB");
          Compact(db.get());
          ExpectAllThere(db.get(), keys, std::string(spec) + " compacted by stock RocksDB");
        }
        const std::unique_ptr<DB> db = Open(OptionsFor(Policy(spec)), path_);
        ExpectAllThere(db.get(), keys, std::string(spec) + " back from stock RocksDB");
        Compact(db.get());
        ExpectAllThere(db.get(), keys, std::string(spec) + " compacted again");
      }
    }
  }
}

TEST_F(CuckooStockTest, TheBlockDecidesNotTheSetting) {
  for (const char* writer :
       {"cuckoo:8", "cuckoo:12.5", "cuckoofilter:16", "cuckoo:10:fingerprints"}) {
    Write(Policy(writer), kAbsent + 1);
    const double share = UsefulShare(Policy(writer));
    EXPECT_GE(share, 0.98) << writer;
    for (const char* reader : {"cuckoo:24", "cuckoofilter:6", "bloom:10", "none", "",
                               "0:bloom:10,1+:cuckoo:0.1%", "cuckoo:5:fingerprints"}) {
      EXPECT_EQ(UsefulShare(Policy(reader)), share) << writer << " read by " << reader;
    }
    EXPECT_EQ(UsefulShare(StockBloom()), 0.0) << "stock RocksDB must not filter with our blocks";
  }
}

TEST_F(CuckooStockTest, StockFiltersStayInUse) {
  Write(StockBloom(), kAbsent + 1);
  EXPECT_EQ(UsefulShare(Policy("cuckoo:10")), UsefulShare(StockBloom()));
  EXPECT_GE(UsefulShare(Policy("cuckoofilter:10")), 0.98);
}

TEST_F(CuckooStockTest, BlocksSayWhatTheyAre) {
  Write(Policy("flush:cuckoo:12,bottommost:cuckoo:1%"), 10000);
  const std::unique_ptr<DB> db =
      Open(OptionsFor(Policy("flush:cuckoo:12,bottommost:cuckoo:1%")), path_);
  const auto metadata = [&](BlockMetadata* result) {
    const std::string block = ReadFilterBlock(Tables(db.get()).back().path);
    return ParseBlock(block.data(), block.size(), result);
  };
  BlockMetadata flushed, compacted;
  uint64_t found = 0;
  for (const TableOnDisk& table : Tables(db.get())) {
    const std::string block = ReadFilterBlock(table.path);
    EXPECT_EQ(block.size(), table.filter_bytes);
    BlockMetadata one;
    if (ParseBlock(block.data(), block.size(), &one) && one.keys == 10000) {
      flushed = one;
      ++found;
      EXPECT_EQ(table.filter_entries, 10000u);
    }
  }
  EXPECT_EQ(found, 1u);
  EXPECT_EQ(flushed.asked_millibits, 12000);
  EXPECT_EQ(flushed.level, 0);
  Compact(db.get());
  ASSERT_EQ(Tables(db.get()).size(), 1u);
  ASSERT_TRUE(metadata(&compacted));
  EXPECT_EQ(compacted.asked_millibits, 0);
  EXPECT_EQ(compacted.level, Tables(db.get())[0].level);
  EXPECT_LE(compacted.fp_rate(), 0.0101);
}

TEST_F(CuckooStockTest, SettingsChangeWhileOpen) {
  RegisterFilterPolicies(*ROCKSDB_NAMESPACE::ObjectLibrary::Default(), "");
  const std::unique_ptr<DB> db = Open(OptionsFor(Policy("bloom:10")), path_);
  ASSERT_NE(db, nullptr);
  uint64_t begin = 0;
  for (const char* spec : {"cuckoofilter:8.6", "tieredfilter:*:cuckoo:14", "bloomfilter:10"}) {
    const auto status = db->SetOptions(
        {{"block_based_table_factory", std::string("{filter_policy=") + spec + "}"}});
    if (!status.ok()) {
      // RocksDB before 8.7 cannot do that at all; then nothing changes.
      EXPECT_NE(status.ToString().find("not changeable"), std::string::npos) << status.ToString();
      PutKeys(db.get(), 0, 5000);
      ASSERT_OK(db->Flush(FlushOptions()));
      EXPECT_NEAR(Tables(db.get())[0].bits_per_key(), 10, 0.2);
      return;
    }
    PutKeys(db.get(), begin, begin + 5000);
    ASSERT_OK(db->Flush(FlushOptions()));
    begin += 5000;
  }
  std::multiset<int> bits;
  for (const TableOnDisk& table : Tables(db.get())) {
    bits.insert(static_cast<int>(table.bits_per_key() + 0.5));
  }
  EXPECT_EQ(bits, (std::multiset<int>{9, 10, 14}));
  EXPECT_EQ(CountLost(db.get(), 0, begin), 0u);
}

// With filters outside the block cache, they are what table readers hold.
TEST_F(CuckooStockTest, ReadersHoldTheFilterAndNotMuchMore) {
  constexpr uint64_t kMany = 100000;
  uint64_t memory[2] = {0, 0}, filter_bytes = 0;
  for (const bool filtered : {false, true}) {
    Write(Policy(filtered ? "cuckoo:12" : "none"), kMany);
    const Options options = WithTableOptions(
        OptionsFor(Policy("cuckoo:12")),
        [](BlockBasedTableOptions* table) { table->cache_index_and_filter_blocks = false; });
    const std::unique_ptr<DB> db = Open(options, path_);
    EXPECT_EQ(CountLost(db.get(), 0, kMany, 100), 0u);
    ASSERT_TRUE(
        db->GetIntProperty("rocksdb.estimate-table-readers-mem", &memory[filtered ? 1 : 0]));
    for (const TableOnDisk& table : Tables(db.get())) {
      filter_bytes += table.filter_bytes;
    }
  }
  const double grown = static_cast<double>(memory[1] - memory[0]);
  EXPECT_NEAR(grown, static_cast<double>(filter_bytes), 0.1 * static_cast<double>(filter_bytes));
}

class CuckooPolicyTest : public ::testing::Test {
 protected:
  static ROCKSDB_NAMESPACE::Status Create(const std::string& id, PolicyPtr* policy) {
    RegisterFilterPolicies(*ROCKSDB_NAMESPACE::ObjectLibrary::Default(), "");
    ROCKSDB_NAMESPACE::ConfigOptions config;
    config.ignore_unsupported_options = false;
    return FilterPolicy::CreateFromString(config, id, policy);
  }
};

TEST_F(CuckooPolicyTest, PrintsBackWhatItIs) {
  for (const auto& [text, id] : std::vector<std::pair<std::string, std::string>>{
           {"cuckoofilter:8.6", "cuckoofilter:8.6"},
           {"cuckoofilter:10.0", "cuckoofilter:10"},
           {"cuckoofilter:1%", "cuckoofilter:1%"},
           {"cuckoofilter:9:equations", "cuckoofilter:9"},
           {"cuckoofilter:9:fingerprints", "cuckoofilter:9:fingerprints"},
           {"{id=cuckoofilter;spec=8.6}", "cuckoofilter:8.6"},
           {"tieredfilter:cuckoo:8.6", "tieredfilter:*:cuckoo:8.6"}}) {
    PolicyPtr policy, again;
    ASSERT_OK(Create(text, &policy));
    ASSERT_NE(policy, nullptr) << text;
    EXPECT_EQ(policy->GetId(), id);
    EXPECT_EQ(std::string(policy->Name()), id.substr(0, id.find(':')));
    ASSERT_OK(Create(policy->GetId(), &again));
    EXPECT_EQ(again->GetId(), id);
  }
}

TEST_F(CuckooPolicyTest, RefusesWithTheReasonAndThePlace) {
  struct Case {
    const char* text;
    const char* reason;
  };
  for (const Case& c : std::vector<Case>{{"cuckoofilter", "amount is missing"},
                                         {"cuckoofilter:", "amount is missing"},
                                         {"cuckoofilter:3.9", "4 to 24"},
                                         {"cuckoofilter:3.9:fingerprints", "4 to 24"},
                                         {"cuckoofilter:25", "4 to 24"},
                                         {"cuckoofilter:-1", "no number of bits per key"},
                                         {"cuckoofilter:nan", "no number of bits per key"},
                                         {"cuckoofilter:8:ribbon", "no cuckoo coding"},
                                         {"cuckoofilter:8,0:bloom:10", "cuckoo"}}) {
    PolicyPtr policy;
    const auto status = NewFilterPolicy(c.text, &policy);
    EXPECT_TRUE(status.IsInvalidArgument()) << c.text << ": " << status.ToString();
    EXPECT_NE(status.ToString().find(c.reason), std::string::npos) << status.ToString();
    EXPECT_EQ(policy, nullptr);
  }
  PolicyPtr policy;
  const std::string refusal = NewFilterPolicy("cuckoofilter:99", &policy).ToString();
  EXPECT_NE(refusal.find("character 14"), std::string::npos) << refusal;
}

TEST_F(CuckooPolicyTest, SurvivesAnOptionsFile) {
  ScratchDir dir;
  PolicyPtr policy;
  ASSERT_OK(Create("cuckoofilter:8.6", &policy));
  { ASSERT_NE(Open(TestOptions(policy), dir.Path("db")), nullptr); }
  ROCKSDB_NAMESPACE::ConfigOptions config;
  ROCKSDB_NAMESPACE::DBOptions db_options;
  std::vector<ROCKSDB_NAMESPACE::ColumnFamilyDescriptor> families;
  ASSERT_OK(LoadLatestOptions(config, dir.Path("db"), &db_options, &families));
  ASSERT_EQ(families.size(), 1u);
  const auto* table = families[0].options.table_factory->GetOptions<BlockBasedTableOptions>();
  ASSERT_NE(table->filter_policy, nullptr);
  EXPECT_EQ(table->filter_policy->GetId(), "cuckoofilter:8.6");
  EXPECT_OK(CheckOptionsCompatibility(config, dir.Path("db"), db_options, families));
}

}  // namespace
}  // namespace tieredfilter
