#include "tools/cold_lookup_bench/table_filter.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string_view>

#include "tools/cold_lookup_bench/filter_rate.h"

namespace tieredfilter::cold_lookup {

using ROCKSDB_NAMESPACE::Status;

namespace {

// A block-based table ends in a footer of 53 bytes:
//   versions 1 to 5:  checksum type (1) | metaindex handle, index handle, padding (40) | version
//   (4) | magic (8) version 6:        checksum type (1) | extended magic (4) | footer checksum (4)
//   | base context checksum (4) |
//                     metaindex size (4) | zeros (24) | version (4) | magic (8); the metaindex ends
//                     at the footer
constexpr uint64_t kBlockBasedMagic = 0x88e241b785f4cff7ull;
constexpr size_t kFooterBytes = 53;
constexpr size_t kBlockTrailerBytes = 5;
constexpr size_t kVersion6MetaindexSizeAt = 13;
// No metaindex comes near it; a bound keeps a damaged handle from asking for gigabytes.
constexpr uint64_t kMaxMetaindexBytes = 16 << 20;

constexpr size_t kFilterTrailerBytes = 5;

struct BlockHandle {
  uint64_t offset = 0;
  uint64_t size = 0;
};

uint64_t Fixed(std::string_view bytes, size_t at, size_t width) {
  uint64_t value = 0;
  for (size_t i = 0; i < width; ++i) {
    value |= uint64_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  }
  return value;
}

bool TakeVarint(std::string_view* bytes, uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 64 && !bytes->empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes->front());
    bytes->remove_prefix(1);
    *value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) {
      return true;
    }
  }
  return false;
}

bool TakeHandle(std::string_view* bytes, BlockHandle* handle) {
  return TakeVarint(bytes, &handle->offset) && TakeVarint(bytes, &handle->size);
}

// Reads parts of one file.
class File {
 public:
  explicit File(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    struct stat info;
    if (fd_ >= 0 && ::fstat(fd_, &info) == 0) {
      size_ = static_cast<uint64_t>(info.st_size);
    }
  }
  ~File() {
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  uint64_t size() const { return size_; }

  bool Read(uint64_t offset, uint64_t bytes, std::string* content) const {
    if (offset > size_ || bytes > size_ - offset) {
      return false;
    }
    content->resize(bytes);
    return ::pread(fd_, content->data(), bytes, static_cast<off_t>(offset)) ==
           static_cast<ssize_t>(bytes);
  }

 private:
  const int fd_;
  uint64_t size_ = 0;
};

bool FindMetaindex(const File& file, BlockHandle* metaindex) {
  std::string footer;
  if (file.size() < kFooterBytes || !file.Read(file.size() - kFooterBytes, kFooterBytes, &footer) ||
      Fixed(footer, kFooterBytes - 8, 8) != kBlockBasedMagic) {
    return false;
  }
  const uint64_t version = Fixed(footer, kFooterBytes - 12, 4);
  if (version >= 6) {
    metaindex->size = Fixed(footer, kVersion6MetaindexSizeAt, 4);
    const uint64_t behind = kFooterBytes + kBlockTrailerBytes + metaindex->size;
    metaindex->offset = file.size() - behind;
    return behind <= file.size();
  }
  std::string_view handles = std::string_view(footer).substr(1);
  return TakeHandle(&handles, metaindex);
}

bool StartsWith(const std::string& text, const std::string& prefix) {
  return text.rfind(prefix, 0) == 0;
}

// Looks for the filter's entry in the metaindex: prefix-compressed keys with block handles as
// values.
bool FindFilter(std::string_view block, TableFilter* filter, BlockHandle* handle) {
  if (block.size() < 4) {
    return false;
  }
  const uint64_t restarts = Fixed(block, block.size() - 4, 4);
  if (restarts > block.size() / 4 - 1) {
    return false;
  }
  block.remove_suffix(4 * (restarts + 1));
  std::string key;
  while (!block.empty()) {
    uint64_t shared = 0;
    uint64_t own = 0;
    uint64_t value_size = 0;
    if (!TakeVarint(&block, &shared) || !TakeVarint(&block, &own) ||
        !TakeVarint(&block, &value_size) || shared > key.size() || own > block.size() ||
        value_size > block.size() - own) {
      return false;
    }
    key.resize(shared);
    key.append(block.substr(0, own));
    std::string_view value = block.substr(own, value_size);
    block.remove_prefix(own + value_size);
    const std::string full = "fullfilter.";
    const std::string partitioned = "partitionedfilter.";
    if (StartsWith(key, full) || StartsWith(key, partitioned)) {
      filter->kind = StartsWith(key, partitioned) ? "partitioned" : "unknown";
      filter->family = key.substr(key.find('.') + 1);
      return TakeHandle(&value, handle);
    }
  }
  return true;
}

}  // namespace

std::string FilterKindOf(const std::string& content) {
  if (content.size() <= kFilterTrailerBytes) {
    return "empty";
  }
  const auto marker = static_cast<signed char>(content[content.size() - kFilterTrailerBytes]);
  constexpr signed char kBloomMarker = -1;
  constexpr signed char kRibbonMarker = -2;
  constexpr auto kCuckooMarker = static_cast<signed char>(0xA5);
  constexpr auto kShortCuckooMarker = static_cast<signed char>(0xA4);
  switch (marker) {
    case kBloomMarker:
      return "bloom";
    case kRibbonMarker:
      return "ribbon";
    case kCuckooMarker:
    case kShortCuckooMarker:
      return "cuckoo";
    default:
      return marker > 0 ? "legacy bloom" : "unknown";
  }
}

Status ReadTableFilter(const std::string& path, TableFilter* filter) {
  *filter = TableFilter();
  const File file(path);
  BlockHandle metaindex;
  std::string block;
  if (!FindMetaindex(file, &metaindex) || metaindex.size > kMaxMetaindexBytes ||
      !file.Read(metaindex.offset, metaindex.size, &block)) {
    return Status::Corruption("cannot read the footer of a table file", path);
  }
  BlockHandle handle;
  if (!FindFilter(block, filter, &handle)) {
    return Status::Corruption("cannot read the metaindex of a table file", path);
  }
  filter->offset = handle.offset;
  filter->bytes = handle.size;
  if (filter->kind != "unknown") {
    return Status::OK();
  }
  std::string content;
  if (!file.Read(handle.offset, handle.size, &content)) {
    return Status::Corruption("cannot read the filter of a table file", path);
  }
  filter->kind = FilterKindOf(content);
  filter->expected_rate = ExpectedRateOf(content);
  return Status::OK();
}

Status ReadFilterContent(const std::string& path, const TableFilter& filter, std::string* content) {
  return File(path).Read(filter.offset, filter.bytes, content)
             ? Status::OK()
             : Status::Corruption("cannot read the filter of a table file", path);
}

}  // namespace tieredfilter::cold_lookup
