// The phases of a run against a real RocksDB, each given a reason to fail: a check that cannot fail
// is none.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "rocksdb/filter_policy.h"
#include "rocksdb/table.h"
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
    keys_ = std::make_unique<KeySpace>(plan_, 1, 16, 100);
    policy_.reset(ROCKSDB_NAMESPACE::NewBloomFilterPolicy(10));
    ASSERT_TRUE(MakeOptions(config_, policy_, &options_).ok());
    path_ = folder_.path() + "/db";
    const Status s = BuildTree(options_, path_, plan_, *keys_, "test");
    ASSERT_TRUE(s.ok()) << s.ToString();
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
  ASSERT_TRUE(ReadStoredPolicy(path_, &spec).ok());
  EXPECT_EQ(spec, "bloomfilter:10");
  ASSERT_TRUE(ReadStoredPolicy(again, &spec).ok());
  EXPECT_EQ(spec, "none");
}

TEST_F(PhasesTest, EveryStoredKeyIsFoundAndAForeignKeyIsLost) {
  VerifyResult result;
  ASSERT_TRUE(VerifyKeys(options_, path_, plan_, *keys_, 3, "test", &result).ok());
  EXPECT_EQ(result.keys, 20000u);
  EXPECT_EQ(result.lost, 0u);
  const KeySpace foreign(plan_, 2, 16, 100);
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
}

TEST_F(PhasesTest, AWrongValueCountsAsLost) {
  // The same keys with longer values: what is stored cannot equal them.
  const KeySpace longer(plan_, 1, 16, 101);
  VerifyResult result;
  ASSERT_TRUE(VerifyKeys(options_, path_, plan_, longer, 1, "test", &result).ok());
  EXPECT_EQ(result.lost, 20000u);
}

TEST_F(PhasesTest, LookupsThatDoNotFitTheDataAreRefused) {
  // As when a load and a read phase were given different keys: 100% found was promised, 0% is.
  ColdDatabase database;
  ASSERT_TRUE(database.Open(options_, path_).ok());
  const KeySpace foreign(plan_, 2, 16, 100);
  LookupCounts own;
  HostCounts host;
  const Status s = database.Run(
      [&](uint64_t number, std::string* key) {
        foreign.PresentKey(0, number, key);
        return true;
      },
      100, 1, "test", &own, &host);
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
}

TEST_F(PhasesTest, PresentKeysAreReadOnceWhereTheyLive) {
  ColdDatabase database;
  ASSERT_TRUE(database.Open(options_, path_).ok());
  LookupCounts own;
  HostCounts host;
  const Status s = database.Run(
      [&](uint64_t number, std::string* key) {
        keys_->PresentKey(0, number, key);
        return true;
      },
      500, 2, "test", &own, &host);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(own.found, 500u);
  EXPECT_EQ(own.levels.at(4).true_positives, 500u);
  EXPECT_EQ(own.levels.at(4).wasted_data_block_reads, 0u);
  EXPECT_EQ(own.levels.at(4).data_block_reads, 500u);
  EXPECT_EQ(CrossCheck(own, host, true), std::vector<std::string>());
}

}  // namespace
}  // namespace tieredfilter::cold_lookup
