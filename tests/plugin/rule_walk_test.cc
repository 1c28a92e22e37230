// Which rule applies: the table of src/policy/RULES.md, row by row, checked on the files that a
// real database writes.
#include <map>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "rocksdb/convenience.h"
#include "rocksdb/sst_file_writer.h"
#include "tests/plugin/host_test_util.h"

namespace tieredfilter {
namespace {

using ROCKSDB_NAMESPACE::CompactionOptions;
using ROCKSDB_NAMESPACE::CompactRangeOptions;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::FlushOptions;
using ROCKSDB_NAMESPACE::Options;

// Enough for a file's bits per key to be told apart at a glance: rules below differ by at least one
// bit.
constexpr uint64_t kKeys = 4000;
constexpr double kTolerance = 0.2;

// One rule of every class, each with bits of its own, so that a file shows which one made its
// filter.
constexpr char kEveryClass[] =
    "flush:bloom:20,unknown:bloom:18,bottommost:bloom:16,last:bloom:14,"
    "0:bloom:12,1:bloom:11,2:bloom:10,3:bloom:9,4-5:bloom:8,*:bloom:6";
constexpr double kFlush = 20, kUnknown = 18, kBottommost = 16, kLast = 14, kLevel0 = 12,
                 kLevel1 = 11, kLevel2 = 10, kLevel45 = 8, kOther = 6;
// The same without the context rules, to see the levels behind them.
constexpr char kLevelsOnly[] =
    "last:bloom:14,0:bloom:12,1:bloom:11,2:bloom:10,3:bloom:9,4-5:bloom:8,*:bloom:6";

class RuleWalkTest : public ::testing::Test {
 protected:
  void OpenDb(const std::string& spec, Options options) {
    options = WithTableOptions(options, [&](ROCKSDB_NAMESPACE::BlockBasedTableOptions* table) {
      table->filter_policy = Policy(spec);
    });
    options_ = options;
    db_ = Open(options_, path_);
    ASSERT_NE(db_, nullptr);
  }
  void OpenDb(const std::string& spec) { OpenDb(spec, TestOptions(nullptr)); }

  void WriteTable(uint64_t begin = 0, uint64_t end = kKeys) {
    PutKeys(db_.get(), begin, end);
    ASSERT_OK(db_->Flush(FlushOptions()));
  }

  void CompactTo(int level) {
    CompactRangeOptions range;
    range.change_level = true;
    range.target_level = level;
    ASSERT_OK(db_->CompactRange(range, nullptr, nullptr));
  }

  // Compacts all files of a level into the given one, as a compaction would that nothing moved
  // trivially.
  void CompactFiles(int from_level, int to_level) {
    std::vector<std::string> files;
    for (const TableOnDisk& table : Tables(db_.get())) {
      if (table.level == from_level) {
        files.push_back(table.path);
      }
    }
    ASSERT_FALSE(files.empty());
    ASSERT_OK(db_->CompactFiles(CompactionOptions(), files, to_level));
  }

  // Bits per key of the files, by level. All files of a level must agree.
  std::map<int, double> BitsByLevel() {
    std::map<int, double> bits;
    for (const TableOnDisk& table : Tables(db_.get())) {
      if (bits.count(table.level) > 0) {
        EXPECT_NEAR(bits[table.level], table.bits_per_key(), kTolerance);
      }
      bits[table.level] = table.bits_per_key();
    }
    return bits;
  }

  void ExpectOneTable(int level, double bits) {
    const std::vector<TableOnDisk> tables = Tables(db_.get());
    ASSERT_EQ(tables.size(), 1u);
    EXPECT_EQ(tables[0].level, level);
    EXPECT_NEAR(tables[0].bits_per_key(), bits, kTolerance);
  }

  void TearDown() override {
    if (db_ != nullptr) {
      EXPECT_EQ(CountLost(db_.get(), 0, kKeys), 0u);
    }
  }

