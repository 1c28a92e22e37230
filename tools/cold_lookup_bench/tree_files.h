// The files of a database as they are: levels, key ranges, filters. What the tree builder made is
// checked against this, and two policies are compared only if both got the same.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/status.h"
#include "tools/cold_lookup_bench/table_filter.h"
#include "tools/cold_lookup_bench/tree_plan.h"

namespace tieredfilter::cold_lookup {

struct TreeFile {
  uint64_t number = 0;
  uint64_t file_bytes = 0;
  int level = 0;
  std::string smallest_key;
  std::string largest_key;
  uint64_t newest_sequence = 0;
  uint64_t entries = 0;
  uint64_t data_blocks = 0;
  uint64_t data_bytes = 0;      // data blocks come first in the file and take this many bytes
  uint64_t filter_entries = 0;  // keys in the filter, as the file says
  std::string policy_name;      // as the file says; empty if written without a policy
  TableFilter filter;
};

// The files of one database in the order in which a lookup visits them: level 0 from the newest
// file to the oldest, then level by level in key order.
class TreeFiles {
 public:
  // Reads metadata and table properties of a column family of `db` and the filters from its files.
  static ROCKSDB_NAMESPACE::Status Read(ROCKSDB_NAMESPACE::DB* db,
                                        ROCKSDB_NAMESPACE::ColumnFamilyHandle* family,
                                        TreeFiles* result);

  explicit TreeFiles(std::vector<TreeFile> files = {});

  const std::vector<TreeFile>& files() const { return files_; }

  // Sets *indices to the files whose key range holds `key`, in the order of visits. Independent of
  // RocksDB's own search.
  void FindInRange(const std::string& key, std::vector<size_t>* indices) const;

  // Lets every file look as if it had no filter.
  void IgnoreFilters();

  // Index of the file with this number, or -1.
  int IndexOf(uint64_t file_number) const;

  // 16 hex digits over level, key range, entries and data blocks of every file. Filters and file
  // numbers are left out, so it is equal for two databases exactly if they differ in filters only.
  std::string Fingerprint() const;

 private:
  std::vector<TreeFile> files_;
  size_t level0_files_ = 0;
  std::vector<std::pair<size_t, size_t>>
      levels_;  // [begin, end) in files_ of each level from 1 on that has files
  std::unordered_map<uint64_t, size_t> index_of_number_;
};

// Corruption unless every file of the plan is there, on its level, with its number of keys.
ROCKSDB_NAMESPACE::Status CheckAgainstPlan(const TreePlan& plan, const TreeFiles& files);

// Says how two trees differ, file by file until the first difference; empty if they have the same
// fingerprint.
std::string DescribeDifference(const TreeFiles& a, const TreeFiles& b);

}  // namespace tieredfilter::cold_lookup
