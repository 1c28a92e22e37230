#include "tools/cold_lookup_bench/stored_options.h"

#include <fstream>

#include "rocksdb/env.h"
#include "rocksdb/utilities/options_util.h"

namespace tieredfilter::cold_lookup {

using ROCKSDB_NAMESPACE::Env;
using ROCKSDB_NAMESPACE::Status;

namespace {

// RocksDB prints a third part that chose a format no release since 7.0 can write:
// "bloomfilter:10:false".
void DropIgnoredBloomArgument(std::string* spec) {
  const std::string ignored = ":false";
  if (spec->rfind("bloomfilter:", 0) == 0 && spec->size() > ignored.size() &&
      spec->compare(spec->size() - ignored.size(), ignored.size(), ignored) == 0) {
    spec->resize(spec->size() - ignored.size());
  }
}

}  // namespace

Status ReadStoredPolicy(const std::string& path, const std::string& column_family,
                        std::string* spec) {
  std::string name;
  if (Status s = ROCKSDB_NAMESPACE::GetLatestOptionsFileName(path, Env::Default(), &name);
      !s.ok()) {
    return s;
  }
  std::ifstream file(path + "/" + name);
  const std::string key = "filter_policy=";
  const std::string wanted = "[TableOptions/BlockBasedTable \"" + column_family + "\"]";
  std::string line;
  bool in_section = false;
  while (std::getline(file, line)) {
    if (!line.empty() && line[0] == '[') {
      in_section = line == wanted;
    }
    if (!in_section) {
      continue;
    }
    const size_t begin = line.find_first_not_of(" \t");
    if (begin != std::string::npos && line.compare(begin, key.size(), key) == 0) {
      *spec = line.substr(begin + key.size());
      if (spec->empty() || *spec == "nullptr") {
        *spec = "none";
      }
      DropIgnoredBloomArgument(spec);
      return Status::OK();
    }
  }
  return Status::Corruption(
      "no filter_policy of column family " + column_family + " in the options file",
      path + "/" + name);
}

}  // namespace tieredfilter::cold_lookup
