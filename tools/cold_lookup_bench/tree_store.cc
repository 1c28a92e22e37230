#include "tools/cold_lookup_bench/tree_store.h"

#define XXH_INLINE_ALL  // no library to link for one hash
#include <fmt/format.h>
#include <xxhash.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <system_error>

#include "rocksdb/version.h"
#include "tools/cold_lookup_bench/atomic_file.h"
#include "tools/cold_lookup_bench/storage.h"

namespace tieredfilter::cold_lookup {

namespace fs = std::filesystem;
using ROCKSDB_NAMESPACE::Status;

namespace {

constexpr char kDescription[] = "TREE_DESCRIPTION";

// Flags that say nothing about the content of a tree. A flag that is missing here costs a load too
// many; one too many here would mix up trees.
const std::set<std::string> kNotInTree = {
    "absent_file",  "absent_key_file", "absent_percent", "async_io", "baseline",
    "batch_size",   "cache_mb",        "cold",           "csv",      "db",
    "device",       "distribution",    "equalize",       "html",     "json",
    "keep_db",      "lookups",         "per_level",      "policies", "reuse",
    "seed",         "seeds",           "threads",        "verify",   "verify_keys",
    "zipfian_theta"};

// Size and time of change of a file, empty if there is none.
std::string StateOfFile(const std::string& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  const auto time = fs::last_write_time(path, error);
  return error ? "" : fmt::format("{} bytes, {}", size, time.time_since_epoch().count());
}

bool Holds(const std::string& tree, const std::string& description) {
  std::ifstream file(tree + "/" + kDescription, std::ios::binary);
  const std::string found((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return file.is_open() && found == description;
}

}  // namespace

std::string DescribeTree(const Config& config, const PolicyChoice& policy,
                         const std::string& source) {
  std::string text;
  for (const auto& [name, value] : config.flags) {
    if (kNotInTree.count(name) == 0) {
      text += fmt::format("{}={}\n", name, value);
    }
  }
  text += fmt::format("seed={}\n", config.seed);
  text += fmt::format("key file: {}\n", StateOfFile(config.data.key_file));
  text += fmt::format("policy: {}{}\n", policy.spec,
                      policy.optimize_filters_for_hits ? kOptimizeForHits : "");
  text += fmt::format("source: {}\n", source);
  text += fmt::format("RocksDB {}, tieredfilter {}\n",
                      ROCKSDB_NAMESPACE::GetRocksVersionAsString(true), TIEREDFILTER_VERSION);
  return text;
}

Status FindOrLoadTree(const std::string& folder, const std::string& description,
                      const std::function<Status(const std::string& path)>& load, std::string* path,
                      bool* reused) {
  const std::string tree =
      fmt::format("{}/tree.{:016x}", folder, XXH3_64bits(description.data(), description.size()));
  *path = tree + "/db";
  *reused = Holds(tree, description);
  if (*reused) {
    return Status::OK();
  }
  ScopedFolder loading;
  Status s = loading.CreateIn(folder, "loading.");
  if (s.ok()) {
    s = load(loading.path() + "/db");
  }
  AtomicFile file;
  if (s.ok()) {
    s = file.Open(loading.path() + "/" + kDescription);
  }
  if (s.ok()) {
    s = file.Commit(description);
  }
  if (!s.ok()) {
    return s;
  }
  std::error_code error;
  fs::rename(loading.path(), tree, error);
  if (!error) {
    loading.Keep();
    return Status::OK();
  }
  return Holds(tree, description)
             ? Status::OK()
             : Status::IOError(fmt::format("cannot name the loaded tree {}", tree),
                               error.message());
}

}  // namespace tieredfilter::cold_lookup
