// What the tests against a real RocksDB share.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "rocksdb/db.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/options.h"
#include "rocksdb/table.h"

namespace tieredfilter {

#define ASSERT_OK(expression)                                    \
  do {                                                           \
    const ROCKSDB_NAMESPACE::Status status_of_ok = (expression); \
    ASSERT_TRUE(status_of_ok.ok()) << status_of_ok.ToString();   \
  } while (false)
#define EXPECT_OK(expression)                                    \
  do {                                                           \
    const ROCKSDB_NAMESPACE::Status status_of_ok = (expression); \
    EXPECT_TRUE(status_of_ok.ok()) << status_of_ok.ToString();   \
  } while (false)

// A folder that is gone when the test is.
class ScratchDir {
 public:
  ScratchDir();
  ~ScratchDir();
  std::string Path(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// The policy of this spec; fails the test if it is none.
std::shared_ptr<const ROCKSDB_NAMESPACE::FilterPolicy> Policy(const std::string& spec);

// Options for a small database without background surprises: no compression, no automatic
// compaction.
ROCKSDB_NAMESPACE::Options TestOptions(
    std::shared_ptr<const ROCKSDB_NAMESPACE::FilterPolicy> policy);
ROCKSDB_NAMESPACE::Options WithTableOptions(
    const ROCKSDB_NAMESPACE::Options& options,
    const std::function<void(ROCKSDB_NAMESPACE::BlockBasedTableOptions*)>& change);

// Opens; returns null and fails the test if that does not work.
std::unique_ptr<ROCKSDB_NAMESPACE::DB> Open(const ROCKSDB_NAMESPACE::Options& options,
                                            const std::string& path);

// "key" and the number, big-endian decimal, so that number order is key order.
std::string Key(uint64_t number);
// Sorts between Key(number) and Key(number + 1), so that only a filter can tell it is absent.
std::string AbsentKey(uint64_t number);
// Puts the keys begin, begin + step, ... below end, each with itself as value.
void PutKeys(ROCKSDB_NAMESPACE::DB* db, uint64_t begin, uint64_t end, uint64_t step = 1);
// Number of keys in the range that Get does not find with the right value.
uint64_t CountLost(ROCKSDB_NAMESPACE::DB* db, uint64_t begin, uint64_t end, uint64_t step = 1);
// Looks up absent keys; returns how many were "found", which had better be none.
uint64_t LookUpAbsent(ROCKSDB_NAMESPACE::DB* db, uint64_t begin, uint64_t end);

// What a seek to `key` shows, forwards or backwards, and `steps` entries from there on.
std::string ShowAround(ROCKSDB_NAMESPACE::DB* db, const std::string& key,
                       const ROCKSDB_NAMESPACE::ReadOptions& read, bool backwards, int steps);

// Until no compaction runs or is due.
void WaitForCompactions(ROCKSDB_NAMESPACE::DB* db);

// What is left of a database whose process was killed again and again.
struct KilledDatabase {
  uint64_t keys = 0;             // 0, 1, ... below this were acknowledged
  uint64_t lost = 0;             // acknowledged keys that were not found after one of the kills
  double most_bits_per_key = 0;  // of all filters, as found after any of the kills
};
// Opens the database at `path` in a child process that puts keys in order, and kills it after up to
// `most_keys` of them; looks in another child what is there; and so on, `kills` times. Must run in
// a process that has opened no database: RocksDB's background threads do not survive a fork, and
// nothing would ever be flushed. (EXPECT_EXIT with the death test style "threadsafe" makes one.)
KilledDatabase WriteAndKill(const std::function<ROCKSDB_NAMESPACE::Options()>& options,
                            const std::string& path, int kills, uint64_t most_keys, uint64_t seed);

// A table file as it is on disk.
struct TableOnDisk {
  std::string path;
  int level = -1;
  uint64_t filter_bytes = 0;
  uint64_t filter_entries = 0;

  // 0 without a filter.
  double bits_per_key() const {
    return filter_entries == 0
               ? 0
               : 8.0 * static_cast<double>(filter_bytes) / static_cast<double>(filter_entries);
  }
};
// All live tables, sorted by level.
std::vector<TableOnDisk> Tables(ROCKSDB_NAMESPACE::DB* db);

// The filter block of a table file, read from the file itself: no filter policy is involved. Empty
// without a filter.
std::string ReadFilterBlock(const std::string& table_path);

}  // namespace tieredfilter
