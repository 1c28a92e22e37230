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
  // The database that each log belongs to; empty: more than one.
  std::map<const Logger*, std::string> owners;
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

std::vector<LiveTable> TablesOf(const ColumnFamilyMetaData& family) {
  std::vector<LiveTable> tables;
  for (size_t level = 0; level < family.levels.size(); ++level) {
    for (const auto& file : family.levels[level].files) {
      tables.push_back({NumberOfFile(file.name), static_cast<int>(level),
                        static_cast<double>(file.num_entries),
                        static_cast<double>(file.num_deletions)});
    }
  }
  return tables;
}

void Forget(const Logger* info_log, Board* board) {
  for (auto entry = board->entries.begin(); entry != board->entries.end();) {
    entry = entry->first.first == info_log ? board->entries.erase(entry) : std::next(entry);
  }
}

// Whether another database has published sizes under this log. Then none of the two has any from
// now on.
bool IsShared(Logger* info_log, const std::string& database, Board* board) {
  const auto [owner, is_new] = board->owners.emplace(info_log, database);
  if (is_new || owner->second == database) {
    return false;
  }
  if (!owner->second.empty()) {
    ROCKSDB_NAMESPACE::Error(
        info_log,
        "tieredfilter: %s and %s write to one info log, by which the sizes of their levels cannot "
        "be told apart: a memory budget is divided for the stated shape in both; give each an "
        "info_log of its own",
        owner->second.c_str(), database.c_str());
    owner->second.clear();
  }
  Forget(info_log, board);
  return true;
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
  for (const auto& [name, database] : databases_) {
    board.owners.erase(database.info_log.get());
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
  TreeState& state = databases_[db->GetName()].families[db->DefaultColumnFamily()->GetName()];
  for (const auto& [path, table] : properties) {
    state.SetFilterBytes(NumberOfFile(path), static_cast<double>(table->filter_size));
  }
}

// Holds mutex_. Nothing may be thrown into RocksDB, so callers catch.
void TreeSizesListener::Publish(const std::string& name, const Database& database) {
  if (database.info_log == nullptr) {
    return;
  }
  Board& board = TheBoard();
  const std::lock_guard<std::mutex> board_lock(board.mutex);
  if (IsShared(database.info_log.get(), name, &board)) {
    return;
  }
  for (const auto& [family, state] : database.families) {
    board.entries[{database.info_log.get(), family}] = {
        std::make_shared<const TreeSizes>(state.Sizes()), this};
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
    if (database.info_log != nullptr && database.info_log != info_log) {
      // Opened again: the old log's entries are of the past.
      Board& board = TheBoard();
      const std::lock_guard<std::mutex> board_lock(board.mutex);
      Forget(database.info_log.get(), &board);
      board.owners.erase(database.info_log.get());
    }
    database.info_log = info_log;
    for (const ColumnFamilyMetaData& family : families) {
      database.families[family.name].SetTables(TablesOf(family));
    }
    Publish(db->GetName(), database);
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

void TreeSizesListener::ForgetJobsOfThread(const std::string& database, uint64_t thread) {
  for (auto& [name, state] : databases_[database].families) {
    state.ForgetJobsOfThread(thread);
  }
}

void TreeSizesListener::OnFlushBegin(DB* db, const ROCKSDB_NAMESPACE::FlushJobInfo& info) {
  ReadOnce(db);
  try {
    const std::lock_guard<std::mutex> lock(mutex_);
    ForgetJobsOfThread(db->GetName(), info.thread_id);
    databases_[db->GetName()].families[info.cf_name].BeginFlush(info.thread_id, info.job_id);
  } catch (const std::exception&) {
  }
  Read(db);
}

void TreeSizesListener::OnFlushCompleted(DB* db, const ROCKSDB_NAMESPACE::FlushJobInfo& info) {
  try {
    const std::lock_guard<std::mutex> lock(mutex_);
    databases_[db->GetName()].families[info.cf_name].EndFlush(
        info.job_id, static_cast<double>(info.table_properties.num_entries));
  } catch (const std::exception&) {
  }
  Read(db);
}

void TreeSizesListener::OnCompactionBegin(DB* db,
                                          const ROCKSDB_NAMESPACE::CompactionJobInfo& info) {
  ReadOnce(db);
  try {
    std::vector<uint64_t> inputs;
    for (const std::string& path : info.input_files) {
      inputs.push_back(NumberOfFile(path));
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    ForgetJobsOfThread(db->GetName(), info.thread_id);
    databases_[db->GetName()].families[info.cf_name].BeginCompaction(
        info.thread_id, info.job_id, info.output_level, std::move(inputs));
  } catch (const std::exception&) {
  }
  Read(db);
}

void TreeSizesListener::OnCompactionCompleted(DB* db,
                                              const ROCKSDB_NAMESPACE::CompactionJobInfo& info) {
  try {
    const std::lock_guard<std::mutex> lock(mutex_);
    databases_[db->GetName()].families[info.cf_name].EndCompaction(info.job_id);
  } catch (const std::exception&) {
  }
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
  try {
    const std::lock_guard<std::mutex> lock(mutex_);
    Database& database = databases_[info.db_name];
    database.families[info.cf_name].AddOutput(
        info.job_id, NumberOfFile(info.file_path),
        static_cast<double>(info.table_properties.num_entries),
        static_cast<double>(info.table_properties.filter_size));
    Publish(info.db_name, database);
  } catch (const std::exception&) {
  }
}

void TreeSizesListener::OnTableFileDeleted(const ROCKSDB_NAMESPACE::TableFileDeletionInfo& info) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto& [name, state] : databases_[info.db_name].families) {
    state.ForgetTable(NumberOfFile(info.file_path));
  }
}

}  // namespace tieredfilter
