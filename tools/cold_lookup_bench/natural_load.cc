#include "tools/cold_lookup_bench/natural_load.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <initializer_list>
#include <thread>

#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "rocksdb/write_batch.h"
#include "tools/cold_lookup_bench/interrupt.h"
#include "tools/cold_lookup_bench/progress.h"
#include "tools/cold_lookup_bench/tree_builder.h"

namespace tieredfilter::cold_lookup {

using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::FilterPolicy;
using ROCKSDB_NAMESPACE::FlushOptions;
using ROCKSDB_NAMESPACE::Options;
using ROCKSDB_NAMESPACE::Status;
using ROCKSDB_NAMESPACE::WriteBatch;
using ROCKSDB_NAMESPACE::WriteOptions;

namespace {

constexpr uint32_t kBatchEntries = 100;

Status MakeNaturalOptions(const Config& config, const std::shared_ptr<const FilterPolicy>& policy,
                          Options* options) {
  Options fixed;
  if (Status s = MakeOptions(config, policy, &fixed); !s.ok()) {
    return s;
  }
  options->create_if_missing = true;
  options->error_if_exists = true;
  options->compression = fixed.compression;
  options->table_factory = fixed.table_factory;
  options->num_levels = fixed.num_levels;
  options->compaction_style = fixed.compaction_style;
  options->write_buffer_size = config.tree.write_buffer_size;
  options->max_bytes_for_level_base = config.tree.max_bytes_for_level_base;
  options->max_bytes_for_level_multiplier = config.shape.size_ratio;
  options->target_file_size_base = config.target_file_size;
  options->level0_file_num_compaction_trigger = std::max(1, config.shape.level0_files);
  options->level_compaction_dynamic_level_bytes = false;
  return Status::OK();
}

uint64_t SumOf(DB* db, std::initializer_list<const std::string*> properties) {
  uint64_t sum = 0;
  for (const std::string* property : properties) {
    uint64_t value = 0;
    if (db->GetIntProperty(*property, &value)) {
      sum += value;
    }
  }
  return sum;
}

// "Pending" may stay set for good, where universal compaction has a score but finds nothing to do;
// so a second of idleness counts as done, too.
Status WaitForCompactions(DB* db) {
  constexpr std::chrono::milliseconds kPoll{20};
  constexpr int kIdlePolls = 50;
  for (int idle = 0; idle < kIdlePolls; ++idle) {
    if (SumOf(db, {&DB::Properties::kNumRunningFlushes, &DB::Properties::kMemTableFlushPending,
                   &DB::Properties::kNumRunningCompactions}) > 0) {
      idle = 0;
    } else if (SumOf(db, {&DB::Properties::kCompactionPending}) == 0) {
      break;
    }
    if (Status s = CheckInterrupt(); !s.ok()) {
      return s;
    }
    std::this_thread::sleep_for(kPoll);
  }
  return Status::OK();
}

// A second write to one of the `written` keys so far, or none.
Status AddRewrite(const GeneratedData& data, const KeySpace& keys, const Permutation& order,
                  uint64_t written, uint64_t random, WriteBatch* batch) {
  const double percent = 100 * std::ldexp(static_cast<double>(random >> 11), -53);
  if (written == 0 || percent >= data.update_percent + data.delete_percent) {
    return Status::OK();
  }
  std::string key;
  keys.EntryKey({0, order(ScaleTo(Mix64(random), written))}, &key);
  if (percent < data.delete_percent) {
    return batch->Delete(key);
  }
  std::string value;
  keys.ValueOf({1, written}, &value);  // no entry of run 0 has it
  return batch->Put(key, value);
}

Status WriteAll(const Config& config, const KeySpace& keys, uint64_t count, DB* db) {
  const Permutation order(count, config.seed);
  Progress progress("loading in random order", count);
  WriteOptions options;
  options.disableWAL = true;  // all is flushed at the end
  WriteBatch batch;
  std::string key;
  std::string value;
  Status s;
  uint64_t unreported = 0;
  for (uint64_t i = 0; s.ok() && i < count; ++i) {
    const uint64_t index = order(i);
    keys.EntryKey({0, index}, &key);
    keys.ValueOf({0, index}, &value);
    s = batch.Put(key, value);
    if (s.ok()) {
      s = AddRewrite(config.data.generated, keys, order, i, Mix64(Mix64(config.seed) ^ i), &batch);
    }
    ++unreported;
    if (s.ok() && (batch.Count() >= kBatchEntries || i + 1 == count)) {
      s = db->Write(options, &batch);
      batch.Clear();
      progress.Add(unreported);
      unreported = 0;
      if (s.ok()) {
        s = CheckInterrupt();
      }
    }
  }
  return s;
}

}  // namespace

Permutation::Permutation(uint64_t count, uint64_t seed) : count_(count), seed_(seed) {
  while (half_bits_ < 32 && (uint64_t{1} << (2 * half_bits_)) < count) {
    ++half_bits_;
  }
}

uint64_t Permutation::operator()(uint64_t place) const {
  // A Feistel network permutes the numbers of 2 * half_bits_ bits, which are at most four times as
  // many as wanted; walking on from those that are too large permutes the rest.
  const uint64_t mask = (uint64_t{1} << half_bits_) - 1;
  do {
    uint64_t left = place >> half_bits_;
    uint64_t right = place & mask;
    for (uint64_t round = 0; round < 4; ++round) {
      const uint64_t next = left ^ (Mix64(Mix64(seed_ + round) ^ right) & mask);
      left = right;
      right = next;
    }
    place = left << half_bits_ | right;
  } while (place >= count_);
  return place;
}

Status LoadNaturally(const Config& config, const std::shared_ptr<const FilterPolicy>& policy,
                     const std::string& path, const KeySpace& keys, uint64_t count) {
  Options options;
  Status s = MakeNaturalOptions(config, policy, &options);
  DB* raw = nullptr;
  if (s.ok()) {
    s = DB::Open(options, path, &raw);
  }
  const std::unique_ptr<DB> db(raw);
  if (s.ok()) {
    s = WriteAll(config, keys, count, db.get());
  }
  if (s.ok()) {
    s = db->Flush(FlushOptions());
  }
  if (s.ok()) {
    s = WaitForCompactions(db.get());
  }
  const Status closed = db == nullptr ? Status::OK() : db->Close();
  return s.ok() ? closed : s;
}

}  // namespace tieredfilter::cold_lookup
