// What RocksDB itself wrote down about the filter policy of a database.
#pragma once

#include <string>

#include "rocksdb/status.h"

namespace tieredfilter::cold_lookup {

// Sets *spec to the filter policy of a column family as the database's newest OPTIONS
// file has it, in the form RocksDB takes back; "none" if it has no policy.
ROCKSDB_NAMESPACE::Status ReadStoredPolicy(const std::string& path,
                                           const std::string& column_family, std::string* spec);

}  // namespace tieredfilter::cold_lookup
