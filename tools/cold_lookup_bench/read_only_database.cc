#include "tools/cold_lookup_bench/read_only_database.h"

namespace tieredfilter::cold_lookup {

using ROCKSDB_NAMESPACE::ColumnFamilyDescriptor;
using ROCKSDB_NAMESPACE::ColumnFamilyHandle;
using ROCKSDB_NAMESPACE::ColumnFamilyOptions;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::DBOptions;
using ROCKSDB_NAMESPACE::Options;
using ROCKSDB_NAMESPACE::Status;

ReadOnlyDatabase::~ReadOnlyDatabase() {
  for (ColumnFamilyHandle* handle : handles_) {
    db_->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  }
}

Status ReadOnlyDatabase::Open(const Options& options, const std::string& path,
                              const FamilyChoice& choice) {
  std::vector<ColumnFamilyDescriptor> descriptors;
  if (choice.name != ROCKSDB_NAMESPACE::kDefaultColumnFamilyName) {
    descriptors.emplace_back(ROCKSDB_NAMESPACE::kDefaultColumnFamilyName, choice.default_options);
  }
  descriptors.emplace_back(choice.name, ColumnFamilyOptions(options));
  DB* raw = nullptr;
  const Status s = DB::OpenForReadOnly(DBOptions(options), path, descriptors, &handles_, &raw);
  db_.reset(raw);
  return s;
}

}  // namespace tieredfilter::cold_lookup
