// The phases of a run against a real RocksDB, each given a reason to fail: a check that cannot fail
// is none.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "rocksdb/filter_policy.h"
#include "rocksdb/table.h"
#include "tools/cold_lookup_bench/generated_keys.h"
#include "tools/cold_lookup_bench/lookup_phase.h"
#include "tools/cold_lookup_bench/storage.h"
#include "tools/cold_lookup_bench/stored_options.h"
#include "tools/cold_lookup_bench/tree_builder.h"
#include "tools/cold_lookup_bench/verify_database.h"
#include "tools/cold_lookup_bench/verify_phase.h"

namespace tieredfilter::cold_lookup {
namespace {

using ROCKSDB_NAMESPACE::BlockBasedTableOptions;
using ROCKSDB_NAMESPACE::FilterPolicy;
using ROCKSDB_NAMESPACE::Options;
using ROCKSDB_NAMESPACE::Status;

class PhasesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(
        folder_.CreateIn(std::filesystem::current_path().string(), "cold lookup phases.").ok());
    config_.block_size = 4096;
    config_.compression_type = "none";
    config_.shape.num_keys = 20000;
    config_.shape.num_levels = 5;
    config_.shape.sorted_levels = 4;
    config_.shape.level0_files = 4;
    config_.shape.size_ratio = 10;
    config_.shape.entries_per_file = 5000;
    ASSERT_TRUE(PlanTree(config_.shape, &plan_).ok());
    keys_ = std::make_unique<GeneratedKeys>(plan_, 1, 16, 100);
    policy_.reset(ROCKSDB_NAMESPACE::NewBloomFilterPolicy(10));
    ASSERT_TRUE(MakeOptions(config_, policy_, &options_).ok());
    path_ = folder_.path() + "/db";
    const Status s = BuildTree(options_, path_, plan_, *keys_, "test");
    ASSERT_TRUE(s.ok()) << s.ToString();
  }

  static LookupSettings Settings(uint64_t count) {
    LookupSettings settings;
    settings.count = count;
    return settings;
  }

  // Lookups of which every third asks for a stored key.
  void RunMix(const LookupSettings& settings, LookupCounts* own, HostCounts* host,
              uint64_t* cached = nullptr) {
    ColdDatabase database;
    Status s = database.Open(options_, path_, settings);
    ASSERT_TRUE(s.ok()) << s.ToString();
    s = database.Run(
        [&](uint64_t number, std::string* key) {
          if (number % 3 == 0) {
            keys_->PresentKey(Mix64(number) % 20000, key);
          } else {
            keys_->AbsentKey(number, key);
          }
          return number % 3 == 0;
        },
        "test", own, host);
    ASSERT_TRUE(s.ok()) << s.ToString();
    if (cached != nullptr) {
      *cached = database.memory().block_cache;
    }
  }

  ScopedFolder folder_;
  std::string path_;
  Config config_;
  TreePlan plan_;
  std::unique_ptr<KeySpace> keys_;
  std::shared_ptr<const FilterPolicy> policy_;
  Options options_;
};

TEST_F(PhasesTest, TheTreeIsThePlannedOneAndBuildingItAgainGivesTheSame) {
  ColdDatabase database;
  ASSERT_TRUE(database.Open(options_, path_).ok());
  EXPECT_TRUE(CheckAgainstPlan(plan_, database.files()).ok());
  for (const TreeFile& file : database.files().files()) {
    EXPECT_EQ(file.filter.kind, "bloom");
    EXPECT_EQ(file.filter.family, policy_->CompatibilityName());
    EXPECT_EQ(file.filter_entries, file.entries);
  }
  const std::string again = folder_.path() + "/again";
  Options no_filter;
  ASSERT_TRUE(MakeOptions(config_, nullptr, &no_filter).ok());
  ASSERT_TRUE(BuildTree(no_filter, again, plan_, *keys_, "test").ok());
  ColdDatabase other;
  ASSERT_TRUE(other.Open(no_filter, again).ok());
  EXPECT_EQ(database.files().Fingerprint(), other.files().Fingerprint());
  EXPECT_EQ(other.files().files().front().filter.kind, "none");
  std::string spec;
  ASSERT_TRUE(ReadStoredPolicy(path_, "default", &spec).ok());
  EXPECT_EQ(spec, "bloomfilter:10");
  ASSERT_TRUE(ReadStoredPolicy(again, "default", &spec).ok());
  EXPECT_EQ(spec, "none");
}

TEST_F(PhasesTest, EveryStoredKeyIsFoundAndAForeignKeyIsLost) {
  VerifyResult result;
  ASSERT_TRUE(VerifyKeys(options_, path_, plan_, *keys_, 3, "test", &result).ok());
  EXPECT_EQ(result.keys, 20000u);
  EXPECT_EQ(result.lost, 0u);
  const GeneratedKeys foreign(plan_, 2, 16, 100);
  ASSERT_TRUE(VerifyKeys(options_, path_, plan_, foreign, 3, "test", &result).ok());
  EXPECT_EQ(result.keys, 20000u);
  EXPECT_EQ(result.lost, 20000u);
  EXPECT_EQ(result.lost_by_level[4], plan_.runs[0].entries);
  EXPECT_EQ(result.first_lost.size(), 32u);
}

