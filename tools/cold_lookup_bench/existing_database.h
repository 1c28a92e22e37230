// A database that someone else made: opened as it is, and left as it was.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "rocksdb/status.h"

namespace tieredfilter::cold_lookup {

// A database opened read-only with all its column families and the options it has.
class ExistingDatabase {
 public:
  enum class UnknownOptions {
    kRefuse,  // objects that this program does not know, such as a filter policy, are an error
    kIgnore,  // they are left out; a missing comparator still is an error, with RocksDB's message
  };

  ExistingDatabase() = default;
  ~ExistingDatabase();
  ExistingDatabase(const ExistingDatabase&) = delete;
  ExistingDatabase& operator=(const ExistingDatabase&) = delete;

  // Writes nothing into the database's folder, not even a LOG. Knows this project's filter
  // policies. With `direct_reads` nothing of the database gets into the page cache.
  ROCKSDB_NAMESPACE::Status Open(const std::string& path, UnknownOptions unknown,
                                 bool direct_reads);

  const std::string& path() const { return path_; }
  ROCKSDB_NAMESPACE::DB* db() const { return db_.get(); }
  const ROCKSDB_NAMESPACE::DBOptions& options() const { return options_; }
  // Both in the same order.
  const std::vector<ROCKSDB_NAMESPACE::ColumnFamilyDescriptor>& descriptors() const {
    return descriptors_;
  }
  const std::vector<ROCKSDB_NAMESPACE::ColumnFamilyHandle*>& families() const { return handles_; }

 private:
  std::string path_;
  ROCKSDB_NAMESPACE::DBOptions options_;
  std::vector<ROCKSDB_NAMESPACE::ColumnFamilyDescriptor> descriptors_;
  std::unique_ptr<ROCKSDB_NAMESPACE::DB> db_;
  std::vector<ROCKSDB_NAMESPACE::ColumnFamilyHandle*> handles_;
};

// Size and time of the last change, in nanoseconds, of every file in a folder.
using FolderState = std::map<std::string, std::pair<uint64_t, int64_t>>;

ROCKSDB_NAMESPACE::Status ReadFolderState(const std::string& path, FolderState* state);

// Names the first file that was added, removed or changed; empty if none was.
std::string DescribeChange(const FolderState& before, const FolderState& after);

}  // namespace tieredfilter::cold_lookup
