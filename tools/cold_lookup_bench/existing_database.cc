#include "tools/cold_lookup_bench/existing_database.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "plugin/tieredfilter.h"
#include "rocksdb/env.h"
#include "rocksdb/utilities/object_registry.h"
#include "rocksdb/utilities/options_util.h"

namespace tieredfilter::cold_lookup {

namespace fs = std::filesystem;
using ROCKSDB_NAMESPACE::ColumnFamilyHandle;
using ROCKSDB_NAMESPACE::ConfigOptions;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::Status;

namespace {

// Keeps RocksDB from writing a LOG into a database that is only looked at.
class SilentLogger : public ROCKSDB_NAMESPACE::Logger {
 public:
  using Logger::Logv;
  void Logv(const char*, va_list) override {}
};

}  // namespace

ExistingDatabase::~ExistingDatabase() {
  for (ColumnFamilyHandle* handle : handles_) {
    db_->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  }
}

Status ExistingDatabase::Open(const std::string& path, UnknownOptions unknown, bool direct_reads) {
  static const int registered =
      RegisterFilterPolicies(*ROCKSDB_NAMESPACE::ObjectLibrary::Default(), "");
  (void)registered;
  path_ = path;
  ConfigOptions config;
  config.ignore_unsupported_options = unknown == UnknownOptions::kIgnore;
  Status s = ROCKSDB_NAMESPACE::LoadLatestOptions(config, path, &options_, &descriptors_);
  if (!s.ok()) {
    return s;
  }
  options_.info_log = std::make_shared<SilentLogger>();
  options_.create_if_missing = false;
  options_.use_direct_reads = direct_reads;
  options_.allow_mmap_reads = options_.allow_mmap_reads && !direct_reads;
  DB* raw = nullptr;
  s = DB::OpenForReadOnly(options_, path, descriptors_, &handles_, &raw);
  db_.reset(raw);
  return s;
}

Status ReadFolderState(const std::string& path, FolderState* state) {
  state->clear();
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(path, error)) {
    struct stat info = {};
    if (::stat(entry.path().c_str(), &info) != 0) {
      return Status::IOError("cannot look at " + entry.path().string(), std::strerror(errno));
    }
    (*state)[entry.path().filename().string()] = {
        static_cast<uint64_t>(info.st_size),
        int64_t{info.st_mtim.tv_sec} * 1000000000 + info.st_mtim.tv_nsec};
  }
  return error ? Status::IOError("cannot list " + path, error.message()) : Status::OK();
}

std::string DescribeChange(const FolderState& before, const FolderState& after) {
  for (const auto& [name, state] : before) {
    const auto found = after.find(name);
    if (found == after.end()) {
      return name + " is gone";
    }
    if (found->second != state) {
      return name + " has changed";
    }
  }
  for (const auto& [name, state] : after) {
    if (before.count(name) == 0) {
      return name + " is new";
    }
  }
  return "";
}

}  // namespace tieredfilter::cold_lookup
