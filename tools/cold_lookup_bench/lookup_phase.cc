#include "tools/cold_lookup_bench/lookup_phase.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "rocksdb/env.h"
#include "rocksdb/statistics.h"
#include "rocksdb/table.h"
#include "tools/cold_lookup_bench/counting_file_system.h"
#include "tools/cold_lookup_bench/interrupt.h"
#include "tools/cold_lookup_bench/lookup_worker.h"
#include "tools/cold_lookup_bench/progress.h"
#include "tools/cold_lookup_bench/storage.h"

namespace tieredfilter::cold_lookup {

using ROCKSDB_NAMESPACE::BlockBasedTableOptions;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::Options;
using ROCKSDB_NAMESPACE::Statistics;
using ROCKSDB_NAMESPACE::Status;

namespace {

void ReadTickers(const Statistics& statistics, HostCounts* host) {
  host->ticker_useful = statistics.getTickerCount(ROCKSDB_NAMESPACE::BLOOM_FILTER_USEFUL);
  host->ticker_positive = statistics.getTickerCount(ROCKSDB_NAMESPACE::BLOOM_FILTER_FULL_POSITIVE);
  host->ticker_true_positive =
      statistics.getTickerCount(ROCKSDB_NAMESPACE::BLOOM_FILTER_FULL_TRUE_POSITIVE);
  host->data_cache_hits = statistics.getTickerCount(ROCKSDB_NAMESPACE::BLOCK_CACHE_DATA_HIT);
  host->index_cache_hits = statistics.getTickerCount(ROCKSDB_NAMESPACE::BLOCK_CACHE_INDEX_HIT);
  host->filter_cache_hits = statistics.getTickerCount(ROCKSDB_NAMESPACE::BLOCK_CACHE_FILTER_HIT);
  host->memtable_hits = statistics.getTickerCount(ROCKSDB_NAMESPACE::MEMTABLE_HIT);
}

// Calls job(part, begin, end) for `threads` parts of 0 .. count - 1, each in a thread of its own,
// and returns the first failure.
template <class Job>
Status InThreads(int threads, uint64_t count, const Job& job) {
  const auto parts = static_cast<size_t>(threads);
  std::vector<Status> statuses(parts);
  std::vector<std::thread> running;
  for (size_t part = 0; part < parts; ++part) {
    running.emplace_back([&, part] {
      statuses[part] = job(part, count * part / parts, count * (part + 1) / parts);
    });
  }
  for (std::thread& thread : running) {
    thread.join();
  }
  for (const Status& status : statuses) {
    if (!status.ok()) {
      return status;
    }
  }
  return Status::OK();
}

}  // namespace

Status ColdDatabase::Open(Options options, const std::string& path, const LookupSettings& settings,
                          const FamilyChoice& family) {
  settings_ = settings;
  if (Status s = DropFromPageCache(path); !s.ok()) {
    return s;
  }
  file_system_ = NewCountingFileSystem(ROCKSDB_NAMESPACE::FileSystem::Default());
  env_ = ROCKSDB_NAMESPACE::NewCompositeEnv(file_system_);
  statistics_ = ROCKSDB_NAMESPACE::CreateDBStatistics();
  options.env = env_.get();
  options.statistics = statistics_;
  options.use_direct_reads = true;
  optimize_filters_for_hits_ = options.optimize_filters_for_hits;
  BlockBasedTableOptions table = *options.table_factory->GetOptions<BlockBasedTableOptions>();
  // A cache without room rather than no cache: RocksDB counts block reads per level as misses of
  // the cache. One shard, so that a filter larger than a shard still finds room where the whole
  // cache has it.
  cache_ = ROCKSDB_NAMESPACE::NewLRUCache(settings.cold == Cold::kCache ? settings.cache_bytes : 0,
                                          /*num_shard_bits=*/0, /*strict_capacity_limit=*/false);
  table.block_cache = cache_;
  table.cache_index_and_filter_blocks = settings.cold != Cold::kResident;
  options.table_factory.reset(ROCKSDB_NAMESPACE::NewBlockBasedTableFactory(table));
  if (Status s = database_.Open(options, path, family); !s.ok()) {
    return s;
  }
  Status s = TreeFiles::Read(database_.db(), database_.family(), &files_);
  if (table.filter_policy == nullptr) {
    files_.IgnoreFilters();  // as RocksDB does
  }
  if (s.ok() && settings.batch_size > 1) {
    s = filters_.Load(path, files_, table.filter_policy);
  }
  return s.ok() ? CheckOpenFilesAreDirect(path) : s;
}

MemoryUse ColdDatabase::memory() const {
  MemoryUse use;
  database_.db()->GetIntProperty(database_.family(), DB::Properties::kEstimateTableReadersMem,
                                 &use.table_readers);
  use.block_cache = cache_->GetUsage();
  use.process = ProcessResidentBytes();
  return use;
}

Status ColdDatabase::WarmUp(const LookupSource& source) {
  // Numbers behind those that are counted. Ten times as many as there are files, so that nearly
  // every file of the last level, which an absent key comes to with equal chances, was visited.
  const uint64_t count = std::min<uint64_t>(settings_.count, 10 * files_.files().size() + 100);
  LookupSettings single = settings_;
  single.batch_size = 1;
  const Places unused;
  return InThreads(settings_.threads, count, [&](size_t, uint64_t begin, uint64_t end) {
    return LookupWorker({database_.db(), database_.family(), files_, optimize_filters_for_hits_,
                         filters_, source, single, unused, nullptr})
        .Run(settings_.count + begin, settings_.count + end);
  });
}

Status ColdDatabase::FindPlaces(const LookupSource& source, Places* places) {
  places->resize(settings_.count);
  return InThreads(settings_.threads, settings_.count, [&](size_t, uint64_t begin, uint64_t end) {
    LookupWorker worker({database_.db(), database_.family(), files_, optimize_filters_for_hits_,
                         filters_, source, settings_, *places, nullptr});
    std::string key;
    for (uint64_t i = begin; i < end; ++i) {
      if (!source(i, &key)) {
        continue;
      }
      Status s = worker.Find(key, &(*places)[i]);
      if (s.ok()) {
        s = CheckInterrupt();
      }
      if (!s.ok()) {
        return s;
      }
    }
    return Status::OK();
  });
}

Status ColdDatabase::Run(const LookupSource& source, const std::string& label, LookupCounts* own,
                         HostCounts* host) {
  Status s;
  Places places;
  if (settings_.cold == Cold::kCache) {
    s = WarmUp(source);
  }
  if (s.ok() && settings_.batch_size > 1) {
    s = FindPlaces(source, &places);
  }
  if (s.ok()) {
    s = statistics_->Reset();
  }
  if (!s.ok()) {
    return s;
  }
  Progress progress("looking up " + label, settings_.count);
  std::vector<LookupCounts> own_parts(static_cast<size_t>(settings_.threads));
  std::vector<HostCounts> host_parts(own_parts.size());
  uint64_t bytes_before = 0;
  host->process_bytes_known = ProcessReadBytes(&bytes_before);
  const auto start = std::chrono::steady_clock::now();
  s = InThreads(settings_.threads, settings_.count, [&](size_t part, uint64_t begin, uint64_t end) {
    LookupWorker worker({database_.db(), database_.family(), files_, optimize_filters_for_hits_,
                         filters_, source, settings_, places, &progress});
    const Status done = worker.Run(begin, end);
    own_parts[part] = worker.TakeCounts();
    host_parts[part] = worker.TakeHostCounts();
    return done;
  });
  own->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  uint64_t bytes_after = 0;
  host->process_bytes_known = host->process_bytes_known && ProcessReadBytes(&bytes_after);
  host->process_bytes = bytes_after - bytes_before;
  ReadTickers(*statistics_, host);
  for (size_t part = 0; part < own_parts.size(); ++part) {
    own->Add(own_parts[part]);
    host->Add(host_parts[part]);
  }
  return s;
}

}  // namespace tieredfilter::cold_lookup
