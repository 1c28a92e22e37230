// The memory budget inside a real database: options, sizes read by the listener, and whether the
// budget is kept.
#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "plugin/tiered_filter_policy.h"
#include "plugin/tieredfilter.h"
#include "plugin/tree_sizes.h"
#include "rocksdb/convenience.h"
#include "rocksdb/utilities/object_registry.h"
#include "rocksdb/utilities/options_util.h"
#include "src/format/block.h"
#include "tests/plugin/host_test_util.h"

namespace tieredfilter {
namespace {

using ROCKSDB_NAMESPACE::BlockBasedTableOptions;
using ROCKSDB_NAMESPACE::ConfigOptions;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::FilterPolicy;
using ROCKSDB_NAMESPACE::Options;
using ROCKSDB_NAMESPACE::Status;

// Small tables, so that a few hundred thousand keys make a tree of four levels.
Options TreeOptions(const std::string& spec) {
  Options options = TestOptions(Policy(spec));
  options.disable_auto_compactions = false;
  options.write_buffer_size = 1 << 20;
  options.target_file_size_base = 256 << 10;
  options.max_bytes_for_level_base = 512 << 10;
  options.max_bytes_for_level_multiplier = 4;
  options.level0_file_num_compaction_trigger = 4;
  options.listeners.push_back(NewSizesListener());
  return options;
}

class MemoryBudgetTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    RegisterFilterPolicies(*ROCKSDB_NAMESPACE::ObjectLibrary::Default(), "");
  }

  static Status FromString(const std::string& text, Options* options) {
    return GetOptionsFromString(ConfigOptions(), Options(), text, options);
  }
  static std::string PolicyId(const Options& options) {
    const auto* table = options.table_factory->GetOptions<BlockBasedTableOptions>();
    return table->filter_policy == nullptr ? "" : table->filter_policy->GetId();
  }

  ScratchDir dir_;
};

struct FilterTotals {
  double bytes = 0;
  double entries = 0;
  int levels = 0;

  double bits_per_key() const { return entries > 0 ? bytes * 8 / entries : 0; }
};

FilterTotals Totals(DB* db) {
  FilterTotals totals;
  int last_level = -1;
  for (const TableOnDisk& table : Tables(db)) {
    totals.bytes += static_cast<double>(table.filter_bytes);
    totals.levels += table.level != last_level ? 1 : 0;
    last_level = table.level;
  }
  std::vector<ROCKSDB_NAMESPACE::LiveFileMetaData> files;
  db->GetLiveFilesMetaData(&files);
  for (const auto& file : files) {
    totals.entries += static_cast<double>(file.num_entries);
  }
  return totals;
}

// Keys in random order, in batches; calls `check` with the database at rest after each.
template <class Check>
void LoadRandomKeys(DB* db, uint64_t keys, uint64_t batch, Check check) {
  std::vector<uint64_t> order(keys);
  for (uint64_t i = 0; i < keys; ++i) {
    order[i] = i;
  }
  std::mt19937_64 random(11);
  std::shuffle(order.begin(), order.end(), random);
  const std::string value(40, 'v');
  for (uint64_t i = 0; i < keys; ++i) {
    ASSERT_OK(db->Put(ROCKSDB_NAMESPACE::WriteOptions(), Key(order[i]), value));
    if ((i + 1) % batch == 0) {
      ASSERT_OK(db->Flush(ROCKSDB_NAMESPACE::FlushOptions()));
      WaitForCompactions(db);
      check();
    }
  }
}

TEST_F(MemoryBudgetTest, EveryWayIntoOptions) {
  const std::string id = "tieredfilter:budget:10,absent:0.8,kinds:bloom+ribbon+cuckoo,cap:18+2MB";
  for (const std::string& policy :
       {id,
        std::string("{id=tieredfilter;budget=10;absent=0.8;kinds=cuckoo+"
                    "ribbon+bloom;cap=18+2MB}"),
        std::string("{id=tieredfilter;spec=budget:10,absent:0.8,kinds:"
                    "bloom+ribbon+cuckoo,cap:18+2MB}")}) {
    Options options;
    ASSERT_OK(FromString("block_based_table_factory={filter_policy=" + policy + "}", &options));
    EXPECT_EQ(id, PolicyId(options)) << policy;
  }
  std::shared_ptr<const FilterPolicy> policy;
  ASSERT_OK(NewFilterPolicy("budget=10", &policy));
  EXPECT_EQ("tieredfilter:budget:10", policy->GetId());
}

