// Keys of a user's own, read from a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "rocksdb/status.h"

namespace tieredfilter::cold_lookup {

enum class KeyFormat {
  kLines,           // one key per line; the line feed is no part of it
  kLengthPrefixed,  // 32-bit little-endian length in bytes, then the key
};
enum class KeyEncoding { kPlain, kHex };

// A key inside the file. Lengths take the low bits.
using KeyReference = uint64_t;

// The keys of a file in the order of their bytes, each once. The file stays mapped and must not
// change meanwhile; memory of its own is 8 bytes per key. Immutable after Open(); safe to share
// between threads.
class KeyFile {
 public:
  KeyFile() = default;
  ~KeyFile();
  KeyFile(const KeyFile&) = delete;
  KeyFile& operator=(const KeyFile&) = delete;

  // Takes a few seconds for ten million keys, more if they are not sorted. `flag` names the file in
  // messages. InvalidArgument names file and line (or offset) of what cannot be read.
  ROCKSDB_NAMESPACE::Status Open(const std::string& flag, const std::string& path, KeyFormat format,
                                 KeyEncoding encoding);

  const std::vector<KeyReference>& keys() const { return keys_; }
  uint64_t duplicates() const { return duplicates_; }  // left out
  double average_size() const;                         // bytes, decoded
  size_t largest_size() const { return largest_size_; }

  void Get(KeyReference key, std::string* result) const;
  // Like std::string::compare of the decoded keys; `other_file` must have the same encoding.
  int Compare(KeyReference key, const KeyFile& other_file, KeyReference other) const;
  int Compare(KeyReference key, const std::string& other) const;

  // "FLAG=PATH: line 17" or "FLAG=PATH: offset 1234 (bytes)", for messages.
  std::string Where(KeyReference key) const;

 private:
  ROCKSDB_NAMESPACE::Status Map();
  ROCKSDB_NAMESPACE::Status ReadLines();
  ROCKSDB_NAMESPACE::Status ReadLengthPrefixed();
  ROCKSDB_NAMESPACE::Status AddKey(uint64_t offset, uint64_t length);
  std::string WhereOffset(uint64_t offset) const;
  const char* Begin(KeyReference key) const;
  size_t Size(KeyReference key) const;  // decoded

  std::string flag_;
  std::string path_;
  KeyFormat format_ = KeyFormat::kLines;
  KeyEncoding encoding_ = KeyEncoding::kPlain;
  const char* data_ = nullptr;
  uint64_t size_ = 0;
  std::vector<KeyReference> keys_;
  uint64_t duplicates_ = 0;
  uint64_t total_size_ = 0;
  size_t largest_size_ = 0;
};

}  // namespace tieredfilter::cold_lookup
