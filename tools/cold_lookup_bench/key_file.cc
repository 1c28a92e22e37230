#include "tools/cold_lookup_bench/key_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "tools/cold_lookup_bench/interrupt.h"

namespace tieredfilter::cold_lookup {

using ROCKSDB_NAMESPACE::Status;

namespace {

// A reference is 44 bits of offset (files up to 16 TB) and 20 bits of length as stored.
constexpr int kLengthBits = 20;
constexpr uint64_t kMaxLength = (uint64_t{1} << kLengthBits) - 1;
constexpr uint64_t kMaxFileSize = uint64_t{1} << (64 - kLengthBits);
constexpr uint64_t kLengthPrefix = 4;  // bytes
constexpr uint64_t kKeysPerInterruptCheck = 1 << 16;

// -1 if `c` is no hex digit. Digits of either case have values in the order of their bytes, so hex
// keys compare by these.
int HexValue(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

int CompareBytes(const char* a, size_t a_size, const char* b, size_t b_size) {
  const int order = std::memcmp(a, b, std::min(a_size, b_size));
  return order != 0 ? order : a_size < b_size ? -1 : a_size > b_size ? 1 : 0;
}

}  // namespace

KeyFile::~KeyFile() {
  if (data_ != nullptr) {
    ::munmap(const_cast<char*>(data_), size_);
  }
}

Status KeyFile::Open(const std::string& flag, const std::string& path, KeyFormat format,
                     KeyEncoding encoding) {
  flag_ = flag;
  path_ = path;
  format_ = format;
  encoding_ = encoding;
  Status s = Map();
  if (s.ok()) {
    s = format == KeyFormat::kLines ? ReadLines() : ReadLengthPrefixed();
  }
  if (!s.ok()) {
    return s;
  }
  if (keys_.empty()) {
    return Status::InvalidArgument(fmt::format("{}={}: the file holds no key", flag_, path_));
  }
  const auto less = [this](KeyReference a, KeyReference b) { return Compare(a, *this, b) < 0; };
  if (!std::is_sorted(keys_.begin(), keys_.end(), less)) {
    std::sort(keys_.begin(), keys_.end(), less);
  }
  const auto equal = [this](KeyReference a, KeyReference b) { return Compare(a, *this, b) == 0; };
  const size_t all = keys_.size();
  keys_.erase(std::unique(keys_.begin(), keys_.end(), equal), keys_.end());
  duplicates_ = all - keys_.size();
  for (const KeyReference key : keys_) {
    total_size_ += Size(key);
    largest_size_ = std::max(largest_size_, Size(key));
  }
  return CheckInterrupt();
}

Status KeyFile::Map() {
  const auto fail = [this](const std::string& what) {
    return Status::IOError(fmt::format("{}={}: {}", flag_, path_, what), std::strerror(errno));
  };
  const int fd = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return fail("cannot open the file");
  }
  struct stat info = {};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(fd);
    return Status::InvalidArgument(fmt::format("{}={}: not a regular file", flag_, path_));
  }
  size_ = static_cast<uint64_t>(info.st_size);
  if (size_ == 0 || size_ >= kMaxFileSize) {
    ::close(fd);
    return Status::InvalidArgument(fmt::format(
        "{}={}: has {} bytes; between 1 and 2^44 - 1 are possible", flag_, path_, size_));
  }
  void* const mapped = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, fd, 0);
  const int error = errno;
  ::close(fd);
  errno = error;
  if (mapped == MAP_FAILED) {
    return fail("cannot map the file");
  }
  data_ = static_cast<const char*>(mapped);
  return Status::OK();
}

Status KeyFile::ReadLines() {
  for (uint64_t at = 0; at < size_;) {
    const void* const end = std::memchr(data_ + at, '\n', size_ - at);
    const uint64_t length = end == nullptr
                                ? size_ - at
                                : static_cast<uint64_t>(static_cast<const char*>(end) - data_) - at;
    if (Status s = AddKey(at, length); !s.ok()) {
      return s;
    }
    at += length + 1;
  }
  return Status::OK();
}