TEST_F(MemoryBudgetTest, SurvivesAnOptionsFile) {
  ConfigOptions config;
  for (const std::string spec :
       {"budget:512MB,absent:0.25,shape:4x1k+10k", "budget:9.5,absent:auto,kinds:ribbon+cuckoo"}) {
    Open(TreeOptions(spec), dir_.Path(spec));
    ROCKSDB_NAMESPACE::DBOptions db_options;
    std::vector<ROCKSDB_NAMESPACE::ColumnFamilyDescriptor> families;
    ASSERT_OK(LoadLatestOptions(config, dir_.Path(spec), &db_options, &families));
    EXPECT_EQ("tieredfilter:" + spec, PolicyId(Options(db_options, families[0].options)));
  }
  ROCKSDB_NAMESPACE::DBOptions with_listener;
  ASSERT_OK(GetDBOptionsFromString(config, ROCKSDB_NAMESPACE::DBOptions(),
                                   "listeners={tieredfilter_sizes}", &with_listener));
  ASSERT_EQ(1u, with_listener.listeners.size());
  EXPECT_STREQ(kSizesListenerId, with_listener.listeners[0]->Name());
}

TEST_F(MemoryBudgetTest, RefusesWhatMakesNoSense) {
  Options options;
  for (const char* policy :
       {"tieredfilter:budget:0", "tieredfilter:budget:10,absent:2", "{id=tieredfilter;absent=0.5}",
        "{id=tieredfilter;budget=10;kinds=xor}", "{id=tieredfilter:bloom:10;budget=10}",
        "{id=cuckoofilter:8;budget=10}", "{id=tieredfilter;budget=10;depth=3}"}) {
    const Status status = FromString(
        std::string("block_based_table_factory={filter_policy=") + policy + "}", &options);
    if (status.ok()) {
      // RocksDB drops some errors of nested options; the policy then refuses to be used.
      EXPECT_FALSE(
          options.table_factory->ValidateOptions(ROCKSDB_NAMESPACE::DBOptions(), options).ok())
          << policy;
    }
  }
}

TEST_F(MemoryBudgetTest, BytesNeedSizes) {
  Options options = TestOptions(Policy("budget:1MB"));
  DB* db = nullptr;
  const Status refused = DB::Open(options, dir_.Path("db"), &db);
  EXPECT_TRUE(refused.IsInvalidArgument()) << refused.ToString();
  EXPECT_NE(std::string::npos, refused.ToString().find("tieredfilter_sizes")) << refused.ToString();
  options.listeners.push_back(NewSizesListener());
  EXPECT_NE(nullptr, Open(options, dir_.Path("db")));
}

// The budget while a tree grows by natural compactions, at rest after every flush.
void ExpectBudgetKept(const Options& options, const std::string& path, double bits_per_key) {
  std::unique_ptr<DB> db = Open(options, path);
  double most = 0;
  LoadRandomKeys(db.get(), 160 * 1000, 8 * 1000,
                 [&] { most = std::max(most, Totals(db.get()).bits_per_key()); });
  const FilterTotals end = Totals(db.get());
  std::printf("budget %.1f: at most %.3f, in the end %.3f bits per key in %d levels\n",
              bits_per_key, most, end.bits_per_key(), end.levels);
  EXPECT_LE(most, 1.03 * bits_per_key);
  EXPECT_GE(end.bits_per_key(), 0.97 * bits_per_key);
  EXPECT_GE(end.levels, 3);
}

TEST_F(MemoryBudgetTest, KeptWhileATreeGrows) {
  ExpectBudgetKept(TreeOptions("budget:10"), dir_.Path("levelled"), 10);
}

