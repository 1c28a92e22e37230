// The memory budget of a tree of millions of keys, watched from the first flush on: labelled slow.
// Sizes and key orders are flags, for example --num=10000000 --seeds=3.
#include <gflags/gflags.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "plugin/tieredfilter.h"
#include "plugin/tree_sizes.h"
#include "rocksdb/listener.h"
#include "rocksdb/metadata.h"
#include "rocksdb/table_properties.h"
#include "tests/plugin/host_test_util.h"

DEFINE_uint64(num, 1000000, "Number of keys");
DEFINE_uint64(seed, 1, "Seed of the order in which keys are written");
DEFINE_uint64(seeds, 1, "Number of runs, with the seeds --seed, --seed + 1 and so on");
DEFINE_int32(budget, 10, "Budget in bits per key");
DEFINE_int32(kills, 50, "Number of times that the process is killed");
DEFINE_bool(trace, false, "Print every state of the tree");

namespace tieredfilter {
namespace {

using ROCKSDB_NAMESPACE::CompactionJobInfo;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::FlushJobInfo;
using ROCKSDB_NAMESPACE::Options;

struct FilterTotals {
  double entries = 0;
  double bytes = 0;
  std::map<int, std::pair<double, double>> levels;  // entries and filter bytes

  double bits_per_key() const { return entries > 0 ? bytes * 8 / entries : 0; }
  std::string ToString() const {
    std::string text;
    for (const auto& [level, size] : levels) {
      char piece[64];
      std::snprintf(piece, sizeof(piece), " L%d %.0f:%.2f", level, size.first,
                    size.second * 8 / std::max(size.first, 1.0));
      text += piece;
    }
    return text;
  }
};

// Adds up the filters of the live files after every flush and compaction, from what RocksDB says of
// each file when it is made: independent of what the policy believes.
class FilterMeter : public ROCKSDB_NAMESPACE::EventListener {
 public:
  void OnTableFileCreated(const ROCKSDB_NAMESPACE::TableFileCreationInfo& info) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    filter_bytes_[info.file_path.substr(info.file_path.find_last_of('/'))] =
        static_cast<double>(info.table_properties.filter_size);
  }
  void OnFlushCompleted(DB* db, const FlushJobInfo&) override { Measure(db, "flush"); }
  void OnCompactionCompleted(DB* db, const CompactionJobInfo&) override { Measure(db, "compact"); }

  FilterTotals Measure(DB* db, const char* why) {
    std::vector<ROCKSDB_NAMESPACE::LiveFileMetaData> files;
    db->GetLiveFilesMetaData(&files);
    const std::lock_guard<std::mutex> lock(mutex_);
    FilterTotals totals;
    for (const auto& file : files) {
      const auto entries = static_cast<double>(file.num_entries);
      const double bytes = filter_bytes_[file.name];
      totals.entries += entries;
      totals.bytes += bytes;
      totals.levels[file.level].first += entries;
      totals.levels[file.level].second += bytes;
    }
    most_ = std::max(most_, totals.bits_per_key());
    if (FLAGS_trace) {
      std::printf("%-8s %.0f %.3f:%s\n", why, totals.entries, totals.bits_per_key(),
                  totals.ToString().c_str());
    }
    return totals;
  }

  double most() const { return most_; }
  void Forget() { most_ = 0; }

 private:
  std::mutex mutex_;
  std::map<std::string, double> filter_bytes_;
  double most_ = 0;
};

// A key for each number, once, in an order of the seed's: multiplication by an odd number and
// xorshifts are permutations of the numbers below a power of two.
class KeyOrder {
 public:
  KeyOrder(uint64_t keys, uint64_t seed) : keys_(keys), seed_(seed) {
    while ((uint64_t{1} << bits_) < keys) ++bits_;
  }
  uint64_t Next() {
    uint64_t number = 0;
    do {
      number = Mix(position_++);
    } while (number >= keys_);
    return number;
  }

