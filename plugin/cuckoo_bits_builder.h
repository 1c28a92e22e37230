// Builds the cuckoo filter's blocks for RocksDB.
//
// What RocksDB's options mean here:
//   detect_filter_construct_corruption   the hashes are checked before a block is made of them, and
//     the finished block is asked for every one of them.
//   reserve_table_builder_memory / cache_usage_options (kFilterConstruction)   hashes, working
//     memory and finished blocks are charged to the block cache, best effort as RocksDB's own
//     builders do.
//   optimize_filters_for_memory          has no effect. A block's size follows from the number of
//     keys, to the cache line, and its bytes are the same on every machine; sizes made to fit the
//     allocator of the machine that happens to build would end that. What is forgone is the slack
//     up to the allocator's next size class, the internal fragmentation that the option is about.
//
// When a block cannot be made (no memory; no placement, which takes astronomically bad luck or a
// hostile set of hashes), the table gets a block that is a trailer alone and matches everything: it
// costs reads, never a key. It is counted (FilterCounters::match_all_blocks_written) and logged.
// Not a Bloom filter instead: RocksDB's uses another hash of the key, which would have to be kept
// in every build. That would double what a build holds all the time, for the rare moment when there
// is no memory for our block but would be for a Bloom filter's.
#pragma once

#include <memory>

#include "plugin/filter_source.h"
#include "plugin/rocksdb_compat.h"
#include "rocksdb/env.h"
#include "src/filter/hash_collector.h"
#include "src/format/block.h"

namespace tieredfilter {

// For a setting of kind kCuckoo.
std::unique_ptr<const FilterSource> NewCuckooFilterSource(const FilterSetting& setting);

// The block that a table of this setting gets, but for the level.
BlockRequest RequestFor(const FilterSetting& setting);

// A new builder for a block of this request and the level of `context`; the caller owns it. Null,
// counted and logged, if there is no memory for it. Never throws.
ROCKSDB_NAMESPACE::FilterBitsBuilder* NewCuckooBuilder(
    BlockRequest request, const ROCKSDB_NAMESPACE::FilterBuildingContext& context);

// One table's builder, for one block after the other. ApproximateNumEntries, CalculateSpace,
// EstimatedFpRate and EstimateEntriesAdded may be called from any thread at any time, as RocksDB
// does with parallel compression; everything else from one thread at a time. Nothing throws.
class CuckooBitsBuilder final : public FilterBitsBuilderBase {
 public:
  // `info_log`, which may be null, must outlive the builder.
  CuckooBitsBuilder(const BlockRequest& request,
                    const ROCKSDB_NAMESPACE::BlockBasedTableOptions& table_options,
                    ROCKSDB_NAMESPACE::Logger* info_log);

  void AddKey(const ROCKSDB_NAMESPACE::Slice& key) override;
  void AddKeyAndAlt(const ROCKSDB_NAMESPACE::Slice& key,
                    const ROCKSDB_NAMESPACE::Slice& alt) override;
  size_t EstimateEntriesAdded() override { return collector_.size(); }

  // The block; *buf owns it. (Only the block that stands in where memory ran out is owned by
  // nobody; it lives as long as the process.) For no keys, one that matches everything.
  ROCKSDB_NAMESPACE::Slice Finish(std::unique_ptr<const char[]>* buf) override {
    return Finish(buf, nullptr);
  }
  ROCKSDB_NAMESPACE::Slice Finish(std::unique_ptr<const char[]>* buf,
                                  ROCKSDB_NAMESPACE::Status* status) override;
  ROCKSDB_NAMESPACE::Status MaybePostVerify(
      const ROCKSDB_NAMESPACE::Slice& filter_content) override;

  size_t ApproximateNumEntries(size_t bytes) override;
  size_t CalculateSpace(size_t num_entries) override { return BlockBytes(num_entries, request_); }
  double EstimatedFpRate(size_t num_entries, size_t bytes) override;

  // For tests: lets them corrupt or measure what is collected.
  HashCollector& TEST_collector() { return collector_; }

 private:
  BuiltBlock Build();
  void ChargeForHashes();
  void Charge(size_t working_bytes);
  ROCKSDB_NAMESPACE::Slice GiveUp(const char* why, size_t entries);

  const BlockRequest request_;
  const bool detect_corruption_;
  ROCKSDB_NAMESPACE::Logger* const info_log_;
  HashCollector collector_;
  size_t charged_hash_bytes_ = 0;
  // The distinct hashes of the block finished last, until it has been verified.
  HashCollector to_verify_;
  size_t keys_to_verify_ = 0;
  // Blocks handed over. RocksDB keeps all partitions until the table is finished, about as long as
  // this builder.
  size_t finished_bytes_ = 0;
  FilterConstructionCharge charge_;
};

}  // namespace tieredfilter
