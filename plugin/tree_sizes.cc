#include "plugin/tree_sizes.h"

#include <cstdlib>
#include <exception>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/metadata.h"
#include "rocksdb/table_properties.h"

namespace tieredfilter {
namespace {

using ROCKSDB_NAMESPACE::ColumnFamilyMetaData;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::Logger;

struct Board {
  struct Entry {
    std::shared_ptr<const TreeSizes> sizes;
    const void* listener;
  };
  std::mutex mutex;
  std::map<std::pair<const Logger*, std::string>, Entry> entries;
};

// Never destroyed: databases may be closed by static objects.
Board& TheBoard() {
  static Board* const board = new Board;
  return *board;
}

// "/path/000123.sst" is 123; 0 if there is no number.
uint64_t NumberOfFile(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  return std::strtoull(path.c_str() + (slash == std::string::npos ? 0 : slash + 1), nullptr, 10);
}

TreeSizes SizesOf(const ColumnFamilyMetaData& family,
                  const std::unordered_map<uint64_t, uint64_t>& filter_bytes) {
  TreeSizes sizes;
  sizes.levels.resize(family.levels.size());
  for (size_t level = 0; level < family.levels.size(); ++level) {
    for (const auto& file : family.levels[level].files) {
      // Tombstones are in the filter, too.
      const auto entries = static_cast<double>(file.num_entries);
      LevelSizes& size = sizes.levels[level];
      size.entries += entries;
      size.tables += 1;
      const auto known = filter_bytes.find(NumberOfFile(file.name));
      if (known != filter_bytes.end()) {
        size.measured_entries += entries;
        size.measured_filter_bytes += static_cast<double>(known->second);
      }
      if (level == 0 && entries > 0) {
        sizes.level0_entries.push_back(entries);
      }
    }
  }
  return sizes;
}

}  // namespace

std::shared_ptr<const TreeSizes> FindTreeSizes(const Logger* info_log,
                                               const std::string& column_family_name) {
  Board& board = TheBoard();
  const std::lock_guard<std::mutex> lock(board.mutex);
  const auto found = board.entries.find({info_log, column_family_name});
  return found == board.entries.end() ? nullptr : found->second.sizes;
}

TreeSizesListener::~TreeSizesListener() {
  Board& board = TheBoard();
  const std::lock_guard<std::mutex> lock(board.mutex);
  for (auto entry = board.entries.begin(); entry != board.entries.end();) {
    entry = entry->second.listener == this ? board.entries.erase(entry) : std::next(entry);
  }
}

// The sizes of filters that were there before this listener. Of the default column family only: the
// others' handles are not to be had from here, and their tables count as written to plan.
void TreeSizesListener::ReadFilterBytes(DB* db) {
  ROCKSDB_NAMESPACE::TablePropertiesCollection properties;
  if (!db->GetPropertiesOfAllTables(db->DefaultColumnFamily(), &properties).ok()) {
    return;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  Database& database = databases_[db->GetName()];
  for (const auto& [path, table] : properties) {
    database.filter_bytes[NumberOfFile(path)] = table->filter_size;
  }
}

void TreeSizesListener::Read(DB* db) {
  // Nothing may be thrown into RocksDB; without sizes the plan stays as it is.
  try {
    std::shared_ptr<Logger> info_log = db->GetDBOptions().info_log;
    if (info_log == nullptr) {
      return;
    }
    std::vector<ColumnFamilyMetaData> families;
    db->GetAllColumnFamilyMetaData(&families);
    const std::lock_guard<std::mutex> lock(mutex_);
    Database& database = databases_[db->GetName()];
    Board& board = TheBoard();
    const std::lock_guard<std::mutex> board_lock(board.mutex);
    if (database.info_log != nullptr && database.info_log != info_log) {
      // Opened again: the old log's entries are of the past.
      for (auto entry = board.entries.begin(); entry != board.entries.end();) {
        entry = entry->first.first == database.info_log.get() ? board.entries.erase(entry)
                                                              : std::next(entry);
      }
    }
    database.info_log = info_log;
    for (const ColumnFamilyMetaData& family : families) {
      auto sizes = std::make_shared<TreeSizes>(SizesOf(family, database.filter_bytes));
      sizes->flush_entries = database.flush_entries[family.name];
      board.entries[{info_log.get(), family.name}] = {std::move(sizes), this};
    }
  } catch (const std::exception&) {
  }
}

void TreeSizesListener::ReadOnce(DB* db) {
  {
    const std::shared_ptr<Logger> info_log = db->GetDBOptions().info_log;
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto database = databases_.find(db->GetName());
    if (database != databases_.end() && database->second.info_log == info_log) {
      return;
    }
  }
  try {
    ReadFilterBytes(db);
  } catch (const std::exception&) {
  }
  Read(db);
}

void TreeSizesListener::OnFlushBegin(DB* db, const ROCKSDB_NAMESPACE::FlushJobInfo&) {
  ReadOnce(db);
}

void TreeSizesListener::OnFlushCompleted(DB* db, const ROCKSDB_NAMESPACE::FlushJobInfo& info) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    databases_[db->GetName()].flush_entries[info.cf_name] =
        static_cast<double>(info.table_properties.num_entries);
  }
  Read(db);
}

void TreeSizesListener::OnCompactionBegin(DB* db, const ROCKSDB_NAMESPACE::CompactionJobInfo&) {
  ReadOnce(db);
}

void TreeSizesListener::OnCompactionCompleted(DB* db, const ROCKSDB_NAMESPACE::CompactionJobInfo&) {
  Read(db);
}

void TreeSizesListener::OnExternalFileIngested(
    DB* db, const ROCKSDB_NAMESPACE::ExternalFileIngestionInfo&) {
  Read(db);
}

void TreeSizesListener::OnTableFileCreated(const ROCKSDB_NAMESPACE::TableFileCreationInfo& info) {
  if (!info.status.ok()) {
    return;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  databases_[info.db_name].filter_bytes[NumberOfFile(info.file_path)] =
      info.table_properties.filter_size;
}

void TreeSizesListener::OnTableFileDeleted(const ROCKSDB_NAMESPACE::TableFileDeletionInfo& info) {
  const std::lock_guard<std::mutex> lock(mutex_);
  databases_[info.db_name].filter_bytes.erase(NumberOfFile(info.file_path));
}

}  // namespace tieredfilter
