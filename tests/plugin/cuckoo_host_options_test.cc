// What RocksDB's options ask of a filter builder: memory charged to the block cache, corruption
// noticed before a file is installed, partitions of the size asked for, parallel compression.
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "plugin/cuckoo_bits_builder.h"
#include "plugin/tieredfilter.h"
#include "rocksdb/cache.h"
#include "rocksdb/env.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/statistics.h"
#include "tests/plugin/host_test_util.h"

namespace tieredfilter {
namespace {

using ROCKSDB_NAMESPACE::BlockBasedTableOptions;
using ROCKSDB_NAMESPACE::Cache;
using ROCKSDB_NAMESPACE::CacheEntryRole;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::FilterBitsBuilder;
using ROCKSDB_NAMESPACE::FilterBuildingContext;
using ROCKSDB_NAMESPACE::FilterPolicy;
using ROCKSDB_NAMESPACE::FlushOptions;
using ROCKSDB_NAMESPACE::Options;
using ROCKSDB_NAMESPACE::Slice;
using ROCKSDB_NAMESPACE::Status;

constexpr size_t kStep = 256 * 1024;  // in which the cache counts

BlockBasedTableOptions Charging(const std::shared_ptr<Cache>& cache) {
  BlockBasedTableOptions options;
  options.block_cache = cache;
  options.cache_usage_options.options_overrides[CacheEntryRole::kFilterConstruction].charged =
      ROCKSDB_NAMESPACE::CacheEntryRoleOptions::Decision::kEnabled;
  return options;
}

BlockRequest TenBits() { return BlockRequest(); }

TEST(CuckooChargeTest, WhatIsCollectedAndFinishedIsCharged) {
  const std::shared_ptr<Cache> cache = ROCKSDB_NAMESPACE::NewLRUCache(256 << 20);
  for (const bool detect : {false, true}) {
    BlockBasedTableOptions options = Charging(cache);
    options.detect_filter_construct_corruption = detect;
    const size_t base = cache->GetPinnedUsage();
    {
      CuckooBitsBuilder builder(TenBits(), options, nullptr);
      size_t finished = 0;
      for (int partition = 0; partition < 2; ++partition) {
        for (uint64_t i = 0; i < 1000 * 1000; ++i) {
          builder.AddKey(Key(i));
          if (i % 100000 == 99999) {
            // The role's entries have a little overhead of their own each.
            const size_t held = builder.TEST_collector().memory_bytes() + finished;
            const size_t charged = cache->GetPinnedUsage() - base;
            EXPECT_GE(charged, held * 9 / 10) << i;
            EXPECT_LE(charged, held * 11 / 10 + 2 * kStep) << i;
          }
        }
        std::unique_ptr<const char[]> buffer;
        const Slice block = builder.Finish(&buffer);
        finished += block.size();
        if (detect) {
          EXPECT_GE(cache->GetPinnedUsage() - base, finished + 8 * 1000 * 1000)
              << "the hashes are kept for the verification";
          EXPECT_OK(builder.MaybePostVerify(block));
        }
        EXPECT_GE(cache->GetPinnedUsage() - base, finished);
        EXPECT_LE(cache->GetPinnedUsage() - base, finished * 11 / 10 + 2 * kStep);
      }
    }
    EXPECT_EQ(cache->GetPinnedUsage(), base);
  }
}

TEST(CuckooChargeTest, SmallFiltersAreNotChargedAFullStep) {
  const std::shared_ptr<Cache> cache = ROCKSDB_NAMESPACE::NewLRUCache(64 << 20);
  CuckooBitsBuilder builder(TenBits(), Charging(cache), nullptr);
  for (uint64_t i = 0; i < 10000; ++i) {
    builder.AddKey(Key(i));
  }
  EXPECT_EQ(cache->GetPinnedUsage(), 0u);
}

TEST(CuckooChargeTest, NothingIsChargedUnlessAskedFor) {
  const std::shared_ptr<Cache> cache = ROCKSDB_NAMESPACE::NewLRUCache(64 << 20);
  BlockBasedTableOptions options;
  options.block_cache = cache;
  CuckooBitsBuilder builder(TenBits(), options, nullptr);
  for (uint64_t i = 0; i < 200000; ++i) {
    builder.AddKey(Key(i));
  }
  EXPECT_EQ(cache->GetPinnedUsage(), 0u);
}

// A cache without room does not keep a filter from being built: as with stock Bloom filters, the
// charge is an account of the memory, not a permission to use it.
TEST(CuckooChargeTest, ACacheWithoutRoomStopsNoFlush) {
  ScratchDir dir;
  ROCKSDB_NAMESPACE::LRUCacheOptions cache_options;
  cache_options.capacity = 512 * 1024;
  cache_options.strict_capacity_limit = true;
  cache_options.num_shard_bits = 0;
  const std::shared_ptr<Cache> cache = ROCKSDB_NAMESPACE::NewLRUCache(cache_options);
  const Options options =
      WithTableOptions(TestOptions(Policy("cuckoo:10")), [&](BlockBasedTableOptions* table) {
        const BlockBasedTableOptions charging = Charging(cache);
        table->block_cache = charging.block_cache;
        table->cache_usage_options = charging.cache_usage_options;
      });
  const std::unique_ptr<DB> db = Open(options, dir.Path("db"));
  PutKeys(db.get(), 0, 200000);
  ASSERT_OK(db->Flush(FlushOptions()));
  ASSERT_EQ(Tables(db.get()).size(), 1u);
  EXPECT_EQ(Tables(db.get())[0].filter_entries, 200000u);
  EXPECT_NEAR(Tables(db.get())[0].bits_per_key(), 10, 0.1);
  EXPECT_EQ(CountLost(db.get(), 0, 200000, 100), 0u);
}

// A policy whose builders are damaged while they work, as by a memory error.
class DamagedPolicy final : public FilterPolicy {
 public:
  enum class What { kHashes, kBlock, kNewerVersion };

