#include "tools/cold_lookup_bench/tree_flags.h"

#include <fmt/format.h>
#include <gflags/gflags.h>

DEFINE_string(load, "fixed",
              "How the tree comes about. 'fixed': every file is written where --num_levels, "
              "--sorted_levels, --level0_files and the size flags put it; many level-0 files and "
              "--sorted_levels=1 give a tree that is heavy in level 0. 'fillrandom': the keys are "
              "written in random order under the first policy with RocksDB's own compactions, and "
              "the files they lead to are then written again one by one for every policy");
DEFINE_string(compaction_style, "level", "Compaction style of the databases: level or universal");
DEFINE_uint64(write_buffer_size, 64 << 20,
              "Size of the memtable in bytes for --load=fillrandom, as RocksDB's option");
DEFINE_uint64(max_bytes_for_level_base, 256 << 20,
              "Size of level 1 in bytes for --load=fillrandom, as RocksDB's option");
DEFINE_string(existing_db, "",
              "Folder of a database to measure instead of generated data: opened read-only with "
              "its own options and all column families, each measured in turn; its files stay as "
              "they are. Keys to look up are sampled from it, absent ones are sampled keys with "
              "one letter or digit changed. Without --policies its own filters are measured as "
              "they are; with --policies every file is written again, on its level, into a new "
              "database for each policy");

namespace tieredfilter::cold_lookup {

using ROCKSDB_NAMESPACE::Status;

namespace {

Status RefuseWithExistingDatabase() {
  for (const char* flag :
       {"num", "key_size", "key_size_max", "value_size", "value_size_max", "key_prefix",
        "prefix_count", "update_percent", "delete_percent", "key_file", "load", "compaction_style",
        "num_levels", "sorted_levels", "level0_files", "block_size", "compression_type",
        "max_bytes_for_level_multiplier", "target_file_size_base"}) {
    if (!gflags::GetCommandLineFlagInfoOrDie(flag).is_default) {
      return Status::InvalidArgument(fmt::format(
          "--{}: the database of --existing_db is what it is; leave the flag out", flag));
    }
  }
  return Status::OK();
}

}  // namespace

Status ReadTreeFlags(TreeFlags* flags) {
  if (FLAGS_load != "fixed" && FLAGS_load != "fillrandom") {
    return Status::InvalidArgument(
        fmt::format("--load={}: must be 'fixed' or 'fillrandom'", FLAGS_load));
  }
  if (FLAGS_compaction_style != "level" && FLAGS_compaction_style != "universal") {
    return Status::InvalidArgument(fmt::format(
        "--compaction_style={}: must be 'level' or 'universal'", FLAGS_compaction_style));
  }
  if (FLAGS_write_buffer_size < (64 << 10) || FLAGS_max_bytes_for_level_base < (64 << 10)) {
    return Status::InvalidArgument(
        "--write_buffer_size and --max_bytes_for_level_base: must be 65536 or more");
  }
  flags->load = FLAGS_load == "fixed" ? LoadKind::kFixed : LoadKind::kFillRandom;
  flags->compaction_style = FLAGS_compaction_style == "level"
                                ? ROCKSDB_NAMESPACE::kCompactionStyleLevel
                                : ROCKSDB_NAMESPACE::kCompactionStyleUniversal;
  flags->write_buffer_size = FLAGS_write_buffer_size;
  flags->max_bytes_for_level_base = FLAGS_max_bytes_for_level_base;
  flags->existing_db = FLAGS_existing_db;
  return flags->existing_db.empty() ? Status::OK() : RefuseWithExistingDatabase();
}

}  // namespace tieredfilter::cold_lookup
