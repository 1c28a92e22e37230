#include "tools/cold_lookup_bench/verify_phase.h"

#include <memory>
#include <thread>
#include <vector>

#include "rocksdb/cache.h"
#include "rocksdb/db.h"
#include "rocksdb/slice.h"
#include "rocksdb/table.h"
#include "tools/cold_lookup_bench/interrupt.h"
#include "tools/cold_lookup_bench/progress.h"

namespace tieredfilter::cold_lookup {

using ROCKSDB_NAMESPACE::BlockBasedTableOptions;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::Options;
using ROCKSDB_NAMESPACE::PinnableSlice;
using ROCKSDB_NAMESPACE::ReadOptions;
using ROCKSDB_NAMESPACE::Slice;
using ROCKSDB_NAMESPACE::Status;

namespace {

// Keys are looked up in order, so a few blocks per sorted run and thread are enough.
constexpr size_t kCacheBytes = 64 << 20;
constexpr uint64_t kKeysPerProgress = 4096;

// Looks up part `part` of `parts` of every run.
Status VerifyPart(DB* db, const TreePlan& plan, const KeySpace& keys, uint64_t part, uint64_t parts,
                  Progress* progress, VerifyResult* result) {
  std::string key;
  std::string expected;
  PinnableSlice value;
  for (size_t run = 0; run < plan.runs.size(); ++run) {
    const RunPlan& info = plan.runs[run];
    const uint64_t end = info.entries * (part + 1) / parts;
    for (uint64_t i = info.entries * part / parts; i < end; ++i) {
      keys.EntryKey({run, i}, &key);
      const EntryPlace newest = keys.NewestOf({run, i});
      const bool deleted = keys.KindOf(newest) == EntryKind::kDelete;
      keys.ValueOf(newest, &expected);
      value.Reset();
      const Status s = db->Get(ReadOptions(), db->DefaultColumnFamily(), key, &value);
      if (!s.ok() && !s.IsNotFound()) {
        return s;
      }
      if (deleted ? s.ok() : s.IsNotFound() || value != Slice(expected)) {
        NoteLost(key, info.level, result);
      }
      if (++result->keys % kKeysPerProgress == 0) {
        progress->Add(kKeysPerProgress);
        if (Status interrupted = CheckInterrupt(); !interrupted.ok()) {
          return interrupted;
        }
      }
    }
  }
  return Status::OK();
}

}  // namespace

void NoteLost(const Slice& key, int level, VerifyResult* result) {
  if (result->lost++ == 0) {
    result->first_lost = key.ToString(/*hex=*/true);
  }
  ++result->lost_by_level[level];
}

Status VerifyKeys(Options options, const std::string& path, const TreePlan& plan,
                  const KeySpace& keys, int threads, const std::string& label,
                  VerifyResult* result) {
  BlockBasedTableOptions table = *options.table_factory->GetOptions<BlockBasedTableOptions>();
  table.block_cache = ROCKSDB_NAMESPACE::NewLRUCache(kCacheBytes);
  options.table_factory.reset(ROCKSDB_NAMESPACE::NewBlockBasedTableFactory(table));
  DB* raw = nullptr;
  if (Status s = DB::OpenForReadOnly(options, path, &raw); !s.ok()) {
    return s;
  }
  const std::unique_ptr<DB> db(raw);
  Progress progress("looking up every key of " + label, plan.TotalEntries());
  const auto parts = static_cast<size_t>(threads);
  std::vector<VerifyResult> results(parts);
  std::vector<Status> statuses(parts);
  std::vector<std::thread> running;
  for (size_t part = 0; part < parts; ++part) {
    running.emplace_back([&, part] {
      statuses[part] = VerifyPart(db.get(), plan, keys, part, parts, &progress, &results[part]);
    });
  }
  for (std::thread& thread : running) {
    thread.join();
  }
  *result = VerifyResult();
  for (size_t part = 0; part < parts; ++part) {
    if (!statuses[part].ok()) {
      return statuses[part];
    }
    result->keys += results[part].keys;
    result->lost += results[part].lost;
    for (const auto& [level, lost] : results[part].lost_by_level) {
      result->lost_by_level[level] += lost;
    }
    if (result->first_lost.empty()) {
      result->first_lost = results[part].first_lost;
    }
  }
  return Status::OK();
}

}  // namespace tieredfilter::cold_lookup
