#include "tools/cold_lookup_bench/storage.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>
#include <vector>

#include "tools/cold_lookup_bench/counting_file_system.h"

namespace tieredfilter::cold_lookup {

namespace fs = std::filesystem;
using ROCKSDB_NAMESPACE::Status;

namespace {

constexpr size_t kProbeBytes = 1 << 20;
constexpr size_t kProbeAlignment = 4096;

Status SystemError(const std::string& what, int error) {
  return Status::IOError(what, std::strerror(error));
}

// Closes a file descriptor when it goes.
class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() {
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return fd_; }
  bool ok() const { return fd_ >= 0; }

 private:
  const int fd_;
};

struct FreeDeleter {
  void operator()(char* memory) const { std::free(memory); }
};
using AlignedBuffer = std::unique_ptr<char, FreeDeleter>;

AlignedBuffer NewAlignedBuffer(size_t bytes) {
  auto* memory = static_cast<char*>(std::aligned_alloc(kProbeAlignment, bytes));
  if (memory != nullptr) {
    std::memset(memory, 'x', bytes);
  }
  return AlignedBuffer(memory);
}

bool LivesInMemory(const std::string& folder) {
  struct statfs info;
  return ::statfs(folder.c_str(), &info) == 0 &&
         (info.f_type == TMPFS_MAGIC || info.f_type == RAMFS_MAGIC);
}

Status WriteProbe(const std::string& path, const char* content) {
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.ok()) {
    return SystemError("cannot create a file in the database folder: " + path, errno);
  }
  if (const ssize_t written = ::write(file.get(), content, kProbeBytes);
      written != static_cast<ssize_t>(kProbeBytes)) {
    return SystemError("cannot write to the database folder: " + path,
                       written < 0 ? errno : ENOSPC);
  }
  if (::fsync(file.get()) != 0) {
    return SystemError("cannot write to the database folder: " + path, errno);
  }
  ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
  return Status::OK();
}

Status ReadProbe(const std::string& folder, const std::string& path, char* buffer) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC));
  if (!file.ok()) {
    return Status::NotSupported(fmt::format("the file system of {} has no direct I/O (O_DIRECT), "
                                            "so no read from it can be shown to be cold; "
                                            "choose a folder on a disk with --db",
                                            folder),
                                std::strerror(errno));
  }
  uint64_t before = 0;
  uint64_t after = 0;
  const bool known = ProcessReadBytes(&before);
  if (::pread(file.get(), buffer, kProbeBytes, 0) != static_cast<ssize_t>(kProbeBytes)) {
    return SystemError("cannot read with direct I/O: " + path, errno);
  }
  if (known && ProcessReadBytes(&after) && after - before < kProbeBytes) {
    return Status::NotSupported(fmt::format(
        "a direct read of {} bytes in {} fetched {} bytes from a device (/proc/self/io): its reads "
        "are served from "
        "memory and cannot be shown to be cold; choose a folder on a local disk with --db",
        kProbeBytes, folder, after - before));
  }
  return Status::OK();
}

}  // namespace

bool ProcessReadBytes(uint64_t* bytes) {
  std::ifstream io("/proc/self/io");
  std::string name;
  uint64_t value = 0;
  while (io >> name >> value) {
    if (name == "read_bytes:") {
      *bytes = value;
      return true;
    }
  }
  return false;
}

uint64_t ProcessResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  uint64_t total = 0;
  uint64_t resident = 0;
  return statm >> total >> resident ? resident * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

Status CheckStorage(const std::string& folder) {
  if (LivesInMemory(folder)) {
    return Status::NotSupported(
        fmt::format("{} is on a file system in memory (tmpfs): nothing read from it is ever cold; "
                    "choose a folder on a "
                    "disk with --db",
                    folder));
  }
  const AlignedBuffer buffer = NewAlignedBuffer(kProbeBytes);
  if (buffer == nullptr) {
    return Status::MemoryLimit("no memory for a small buffer");
  }
  const std::string path = folder + "/direct_io_probe";
  Status s = WriteProbe(path, buffer.get());
  if (s.ok()) {
    s = ReadProbe(folder, path, buffer.get());
  }
  ::unlink(path.c_str());
  return s;
}

Status DropFromPageCache(const std::string& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (TableFileNumber(entry.path().string()) == 0) {
      continue;
    }
    FileDescriptor file(::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.ok() || ::fsync(file.get()) != 0) {
      return SystemError("cannot write out " + entry.path().string(), errno);
    }
    if (const int failure = ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED); failure != 0) {
      return SystemError("cannot drop from the page cache: " + entry.path().string(), failure);
    }
  }
  return error ? Status::IOError("cannot list " + folder, error.message()) : Status::OK();
}

Status CheckOpenFilesAreDirect(const std::string& folder) {
  std::error_code error;
  const fs::path wanted = fs::canonical(folder, error);
  size_t tables = 0;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd", error)) {
    std::error_code gone;  // the iterator's own descriptor
    const fs::path target = fs::read_symlink(entry.path(), gone);
    if (gone || target.parent_path() != wanted || TableFileNumber(target.string()) == 0) {
      continue;
    }
    ++tables;
    const int flags = ::fcntl(std::atoi(entry.path().filename().c_str()), F_GETFL);
    if (flags < 0 || (flags & O_DIRECT) == 0) {
      return Status::Corruption("table file is open without O_DIRECT: " + target.string());
    }
  }
  if (error) {
    return Status::IOError("cannot list the open files in /proc/self/fd", error.message());
  }
  return tables > 0 ? Status::OK() : Status::Corruption("no table file is open under " + folder);
}

ScopedFolder::~ScopedFolder() { Remove().PermitUncheckedError(); }

Status ScopedFolder::CreateIn(const std::string& parent, const std::string& prefix) {
  std::error_code error;
  // Note the topmost missing folder before creating them all.
  fs::path missing;
  for (fs::path at = fs::absolute(parent, error); !at.empty() && !fs::exists(at, error);
       at = at.parent_path()) {
    missing = at;
  }
  created_parent_ = missing.string();
  fs::create_directories(parent, error);
  if (error) {
    created_parent_.clear();
    return Status::IOError("cannot create the database folder " + parent, error.message());
  }
  std::string pattern = parent + "/" + prefix + "XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) {
    return SystemError("cannot create a folder in " + parent, errno);
  }
  path_ = pattern;
  return Status::OK();
}

Status ScopedFolder::Remove() {
  if (path_.empty() || keep_) {
    return Status::OK();
  }
  std::error_code error;
  fs::remove_all(path_, error);
  if (!error && !created_parent_.empty()) {
    // Only while empty: someone else may have put something there meanwhile.
    std::error_code not_empty;
    for (fs::path at = fs::path(path_).parent_path(); fs::remove(at, not_empty);
         at = at.parent_path()) {
      if (at == fs::path(created_parent_)) {
        break;
      }
    }
  }
  const std::string path = std::move(path_);
  path_.clear();
  return error ? Status::IOError("cannot remove " + path, error.message()) : Status::OK();
}

std::string DefaultDatabaseParent() {
  const char* tmpdir = std::getenv("TMPDIR");
  return tmpdir != nullptr && *tmpdir != '\0' ? tmpdir : "/var/tmp";
}

}  // namespace tieredfilter::cold_lookup
