#include "tools/cold_lookup_bench/table_entries.h"

#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

#include "db/dbformat.h"
#include "file/random_access_file_reader.h"
#include "options/cf_options.h"
#include "rocksdb/file_system.h"
#include "table/internal_iterator.h"
#include "table/table_builder.h"
#include "table/table_reader.h"

namespace tieredfilter::cold_lookup {

using ROCKSDB_NAMESPACE::ColumnFamilyOptions;
using ROCKSDB_NAMESPACE::EnvOptions;
using ROCKSDB_NAMESPACE::FileOptions;
using ROCKSDB_NAMESPACE::FSRandomAccessFile;
using ROCKSDB_NAMESPACE::ImmutableOptions;
using ROCKSDB_NAMESPACE::InternalIterator;
using ROCKSDB_NAMESPACE::MutableCFOptions;
using ROCKSDB_NAMESPACE::Options;
using ROCKSDB_NAMESPACE::ParsedInternalKey;
using ROCKSDB_NAMESPACE::RandomAccessFileReader;
using ROCKSDB_NAMESPACE::ReadOptions;
using ROCKSDB_NAMESPACE::Slice;
using ROCKSDB_NAMESPACE::Status;
using ROCKSDB_NAMESPACE::TableReader;
using ROCKSDB_NAMESPACE::TableReaderCaller;
using ROCKSDB_NAMESPACE::TableReaderOptions;
using ROCKSDB_NAMESPACE::ValueType;
using ROCKSDB_NAMESPACE::WriteBatch;

namespace {

constexpr uint32_t kBatchEntries = 1000;
// Neighbouring blocks are read in pieces of this size.
constexpr size_t kReadahead = 2 << 20;

// The public SstFileReader shows what a user would see, without deletions and old versions, so this
// opens the table as it does.
class RawTable {
 public:
  explicit RawTable(const Options& options)
      : options_(options),
        env_options_(options),
        immutable_(options),
        mutable_(ColumnFamilyOptions(options)) {
    read_.total_order_seek = true;
    read_.fill_cache = false;
  }

  Status Open(const std::string& path) {
    const auto& file_system = options_.env->GetFileSystem();
    const FileOptions file_options(env_options_);
    uint64_t size = 0;
    Status s = file_system->GetFileSize(path, file_options.io_options, &size, nullptr);
    std::unique_ptr<FSRandomAccessFile> file;
    if (s.ok()) {
      s = file_system->NewRandomAccessFile(path, file_options, &file, nullptr);
    }
    if (!s.ok()) {
      return s;
    }
    TableReaderOptions table_options(immutable_, mutable_.prefix_extractor, env_options_,
                                     immutable_.internal_comparator);
    // Ingested files carry the sequence number of all their entries outside; entries are written
    // again under new numbers, so any will do.
    table_options.largest_seqno = ROCKSDB_NAMESPACE::kMaxSequenceNumber;
    s = options_.table_factory->NewTableReader(
        table_options, std::make_unique<RandomAccessFileReader>(std::move(file), path), size,
        &table_);
    if (s.ok() && table_->GetTableProperties()->num_range_deletions > 0) {
      return Status::NotSupported(
          path,
          "holds range deletions, which cannot be written again file by file; measure the "
          "database as it is, without --policies");
    }
    return s;
  }

  std::unique_ptr<InternalIterator> NewIterator() const {
    return std::unique_ptr<InternalIterator>(
        table_->NewIterator(read_, mutable_.prefix_extractor.get(), /*arena=*/nullptr,
                            /*skip_filters=*/true, TableReaderCaller::kSSTFileReader, kReadahead));
  }

 private:
  const Options options_;
  const EnvOptions env_options_;
  const ImmutableOptions immutable_;
  const MutableCFOptions mutable_;
  ReadOptions read_;  // an iterator keeps a reference
  std::unique_ptr<TableReader> table_;
};

struct Version {
  ValueType type;
  std::string value;
};

Status Append(const std::string& key, const Version& version, WriteBatch* batch) {
  switch (version.type) {
    case ROCKSDB_NAMESPACE::kTypeValue:
      return batch->Put(key, version.value);
    case ROCKSDB_NAMESPACE::kTypeDeletion:
      return batch->Delete(key);
    case ROCKSDB_NAMESPACE::kTypeSingleDeletion:
      return batch->SingleDelete(key);
    case ROCKSDB_NAMESPACE::kTypeMerge:
      return batch->Merge(key, version.value);
    default:
      return Status::NotSupported(
          fmt::format("an entry of type {}, which cannot be written again; measure the database as "
                      "it is, without --policies",
                      static_cast<int>(version.type)));
  }
}

// Appends the versions of one key, which a table stores from the newest to the oldest.
Status AppendKey(const std::string& key, std::vector<Version>* versions, WriteBatch* batch) {
  Status s;
  for (; s.ok() && !versions->empty(); versions->pop_back()) {
    s = Append(key, versions->back(), batch);
  }
  return s;
}

}  // namespace

Status ForEachBatchOfTable(const Options& options, const std::string& path,
                           const std::function<Status(WriteBatch*)>& write) {
  RawTable table(options);
  if (Status s = table.Open(path); !s.ok()) {
    return s;
  }
  const std::unique_ptr<InternalIterator> entries = table.NewIterator();
  WriteBatch batch;
  std::string key;
  std::vector<Version> versions;
  Status s;
  for (entries->SeekToFirst(); s.ok() && entries->Valid(); entries->Next()) {
    ParsedInternalKey parsed;
    s = ROCKSDB_NAMESPACE::ParseInternalKey(entries->key(), &parsed, /*log_err_key=*/true);
    if (s.ok() && parsed.user_key != Slice(key)) {
      s = AppendKey(key, &versions, &batch);
      key.assign(parsed.user_key.data(), parsed.user_key.size());
    }
    versions.push_back({parsed.type, entries->value().ToString()});
    if (s.ok() && batch.Count() >= kBatchEntries) {
      s = write(&batch);
      batch.Clear();
    }
  }
  if (s.ok()) {
    s = entries->status();
  }
  if (s.ok()) {
    s = AppendKey(key, &versions, &batch);
  }
  if (s.ok() && batch.Count() > 0) {
    s = write(&batch);
  }
  return s.IsNotSupported() ? Status::NotSupported(path, s.ToString()) : s;
}

}  // namespace tieredfilter::cold_lookup