TEST_F(PhasesTest, VerifyModeFindsEveryKeyAndLeavesTheDatabaseAlone) {
  const auto listing = [&] {
    std::map<std::string, std::pair<uintmax_t, std::filesystem::file_time_type>> files;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      files[entry.path().filename().string()] = {entry.file_size(), entry.last_write_time()};
    }
    return files;
  };
  const auto before = listing();
  DatabaseVerdict verdict;
  Status s = VerifyDatabase(path_, &verdict);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(verdict.column_families, 1u);
  EXPECT_EQ(verdict.keys, 20000u);
  EXPECT_EQ(verdict.missing, 0u);
  EXPECT_EQ(before, listing());
  EXPECT_FALSE(VerifyDatabase(folder_.path() + "/missing", &verdict).ok());
}

TEST_F(PhasesTest, VerifyModeNamesTheFileWhoseFilterLosesAKey) {
  // Clear the filter of the last level's first file: it then says "no match" for every key. Its
  // checksum is made to fit by switching checksums off, which is done by writing the tree again
  // without them.
  BlockBasedTableOptions table = *options_.table_factory->GetOptions<BlockBasedTableOptions>();
  table.checksum = ROCKSDB_NAMESPACE::kNoChecksum;
  options_.table_factory.reset(ROCKSDB_NAMESPACE::NewBlockBasedTableFactory(table));
  const std::string path = folder_.path() + "/damaged";
  ASSERT_TRUE(BuildTree(options_, path, plan_, *keys_, "test").ok());
  TreeFile damaged;
  {
    ColdDatabase database;
    ASSERT_TRUE(database.Open(options_, path).ok());
    damaged = database.files().files().back();
  }
  std::fstream file(fmt::format("{}/{:06}.sst", path, damaged.number),
                    std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(damaged.data_bytes));  // the filter follows the data
  file << std::string(damaged.filter.bytes - 5, '\0');
  file.close();
  DatabaseVerdict verdict;
  const Status s = VerifyDatabase(path, &verdict);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(verdict.missing, damaged.entries);
  const std::string text = VerdictAsText(path, verdict);
  EXPECT_NE(text.find(fmt::format("{:06}.sst, level 4, filter: bloom", damaged.number)),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("Get and MultiGet"), std::string::npos) << text;
  EXPECT_NE(text.find(fmt::format("hash {:016x}", verdict.examples.at(0).hash)), std::string::npos)
      << text;
}

TEST_F(PhasesTest, AWrongValueCountsAsLost) {
  // The same keys with longer values: what is stored cannot equal them.
  const GeneratedKeys longer(plan_, 1, 16, 101);
  VerifyResult result;
  ASSERT_TRUE(VerifyKeys(options_, path_, plan_, longer, 1, "test", &result).ok());
  EXPECT_EQ(result.lost, 20000u);
}

TEST_F(PhasesTest, LookupsThatDoNotFitTheDataAreRefused) {
  // As when a load and a read phase were given different keys: 100% found was promised, 0% is.
  ColdDatabase database;
  ASSERT_TRUE(database.Open(options_, path_, Settings(100)).ok());
  const GeneratedKeys foreign(plan_, 2, 16, 100);
  LookupCounts own;
  HostCounts host;
  const Status s = database.Run(
      [&](uint64_t number, std::string* key) {
        foreign.EntryKey({0, number}, key);
        return true;
      },
      "test", &own, &host);
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
}

TEST_F(PhasesTest, PresentKeysAreReadOnceWhereTheyLive) {
  ColdDatabase database;
  LookupSettings settings = Settings(500);
  settings.threads = 2;
  ASSERT_TRUE(database.Open(options_, path_, settings).ok());
  LookupCounts own;
  HostCounts host;
  const Status s = database.Run(
      [&](uint64_t number, std::string* key) {
        keys_->EntryKey({0, number}, key);
        return true;
      },
      "test", &own, &host);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(own.found, 500u);
  EXPECT_EQ(own.levels.at(4).true_positives, 500u);
  EXPECT_EQ(own.levels.at(4).wasted_data_block_reads, 0u);
  EXPECT_EQ(own.levels.at(4).data_block_reads, 500u);
  EXPECT_EQ(CrossCheck(own, host, true), std::vector<std::string>());
}