  explicit DamagedPolicy(What what) : good_(Policy("cuckoo:10")), what_(what) {}
  const char* Name() const override { return "damaged"; }
  const char* CompatibilityName() const override { return good_->CompatibilityName(); }
  FilterBitsBuilder* GetBuilderWithContext(const FilterBuildingContext& context) const override {
    return new Builder(context, what_);
  }
  ROCKSDB_NAMESPACE::FilterBitsReader* GetFilterBitsReader(const Slice& contents) const override {
    return good_->GetFilterBitsReader(contents);
  }

 private:
  class Builder final : public FilterBitsBuilderBase {
   public:
    Builder(const FilterBuildingContext& context, What what)
        : good_(TenBits(), context.table_options, context.info_log), what_(what) {}
    void AddKey(const Slice& key) override { good_.AddKey(key); }
    void AddKeyAndAlt(const Slice& key, const Slice& alt) override { good_.AddKeyAndAlt(key, alt); }
    size_t EstimateEntriesAdded() override { return good_.EstimateEntriesAdded(); }
    Slice Finish(std::unique_ptr<const char[]>* buffer) override { return Finish(buffer, nullptr); }
    Slice Finish(std::unique_ptr<const char[]>* buffer, Status* status) override {
      if (what_ == What::kHashes) {
        good_.TEST_collector().hashes()[0] ^= 1;
        return good_.Finish(buffer, status);
      }
      const std::string block = good_.Finish(buffer, status).ToString();
      std::unique_ptr<char[]> damaged(new char[block.size()]);
      std::copy(block.begin(), block.end(), damaged.get());
      if (what_ == What::kBlock) {
        damaged[0] = static_cast<char>(damaged[0] ^ 0x55);
      } else {
        damaged[block.size() - kTrailerBytes + 2] = kFormatVersion + 1;
      }
      buffer->reset(damaged.release());
      return Slice(buffer->get(), block.size());
    }
    Status MaybePostVerify(const Slice& content) override { return good_.MaybePostVerify(content); }
    size_t ApproximateNumEntries(size_t bytes) override {
      return good_.ApproximateNumEntries(bytes);
    }
    size_t CalculateSpace(size_t num_entries) override { return good_.CalculateSpace(num_entries); }
    double EstimatedFpRate(size_t num_entries, size_t bytes) override {
      return good_.EstimatedFpRate(num_entries, bytes);
    }

   private:
    CuckooBitsBuilder good_;
    const What what_;
  };

