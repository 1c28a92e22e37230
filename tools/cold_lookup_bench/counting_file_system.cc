#include "tools/cold_lookup_bench/counting_file_system.h"

#include <cassert>
#include <cstdlib>
#include <utility>

namespace tieredfilter::cold_lookup {

using ROCKSDB_NAMESPACE::FileOptions;
using ROCKSDB_NAMESPACE::FileSystem;
using ROCKSDB_NAMESPACE::FileSystemWrapper;
using ROCKSDB_NAMESPACE::FSRandomAccessFile;
using ROCKSDB_NAMESPACE::FSRandomAccessFileOwnerWrapper;
using ROCKSDB_NAMESPACE::FSReadRequest;
using ROCKSDB_NAMESPACE::IODebugContext;
using ROCKSDB_NAMESPACE::IOOptions;
using ROCKSDB_NAMESPACE::IOStatus;
using ROCKSDB_NAMESPACE::Slice;

namespace {

thread_local ScopedReadLog* current_log = nullptr;

}  // namespace

void NoteRead(const FileRead& read) {
  if (current_log != nullptr) {
    current_log->reads_.push_back(read);
  }
}

ScopedReadLog::ScopedReadLog() {
  assert(current_log == nullptr);
  current_log = this;
}

ScopedReadLog::~ScopedReadLog() { current_log = nullptr; }

uint64_t TableFileNumber(const std::string& path) {
  constexpr char kExtension[] = ".sst";
  const size_t length = sizeof(kExtension) - 1;
  if (path.size() < length || path.compare(path.size() - length, length, kExtension) != 0) {
    return 0;
  }
  const size_t slash = path.rfind('/');
  const char* name = path.c_str() + (slash == std::string::npos ? 0 : slash + 1);
  return std::strtoull(name, nullptr, 10);
}

namespace {

class CountingFile : public FSRandomAccessFileOwnerWrapper {
 public:
  CountingFile(std::unique_ptr<FSRandomAccessFile>&& file, uint64_t file_number)
      : FSRandomAccessFileOwnerWrapper(std::move(file)), file_number_(file_number) {}

  IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) const override {
    NoteRead({file_number_, offset, n});
    return FSRandomAccessFileOwnerWrapper::Read(offset, n, options, result, scratch, dbg);
  }

  IOStatus MultiRead(FSReadRequest* requests, size_t count, const IOOptions& options,
                     IODebugContext* dbg) override {
    for (size_t i = 0; i < count; ++i) {
      NoteRead({file_number_, requests[i].offset, requests[i].len});
    }
    return FSRandomAccessFileOwnerWrapper::MultiRead(requests, count, options, dbg);
  }

 private:
  const uint64_t file_number_;
};

class CountingFileSystem : public FileSystemWrapper {
 public:
  explicit CountingFileSystem(const std::shared_ptr<FileSystem>& base) : FileSystemWrapper(base) {}

  static const char* kClassName() { return "CountingFileSystem"; }
  const char* Name() const override { return kClassName(); }

  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* result,
                               IODebugContext* dbg) override {
    IOStatus s = FileSystemWrapper::NewRandomAccessFile(path, options, result, dbg);
    if (const uint64_t number = TableFileNumber(path); s.ok() && number != 0) {
      *result = std::make_unique<CountingFile>(std::move(*result), number);
    }
    return s;
  }
};

}  // namespace

std::shared_ptr<FileSystem> NewCountingFileSystem(const std::shared_ptr<FileSystem>& base) {
  return std::make_shared<CountingFileSystem>(base);
}

}  // namespace tieredfilter::cold_lookup
