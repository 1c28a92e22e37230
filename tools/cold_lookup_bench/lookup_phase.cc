#include "tools/cold_lookup_bench/lookup_phase.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <thread>
#include <utility>
#include <vector>

#include "rocksdb/cache.h"
#include "rocksdb/env.h"
#include "rocksdb/perf_context.h"
#include "rocksdb/statistics.h"
#include "rocksdb/table.h"
#include "tools/cold_lookup_bench/counting_file_system.h"
#include "tools/cold_lookup_bench/interrupt.h"
#include "tools/cold_lookup_bench/lookup_counter.h"
#include "tools/cold_lookup_bench/progress.h"
#include "tools/cold_lookup_bench/storage.h"

namespace tieredfilter::cold_lookup {

using ROCKSDB_NAMESPACE::BlockBasedTableOptions;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::Options;
using ROCKSDB_NAMESPACE::PerfContext;
using ROCKSDB_NAMESPACE::PinnableSlice;
using ROCKSDB_NAMESPACE::ReadOptions;
using ROCKSDB_NAMESPACE::Statistics;
using ROCKSDB_NAMESPACE::Status;

namespace {

constexpr uint64_t kLookupsPerProgress = 256;

uint64_t ThreadCpuNanoseconds() {
  struct timespec now = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

// Counts of the calling thread since the last Reset().
HostCounts FromPerfContext(const PerfContext& perf) {
  HostCounts counts;
  if (perf.level_to_perf_context != nullptr) {
    for (const auto& [level, by_level] : *perf.level_to_perf_context) {
      counts.levels[static_cast<int>(level)] = {
          by_level.bloom_filter_useful, by_level.bloom_filter_full_positive,
          by_level.bloom_filter_full_true_positive, by_level.block_cache_miss_count,
          by_level.block_cache_hit_count};
    }
  }
  counts.block_reads = perf.block_read_count;
  counts.filter_block_reads = perf.filter_block_read_count;
  counts.index_block_reads = perf.index_block_read_count;
  return counts;
}

// One thread's share of the lookups: numbers begin .. end - 1.
struct Worker {
  uint64_t begin = 0;
  uint64_t end = 0;
  Status status;
  LookupCounts own;
  HostCounts host;

  void Run(DB* db, const TreeFiles& files, const LookupSource& source, Progress* progress);
};

void Worker::Run(DB* db, const TreeFiles& files, const LookupSource& source, Progress* progress) {
  ROCKSDB_NAMESPACE::SetPerfLevel(ROCKSDB_NAMESPACE::PerfLevel::kEnableCount);
  PerfContext* perf = ROCKSDB_NAMESPACE::get_perf_context();
  perf->EnablePerLevelPerfContext();
  perf->Reset();
  ScopedReadLog log;
  LookupCounter counter(files);
  ReadOptions options;
  options.fill_cache =
      false;  // or a thread could find a block that another one holds at that moment
  std::string key;
  PinnableSlice value;
  for (uint64_t i = begin; i < end && status.ok(); ++i) {
    const bool expected = source(i, &key);
    log.Clear();
    value.Reset();
    const uint64_t cpu_before = ThreadCpuNanoseconds();
    const auto start = std::chrono::steady_clock::now();
    const Status s = db->Get(options, db->DefaultColumnFamily(), key, &value);
    const auto elapsed = std::chrono::steady_clock::now() - start;
    counter.NoteTime(static_cast<uint64_t>(std::chrono::nanoseconds(elapsed).count()),
                     ThreadCpuNanoseconds() - cpu_before);
    if (!s.ok() && !s.IsNotFound()) {
      status = s;
    } else if (s.ok() != expected) {
      status = Status::Corruption(
          fmt::format("lookup {}: the key should {}be in the database", i, expected ? "" : "not "));
    }
    counter.Count(key, log.reads(), s.ok());
    if ((i - begin + 1) % kLookupsPerProgress == 0) {
      progress->Add(kLookupsPerProgress);
      if (status.ok()) {
        status = CheckInterrupt();
      }
    }
  }
  own = counter.counts();
  host = FromPerfContext(*perf);
  perf->ClearPerLevelPerfContext();
}

}  // namespace

Status ColdDatabase::Open(Options options, const std::string& path) {
  if (Status s = DropFromPageCache(path); !s.ok()) {
    return s;
  }
  file_system_ = NewCountingFileSystem(ROCKSDB_NAMESPACE::FileSystem::Default());
  env_ = ROCKSDB_NAMESPACE::NewCompositeEnv(file_system_);
  statistics_ = ROCKSDB_NAMESPACE::CreateDBStatistics();
  options.env = env_.get();
  options.statistics = statistics_;
  options.use_direct_reads = true;
  auto* table = options.table_factory->GetOptions<BlockBasedTableOptions>();
  BlockBasedTableOptions cold = *table;
  // A cache without room rather than no cache: RocksDB counts block reads per level as misses of
  // the cache.
  cold.block_cache = ROCKSDB_NAMESPACE::NewLRUCache(0, 0, /*strict_capacity_limit=*/false);
  options.table_factory.reset(ROCKSDB_NAMESPACE::NewBlockBasedTableFactory(cold));
  DB* raw = nullptr;
  if (Status s = DB::OpenForReadOnly(options, path, &raw); !s.ok()) {
    return s;
  }
  db_.reset(raw);
  Status s = TreeFiles::Read(db_.get(), db_->DefaultColumnFamily(), &files_);
  return s.ok() ? CheckOpenFilesAreDirect(path) : s;
}

Status ColdDatabase::Run(const LookupSource& source, uint64_t count, int threads,
                         const std::string& label, LookupCounts* own, HostCounts* host) {
  Progress progress("looking up " + label, count);
  std::vector<Worker> workers(static_cast<size_t>(threads));
  for (size_t i = 0; i < workers.size(); ++i) {
    workers[i].begin = count * i / workers.size();
    workers[i].end = count * (i + 1) / workers.size();
  }
  if (Status s = statistics_->Reset(); !s.ok()) {
    return s;
  }
  uint64_t bytes_before = 0;
  host->process_bytes_known = ProcessReadBytes(&bytes_before);
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> running;
  for (Worker& worker : workers) {
    running.emplace_back([&] { worker.Run(db_.get(), files_, source, &progress); });
  }
  for (std::thread& thread : running) {
    thread.join();
  }
  own->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  uint64_t bytes_after = 0;
  host->process_bytes_known = host->process_bytes_known && ProcessReadBytes(&bytes_after);
  host->process_bytes = bytes_after - bytes_before;
  host->ticker_useful = statistics_->getTickerCount(ROCKSDB_NAMESPACE::BLOOM_FILTER_USEFUL);
  host->ticker_positive =
      statistics_->getTickerCount(ROCKSDB_NAMESPACE::BLOOM_FILTER_FULL_POSITIVE);
  host->ticker_true_positive =
      statistics_->getTickerCount(ROCKSDB_NAMESPACE::BLOOM_FILTER_FULL_TRUE_POSITIVE);
  for (const Worker& worker : workers) {
    if (!worker.status.ok()) {
      return worker.status;
    }
    own->Add(worker.own);
    host->Add(worker.host);
  }
  return Status::OK();
}

}  // namespace tieredfilter::cold_lookup
