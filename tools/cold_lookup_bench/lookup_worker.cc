#include "tools/cold_lookup_bench/lookup_worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "rocksdb/perf_context.h"
#include "tools/cold_lookup_bench/interrupt.h"
#include "tools/cold_lookup_bench/thread_cpu.h"

namespace tieredfilter::cold_lookup {

using ROCKSDB_NAMESPACE::PerfContext;
using ROCKSDB_NAMESPACE::Status;

namespace {

constexpr uint64_t kLookupsPerProgress = 256;

}  // namespace

LookupWorker::LookupWorker(const Shared& shared)
    : shared_(shared), counter_(shared.files, shared.optimize_filters_for_hits) {
  ROCKSDB_NAMESPACE::SetPerfLevel(ROCKSDB_NAMESPACE::PerfLevel::kEnableCount);
  PerfContext* perf = ROCKSDB_NAMESPACE::get_perf_context();
  perf->EnablePerLevelPerfContext();
  perf->Reset();
  // Data blocks must not be found in a cache later, nor by a thread while another one holds them.
  // RocksDB fills the cache with indexes and filters all the same.
  options_.fill_cache = false;
  options_.async_io = shared.settings.async_io;
}

LookupWorker::~LookupWorker() { ROCKSDB_NAMESPACE::get_perf_context()->ClearPerLevelPerfContext(); }

HostCounts LookupWorker::TakeHostCounts() const {
  const PerfContext& perf = *ROCKSDB_NAMESPACE::get_perf_context();
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

void LookupWorker::Call(uint64_t first) {
  slices_.assign(keys_.begin(), keys_.end());
  values_.clear();  // unpins what the last call returned
  values_.resize(keys_.size());
  statuses_.assign(keys_.size(), Status());
  log_.Clear();
  const uint64_t cpu_before = ThreadCpuNanoseconds();
  const auto start = std::chrono::steady_clock::now();
  if (shared_.settings.batch_size == 1) {
    statuses_[0] = shared_.db->Get(options_, shared_.family, slices_[0], &values_[0]);
  } else {
    shared_.db->MultiGet(options_, shared_.family, slices_.size(), slices_.data(), values_.data(),
                         statuses_.data());
  }
  const auto elapsed = std::chrono::steady_clock::now() - start;
  const uint64_t cpu = ThreadCpuNanoseconds() - cpu_before;
  counter_.NoteTime(static_cast<uint64_t>(std::chrono::nanoseconds(elapsed).count()), cpu,
                    shared_.settings.devices, log_.reads());
  CountCall(first);
}

void LookupWorker::CountCall(uint64_t first) {
  if (shared_.settings.batch_size == 1) {
    counter_.Count(keys_[0], log_.reads(), statuses_[0].ok());
    return;
  }
  std::vector<FoundAt> places(keys_.size());
  for (size_t i = 0; i < keys_.size(); ++i) {
    if (expected_[i]) {
      places[i] = shared_.places[first + i];
    }
  }
  counter_.CountBatch(keys_, places, log_.reads(), [this](size_t file, const std::string& key) {
    return shared_.filters.MayMatch(file, key);
  });
}

Status LookupWorker::CheckResults(uint64_t first) const {
  for (size_t i = 0; i < statuses_.size(); ++i) {
    if (!statuses_[i].ok() && !statuses_[i].IsNotFound()) {
      return statuses_[i];
    }
    if (statuses_[i].ok() != expected_[i]) {
      return Status::Corruption(fmt::format("lookup {}: the key should {}be in the database",
                                            first + i, expected_[i] ? "" : "not "));
    }
  }
  return Status::OK();
}

Status LookupWorker::Run(uint64_t begin, uint64_t end) {
  uint64_t unreported = 0;
  for (uint64_t i = begin; i < end; i += keys_.size()) {
    keys_.resize(std::min(shared_.settings.batch_size, end - i));
    expected_.resize(keys_.size());
    for (size_t k = 0; k < keys_.size(); ++k) {
      expected_[k] = shared_.source(i + k, &keys_[k]);
    }
    Call(i);
    if (Status s = CheckResults(i); !s.ok()) {
      return s;
    }
    unreported += keys_.size();
    if (unreported >= kLookupsPerProgress) {
      if (shared_.progress != nullptr) {
        shared_.progress->Add(unreported);
      }
      unreported = 0;
      if (Status s = CheckInterrupt(); !s.ok()) {
        return s;
      }
    }
  }
  return Status::OK();
}

Status LookupWorker::Find(const std::string& key, FoundAt* place) {
  log_.Clear();
  values_.resize(1);
  values_[0].Reset();
  const Status s = shared_.db->Get(options_, shared_.family, key, &values_[0]);
  if (!s.ok() && !s.IsNotFound()) {
    return s;
  }
  *place = counter_.Count(key, log_.reads(), s.ok());
  return Status::OK();
}

}  // namespace tieredfilter::cold_lookup
