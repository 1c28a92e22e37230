#include "tools/cold_lookup_bench/tree_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/table.h"
#include "rocksdb/write_batch.h"
#include "tools/cold_lookup_bench/interrupt.h"
#include "tools/cold_lookup_bench/progress.h"

namespace tieredfilter::cold_lookup {

using ROCKSDB_NAMESPACE::BlockBasedTableOptions;
using ROCKSDB_NAMESPACE::ColumnFamilyMetaData;
using ROCKSDB_NAMESPACE::CompactionOptions;
using ROCKSDB_NAMESPACE::CompressionType;
using ROCKSDB_NAMESPACE::ConfigOptions;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::FilterPolicy;
using ROCKSDB_NAMESPACE::FlushOptions;
using ROCKSDB_NAMESPACE::Options;
using ROCKSDB_NAMESPACE::Status;
using ROCKSDB_NAMESPACE::WriteBatch;
using ROCKSDB_NAMESPACE::WriteOptions;

namespace {

// Keys per write: large enough that the cost of a write does not show.
constexpr uint64_t kBatchKeys = 1000;

const std::vector<std::pair<std::string, CompressionType>> kCompressions = {
    {"none", ROCKSDB_NAMESPACE::kNoCompression},
    {"snappy", ROCKSDB_NAMESPACE::kSnappyCompression},
    {"lz4", ROCKSDB_NAMESPACE::kLZ4Compression},
    {"zstd", ROCKSDB_NAMESPACE::kZSTD}};

Status FindCompression(const std::string& name, CompressionType* type) {
  for (const auto& [known, value] : kCompressions) {
    if (known == name) {
      const std::vector<CompressionType> supported = ROCKSDB_NAMESPACE::GetSupportedCompressions();
      if (std::find(supported.begin(), supported.end(), value) == supported.end()) {
        return Status::NotSupported(
            fmt::format("--compression_type={}: this RocksDB library was built without it", name));
      }
      *type = value;
      return Status::OK();
    }
  }
  return Status::InvalidArgument(
      fmt::format("--compression_type={}: must be none, snappy, lz4 or zstd", name));
}

class TreeBuilder {
 public:
  TreeBuilder(DB* db, const TreePlan& plan, const KeySpace& keys, const std::string& label)
      : db_(db), plan_(plan), keys_(keys), progress_("loading " + label, plan.TotalEntries()) {}

  Status Build() {
    for (size_t run = 0; run < plan_.runs.size(); ++run) {
      for (uint64_t file = 0; file < plan_.runs[run].files; ++file) {
        if (Status s = BuildFile(run, file); !s.ok()) {
          return s;
        }
      }
    }
    return Status::OK();
  }

 private:
  Status BuildFile(size_t run, uint64_t file) {
    Status s = WriteEntries(run, plan_.runs[run].FirstEntryOfFile(file),
                            plan_.runs[run].FirstEntryOfFile(file + 1));
    if (s.ok()) {
      s = db_->Flush(FlushOptions());
    }
    if (s.ok() && plan_.runs[run].level > 0) {
      s = MoveDown(plan_.runs[run].level);
    }
    return s;
  }

  Status WriteEntries(size_t run, uint64_t begin, uint64_t end) {
    WriteOptions options;
    options.disableWAL = true;  // every file is flushed at once
    WriteBatch batch;
    std::string key;
    std::string value;
    Status s;
    for (uint64_t i = begin; s.ok() && i < end; ++i) {
      const EntryPlace place{run, i};
      keys_.EntryKey(place, &key);
      if (keys_.KindOf(place) == EntryKind::kDelete) {
        s = batch.Delete(key);
      } else {
        keys_.ValueOf(place, &value);
        s = batch.Put(key, value);
      }
      if (s.ok() && (batch.Count() == kBatchKeys || i + 1 == end)) {
        progress_.Add(batch.Count());
        s = db_->Write(options, &batch);
        batch.Clear();
        if (s.ok()) {
          s = CheckInterrupt();
        }
      }
    }
    return s;
  }

  // Compacts the only file of level 0 to `level`. Runs are written from the bottom up, so nothing
  // above `level` exists.
  Status MoveDown(int level) {
    ColumnFamilyMetaData metadata;
    db_->GetColumnFamilyMetaData(&metadata);
    if (metadata.levels[0].files.size() != 1) {
      return Status::Corruption(fmt::format("expected one file on level 0 after a flush, found {}",
                                            metadata.levels[0].files.size()));
    }
    CompactionOptions options;
    options.compression =
        ROCKSDB_NAMESPACE::kDisableCompressionOption;  // as the column family's options say
    return db_->CompactFiles(options, {metadata.levels[0].files[0].name}, level);
  }

  DB* const db_;
  const TreePlan& plan_;
  const KeySpace& keys_;
  Progress progress_;
};

}  // namespace

Status MakeOptions(const Config& config, const std::shared_ptr<const FilterPolicy>& policy,
                   Options* options) {
  if (Status s = FindCompression(config.compression_type, &options->compression); !s.ok()) {
    return s;
  }
  constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max() / 4;
  options->num_levels = config.shape.num_levels;
  options->disable_auto_compactions = true;
  options->level_compaction_dynamic_level_bytes = false;
  // One flush per file, when the builder says so, and one output file per compaction.
  options->write_buffer_size = size_t{1} << 33;
  options->target_file_size_base = kNever;
  options->max_compaction_bytes = kNever;
  options->level0_slowdown_writes_trigger = std::numeric_limits<int>::max();
  options->level0_stop_writes_trigger = std::numeric_limits<int>::max();
  // Every table open, its index and filter in memory, so that a lookup reads data blocks only.
  options->max_open_files = -1;
  BlockBasedTableOptions table;
  table.filter_policy = policy;
  table.block_size = config.block_size;
  table.cache_index_and_filter_blocks = false;
  options->table_factory.reset(ROCKSDB_NAMESPACE::NewBlockBasedTableFactory(table));
  return Status::OK();
}

Status BuildTree(const Options& options, const std::string& path, const TreePlan& plan,
                 const KeySpace& keys, const std::string& label) {
  Options create = options;
  create.create_if_missing = true;
  create.error_if_exists = true;
  DB* raw = nullptr;
  if (Status s = DB::Open(create, path, &raw); !s.ok()) {
    return s;
  }
  const std::unique_ptr<DB> db(raw);
  Status s = TreeBuilder(db.get(), plan, keys, label).Build();
  const Status closed = db->Close();
  return s.ok() ? closed : s;
}

}  // namespace tieredfilter::cold_lookup
