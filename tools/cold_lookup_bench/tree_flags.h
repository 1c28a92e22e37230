// The part of the command line that says how trees are made.
#pragma once

#include <cstdint>
#include <string>

#include "rocksdb/advanced_options.h"
#include "rocksdb/status.h"

namespace tieredfilter::cold_lookup {

enum class LoadKind {
  kFixed,       // every file written where the plan has it
  kFillRandom,  // keys written in random order, compacted by RocksDB, then copied file by file
};

struct TreeFlags {
  LoadKind load = LoadKind::kFixed;
  ROCKSDB_NAMESPACE::CompactionStyle compaction_style = ROCKSDB_NAMESPACE::kCompactionStyleLevel;
  // For kFillRandom, as RocksDB's options; bytes.
  uint64_t write_buffer_size = 0;
  uint64_t max_bytes_for_level_base = 0;
  std::string existing_db;  // folder; empty: the driver makes its own data
};

// Reads the flags after gflags has parsed them. InvalidArgument names the flag that makes no sense.
ROCKSDB_NAMESPACE::Status ReadTreeFlags(TreeFlags* flags);

}  // namespace tieredfilter::cold_lookup
