// Figures of a live database: what its filters are asked, files whose filter is not the one they
// would get now, and a budget that measures the share of absent keys.
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "plugin/filter_activity.h"
#include "plugin/tiered_filter_policy.h"
#include "plugin/tieredfilter.h"
#include "plugin/tree_sizes.h"
#include "rocksdb/env.h"
#include "tests/plugin/host_test_util.h"

namespace tieredfilter {
namespace {

using ROCKSDB_NAMESPACE::BottommostLevelCompaction;
using ROCKSDB_NAMESPACE::CompactRangeOptions;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::Options;

class FilterFiguresTest : public ::testing::Test {
 protected:
  static FilterFigures Figures(DB* db) {
    FilterFigures figures;
    EXPECT_OK(GetFilterFigures(db, db->DefaultColumnFamily(), &figures));
    return figures;
  }
  static FilterLevelFigures At(const FilterFigures& figures, int level) {
    for (const FilterLevelFigures& one : figures.levels) {
      if (one.level == level) {
        return one;
      }
    }
    return FilterLevelFigures();
  }
  static FilterLevelFigures Sum(const FilterFigures& figures) {
    FilterLevelFigures sum;
    for (const FilterLevelFigures& one : figures.levels) {
      sum.files += one.files;
      sum.filter_bytes += one.filter_bytes;
      sum.drifted_files += one.drifted_files;
      sum.drifted_filter_bytes += one.drifted_filter_bytes;
    }
    return sum;
  }
  static void Compact(DB* db, BottommostLevelCompaction bottommost) {
    CompactRangeOptions options;
    options.bottommost_level_compaction = bottommost;
    ASSERT_OK(db->CompactRange(options, nullptr, nullptr));
  }
  static void CompactLevel0(DB* db, int level) {
    std::vector<std::string> names;
    for (const TableOnDisk& table : Tables(db)) {
      if (table.level == 0) {
        names.push_back(table.path.substr(table.path.find_last_of('/')));
      }
    }
    ASSERT_OK(db->CompactFiles(ROCKSDB_NAMESPACE::CompactionOptions(), names, level));
  }
  // Keys begin, begin + 1, ... below end in one file of this level.
  static void PutLevel(DB* db, uint64_t begin, uint64_t end, int level) {
    PutKeys(db, begin, end);
    ASSERT_OK(db->Flush(ROCKSDB_NAMESPACE::FlushOptions()));
    if (level > 0) {
      CompactLevel0(db, level);
    }
  }

