// The measured part of a run: lookups that go to the disk, and a count of all they read.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "rocksdb/status.h"
#include "tools/cold_lookup_bench/counts.h"
#include "tools/cold_lookup_bench/tree_files.h"

namespace tieredfilter::cold_lookup {

// Sets *key to the key of lookup `number` and returns whether the database holds it. Must be safe
// to call from several threads and give the same key for the same number.
using LookupSource = std::function<bool(uint64_t number, std::string* key)>;

// A database opened read-only such that every data block comes from the disk: direct I/O, no room
// in the block cache, nothing in the memtable, indexes and filters in memory.
class ColdDatabase {
 public:
  ROCKSDB_NAMESPACE::Status Open(ROCKSDB_NAMESPACE::Options options, const std::string& path);

  // Makes lookups 0 .. count - 1, split between `threads` threads, and counts them. Corruption if a
  // lookup does not find what LookupSource promised.
  ROCKSDB_NAMESPACE::Status Run(const LookupSource& source, uint64_t count, int threads,
                                const std::string& label, LookupCounts* own, HostCounts* host);

  const TreeFiles& files() const { return files_; }

 private:
  // Destroyed from the last to the first: the database before what it reads through.
  std::shared_ptr<ROCKSDB_NAMESPACE::FileSystem> file_system_;
  std::unique_ptr<ROCKSDB_NAMESPACE::Env> env_;
  std::shared_ptr<ROCKSDB_NAMESPACE::Statistics> statistics_;
  std::unique_ptr<ROCKSDB_NAMESPACE::DB> db_;
  TreeFiles files_;
};

}  // namespace tieredfilter::cold_lookup
