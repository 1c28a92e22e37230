#include "tools/cold_lookup_bench/tree_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/memtablerep.h"
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
using ROCKSDB_NAMESPACE::VectorRepFactory;
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

Status WriteEntries(const KeySpace& keys, size_t run, uint64_t begin, uint64_t end,
                    TreeWriter* writer) {
  WriteBatch batch;
  std::string key;
  std::string value;
  Status s;
  for (uint64_t i = begin; s.ok() && i < end; ++i) {
    const EntryPlace place{run, i};
    keys.EntryKey(place, &key);
    if (keys.KindOf(place) == EntryKind::kDelete) {
      s = batch.Delete(key);
    } else {
      keys.ValueOf(place, &value);
      s = batch.Put(key, value);
    }
    if (s.ok() && (batch.Count() == kBatchKeys || i + 1 == end)) {
      s = writer->Write(&batch);
      batch.Clear();
    }
  }
  return s;
}

}  // namespace

Status MakeOptions(const Config& config, const std::shared_ptr<const FilterPolicy>& policy,
                   Options* options) {
  if (Status s = FindCompression(config.compression_type, &options->compression); !s.ok()) {
    return s;
  }
  options->num_levels = config.shape.num_levels;
  options->compaction_style = config.tree.compaction_style;
  KeepShape(options);
  // Every table open, its index and filter in memory, so that a lookup reads data blocks only.
  options->max_open_files = -1;
  BlockBasedTableOptions table;
  table.filter_policy = policy;
  table.block_size = config.block_size;
  table.cache_index_and_filter_blocks = false;
  options->table_factory.reset(ROCKSDB_NAMESPACE::NewBlockBasedTableFactory(table));
  return Status::OK();
}

void KeepShape(Options* options) {
  constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max() / 4;
  options->disable_auto_compactions = true;
  options->level_compaction_dynamic_level_bytes = false;
  options->write_buffer_size = size_t{1} << 33;
  options->target_file_size_base = kNever;
  options->max_compaction_bytes = kNever;
  options->level0_slowdown_writes_trigger = std::numeric_limits<int>::max();
  options->level0_stop_writes_trigger = std::numeric_limits<int>::max();
  // Entries of a file come in order, so sorting a vector at its flush costs a third of what a skip
  // list does.
  options->memtable_factory = std::make_shared<VectorRepFactory>();
  options->allow_concurrent_memtable_write = false;
}

Status TreeWriter::Create(const Options& options, const std::string& path) {
  Options create = options;
  create.create_if_missing = true;
  create.error_if_exists = true;
  DB* raw = nullptr;
  const Status s = DB::Open(create, path, &raw);
  db_.reset(raw);
  return s;
}

Status TreeWriter::Write(WriteBatch* batch) {
  WriteOptions options;
  options.disableWAL = true;  // every file is flushed at once
  progress_.Add(batch->Count());
  const Status s = db_->Write(options, batch);
  return s.ok() ? CheckInterrupt() : s;
}

Status TreeWriter::FinishFile(int level) {
  PauseFilters(level > 0);  // a filter for this table would be built a second time further down
  const Status s = db_->Flush(FlushOptions());
  PauseFilters(false);
  return s.ok() && level > 0 ? MoveDown(level) : s;
}

void TreeWriter::PauseFilters(bool pause) {
  if (cost_ != nullptr) {
    cost_->paused = pause;
  }
}

// Compacts the only file of level 0 to `level`.
Status TreeWriter::MoveDown(int level) {
  ColumnFamilyMetaData metadata;
  db_->GetColumnFamilyMetaData(&metadata);
  const auto& files = metadata.levels[0].files;
  if (files.empty()) {
    return Status::OK();  // nothing but versions that hid each other
  }
  if (files.size() != 1) {
    return Status::Corruption(
        fmt::format("expected one file on level 0 after a flush, found {}", files.size()));
  }
  CompactionOptions options;
  options.compression =
      ROCKSDB_NAMESPACE::kDisableCompressionOption;  // as the column family's options say
  return db_->CompactFiles(options, {files[0].name}, level);
}

Status TreeWriter::Close() { return db_ == nullptr ? Status::OK() : db_->Close(); }

Status BuildTree(const Options& options, const std::string& path, const TreePlan& plan,
                 const KeySpace& keys, const std::string& label, FilterBuildCost* cost) {
  TreeWriter writer("loading " + label, plan.TotalEntries(), cost);
  Status s = writer.Create(options, path);
  for (size_t run = 0; s.ok() && run < plan.runs.size(); ++run) {
    const RunPlan& info = plan.runs[run];
    for (uint64_t file = 0; s.ok() && file < info.files; ++file) {
      s = WriteEntries(keys, run, info.FirstEntryOfFile(file), info.FirstEntryOfFile(file + 1),
                       &writer);
      if (s.ok()) {
        s = writer.FinishFile(info.level);
      }
    }
  }
  const Status closed = writer.Close();
  return s.ok() ? closed : s;
}

}  // namespace tieredfilter::cold_lookup