  ScratchDir dir_;
  const std::string path_ = dir_.Path("db");
  Options options_;
  std::unique_ptr<DB> db_;
};

TEST_F(RuleWalkTest, FlushTakesFlushThenLevelZero) {
  OpenDb(kEveryClass);
  WriteTable();
  ExpectOneTable(0, kFlush);
}

TEST_F(RuleWalkTest, FlushWithoutFlushRuleIsLevelZero) {
  OpenDb(kLevelsOnly);
  WriteTable();
  ExpectOneTable(0, kLevel0);
}

TEST_F(RuleWalkTest, LevelledCompactionTakesTheOutputLevel) {
  OpenDb(kLevelsOnly);
  const std::vector<double> expected = {kLevel0, kLevel1, kLevel2, 9, kLevel45, kLevel45, kLast};
  for (int level = 6; level >= 1; --level) {
    // Two overlapping files, or the file would be moved and keep its filter.
    WriteTable(0, kKeys);
    WriteTable(0, kKeys);
    CompactFiles(0, level);
  }
  const std::map<int, double> bits = BitsByLevel();
  ASSERT_EQ(bits.size(), 6u);
  for (const auto& entry : bits) {
    EXPECT_NEAR(entry.second, expected[static_cast<size_t>(entry.first)], kTolerance)
        << "level " << entry.first;
  }
}

TEST_F(RuleWalkTest, BottommostComesBeforeTheLevel) {
  OpenDb(kEveryClass);
  WriteTable();
  WriteTable();
  CompactFiles(0, 2);
  ExpectOneTable(2, kBottommost);
  // A run above it is not the lowest one of its key range.
  WriteTable();
  WriteTable();
  CompactFiles(0, 1);
  EXPECT_NEAR(BitsByLevel()[1], kLevel1, kTolerance);
}

TEST_F(RuleWalkTest, TrivialMoveKeepsTheFilter) {
  OpenDb(kEveryClass);
  WriteTable();
  ASSERT_OK(db_->Close());
  db_.reset();
  Options options = TestOptions(nullptr);
  options.disable_auto_compactions = false;
  options.level0_file_num_compaction_trigger = 1;
  OpenDb(kEveryClass, options);
  CompactRangeOptions range;
  range.bottommost_level_compaction = ROCKSDB_NAMESPACE::BottommostLevelCompaction::kSkip;
  ASSERT_OK(db_->CompactRange(range, nullptr, nullptr));
  const std::vector<TableOnDisk> tables = Tables(db_.get());
  ASSERT_EQ(tables.size(), 1u);
  EXPECT_GT(tables[0].level, 0);
  EXPECT_NEAR(tables[0].bits_per_key(), kFlush, kTolerance);
}

TEST_F(RuleWalkTest, IntraLevelZeroCompactionIsLevelZeroUnlessBottommost) {
  Options options = TestOptions(nullptr);
  OpenDb(kEveryClass, options);
  WriteTable();
  WriteTable();
  CompactFiles(0, 0);
  ExpectOneTable(0, kBottommost);  // nothing lies below
  CompactTo(6);
  WriteTable();
  WriteTable();
  CompactFiles(0, 0);
  EXPECT_NEAR(BitsByLevel()[0], kLevel0, kTolerance);
}

TEST_F(RuleWalkTest, UniversalCompactionTakesTheOutputLevel) {
  Options options = TestOptions(nullptr);
  options.compaction_style = ROCKSDB_NAMESPACE::kCompactionStyleUniversal;
  OpenDb(kEveryClass, options);
  WriteTable();
  EXPECT_NEAR(BitsByLevel()[0], kFlush, kTolerance);
  WriteTable();
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  ExpectOneTable(6, kBottommost);
  WriteTable();
  WriteTable();
  CompactFiles(0, 5);
  EXPECT_NEAR(BitsByLevel()[5], kLevel45, kTolerance);
}

TEST_F(RuleWalkTest, FifoIsFlushAndBottommost) {
  Options options = TestOptions(nullptr);
  options.compaction_style = ROCKSDB_NAMESPACE::kCompactionStyleFIFO;
  options.compaction_options_fifo.allow_compaction = true;
  options.level0_file_num_compaction_trigger = 2;
  options.max_open_files = -1;
  OpenDb(kEveryClass, options);
  for (int i = 0; i < 4; ++i) {
    WriteTable();
    EXPECT_NEAR(BitsByLevel()[0], kFlush, kTolerance);
  }
  // Merges all files within level 0, so that nothing lies below.
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  ExpectOneTable(0, kBottommost);
}

TEST_F(RuleWalkTest, FifoWithoutBottommostRuleIsLevelZero) {
  Options options = TestOptions(nullptr);
  options.compaction_style = ROCKSDB_NAMESPACE::kCompactionStyleFIFO;
  options.compaction_options_fifo.allow_compaction = true;
  options.level0_file_num_compaction_trigger = 2;
  options.max_open_files = -1;
  OpenDb(kLevelsOnly, options);
  for (int i = 0; i < 4; ++i) {
    WriteTable();
    EXPECT_NEAR(BitsByLevel()[0], kLevel0, kTolerance);
  }
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  ExpectOneTable(0, kLevel0);
}

TEST_F(RuleWalkTest, SstFileWriterIsUnknownAndIngestionKeepsIt) {
  OpenDb(kEveryClass);
  const std::string file = dir_.Path("ingest.sst");
  ROCKSDB_NAMESPACE::SstFileWriter writer(ROCKSDB_NAMESPACE::EnvOptions(), options_);
  ASSERT_OK(writer.Open(file));
  for (uint64_t i = 0; i < kKeys; ++i) {
    ASSERT_OK(writer.Put(Key(i), Key(i)));
  }
  ASSERT_OK(writer.Finish());
  ASSERT_OK(db_->IngestExternalFile({file}, ROCKSDB_NAMESPACE::IngestExternalFileOptions()));
  ExpectOneTable(6, kUnknown);
}

TEST_F(RuleWalkTest, SstFileWriterWithoutUnknownRuleTakesTheRuleForAll) {
  OpenDb(kLevelsOnly);
  const std::string file = dir_.Path("ingest.sst");
  ROCKSDB_NAMESPACE::SstFileWriter writer(ROCKSDB_NAMESPACE::EnvOptions(), options_);
  ASSERT_OK(writer.Open(file));
  for (uint64_t i = 0; i < kKeys; ++i) {
    ASSERT_OK(writer.Put(Key(i), Key(i)));
  }
  ASSERT_OK(writer.Finish());
  ASSERT_OK(db_->IngestExternalFile({file}, ROCKSDB_NAMESPACE::IngestExternalFileOptions()));
  ExpectOneTable(6, kOther);
}

TEST_F(RuleWalkTest, RecoveryIsAFlush) {
  for (const char* spec : {kEveryClass, kLevelsOnly}) {
    Options options = TestOptions(nullptr);
    options.avoid_flush_during_recovery = false;
    options.avoid_flush_during_shutdown = true;
    OpenDb(spec, options);
    PutKeys(db_.get(), 0, kKeys);  // stays in the log
    db_.reset();
    OpenDb(spec, options);
    ExpectOneTable(0, spec == kEveryClass ? kFlush : kLevel0);
    db_.reset();
    ASSERT_OK(ROCKSDB_NAMESPACE::DestroyDB(path_, options_));
  }
}

TEST_F(RuleWalkTest, RepairIsAFlush) {
  for (const char* spec : {kEveryClass, kLevelsOnly}) {
    Options options = TestOptions(nullptr);
    options.avoid_flush_during_shutdown = true;
    OpenDb(spec, options);
    PutKeys(db_.get(), 0, kKeys);
    ASSERT_OK(db_->FlushWAL(/*sync=*/true));
    db_.reset();
    ASSERT_OK(ROCKSDB_NAMESPACE::RepairDB(path_, options_));
    db_ = Open(options_, path_);
    ASSERT_NE(db_, nullptr);
    ExpectOneTable(0, spec == kEveryClass ? kFlush : kLevel0);
    db_.reset();
    ASSERT_OK(ROCKSDB_NAMESPACE::DestroyDB(path_, options_));
  }
}

TEST_F(RuleWalkTest, DynamicLevelSizesFillTheLastLevelFirst) {
  Options options = TestOptions(nullptr);
  options.level_compaction_dynamic_level_bytes = true;
  OpenDb(kLevelsOnly, options);
  WriteTable();
  WriteTable();
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  ExpectOneTable(6, kLast);
}

TEST_F(RuleWalkTest, LastCountsFromTheColumnFamilysOwnLevels) {
  Options options = TestOptions(nullptr);
  options.num_levels = 3;
  OpenDb("last-1:bloom:16,last:bloom:14,0+:bloom:8", options);
  WriteTable();
  WriteTable();
  CompactFiles(0, 2);
  WriteTable();
  WriteTable();
  CompactFiles(0, 1);
  const std::map<int, double> bits = BitsByLevel();
  EXPECT_NEAR(bits.at(1), 16, kTolerance);
  EXPECT_NEAR(bits.at(2), 14, kTolerance);
}

TEST_F(RuleWalkTest, ALevelWithoutRuleGetsTenBits) {
  OpenDb("3:bloom:20");
  WriteTable();
  ExpectOneTable(0, 10);
}

TEST_F(RuleWalkTest, NoneWritesNoFilterAtAll) {
  OpenDb("flush:none,*:bloom:10");
  WriteTable();
  const std::vector<TableOnDisk> tables = Tables(db_.get());
  ASSERT_EQ(tables.size(), 1u);
  EXPECT_EQ(tables[0].filter_bytes, 0u);
  EXPECT_EQ(tables[0].filter_entries, 0u);
  EXPECT_EQ(ReadFilterBlock(tables[0].path), "");
}

// optimize_filters_for_hits leaves the bottommost run without a filter before any policy is asked.
TEST_F(RuleWalkTest, OptimizeFiltersForHitsOverridesTheBottommostRule) {
  Options options = TestOptions(nullptr);
  options.optimize_filters_for_hits = true;
  OpenDb(kEveryClass, options);
  WriteTable();
  WriteTable();
  CompactFiles(0, 6);
  ExpectOneTable(6, 0);
}

}  // namespace
}  // namespace tieredfilter
