// Verify mode: does every key that a database holds come back when it is asked for?
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rocksdb/status.h"

namespace tieredfilter::cold_lookup {

struct MissingKey {
  std::string column_family;
  std::string key;       // hex
  uint64_t hash = 0;     // of the key, as this project's filters have it
  std::string found_by;  // what failed: "Get", "MultiGet" or both
  std::vector<std::string>
      places;  // the files with the key in their range: "000012.sst, level 3, bloom filter"
};

struct DatabaseVerdict {
  uint64_t column_families = 0;
  uint64_t keys = 0;
  uint64_t missing = 0;
  std::vector<MissingKey> examples;  // the first ones
};

// Opens the database at `path` read-only with the options and column families it has, iterates
// every column family and looks each key up with Get and with MultiGet. Iterators do not consult
// filters for a full scan, so a key that a filter loses shows here. Writes nothing into the
// database's folder. NotSupported or InvalidArgument where the database needs a comparator, merge
// operator or filter policy this program does not know; Aborted on Ctrl-C.
ROCKSDB_NAMESPACE::Status VerifyDatabase(const std::string& path, DatabaseVerdict* verdict);

// For people; one line per example.
std::string VerdictAsText(const std::string& path, const DatabaseVerdict& verdict);

}  // namespace tieredfilter::cold_lookup
