// The measured part of a run: lookups that go to the disk, and a count of all they read.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/cache.h"
#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "rocksdb/status.h"
#include "tools/cold_lookup_bench/counts.h"
#include "tools/cold_lookup_bench/lookup_counter.h"
#include "tools/cold_lookup_bench/lookup_settings.h"
#include "tools/cold_lookup_bench/read_only_database.h"
#include "tools/cold_lookup_bench/stored_filters.h"
#include "tools/cold_lookup_bench/tree_files.h"

namespace tieredfilter::cold_lookup {

// Sets *key to the key of lookup `number` and returns whether the database holds it. Any number
// will do. Must be safe to call from several threads and give the same key for the same number.
using LookupSource = std::function<bool(uint64_t number, std::string* key)>;

// A database opened read-only such that every data block comes from the device: direct I/O, no data
// in the block cache, nothing in the memtable. Where indexes and filters come from is the setting's
// choice.
class ColdDatabase {
 public:
  ROCKSDB_NAMESPACE::Status Open(ROCKSDB_NAMESPACE::Options options, const std::string& path,
                                 const LookupSettings& settings = LookupSettings(),
                                 const FamilyChoice& family = FamilyChoice());

  // Makes lookups 0 .. settings.count - 1, split between the threads, and counts them. Corruption
  // if a lookup does not find what LookupSource promised.
  //
  // Two things go before and are not counted. With a cache, lookups that fill it. And with batches,
  // every key that is there is looked up alone, because MultiGet does not tell which file held it.
  ROCKSDB_NAMESPACE::Status Run(const LookupSource& source, const std::string& label,
                                LookupCounts* own, HostCounts* host);

  const TreeFiles& files() const { return files_; }
  MemoryUse memory() const;

 private:
  using Places = std::vector<FoundAt>;  // by lookup number

  ROCKSDB_NAMESPACE::Status WarmUp(const LookupSource& source);
  ROCKSDB_NAMESPACE::Status FindPlaces(const LookupSource& source, Places* places);

  LookupSettings settings_;
  bool optimize_filters_for_hits_ = false;
  // Destroyed from the last to the first: the database before what it reads through.
  std::shared_ptr<ROCKSDB_NAMESPACE::FileSystem> file_system_;
  std::unique_ptr<ROCKSDB_NAMESPACE::Env> env_;
  std::shared_ptr<ROCKSDB_NAMESPACE::Statistics> statistics_;
  std::shared_ptr<ROCKSDB_NAMESPACE::Cache> cache_;
  ReadOnlyDatabase database_;
  TreeFiles files_;
  StoredFilters filters_;  // loaded for batches only
};

}  // namespace tieredfilter::cold_lookup
