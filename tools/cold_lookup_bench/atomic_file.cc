#include "tools/cold_lookup_bench/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace tieredfilter::cold_lookup {

using ROCKSDB_NAMESPACE::Status;

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) {
    ::close(fd_);
    ::unlink(temporary_.c_str());
  }
}

Status AtomicFile::Open(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    // rename() would put a plain file in the place of a device such as /dev/stdout.
    return Status::IOError("cannot write the result: not a regular file", path);
  }
  std::string pattern = path + ".tmp.XXXXXX";
  fd_ = ::mkstemp(pattern.data());
  if (fd_ < 0) {
    return Status::IOError("cannot write the result file " + path, std::strerror(errno));
  }
  path_ = path;
  temporary_ = pattern;
  // mkstemp() makes the file private; results are to be as readable as any file the user writes.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(fd_, 0666 & ~mask);
  return Status::OK();
}

Status AtomicFile::Commit(const std::string& content) {
  if (fd_ < 0) {
    return Status::OK();
  }
  size_t written = 0;
  while (written < content.size()) {
    const ssize_t n = ::write(fd_, content.data() + written, content.size() - written);
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n <= 0) {
      return Status::IOError("cannot write the result file " + path_, std::strerror(errno));
    }
    written += static_cast<size_t>(n);
  }
  if (::fsync(fd_) != 0 || ::rename(temporary_.c_str(), path_.c_str()) != 0) {
    return Status::IOError("cannot write the result file " + path_, std::strerror(errno));
  }
  ::close(fd_);
  fd_ = -1;
  return Status::OK();
}

}  // namespace tieredfilter::cold_lookup