  const std::shared_ptr<const FilterPolicy> good_;
  const What what_;
};

TEST(CuckooCorruptionTest, NoFileIsInstalledWithADamagedFilter) {
  for (const auto what : {DamagedPolicy::What::kHashes, DamagedPolicy::What::kBlock}) {
    for (const bool partitioned : {false, true}) {
      for (const bool detect : {false, true}) {
        ScratchDir dir;
        const Options options = WithTableOptions(
            TestOptions(std::make_shared<DamagedPolicy>(what)), [&](BlockBasedTableOptions* table) {
              table->detect_filter_construct_corruption = detect;
              if (partitioned) {
                table->partition_filters = true;
                table->index_type = BlockBasedTableOptions::kTwoLevelIndexSearch;
              }
            });
        const std::unique_ptr<DB> db = Open(options, dir.Path("db"));
        PutKeys(db.get(), 0, 5000);
        const Status status = db->Flush(FlushOptions());
        EXPECT_EQ(status.IsCorruption(), detect) << status.ToString();
        EXPECT_EQ(Tables(db.get()).size(), detect ? 0u : 1u);
      }
    }
  }
}

class CapturingLogger final : public ROCKSDB_NAMESPACE::Logger {
 public:
  using Logger::Logv;
  void Logv(const char* format, va_list arguments) override {
    char line[1024];
    std::vsnprintf(line, sizeof(line), format, arguments);
    const std::lock_guard<std::mutex> lock(mutex_);
    lines_.push_back(line);
  }
  size_t Count(const std::string& part) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return static_cast<size_t>(std::count_if(
        lines_.begin(), lines_.end(),
        [&](const std::string& line) { return line.find(part) != std::string::npos; }));
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

TEST(CuckooUnknownBlockTest, IsReadAroundCountedAndLoggedOnce) {
  ScratchDir dir;
  {
    const auto newer = std::make_shared<DamagedPolicy>(DamagedPolicy::What::kNewerVersion);
    const std::unique_ptr<DB> db = Open(TestOptions(newer), dir.Path("db"));
    for (uint64_t file = 0; file < 3; ++file) {
      PutKeys(db.get(), file, 3000, 3);
      ASSERT_OK(db->Flush(FlushOptions()));
    }
  }
  const uint64_t before = GetFilterCounters().unusable_blocks_read;
  Options options = TestOptions(Policy("cuckoo:10"));
  const auto logger = std::make_shared<CapturingLogger>();
  options.info_log = logger;
  options.statistics = ROCKSDB_NAMESPACE::CreateDBStatistics();
  const std::unique_ptr<DB> db = Open(options, dir.Path("db"));
  EXPECT_EQ(CountLost(db.get(), 0, 3000), 0u);
  EXPECT_EQ(LookUpAbsent(db.get(), 0, 1000), 0u);
  EXPECT_EQ(options.statistics->getTickerCount(ROCKSDB_NAMESPACE::BLOOM_FILTER_USEFUL), 0u);
  EXPECT_EQ(GetFilterCounters().unusable_blocks_read, before + 3);
  for (int flush = 0; flush < 2; ++flush) {
    PutKeys(db.get(), 0, 10);
    ASSERT_OK(db->Flush(FlushOptions()));
  }
  EXPECT_EQ(logger->Count("damaged or of a newer version"), 1u);
}

struct PartitionStats {
  uint64_t partitions = 0;
  double bytes = 0;  // on average
};

// Partition sizes follow from the table's properties: the number of filter blocks is one less than
// that of the blocks the top-level index names, which RocksDB shows only through the cache.
class CuckooPartitionTest : public ::testing::Test {
 protected:
  // Loads every partition and returns their number and average size.
  static PartitionStats Write(size_t metadata_block_size, bool prefixes, const std::string& path) {
    Options options = TestOptions(Policy("cuckoo:10"));
    options.statistics = ROCKSDB_NAMESPACE::CreateDBStatistics();
    if (prefixes) {
      // One prefix for every key: twice the entries.
      options.prefix_extractor.reset(ROCKSDB_NAMESPACE::NewFixedPrefixTransform(15));
    }
    options = WithTableOptions(options, [&](BlockBasedTableOptions* table) {
      table->partition_filters = true;
      table->index_type = BlockBasedTableOptions::kTwoLevelIndexSearch;
      table->metadata_block_size = metadata_block_size;
      table->cache_index_and_filter_blocks = true;
      table->block_size = 512;  // partitions end where data blocks do
      table->block_cache = ROCKSDB_NAMESPACE::NewLRUCache(256 << 20);
    });
    const std::unique_ptr<DB> db = Open(options, path);
    PutKeys(db.get(), 0, kKeys);
    EXPECT_OK(db->Flush(FlushOptions()));
    EXPECT_EQ(CountLost(db.get(), 0, kKeys, 3), 0u);
    PartitionStats stats;
    stats.partitions =
        options.statistics->getTickerCount(ROCKSDB_NAMESPACE::BLOCK_CACHE_FILTER_ADD);
    stats.bytes = static_cast<double>(options.statistics->getTickerCount(
                      ROCKSDB_NAMESPACE::BLOCK_CACHE_FILTER_BYTES_INSERT)) /
                  static_cast<double>(stats.partitions);
    EXPECT_EQ(Tables(db.get()).size(), 1u);
    return stats;
  }