// Get, MultiGet and asynchronous MultiGet of the same keys: the same answers of the same filters,
// by level, by the driver's own account and by RocksDB's tickers and perf context alike.
TEST_F(PhasesTest, CountsAreTheSameForGetAndMultiGet) {
  std::map<std::string, LookupCounts> by_call;
  for (const auto& [name, batch, async_io] :
       {std::make_tuple("get", 1, false), std::make_tuple("multiget", 7, false),
        std::make_tuple("large multiget", 100, false), std::make_tuple("async", 32, true)}) {
    LookupSettings settings = Settings(3000);
    settings.batch_size = static_cast<uint64_t>(batch);
    settings.async_io = async_io;
    settings.threads = 2;
    HostCounts host;
    LookupCounts& own = by_call[name];
    RunMix(settings, &own, &host);
    EXPECT_EQ(CrossCheck(own, host, true), std::vector<std::string>()) << name;
    EXPECT_EQ(host.ticker_useful + host.ticker_positive, own.Total().filter_checks) << name;
    EXPECT_LE(host.ticker_true_positive, host.ticker_positive) << name;
  }
  const LookupCounts& get = by_call["get"];
  EXPECT_GT(get.Total().false_positives, 0u);
  for (const auto& [name, counts] : by_call) {
    for (const auto& [level, figures] : get.levels) {
      const LevelCounts& other = counts.levels.at(level);
      EXPECT_EQ(figures.filter_avoided, other.filter_avoided) << name << level;
      EXPECT_EQ(figures.false_positives, other.false_positives) << name << level;
      EXPECT_EQ(figures.true_positives, other.true_positives) << name << level;
      // Keys of a batch share blocks, and blocks of a batch share operations.
      EXPECT_GE(figures.data_block_reads, other.data_block_reads) << name << level;
      EXPECT_GE(other.BlockReads(), other.operations) << name << level;
    }
    EXPECT_EQ(counts.found, get.found) << name;
  }
  EXPECT_EQ(get.Total().BlockReads(), get.Total().operations);
}

TEST_F(PhasesTest, EachDegreeOfColdReadsWhatItSays) {
  uint64_t meta_bytes = 0;
  {
    ColdDatabase database;
    ASSERT_TRUE(database.Open(options_, path_, Settings(1)).ok());
    meta_bytes = database.memory().table_readers;
    EXPECT_LT(database.memory().block_cache, 1000u);  // what the cache charges for itself
    EXPECT_GT(database.memory().process, meta_bytes);
  }
  std::map<Cold, LevelCounts> totals;
  for (const Cold cold : {Cold::kResident, Cold::kCache, Cold::kAll}) {
    for (const uint64_t batch_size : {1, 16}) {
      LookupSettings settings = Settings(1000);
      settings.cold = cold;
      settings.cache_bytes = 2 * meta_bytes;
      settings.batch_size = batch_size;
      LookupCounts own;
      HostCounts host;
      RunMix(settings, &own, &host);
      EXPECT_EQ(CrossCheck(own, host, true, cold), std::vector<std::string>());
      const LevelCounts total = own.Total();
      if (cold == Cold::kAll) {
        EXPECT_GE(total.filter_block_reads, total.filter_checks / batch_size);
        EXPECT_FALSE(CrossCheck(own, host, true, Cold::kResident).empty());
      } else {
        // Resident, or in a cache with room for all of them that was filled before.
        EXPECT_EQ(total.filter_block_reads, 0u);
        EXPECT_EQ(total.index_block_reads, 0u);
      }
      if (batch_size == 1) {
        totals[cold] = total;
      }
    }
  }
  EXPECT_EQ(totals[Cold::kAll].filter_block_reads, totals[Cold::kAll].filter_checks);
  EXPECT_EQ(totals[Cold::kAll].data_block_reads, totals[Cold::kResident].data_block_reads);
  EXPECT_EQ(totals[Cold::kCache].data_block_reads, totals[Cold::kResident].data_block_reads);
}

// A cache too small for filters and indexes makes lookups read them again and again; one that holds
// them all does not.
TEST_F(PhasesTest, FiltersThrashACacheThatIsTooSmall) {
  uint64_t all_bytes = 0;
  std::vector<uint64_t> reads;
  for (const double share : {2.0, 1.1, 0.9, 0.5}) {
    LookupSettings settings = Settings(1000);
    settings.cold = Cold::kCache;
    settings.cache_bytes =
        all_bytes == 0 ? 1 << 20 : static_cast<uint64_t>(share * static_cast<double>(all_bytes));
    LookupCounts own;
    HostCounts host;
    uint64_t cached = 0;
    RunMix(settings, &own, &host, &cached);
    all_bytes = std::max(all_bytes, cached);
    EXPECT_EQ(CrossCheck(own, host, true, Cold::kCache), std::vector<std::string>());
    reads.push_back(own.Total().filter_block_reads + own.Total().index_block_reads);
  }
  EXPECT_EQ(reads[0], 0u);
  EXPECT_EQ(reads[1], 0u);
  EXPECT_GT(reads[2], 100u);
  EXPECT_GT(reads[3], reads[2]);
}

}  // namespace
}  // namespace tieredfilter::cold_lookup
