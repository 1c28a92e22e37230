#include "tools/cold_lookup_bench/sampled_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "tools/cold_lookup_bench/interrupt.h"
#include "tools/cold_lookup_bench/key_mutation.h"
#include "tools/cold_lookup_bench/key_space.h"

namespace tieredfilter::cold_lookup {

using ROCKSDB_NAMESPACE::ColumnFamilyHandle;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::Iterator;
using ROCKSDB_NAMESPACE::ReadOptions;
using ROCKSDB_NAMESPACE::Slice;
using ROCKSDB_NAMESPACE::Status;

namespace {

constexpr uint64_t kKeysPerProgress = 4096;
// Mutations tried per absent key, on average, before giving up.
constexpr uint64_t kTries = 64;

}  // namespace

Status SampledKeys::Collect(DB* db, ColumnFamilyHandle* family, const TreeFiles& files,
                            uint64_t count) {
  ReadOptions options;
  options.total_order_seek = true;
  options.fill_cache = false;
  const std::unique_ptr<Iterator> iterator(db->NewIterator(options, family));
  Status s = CollectPresent(iterator.get(), count);
  return s.ok() ? CollectAbsent(iterator.get(), files, count) : s;
}

Status SampledKeys::CollectPresent(Iterator* iterator, uint64_t count) {
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    const uint64_t number = live_keys_++;
    if (present_.size() < count) {
      present_.push_back(iterator->key().ToString());
    } else if (const uint64_t at = ScaleTo(Random(kDeal, 0, number), number + 1); at < count) {
      present_[at] = iterator->key().ToString();
    }
    if (live_keys_ % kKeysPerProgress == 0) {
      if (Status s = CheckInterrupt(); !s.ok()) {
        return s;
      }
    }
  }
  if (iterator->status().ok() && present_.empty()) {
    return Status::InvalidArgument("the column family holds no key");
  }
  return iterator->status();
}

Status SampledKeys::CollectAbsent(Iterator* iterator, const TreeFiles& files, uint64_t count) {
  std::vector<size_t> original_files;
  std::vector<size_t> files_of_key;
  for (uint64_t attempt = 0; absent_.size() < count && attempt < kTries * count; ++attempt) {
    const uint64_t random = Random(kAbsent, 0, attempt);
    std::string key = present_[ScaleTo(random, present_.size())];
    if (key.empty()) {
      continue;
    }
    files.FindInRange(key, &original_files);
    MutateKey(Mix64(random), &key);
    files.FindInRange(key, &files_of_key);
    if (files_of_key.empty() || files_of_key != original_files) {
      continue;
    }
    iterator->Seek(key);
    if (!iterator->Valid() || iterator->key() != Slice(key)) {
      absent_.push_back(std::move(key));
    }
    if (attempt % kKeysPerProgress == 0) {
      if (Status s = CheckInterrupt(); !s.ok()) {
        return s;
      }
    }
  }
  if (iterator->status().ok() && absent_.size() < std::min<uint64_t>(count, 100)) {
    return Status::InvalidArgument(
        fmt::format("changing one character of a key gave only {} keys that are absent and lie in "
                    "the key ranges of the same files",
                    absent_.size()));
  }
  return iterator->status();
}

void SampledKeys::PresentKey(uint64_t number, std::string* key) const {
  *key = present_[static_cast<unsigned __int128>(number) * present_.size() / entries_];
}

void SampledKeys::AbsentKey(uint64_t number, std::string* key) const {
  *key = absent_[number % absent_.size()];
}

}  // namespace tieredfilter::cold_lookup
