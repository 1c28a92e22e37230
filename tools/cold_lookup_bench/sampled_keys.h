// Keys of a database whose content is not known beforehand.
#pragma once

#include <string>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/status.h"
#include "tools/cold_lookup_bench/lookup_keys.h"
#include "tools/cold_lookup_bench/tree_files.h"

namespace tieredfilter::cold_lookup {

class SampledKeys : public LookupKeys {
 public:
  explicit SampledKeys(uint64_t seed) : LookupKeys(seed) {}

  // Iterates the column family once and keeps up to `count` of its keys, each with the same
  // probability, and as many absent ones: sampled keys with one character changed (see MutateKey)
  // that lie in the key ranges of the same files as the key they come from, and that an iterator
  // does not find. InvalidArgument if there are no such keys; Aborted on Ctrl-C.
  ROCKSDB_NAMESPACE::Status Collect(ROCKSDB_NAMESPACE::DB* db,
                                    ROCKSDB_NAMESPACE::ColumnFamilyHandle* family,
                                    const TreeFiles& files, uint64_t count);

  // Keys that the iterator found.
  uint64_t live_keys() const { return live_keys_; }

  // Number `number` of `entries` keys; neighbours share a sampled key.
  void SetNumberOfEntries(uint64_t entries) { entries_ = entries; }
  void PresentKey(uint64_t number, std::string* key) const override;
  void AbsentKey(uint64_t number, std::string* key) const override;

 private:
  ROCKSDB_NAMESPACE::Status CollectPresent(ROCKSDB_NAMESPACE::Iterator* iterator, uint64_t count);
  ROCKSDB_NAMESPACE::Status CollectAbsent(ROCKSDB_NAMESPACE::Iterator* iterator,
                                          const TreeFiles& files, uint64_t count);

  uint64_t live_keys_ = 0;
  uint64_t entries_ = 0;
  std::vector<std::string> present_;
  std::vector<std::string> absent_;
};

}  // namespace tieredfilter::cold_lookup