TEST_F(MemoryBudgetTest, KeptWithUniversalCompaction) {
  Options options = TreeOptions("budget:10");
  options.compaction_style = ROCKSDB_NAMESPACE::kCompactionStyleUniversal;
  ExpectBudgetKept(options, dir_.Path("universal"), 10);
}

// Keys in order: every table moves from level 0 to the last level without being rewritten.
TEST_F(MemoryBudgetTest, KeptThoughTablesMoveDownUnchanged) {
  const std::unique_ptr<DB> db = Open(TreeOptions("budget:10"), dir_.Path("db"));
  double most = 0;
  for (uint64_t i = 0; i < 160 * 1000; i += 8 * 1000) {
    PutKeys(db.get(), i, i + 8 * 1000);
    ASSERT_OK(db->Flush(ROCKSDB_NAMESPACE::FlushOptions()));
    WaitForCompactions(db.get());
    most = std::max(most, Totals(db.get()).bits_per_key());
  }
  const FilterTotals end = Totals(db.get());
  std::printf("moved tables: at most %.3f, in the end %.3f bits per key in %d levels\n", most,
              end.bits_per_key(), end.levels);
  EXPECT_LE(most, 1.03 * 10);
}

// In a process of its own, see WriteAndKill.
[[noreturn]] void KillAndLook() {
  {
    ScratchDir dir;
    const std::string path = dir.Path("db");
    const auto options = [] {
      Options small = TreeOptions("budget:10");
      small.write_buffer_size = 256 << 10;
      return small;
    };
    const KilledDatabase killed = WriteAndKill(options, path, 4, 15000, 5);
    EXPECT_EQ(0u, killed.lost);
    EXPECT_LE(killed.most_bits_per_key, 10.3);
    const std::unique_ptr<DB> db = Open(options(), path);
    PutKeys(db.get(), 0, 1);
    EXPECT_OK(db->Flush(ROCKSDB_NAMESPACE::FlushOptions()));
    WaitForCompactions(db.get());
    EXPECT_GE(Totals(db.get()).levels, 2) << "the children flushed nothing";
    EXPECT_EQ(0u, CountLost(db.get(), 0, killed.keys));
    // Sizes are known again.
    EXPECT_NE(nullptr, FindTreeSizes(db->GetDBOptions().info_log.get(), "default"));
  }
  exit(::testing::Test::HasFailure() ? 1 : 0);
}

TEST(MemoryBudgetDeathTest, NothingIsLostWhenTheProcessIsKilled) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(KillAndLook(), ::testing::ExitedWithCode(0), "");
}

TEST_F(MemoryBudgetTest, KeptAfterDeletingMostKeys) {
  const std::unique_ptr<DB> db = Open(TreeOptions("budget:10"), dir_.Path("db"));
  LoadRandomKeys(db.get(), 80 * 1000, 8 * 1000, [] {});
  for (uint64_t i = 0; i < 80 * 1000; ++i) {
    if (i % 5 != 0) {
      ASSERT_OK(db->Delete(ROCKSDB_NAMESPACE::WriteOptions(), Key(i)));
    }
  }
  ASSERT_OK(db->Flush(ROCKSDB_NAMESPACE::FlushOptions()));
  WaitForCompactions(db.get());
  ROCKSDB_NAMESPACE::CompactRangeOptions all;
  all.bottommost_level_compaction = ROCKSDB_NAMESPACE::BottommostLevelCompaction::kForce;
  ASSERT_OK(db->CompactRange(all, nullptr, nullptr));
  const FilterTotals end = Totals(db.get());
  EXPECT_EQ(16 * 1000, end.entries);
  EXPECT_LE(end.bits_per_key(), 10.3);
  EXPECT_GE(end.bits_per_key(), 9.7);
}

TEST_F(MemoryBudgetTest, BlocksSayUnderWhichSolutionTheyWereBuilt) {
  const std::unique_ptr<DB> db = Open(TreeOptions("budget:10,kinds:cuckoo"), dir_.Path("db"));
  LoadRandomKeys(db.get(), 64 * 1000, 8 * 1000, [] {});
  uint32_t newest = 0;
  for (const TableOnDisk& table : Tables(db.get())) {
    const std::string block = ReadFilterBlock(table.path);
    BlockMetadata metadata;
    ASSERT_TRUE(ParseBlock(block.data(), block.size(), &metadata)) << table.path;
    EXPECT_GT(metadata.solution, 0u);
    EXPECT_GT(metadata.asked_millibits, 4000u);
    EXPECT_LE(metadata.level, table.level);
    newest = std::max(newest, metadata.solution);
  }
  EXPECT_GT(newest, 1u);
}