Status KeyFile::ReadLengthPrefixed() {
  for (uint64_t at = 0; at < size_;) {
    if (size_ - at < kLengthPrefix) {
      return Status::InvalidArgument(
          fmt::format("{}: {} bytes left, a length takes 4", WhereOffset(at), size_ - at));
    }
    uint64_t length = 0;
    for (uint64_t byte = 0; byte < kLengthPrefix; ++byte) {
      length |= static_cast<uint64_t>(static_cast<unsigned char>(data_[at + byte])) << (8 * byte);
    }
    if (length > size_ - at - kLengthPrefix) {
      return Status::InvalidArgument(fmt::format("{}: a key of {} bytes, but {} bytes are left",
                                                 WhereOffset(at), length,
                                                 size_ - at - kLengthPrefix));
    }
    if (Status s = AddKey(at + kLengthPrefix, length); !s.ok()) {
      return s;
    }
    at += kLengthPrefix + length;
  }
  return Status::OK();
}

Status KeyFile::AddKey(uint64_t offset, uint64_t length) {
  if (length == 0) {
    return Status::InvalidArgument(WhereOffset(offset) + ": an empty key");
  }
  if (length > kMaxLength) {
    return Status::InvalidArgument(fmt::format("{}: a key of {} bytes; {} are possible",
                                               WhereOffset(offset), length, kMaxLength));
  }
  if (encoding_ == KeyEncoding::kHex) {
    if (length % 2 != 0) {
      return Status::InvalidArgument(
          fmt::format("{}: an odd number of hex digits, {}", WhereOffset(offset), length));
    }
    for (uint64_t i = 0; i < length; ++i) {
      if (HexValue(data_[offset + i]) < 0) {
        return Status::InvalidArgument(
            fmt::format("{}: byte {} of the key is no hex digit", WhereOffset(offset), i + 1));
      }
    }
  }
  keys_.push_back(offset << kLengthBits | length);
  return keys_.size() % kKeysPerInterruptCheck == 0 ? CheckInterrupt() : Status::OK();
}

std::string KeyFile::WhereOffset(uint64_t offset) const {
  if (format_ == KeyFormat::kLines) {
    return fmt::format("{}={}: line {}", flag_, path_, 1 + std::count(data_, data_ + offset, '\n'));
  }
  return fmt::format("{}={}: offset {} (bytes)", flag_, path_, offset);
}

std::string KeyFile::Where(KeyReference key) const { return WhereOffset(key >> kLengthBits); }

double KeyFile::average_size() const {
  return keys_.empty() ? 0 : static_cast<double>(total_size_) / static_cast<double>(keys_.size());
}

const char* KeyFile::Begin(KeyReference key) const { return data_ + (key >> kLengthBits); }

size_t KeyFile::Size(KeyReference key) const {
  return (key & kMaxLength) / (encoding_ == KeyEncoding::kHex ? 2 : 1);
}

void KeyFile::Get(KeyReference key, std::string* result) const {
  const char* const begin = Begin(key);
  if (encoding_ == KeyEncoding::kPlain) {
    result->assign(begin, Size(key));
    return;
  }
  result->resize(Size(key));
  for (size_t i = 0; i < result->size(); ++i) {
    (*result)[i] = static_cast<char>(HexValue(begin[2 * i]) << 4 | HexValue(begin[2 * i + 1]));
  }
}

int KeyFile::Compare(KeyReference key, const KeyFile& other_file, KeyReference other) const {
  const char* const a = Begin(key);
  const char* const b = other_file.Begin(other);
  if (encoding_ == KeyEncoding::kPlain) {
    return CompareBytes(a, key & kMaxLength, b, other & kMaxLength);
  }
  const uint64_t common = std::min(key & kMaxLength, other & kMaxLength);
  for (uint64_t i = 0; i < common; ++i) {
    if (const int order = HexValue(a[i]) - HexValue(b[i]); order != 0) {
      return order;
    }
  }
  return static_cast<int>(key & kMaxLength) - static_cast<int>(other & kMaxLength);
}

int KeyFile::Compare(KeyReference key, const std::string& other) const {
  if (encoding_ == KeyEncoding::kPlain) {
    return CompareBytes(Begin(key), Size(key), other.data(), other.size());
  }
  std::string decoded;
  Get(key, &decoded);
  return decoded.compare(other);
}

}  // namespace tieredfilter::cold_lookup
