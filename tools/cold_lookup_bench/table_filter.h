// What filter a table file really holds, read from the file's own bytes: not from options, which
// may say one thing while the file has another.
#pragma once

#include <cstdint>
#include <string>

#include "rocksdb/status.h"

namespace tieredfilter::cold_lookup {

struct TableFilter {
  // "bloom", "ribbon", "cuckoo", "legacy bloom", "empty", "unknown", "partitioned" or "none".
  std::string kind = "none";
  double expected_rate = -1;  // of false positives, see ExpectedRateOf(); negative if unknown
  uint64_t offset = 0;        // of the filter block in the file
  uint64_t bytes = 0;         // of the filter block, without RocksDB's block trailer
  std::string family;  // the filter family's name in the file, e.g. "rocksdb.BuiltinBloomFilter";
                       // empty for "none"
};

// Reads footer, metaindex and filter block of the block-based table at `path` (footer versions 1 to
// 6). Corruption if the file is no such table; the message names the file.
ROCKSDB_NAMESPACE::Status ReadTableFilter(const std::string& path, TableFilter* filter);

// Sets *content to the filter block that `filter` describes in the table at `path`.
ROCKSDB_NAMESPACE::Status ReadFilterContent(const std::string& path, const TableFilter& filter,
                                            std::string* content);

// The kind of a filter block by the marker in its last five bytes. `content` is the whole block.
std::string FilterKindOf(const std::string& content);

}  // namespace tieredfilter::cold_lookup
