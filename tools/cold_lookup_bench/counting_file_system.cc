#include "tools/cold_lookup_bench/counting_file_system.h"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <utility>

namespace tieredfilter::cold_lookup {

using ROCKSDB_NAMESPACE::FileOptions;
using ROCKSDB_NAMESPACE::FileSystem;
using ROCKSDB_NAMESPACE::FileSystemWrapper;
using ROCKSDB_NAMESPACE::FSRandomAccessFile;
using ROCKSDB_NAMESPACE::FSRandomAccessFileOwnerWrapper;
using ROCKSDB_NAMESPACE::FSReadRequest;
using ROCKSDB_NAMESPACE::IODebugContext;
using ROCKSDB_NAMESPACE::IOHandleDeleter;
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

// Memory for direct reads, one per thread, as large as the largest read so far.
class PageBuffer {
 public:
  ~PageBuffer() { std::free(memory_); }
  char* Reserve(size_t bytes, size_t alignment) {
    if (bytes > size_) {
      std::free(memory_);
      size_ = (bytes + alignment - 1) / alignment * alignment;
      memory_ = static_cast<char*>(std::aligned_alloc(alignment, size_));
      size_ = memory_ == nullptr ? 0 : size_;
    }
    return memory_;
  }

 private:
  char* memory_ = nullptr;
  size_t size_ = 0;
};

thread_local PageBuffer page_buffer;

class CountingFile : public FSRandomAccessFileOwnerWrapper {
 public:
  CountingFile(std::unique_ptr<FSRandomAccessFile>&& file, uint64_t file_number)
      : FSRandomAccessFileOwnerWrapper(std::move(file)),
        file_number_(file_number),
        alignment_(target()->use_direct_io() ? target()->GetRequiredBufferAlignment() : 1) {}

  bool use_direct_io() const override { return false; }  // see NewCountingFileSystem()
  size_t GetRequiredBufferAlignment() const override { return 1; }

  IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) const override {
    FSReadRequest request;
    request.offset = offset;
    request.len = n;
    request.scratch = scratch;
    const IOStatus s = ReadAll(&request, 1, options, dbg);
    *result = request.result;
    return s.ok() ? request.status : s;
  }

  IOStatus MultiRead(FSReadRequest* requests, size_t count, const IOOptions& options,
                     IODebugContext* dbg) override {
    return ReadAll(requests, count, options, dbg);
  }

  // The target would want whole pages; at once, as the base class does it, is as good here.
  IOStatus ReadAsync(FSReadRequest& request, const IOOptions& options,
                     std::function<void(const FSReadRequest&, void*)> done, void* argument,
                     void** handle, IOHandleDeleter* deleter, IODebugContext* dbg) override {
    // NOLINTNEXTLINE(bugprone-parent-virtual-call)
    return FSRandomAccessFile::ReadAsync(request, options, std::move(done), argument, handle,
                                         deleter, dbg);
  }

 private:
  // Fetches all requests, which ascend, from the target. Those whose pages overlap or touch become
  // one.
  IOStatus ReadAll(FSReadRequest* requests, size_t count, const IOOptions& options,
                   IODebugContext* dbg) const {
    std::vector<FSReadRequest> spans;
    std::vector<size_t> span_of(count);
    size_t total = 0;
    for (size_t i = 0; i < count; ++i) {
      const uint64_t begin = requests[i].offset / alignment_ * alignment_;
      const uint64_t end =
          (requests[i].offset + requests[i].len + alignment_ - 1) / alignment_ * alignment_;
      const bool merged = alignment_ > 1 && !spans.empty() && begin >= spans.back().offset &&
                          begin <= spans.back().offset + spans.back().len;
      uint64_t covered = begin;
      if (merged) {
        covered = std::min(end, spans.back().offset + spans.back().len);
        spans.back().len = std::max(end, covered) - spans.back().offset;
      } else {
        spans.emplace_back();
        spans.back().offset = begin;
        spans.back().len = end - begin;
      }
      total += end - covered;
      span_of[i] = spans.size() - 1;
      NoteRead({file_number_, requests[i].offset, requests[i].len, end - covered, !merged, i == 0});
    }
    char* memory = page_buffer.Reserve(total, std::max<size_t>(alignment_, sizeof(void*)));
    if (memory == nullptr) {
      return IOStatus::IOError("no memory for a read");
    }
    for (FSReadRequest& span : spans) {
      span.scratch = memory;
      memory += span.len;
    }
    const IOStatus s = Fetch(&spans, options, dbg);
    for (size_t i = 0; s.ok() && i < count; ++i) {
      Deliver(spans[span_of[i]], &requests[i]);
    }
    return s;
  }

  IOStatus Fetch(std::vector<FSReadRequest>* spans, const IOOptions& options,
                 IODebugContext* dbg) const {
    if (spans->size() > 1) {
      return target()->MultiRead(spans->data(), spans->size(), options, dbg);
    }
    FSReadRequest& span = spans->front();
    return target()->Read(span.offset, span.len, options, &span.result, span.scratch, dbg);
  }

  static void Deliver(const FSReadRequest& span, FSReadRequest* request) {
    request->status = span.status;
    const size_t skipped = request->offset - span.offset;
    const size_t there = span.result.size() > skipped ? span.result.size() - skipped : 0;
    const size_t bytes = std::min(request->len, there);  // less at the end of the file
    if (bytes > 0) {
      std::memcpy(request->scratch, span.result.data() + skipped, bytes);
    }
    request->result = Slice(request->scratch, bytes);
  }

  const uint64_t file_number_;
  const size_t alignment_;
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
