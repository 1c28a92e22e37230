// A result file appears whole or not at all.
#pragma once

#include <string>

#include "rocksdb/status.h"

namespace tieredfilter::cold_lookup {

class AtomicFile {
 public:
  AtomicFile() = default;
  ~AtomicFile();  // removes the temporary file unless Commit() succeeded
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  // Creates a temporary file beside `path`. Called before the long part of a run, so that a path
  // without permission is told at once.
  ROCKSDB_NAMESPACE::Status Open(const std::string& path);

  // Writes `content` to the device and gives the file its name, replacing an older one. A no-op
  // before Open().
  ROCKSDB_NAMESPACE::Status Commit(const std::string& content);

 private:
  std::string path_;
  std::string temporary_;
  int fd_ = -1;
};

}  // namespace tieredfilter::cold_lookup
