// Where a memory budget gets the sizes of a column family's sorted runs from: an EventListener
// reads them from the database, the policy's builders ask for them.
//
// RocksDB tells a filter policy neither which database a table belongs to nor how big it is. What a
// builder and a listener both see is the database's info log and the column family's name; the two
// together are the key under which sizes are kept for the whole process.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "rocksdb/listener.h"
#include "src/policy/tree_state.h"

namespace ROCKSDB_NAMESPACE {
class DB;
class Logger;
}  // namespace ROCKSDB_NAMESPACE

namespace tieredfilter {

// The id of the listener in options strings: "listeners={tieredfilter_sizes}".
inline constexpr char kSizesListenerId[] = "tieredfilter_sizes";

// The sizes that any listener of this process has read last, or null. Takes a mutex for some
// nanoseconds. A pointer equal to the one of the last call means that nothing has changed.
std::shared_ptr<const TreeSizes> FindTreeSizes(const ROCKSDB_NAMESPACE::Logger* info_log,
                                               const std::string& column_family_name);

// Reads the sizes of all column families of its databases at the start and at the end of every
// flush and compaction: one pass over the list of files. Between them it follows what the running
// jobs write (see TreeState). Forgets all when it is destroyed. Thread-safe; may serve several
// databases, as long as they do not share an info log: those cannot be told apart by a builder, so
// none of them has sizes then, and the log says so.
class TreeSizesListener final : public ROCKSDB_NAMESPACE::EventListener {
 public:
  TreeSizesListener() = default;
  ~TreeSizesListener() override;

  static const char* kClassName() { return kSizesListenerId; }
  const char* Name() const override { return kClassName(); }

  void OnFlushBegin(ROCKSDB_NAMESPACE::DB* db,
                    const ROCKSDB_NAMESPACE::FlushJobInfo& info) override;
  void OnFlushCompleted(ROCKSDB_NAMESPACE::DB* db,
                        const ROCKSDB_NAMESPACE::FlushJobInfo& info) override;
  void OnCompactionBegin(ROCKSDB_NAMESPACE::DB* db,
                         const ROCKSDB_NAMESPACE::CompactionJobInfo& info) override;
  void OnCompactionCompleted(ROCKSDB_NAMESPACE::DB* db,
                             const ROCKSDB_NAMESPACE::CompactionJobInfo& info) override;
  void OnExternalFileIngested(ROCKSDB_NAMESPACE::DB* db,
                              const ROCKSDB_NAMESPACE::ExternalFileIngestionInfo&) override;
  void OnTableFileCreated(const ROCKSDB_NAMESPACE::TableFileCreationInfo& info) override;
  void OnTableFileDeleted(const ROCKSDB_NAMESPACE::TableFileDeletionInfo& info) override;

  // Reads now. Called by the events above; a program may call it after opening a database.
  void Read(ROCKSDB_NAMESPACE::DB* db);

 private:
  struct Database {
    // Keeps the log from being destroyed, and so its address from naming another database.
    std::shared_ptr<ROCKSDB_NAMESPACE::Logger> info_log;
    std::map<std::string, TreeState> families;  // by column family
  };

  void ReadOnce(ROCKSDB_NAMESPACE::DB* db);
  void ReadFilterBytes(ROCKSDB_NAMESPACE::DB* db);
  void ForgetJobsOfThread(const std::string& database, uint64_t thread);
  void Publish(const std::string& name, const Database& database);

  std::mutex mutex_;
  std::map<std::string, Database> databases_;  // by name, which is the path
};

}  // namespace tieredfilter