 private:
  uint64_t Mix(uint64_t x) const {
    const uint64_t mask = (uint64_t{1} << bits_) - 1;
    for (uint64_t round = 1; round <= 3; ++round) {
      x = (x + seed_ * round * 0x9e3779b97f4a7c15) & mask;
      x = (x * (0xff51afd7ed558ccd ^ (seed_ << 1))) & mask;
      x ^= x >> (bits_ / 2 + 1);
    }
    return x;
  }
  const uint64_t keys_;
  const uint64_t seed_;
  int bits_ = 4;
  uint64_t position_ = 0;
};

// Flushes of a 400th of the keys, and a tree of size ratio 10, as the driver's standard shape.
Options SoakOptions(const std::shared_ptr<FilterMeter>& meter, bool universal) {
  constexpr uint64_t kBytesPerKey = 60;
  Options options = TestOptions(Policy("budget:" + std::to_string(FLAGS_budget)));
  options.disable_auto_compactions = false;
  options.write_buffer_size = size_t{1} << 30;  // flushed by the test
  options.max_bytes_for_level_base = FLAGS_num / 100 * kBytesPerKey;
  options.max_bytes_for_level_multiplier = 10;
  options.target_file_size_base = FLAGS_num / 200 * kBytesPerKey;
  options.level0_file_num_compaction_trigger = 4;
  options.max_background_jobs = 3;
  options.compaction_style = universal ? ROCKSDB_NAMESPACE::kCompactionStyleUniversal
                                       : ROCKSDB_NAMESPACE::kCompactionStyleLevel;
  options.listeners = {NewSizesListener(), meter};
  return options;
}

// No fewer than this: a filter is whole lines of 64 bytes and a trailer, which alone are 2% for a
// table of 4000 keys.
uint64_t FlushKeys() { return std::max<uint64_t>(FLAGS_num / 400, 4000); }

// Says how far from the budget the filters were at most, and are in the end.
void Report(DB* db, const char* what, uint64_t seed, const FilterMeter& meter,
            const FilterTotals& end) {
  std::printf("%s, seed %llu: at most %+.2f%% over the budget, in the end %+.2f%%:%s\n", what,
              static_cast<unsigned long long>(seed), (meter.most() / FLAGS_budget - 1) * 100,
              (end.bits_per_key() / FLAGS_budget - 1) * 100, end.ToString().c_str());
  FilterFigures figures;
  EXPECT_OK(GetFilterFigures(db, db->DefaultColumnFamily(), &figures));
  double files = 0, drifted = 0, drifted_bytes = 0;
  for (const FilterLevelFigures& level : figures.levels) {
    files += static_cast<double>(level.files);
    drifted += static_cast<double>(level.drifted_files);
    drifted_bytes += static_cast<double>(level.drifted_filter_bytes);
  }
  std::printf("  drift: %.0f of %.0f files, %.1f%% of the filter bytes\n", drifted, files,
              drifted_bytes / end.bytes * 100);
  EXPECT_LE(meter.most(), 1.03 * FLAGS_budget) << what << ", seed " << seed;
  EXPECT_GE(end.bits_per_key(), 0.97 * FLAGS_budget) << what << ", seed " << seed;
  std::fflush(stdout);
}

void LoadThenDelete(bool universal, uint64_t seed) {
  ScratchDir dir;
  const auto meter = std::make_shared<FilterMeter>();
  const std::unique_ptr<DB> db = Open(SoakOptions(meter, universal), dir.Path("db"));
  const std::string value(30, 'v');
  ROCKSDB_NAMESPACE::WriteOptions no_log;
  no_log.disableWAL = true;
  KeyOrder order(FLAGS_num, seed);
  for (uint64_t i = 1; i <= FLAGS_num; ++i) {
    ASSERT_OK(db->Put(no_log, Key(order.Next()), value));
    if (i % FlushKeys() == 0) {
      ASSERT_OK(db->Flush(ROCKSDB_NAMESPACE::FlushOptions()));
    }
  }
  ASSERT_OK(db->Flush(ROCKSDB_NAMESPACE::FlushOptions()));
  WaitForCompactions(db.get());
  Report(db.get(), universal ? "universal, loaded" : "levelled, loaded", seed, *meter,
         meter->Measure(db.get(), "end"));

  meter->Forget();
  KeyOrder again(FLAGS_num, seed);
  for (uint64_t i = 1; i <= FLAGS_num; ++i) {
    const uint64_t key = again.Next();
    if (key % 5 != 0) {
      ASSERT_OK(db->Delete(no_log, Key(key)));
    }
    if (i % FlushKeys() == 0) {
      ASSERT_OK(db->Flush(ROCKSDB_NAMESPACE::FlushOptions()));
    }
  }
  ASSERT_OK(db->Flush(ROCKSDB_NAMESPACE::FlushOptions()));
  WaitForCompactions(db.get());
  ROCKSDB_NAMESPACE::CompactRangeOptions all;
  all.bottommost_level_compaction = ROCKSDB_NAMESPACE::BottommostLevelCompaction::kForce;
  ASSERT_OK(db->CompactRange(all, nullptr, nullptr));
  const FilterTotals end = meter->Measure(db.get(), "end");
  Report(db.get(), universal ? "universal, 80% deleted" : "levelled, 80% deleted", seed, *meter,
         end);
  EXPECT_EQ((FLAGS_num + 4) / 5, end.entries);
}

TEST(BudgetSoakTest, Levelled) {
  for (uint64_t seed = FLAGS_seed; seed < FLAGS_seed + FLAGS_seeds; ++seed) {
    LoadThenDelete(false, seed);
  }
}

TEST(BudgetSoakTest, Universal) {
  for (uint64_t seed = FLAGS_seed; seed < FLAGS_seed + FLAGS_seeds; ++seed) {
    LoadThenDelete(true, seed);
  }
}

[[noreturn]] void KillAndLook(uint64_t seed) {
  {
    ScratchDir dir;
    const std::string path = dir.Path("db");
    const auto options = [] {
      Options small = SoakOptions(std::make_shared<FilterMeter>(), false);
      small.write_buffer_size = size_t{256} << 10;
      small.target_file_size_base = size_t{256} << 10;
      small.max_bytes_for_level_base = size_t{512} << 10;
      small.max_bytes_for_level_multiplier = 4;
      return small;
    };
    const KilledDatabase killed = WriteAndKill(options, path, FLAGS_kills, 15000, seed);
    std::printf("killed %d times, seed %llu, %llu keys: %llu lost, at most %+.2f%%\n", FLAGS_kills,
                static_cast<unsigned long long>(seed), static_cast<unsigned long long>(killed.keys),
                static_cast<unsigned long long>(killed.lost),
                (killed.most_bits_per_key / FLAGS_budget - 1) * 100);
    EXPECT_EQ(0u, killed.lost);
    EXPECT_LE(killed.most_bits_per_key, 1.03 * FLAGS_budget);
    const std::unique_ptr<DB> db = Open(options(), path);
    PutKeys(db.get(), 0, 1);
    EXPECT_OK(db->Flush(ROCKSDB_NAMESPACE::FlushOptions()));
    EXPECT_NE(nullptr, FindTreeSizes(db->GetDBOptions().info_log.get(), "default"));
  }
  std::fflush(stdout);
  exit(::testing::Test::HasFailure() ? 1 : 0);
}

// A process that writes under the budget is killed at random moments; every key it was told is
// there is found each time, and the next one goes on within the budget.
TEST(BudgetSoakDeathTest, KilledAtRandomMoments) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (uint64_t seed = FLAGS_seed; seed < FLAGS_seed + FLAGS_seeds; ++seed) {
    EXPECT_EXIT(KillAndLook(seed), ::testing::ExitedWithCode(0), "");
  }
}

}  // namespace
}  // namespace tieredfilter

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  return RUN_ALL_TESTS();
}
