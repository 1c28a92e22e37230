// One column family of a database, opened read-only.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "rocksdb/status.h"

namespace tieredfilter::cold_lookup {

// Which column family is looked up in.
struct FamilyChoice {
  std::string name = ROCKSDB_NAMESPACE::kDefaultColumnFamilyName;
  // Of the default one, which RocksDB opens with every other.
  ROCKSDB_NAMESPACE::ColumnFamilyOptions default_options;
};

class ReadOnlyDatabase {
 public:
  ReadOnlyDatabase() = default;
  ~ReadOnlyDatabase();
  ReadOnlyDatabase(const ReadOnlyDatabase&) = delete;
  ReadOnlyDatabase& operator=(const ReadOnlyDatabase&) = delete;

  // `options` are those of the database and of the chosen column family.
  ROCKSDB_NAMESPACE::Status Open(const ROCKSDB_NAMESPACE::Options& options, const std::string& path,
                                 const FamilyChoice& choice);

  ROCKSDB_NAMESPACE::DB* db() const { return db_.get(); }
  ROCKSDB_NAMESPACE::ColumnFamilyHandle* family() const { return handles_.back(); }

 private:
  std::unique_ptr<ROCKSDB_NAMESPACE::DB> db_;
  std::vector<ROCKSDB_NAMESPACE::ColumnFamilyHandle*> handles_;
};

}  // namespace tieredfilter::cold_lookup
