// The filters of a database, asked by the driver itself.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "rocksdb/filter_policy.h"
#include "rocksdb/status.h"
#include "tools/cold_lookup_bench/tree_files.h"

namespace tieredfilter::cold_lookup {

// Holds a copy of every filter block in memory. Immutable after Load(); safe to share between
// threads.
class StoredFilters {
 public:
  StoredFilters();
  ~StoredFilters();

  // Reads the filters of `files`, which are in folder `path`. NotSupported if one is partitioned.
  ROCKSDB_NAMESPACE::Status Load(const std::string& path, const TreeFiles& files,
                                 std::shared_ptr<const ROCKSDB_NAMESPACE::FilterPolicy> policy);

  // Whether the filter of file `file` (an index in TreeFiles) lets `key` through; true if it has
  // none.
  bool MayMatch(size_t file, const std::string& key) const;

 private:
  struct Filter;
  std::shared_ptr<const ROCKSDB_NAMESPACE::FilterPolicy> policy_;  // the readers may refer to it
  std::vector<std::unique_ptr<Filter>> filters_;
};

}  // namespace tieredfilter::cold_lookup
