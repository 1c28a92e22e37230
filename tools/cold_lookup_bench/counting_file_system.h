// A file system that notes every read of a table file: the driver's own count, independent of
// RocksDB's statistics.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/file_system.h"

namespace tieredfilter::cold_lookup {

struct FileRead {
  uint64_t file_number = 0;  // of the table file
  uint64_t offset = 0;       // bytes, as asked for: under direct I/O rounded down to a page
  uint64_t bytes = 0;        // as asked for: under direct I/O whole pages
};

// Collects the table reads that the current thread makes while it lives. RocksDB reads for Get and
// MultiGet in the calling thread, so this attributes each read to its lookup without locks. At most
// one per thread at a time.
class ScopedReadLog {
 public:
  ScopedReadLog();
  ~ScopedReadLog();
  ScopedReadLog(const ScopedReadLog&) = delete;
  ScopedReadLog& operator=(const ScopedReadLog&) = delete;

  const std::vector<FileRead>& reads() const { return reads_; }
  void Clear() { reads_.clear(); }

 private:
  friend void NoteRead(const FileRead& read);
  std::vector<FileRead> reads_;
};

// Forwards everything to `base`; reads of table files are noted in the thread's ScopedReadLog, if
// there is one.
std::shared_ptr<ROCKSDB_NAMESPACE::FileSystem> NewCountingFileSystem(
    const std::shared_ptr<ROCKSDB_NAMESPACE::FileSystem>& base);

// The number in a table file's name ("/a/b/000123.sst" gives 123), 0 if it is no table file.
uint64_t TableFileNumber(const std::string& path);

}  // namespace tieredfilter::cold_lookup