  static constexpr uint64_t kKeys = 100000;
  ScratchDir dir_;
};

TEST_F(CuckooPartitionTest, AreOfTheSizeAskedFor) {
  for (const size_t bytes : {512, 4096}) {
    for (const bool prefixes : {false, true}) {
      const PartitionStats stats =
          Write(bytes, prefixes, dir_.Path(std::to_string(bytes) + (prefixes ? "p" : "")));
      EXPECT_GT(stats.partitions, 10u);
      // The cache adds its own overhead to each; partitions end at the next data block.
      EXPECT_LE(stats.bytes, 1.1 * static_cast<double>(bytes) + 400) << bytes << " " << prefixes;
      EXPECT_GE(stats.bytes, 0.6 * static_cast<double>(bytes)) << bytes << " " << prefixes;
    }
  }
}

// Estimates are asked for from other threads then.
TEST(CuckooParallelTest, ParallelCompressionWritesTheSameFilter) {
  std::vector<std::string> blocks;
  for (const uint32_t threads : {1, 4}) {
    ScratchDir dir;
    Options options = TestOptions(Policy("cuckoo:9"));
    options.compression = ROCKSDB_NAMESPACE::kSnappyCompression;
    options.compression_opts.parallel_threads = threads;
    options.optimize_filters_for_hits = false;
    options = WithTableOptions(
        options, [](BlockBasedTableOptions* table) { table->optimize_filters_for_memory = true; });
    const std::unique_ptr<DB> db = Open(options, dir.Path("db"));
    PutKeys(db.get(), 0, 50000);
    ASSERT_OK(db->Flush(FlushOptions()));
    ASSERT_OK(db->CompactRange(ROCKSDB_NAMESPACE::CompactRangeOptions(), nullptr, nullptr));
    EXPECT_EQ(CountLost(db.get(), 0, 50000, 7), 0u);
    const std::vector<TableOnDisk> tables = Tables(db.get());
    ASSERT_EQ(tables.size(), 1u);
    blocks.push_back(ReadFilterBlock(tables[0].path));
    EXPECT_EQ(blocks.back().size(), tables[0].filter_bytes);
  }
  EXPECT_EQ(blocks[0], blocks[1]);
}

// Overwritten and deleted keys do not make filters larger.
TEST(CuckooSizeTest, FollowsTheKeysThatAreLeft) {
  ScratchDir dir;
  const std::unique_ptr<DB> db = Open(TestOptions(Policy("cuckoo:10")), dir.Path("db"));
  for (int copy = 0; copy < 3; ++copy) {
    PutKeys(db.get(), 0, 20000);
    ASSERT_OK(db->Flush(FlushOptions()));
  }
  ASSERT_OK(db->DeleteRange(ROCKSDB_NAMESPACE::WriteOptions(), db->DefaultColumnFamily(), Key(2000),
                            Key(20000)));
  ASSERT_OK(db->Flush(FlushOptions()));
  ASSERT_OK(db->CompactRange(ROCKSDB_NAMESPACE::CompactRangeOptions(), nullptr, nullptr));
  const std::vector<TableOnDisk> tables = Tables(db.get());
  ASSERT_EQ(tables.size(), 1u);
  EXPECT_EQ(tables[0].filter_entries, 2000u);
  EXPECT_NEAR(tables[0].bits_per_key(), 10, 0.5);
}

}  // namespace
}  // namespace tieredfilter
