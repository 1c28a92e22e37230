// What "cold" rests on: direct I/O, an empty page cache, and the kernel's own count of what the
// process read.
#pragma once

#include <cstdint>
#include <string>

#include "rocksdb/status.h"

namespace tieredfilter::cold_lookup {

// Bytes this process has fetched from storage devices so far (read_bytes of /proc/self/io), which
// leaves out what came from the page cache. Returns false where the kernel does not tell.
bool ProcessReadBytes(uint64_t* bytes);

// Bytes of memory this process has resident; 0 where the kernel does not tell.
uint64_t ProcessResidentBytes();

// Checks, with a small temporary file, that reads from `folder` can be cold: the file system knows
// O_DIRECT, and a direct read shows up in the kernel's count. The message of a failure says what to
// do.
ROCKSDB_NAMESPACE::Status CheckStorage(const std::string& folder);

// Writes the table files of the database in `folder` to the device and drops them from the page
// cache.
ROCKSDB_NAMESPACE::Status DropFromPageCache(const std::string& folder);

// Checks in /proc/self/fdinfo that every table file under `folder` which this process has open is
// open with O_DIRECT, and that there is one.
ROCKSDB_NAMESPACE::Status CheckOpenFilesAreDirect(const std::string& folder);

// A folder that is removed with all it contains when the object goes, unless Keep() was called.
class ScopedFolder {
 public:
  ScopedFolder() = default;
  ~ScopedFolder();
  ScopedFolder(const ScopedFolder&) = delete;
  ScopedFolder& operator=(const ScopedFolder&) = delete;

  // Creates a new folder with a unique name that begins with `prefix` inside `parent`, which is
  // created if missing (and then removed again with the folder).
  ROCKSDB_NAMESPACE::Status CreateIn(const std::string& parent, const std::string& prefix);

  // Removes the folder now. IOError if something is left.
  ROCKSDB_NAMESPACE::Status Remove();
  void Keep() { keep_ = true; }

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool keep_ = false;
  std::string created_parent_;  // topmost folder that CreateIn had to create, empty if none
};

// $TMPDIR, or /var/tmp, which unlike /tmp is on a disk almost everywhere.
std::string DefaultDatabaseParent();

}  // namespace tieredfilter::cold_lookup