  ScratchDir dir_;
};

TEST_F(FilterFiguresTest, CountsProbesAndNegativesByLevel) {
  const std::unique_ptr<DB> db =
      Open(TestOptions(Policy("0:cuckoo:16,1+:cuckoo:8")), dir_.Path("db"));
  PutLevel(db.get(), 0, 20000, 6);
  PutLevel(db.get(), 0, 20000, 0);
  for (uint64_t i = 0; i < 5000; ++i) {
    std::string value;
    ASSERT_OK(db->Get(ROCKSDB_NAMESPACE::ReadOptions(), Key(i), &value));
  }
  ASSERT_EQ(0u, LookUpAbsent(db.get(), 0, 10000));
  const FilterFigures figures = Figures(db.get());
  // Present keys are found in level 0; absent ones go on to the last level.
  EXPECT_EQ(15000u, At(figures, 0).probes);
  EXPECT_NEAR(10000, At(figures, 0).negatives, 5);
  EXPECT_EQ(10000u, At(figures, 6).probes);
  const double passed = 10000.0 - static_cast<double>(At(figures, 6).negatives);
  EXPECT_NEAR(10000 * 0.0057, passed, 4 * std::sqrt(57.0));
  EXPECT_NE(std::string::npos, figures.ToString().find("cuckoo:16")) << figures.ToString();
}

TEST_F(FilterFiguresTest, CountsBatches) {
  const std::unique_ptr<DB> db = Open(TestOptions(Policy("cuckoo:12")), dir_.Path("db"));
  PutLevel(db.get(), 0, 1000, 0);
  std::vector<std::string> keys;
  for (uint64_t i = 0; i < 100; ++i) {
    keys.push_back(i % 2 == 0 ? Key(i) : AbsentKey(i));
  }
  std::vector<std::string> values;
  db->MultiGet(ROCKSDB_NAMESPACE::ReadOptions(), {keys.begin(), keys.end()}, &values);
  EXPECT_EQ(100u, At(Figures(db.get()), 0).probes);
  EXPECT_NEAR(50, At(Figures(db.get()), 0).negatives, 2);
}

TEST_F(FilterFiguresTest, RefusesOtherPolicies) {
  const std::unique_ptr<DB> db = Open(TestOptions(nullptr), dir_.Path("db"));
  FilterFigures figures;
  EXPECT_TRUE(GetFilterFigures(db.get(), db->DefaultColumnFamily(), &figures).IsInvalidArgument());
}

// More threads than have counters of their own, in two waves, so that numbers are used again.
TEST_F(FilterFiguresTest, NoThreadsCountIsLost) {
  FilterActivity activity;
  constexpr uint64_t kCounts = 2000;
  for (int wave = 0; wave < 2; ++wave) {
    std::vector<std::thread> threads;
    for (size_t i = 0; i < 150; ++i) {
      threads.emplace_back([&activity, i] {
        for (uint64_t n = 0; n < kCounts; ++n) {
          activity.Count(i % (kUncountedLevel + 1), 1, n % 2);
        }
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  }
  ActivityCount sum;
  for (const ActivityCount& count : activity.Totals()) {
    sum += count;
  }
  EXPECT_EQ(2 * 150 * kCounts, sum.probes);
  EXPECT_EQ(150 * kCounts, sum.negatives);
}

// Keys in order, so that files move down without being rewritten and keep level 0's filter.
TEST_F(FilterFiguresTest, MovedFilesAreDrift) {
  const std::unique_ptr<DB> db =
      Open(TestOptions(Policy("0:cuckoo:16,1+:cuckoo:8")), dir_.Path("db"));
  PutLevel(db.get(), 0, 5000, 0);
  EXPECT_EQ(0u, Sum(Figures(db.get())).drifted_files);
  const uint64_t bytes = Sum(Figures(db.get())).filter_bytes;
  Compact(db.get(), BottommostLevelCompaction::kSkip);
  const FilterFigures moved = Figures(db.get());
  ASSERT_EQ(1u, moved.drifted.size()) << moved.ToString();
  EXPECT_EQ(bytes, Sum(moved).drifted_filter_bytes);
  EXPECT_EQ(bytes, moved.drifted[0].filter_bytes);
  EXPECT_NEAR(static_cast<double>(bytes) / 2, static_cast<double>(moved.drifted[0].planned_bytes),
              0.02 * static_cast<double>(bytes));
  EXPECT_GT(moved.drifted[0].level, 0);
  // Its lookups still count for the level it was made for.
  ASSERT_EQ(0u, LookUpAbsent(db.get(), 0, 1000));
  EXPECT_EQ(1000u, At(Figures(db.get()), 0).probes);
  EXPECT_EQ(0u, At(Figures(db.get()), moved.drifted[0].level).probes);

  std::vector<FilterFile> compacted;
  ASSERT_OK(CompactDriftedFiles(db.get(), db->DefaultColumnFamily(), 10, &compacted));
  ASSERT_EQ(1u, compacted.size());
  EXPECT_EQ(moved.drifted[0].name, compacted[0].name);
  EXPECT_EQ(0u, Sum(Figures(db.get())).drifted_files) << Figures(db.get()).ToString();
  EXPECT_EQ(0u, CountLost(db.get(), 0, 5000));
}

// Only forced compactions rewrite the last level.
TEST_F(FilterFiguresTest, DefaultCompactionsLeaveStaleFiltersInTheLastLevel) {
  const std::string path = dir_.Path("db");
  PutLevel(Open(TestOptions(Policy("cuckoo:8")), path).get(), 0, 5000, 6);
  const std::unique_ptr<DB> db = Open(TestOptions(Policy("cuckoo:12")), path);
  EXPECT_EQ(1u, Sum(Figures(db.get())).drifted_files);
  Compact(db.get(), BottommostLevelCompaction::kIfHaveCompactionFilter);
  EXPECT_EQ(1u, Sum(Figures(db.get())).drifted_files);
  Compact(db.get(), BottommostLevelCompaction::kForce);
  EXPECT_EQ(0u, Sum(Figures(db.get())).drifted_files);
}

// A tree that grows by levels without being rewritten, and the worst files first.
TEST_F(FilterFiguresTest, WorstFilesFirst) {
  const std::string path = dir_.Path("db");
  {
    const std::unique_ptr<DB> db = Open(TestOptions(Policy("cuckoo:16")), path);
    PutLevel(db.get(), 0, 20000, 6);
    PutLevel(db.get(), 30000, 32000, 5);
    PutLevel(db.get(), 40000, 40500, 4);
  }
  const std::unique_ptr<DB> db =
      Open(TestOptions(Policy("0-3:cuckoo:16,4:cuckoo:14,5:cuckoo:11,6:cuckoo:8")), path);
  const FilterFigures figures = Figures(db.get());
  ASSERT_GE(figures.drifted.size(), 2u) << figures.ToString();
  EXPECT_EQ(6, figures.drifted[0].level);
  EXPECT_EQ(5, figures.drifted[1].level);
  std::vector<FilterFile> compacted;
  ASSERT_OK(CompactDriftedFiles(db.get(), db->DefaultColumnFamily(), 1, &compacted));
  ASSERT_EQ(1u, compacted.size());
  EXPECT_EQ(6, compacted[0].level);
  EXPECT_EQ(0u, At(Figures(db.get()), 6).drifted_files);
  EXPECT_EQ(1u, At(Figures(db.get()), 5).drifted_files);
}

// With universal compaction a file is rewritten in its place, too: the order of runs must stay.
TEST_F(FilterFiguresTest, DriftedFilesOfUniversalCompaction) {
  const auto options = [](const char* spec) {
    Options universal = TestOptions(Policy(spec));
    universal.compaction_style = ROCKSDB_NAMESPACE::kCompactionStyleUniversal;
    return universal;
  };
  const std::string path = dir_.Path("db");
  {
    const std::unique_ptr<DB> db = Open(options("cuckoo:16"), path);
    PutLevel(db.get(), 0, 20000, 6);
    PutLevel(db.get(), 10000, 12000, 5);
    PutLevel(db.get(), 11000, 11500, 0);
  }
  const std::unique_ptr<DB> db = Open(options("0:cuckoo:16,1+:cuckoo:8"), path);
  std::vector<FilterFile> compacted;
  ASSERT_OK(CompactDriftedFiles(db.get(), db->DefaultColumnFamily(), 10, &compacted));
  EXPECT_EQ(2u, compacted.size());
  const FilterFigures figures = Figures(db.get());
  EXPECT_EQ(0u, Sum(figures).drifted_files) << figures.ToString();
  EXPECT_EQ(2000u, At(figures, 5).keys) << figures.ToString();
  EXPECT_EQ(20000u, At(figures, 6).keys) << figures.ToString();
  EXPECT_EQ(0u, CountLost(db.get(), 0, 20000));
}

TEST_F(FilterFiguresTest, AbsentShareIsMeasured) {
  Options options = TestOptions(Policy("budget:10,absent:auto,kinds:cuckoo"));
  options.listeners.push_back(NewSizesListener());
  const std::unique_ptr<DB> db = Open(options, dir_.Path("db"));
  PutLevel(db.get(), 0, 50000, 6);
  PutLevel(db.get(), 0, 500, 0);
  const FilterFigures before = Figures(db.get());
  EXPECT_EQ(1, before.absent_share);
  // A quarter of the lookups find nothing, and the others their key in the last level.
  ASSERT_EQ(0u, CountLost(db.get(), 10000, 25000));
  ASSERT_EQ(0u, LookUpAbsent(db.get(), 10000, 15000));
  PutLevel(db.get(), 0, 500, 0);
  CompactLevel0(db.get(), 6);
  const FilterFigures after = Figures(db.get());
  EXPECT_NEAR(0.25, after.absent_share, 0.01);
  EXPECT_GT(after.solution, before.solution);
}

// What the plan expects each level to let through, and what it does.
TEST_F(FilterFiguresTest, WastedReadsAreAsPredicted) {
  constexpr uint64_t kLookups = 60000;
  const BudgetSpec spec = [] {
    BudgetSpec parsed;
    SpecError error;
    EXPECT_TRUE(BudgetSpec::Parse("budget:7,kinds:cuckoo,shape:600+6k+60k", &parsed, &error));
    return parsed;
  }();
  const std::unique_ptr<DB> db = Open(TestOptions(Policy(spec.ToString())), dir_.Path("db"));
  PutLevel(db.get(), 0, 60000, 2);
  for (uint64_t i = 0; i < 60000; i += 10) {
    ASSERT_OK(db->Put(ROCKSDB_NAMESPACE::WriteOptions(), Key(i), "1"));
  }
  ASSERT_OK(db->Flush(ROCKSDB_NAMESPACE::FlushOptions()));
  CompactLevel0(db.get(), 1);
  for (uint64_t i = 0; i < 60000; i += 100) {
    ASSERT_OK(db->Put(ROCKSDB_NAMESPACE::WriteOptions(), Key(i), "0"));
  }
  ASSERT_OK(db->Flush(ROCKSDB_NAMESPACE::FlushOptions()));
  ASSERT_EQ(0u, LookUpAbsent(db.get(), 0, kLookups));
  const FilterFrontier frontier = FrontierFor(spec);
  const BudgetPlan plan(spec, frontier, StatedSizes(spec), true, 1);
  const FilterFigures figures = Figures(db.get());
  for (int level = 0; level < 3; ++level) {
    const FilterLevelFigures one = At(figures, level);
    // The last few keys are beyond the upper levels' last one.
    EXPECT_NEAR(kLookups, one.probes, 100) << level;
    const double expected =
        static_cast<double>(one.probes) * plan.RateOf(static_cast<size_t>(level));
    // The small levels' filters are rounded up to whole lines, which the average does not know.
    const double low = level == 2 ? expected : 0.5 * expected;
    const auto wasted = static_cast<double>(one.probes - one.negatives);
    EXPECT_GE(wasted, low - 4 * std::sqrt(low)) << level;
    EXPECT_LE(wasted, expected + 4 * std::sqrt(expected)) << level;
  }
}

// Two databases with one info log cannot be told apart: both go by the stated shape.
TEST_F(FilterFiguresTest, DatabasesThatShareALogAreToldSo) {
  class Log : public ROCKSDB_NAMESPACE::Logger {
   public:
    using Logger::Logv;
    void Logv(const char* format, va_list arguments) override {
      char line[2048];
      std::vsnprintf(line, sizeof(line), format, arguments);
      const std::lock_guard<std::mutex> lock(mutex);
      text += line;
    }
    std::mutex mutex;
    std::string text;
  };
  const auto log = std::make_shared<Log>();
  Options options = TestOptions(Policy("budget:10"));
  options.listeners.push_back(NewSizesListener());
  options.info_log = log;
  const std::unique_ptr<DB> one = Open(options, dir_.Path("one"));
  PutLevel(one.get(), 0, 1000, 0);
  EXPECT_NE(nullptr, FindTreeSizes(log.get(), "default"));
  const std::unique_ptr<DB> two = Open(options, dir_.Path("two"));
  PutLevel(two.get(), 0, 5000, 0);
  EXPECT_EQ(nullptr, FindTreeSizes(log.get(), "default"));
  PutLevel(one.get(), 0, 1000, 0);
  EXPECT_EQ(nullptr, FindTreeSizes(log.get(), "default"));
  EXPECT_NE(std::string::npos, log->text.find("write to one info log"));
}

// Memtables written out while a database is opened, when the tree is not known yet.
TEST_F(FilterFiguresTest, RecoveredMemtablesKeepTheBudget) {
  Options options = TestOptions(Policy("budget:10"));
  options.listeners.push_back(NewSizesListener());
  options.avoid_flush_during_shutdown = true;
  const std::string path = dir_.Path("db");
  PutKeys(Open(options, path).get(), 0, 20000);
  const std::unique_ptr<DB> db = Open(options, path);
  const std::vector<TableOnDisk> tables = Tables(db.get());
  ASSERT_EQ(1u, tables.size());
  EXPECT_NEAR(10, tables[0].bits_per_key(), 0.2);
  EXPECT_EQ(0u, CountLost(db.get(), 0, 20000));
}

}  // namespace
}  // namespace tieredfilter