TEST_F(MemoryBudgetTest, SizesAreReadAtTheFirstJobAfterOpening) {
  const std::string path = dir_.Path("db");
  LoadRandomKeys(Open(TreeOptions("budget:10"), path).get(), 80 * 1000, 8 * 1000, [] {});
  const std::unique_ptr<DB> db = Open(TreeOptions("budget:10"), path);
  const auto* log = db->GetDBOptions().info_log.get();
  EXPECT_EQ(nullptr, FindTreeSizes(log, "default"));
  ASSERT_OK(db->Put(ROCKSDB_NAMESPACE::WriteOptions(), Key(1), "new"));
  ASSERT_OK(db->Flush(ROCKSDB_NAMESPACE::FlushOptions()));
  const std::shared_ptr<const TreeSizes> sizes = FindTreeSizes(log, "default");
  ASSERT_NE(nullptr, sizes);
  const FilterTotals totals = Totals(db.get());
  EXPECT_EQ(totals.entries, sizes->Entries());
  // Filters from before the reopening are measured as well.
  EXPECT_EQ(totals.bytes, sizes->MeasuredFilterBytes());
}

TEST_F(MemoryBudgetTest, ColumnFamiliesHaveTheirOwnPlans) {
  Options options = TreeOptions("budget:10");
  const std::unique_ptr<DB> db = Open(options, dir_.Path("db"));
  ROCKSDB_NAMESPACE::ColumnFamilyHandle* small = nullptr;
  ASSERT_OK(db->CreateColumnFamily(options, "small", &small));
  LoadRandomKeys(db.get(), 80 * 1000, 8 * 1000, [] {});
  for (uint64_t i = 0; i < 1000; ++i) {
    ASSERT_OK(db->Put(ROCKSDB_NAMESPACE::WriteOptions(), small, Key(i), "v"));
  }
  ASSERT_OK(db->Flush(ROCKSDB_NAMESPACE::FlushOptions(), small));
  const auto* log = db->GetDBOptions().info_log.get();
  ASSERT_NE(nullptr, FindTreeSizes(log, "small"));
  EXPECT_EQ(1000, FindTreeSizes(log, "small")->Entries());
  EXPECT_EQ(80 * 1000, FindTreeSizes(log, "default")->Entries());
  // Its only table gets its own average, not what level 0 of the big one gets.
  ROCKSDB_NAMESPACE::TablePropertiesCollection properties;
  ASSERT_OK(db->GetPropertiesOfAllTables(small, &properties));
  ASSERT_EQ(1u, properties.size());
  EXPECT_NEAR(10, static_cast<double>(properties.begin()->second->filter_size) * 8 / 1000, 0.8);
  ASSERT_OK(db->DestroyColumnFamilyHandle(small));
}

TEST_F(MemoryBudgetTest, WithoutTheListenerTheStatedShapeCounts) {
  Options options = TestOptions(Policy("budget:10,shape:4x2500+10k+100k+1M"));
  const std::unique_ptr<DB> db = Open(options, dir_.Path("db"));
  PutKeys(db.get(), 0, 10 * 1000);
  ASSERT_OK(db->Flush(ROCKSDB_NAMESPACE::FlushOptions()));
  EXPECT_GT(Totals(db.get()).bits_per_key(), 13);
  ROCKSDB_NAMESPACE::CompactRangeOptions all;
  all.bottommost_level_compaction = ROCKSDB_NAMESPACE::BottommostLevelCompaction::kForce;
  ASSERT_OK(db->CompactRange(all, nullptr, nullptr));
  EXPECT_LT(Totals(db.get()).bits_per_key(), 10.2);
}

}  // namespace
}  // namespace tieredfilter
