// One thread's share of the lookups.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/slice.h"
#include "rocksdb/status.h"
#include "tools/cold_lookup_bench/counting_file_system.h"
#include "tools/cold_lookup_bench/lookup_phase.h"
#include "tools/cold_lookup_bench/progress.h"

namespace tieredfilter::cold_lookup {

// Must be created, used and destroyed in the same thread: reads and RocksDB's perf context are
// counted by thread.
class LookupWorker {
 public:
  // What all threads share; must outlive the worker.
  struct Shared {
    ROCKSDB_NAMESPACE::DB* db = nullptr;
    ROCKSDB_NAMESPACE::ColumnFamilyHandle* family = nullptr;
    const TreeFiles& files;
    bool optimize_filters_for_hits = false;
    const StoredFilters& filters;
    const LookupSource& source;
    const LookupSettings& settings;
    const std::vector<FoundAt>& places;  // by lookup number; used for batches
    Progress* progress = nullptr;
  };

  explicit LookupWorker(const Shared& shared);
  ~LookupWorker();

  // Makes lookups begin .. end - 1.
  ROCKSDB_NAMESPACE::Status Run(uint64_t begin, uint64_t end);

  // Looks up one key alone and says where it was found.
  ROCKSDB_NAMESPACE::Status Find(const std::string& key, FoundAt* place);

  LookupCounts TakeCounts() { return std::move(counter_.counts()); }
  HostCounts TakeHostCounts() const;

 private:
  // Looks up keys_, which are those of the lookups from `first` on, in one call.
  void Call(uint64_t first);
  ROCKSDB_NAMESPACE::Status CheckResults(uint64_t first) const;
  void CountCall(uint64_t first);

  const Shared shared_;
  ScopedReadLog log_;
  LookupCounter counter_;
  ROCKSDB_NAMESPACE::ReadOptions options_;
  std::vector<std::string> keys_;
  std::vector<bool> expected_;
  std::vector<ROCKSDB_NAMESPACE::Slice> slices_;
  std::vector<ROCKSDB_NAMESPACE::PinnableSlice> values_;
  std::vector<ROCKSDB_NAMESPACE::Status> statuses_;
};

}  // namespace tieredfilter::cold_lookup
