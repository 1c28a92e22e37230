// A file system that notes every read of a table file: the driver's own count, independent of
// RocksDB's statistics.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/file_system.h"

namespace tieredfilter::cold_lookup {

// One block that RocksDB asked for.
struct FileRead {
  uint64_t file_number = 0;  // of the table file
  uint64_t offset = 0;       // bytes, as asked for
  uint64_t bytes = 0;        // as asked for
  uint64_t device_bytes =
      0;                  // whole pages fetched for it, less those an earlier block brought along
  bool operation = true;  // a request of its own to the device: not merged with the one before
  bool wait = true;       // begins a call: the requests of one call are under way at the same time
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
//
// RocksDB rounds direct reads to whole pages and merges neighbours before a file system sees them,
// which hides the block that was asked for: a small filter can share its page with the last data
// block. So table files opened for direct I/O do not say that they are, and the rounding and
// merging, by RocksDB's rules, happen here.
std::shared_ptr<ROCKSDB_NAMESPACE::FileSystem> NewCountingFileSystem(
    const std::shared_ptr<ROCKSDB_NAMESPACE::FileSystem>& base);

// The number in a table file's name ("/a/b/000123.sst" gives 123), 0 if it is no table file.
uint64_t TableFileNumber(const std::string& path);

}  // namespace tieredfilter::cold_lookup
