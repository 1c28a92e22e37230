#include "tools/cold_lookup_bench/file_keys.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/cold_lookup_bench/key_mutation.h"

namespace tieredfilter::cold_lookup {

using ROCKSDB_NAMESPACE::Status;

namespace {

// Mutations tried for one absent key. Where a quarter of them are absent already, one lookup in
// 1e31 fails.
constexpr uint64_t kTries = 256;
// Absent keys that are made for a trial before a run.
constexpr uint64_t kTrials = 1000;

}  // namespace

FileKeys::FileKeys(const TreePlan& tree, uint64_t seed, SizeRange value_size,
                   const KeyFile& present, const KeyFile* absent)
    : KeySpace(tree, seed, value_size), present_(present), absent_(absent) {
  std::vector<uint64_t> left;  // entries that each run still needs
  for (const RunPlan& run : plan().runs) {
    left.push_back(run.entries);
    runs_.emplace_back().reserve(run.entries);
  }
  uint64_t total_left = plan().TotalEntries();
  for (const KeyReference key : present.keys()) {
    // Selection without replacement, so that every run gets exactly its number of keys.
    uint64_t at = ScaleTo(Random(kDeal, 0, total_left), total_left);
    size_t run = 0;
    while (at >= left[run]) {
      at -= left[run++];
    }
    runs_[run].push_back(key);
    --left[run];
    --total_left;
  }
  std::string key;
  for (const std::vector<KeyReference>& run : runs_) {
    present_.Get(run.front(), &key);
    first_absent_ = std::max(first_absent_, key);
    present_.Get(run.back(), &key);
    last_absent_ = last_absent_.empty() ? key : std::min(last_absent_, key);
  }
}

void FileKeys::EntryKey(EntryPlace place, std::string* key) const {
  present_.Get(runs_[place.run][place.index], key);
}

bool FileKeys::IsPresent(const std::string& key) const {
  const std::vector<KeyReference>& keys = present_.keys();
  const auto found = std::lower_bound(
      keys.begin(), keys.end(), key,
      [this](KeyReference a, const std::string& b) { return present_.Compare(a, b) < 0; });
  return found != keys.end() && present_.Compare(*found, key) == 0;
}

bool FileKeys::Mutate(uint64_t number, std::string* key) const {
  const std::vector<KeyReference>& keys = present_.keys();
  for (uint64_t attempt = 0; attempt < kTries; ++attempt) {
    const uint64_t random = Random(kAbsent, attempt, number);
    present_.Get(keys[ScaleTo(random, keys.size())], key);
    MutateKey(Mix64(random), key);
    if (first_absent_ < *key && *key < last_absent_ && !IsPresent(*key)) {
      return true;
    }
  }
  return false;
}

void FileKeys::AbsentKey(uint64_t number, std::string* key) const {
  if (absent_ == nullptr) {
    Mutate(number, key);  // a failure shows as a lookup that finds its key, which ends the run
    return;
  }
  const std::vector<KeyReference>& keys = absent_->keys();
  absent_->Get(keys[ScaleTo(Random(kAbsent, 0, number), keys.size())], key);
}

Status FileKeys::CheckAbsentFile() const {
  const std::vector<KeyReference>& keys = present_.keys();
  auto at = keys.begin();
  for (const KeyReference absent : absent_->keys()) {
    while (at != keys.end() && present_.Compare(*at, *absent_, absent) < 0) {
      ++at;
    }
    if (at == keys.begin() && present_.Compare(*at, *absent_, absent) != 0) {
      return Status::InvalidArgument(absent_->Where(absent) +
                                     ": the key is before the first key of --key_file");
    }
    if (at == keys.end()) {
      return Status::InvalidArgument(absent_->Where(absent) +
                                     ": the key is behind the last key of --key_file");
    }
    if (present_.Compare(*at, *absent_, absent) == 0) {
      return Status::InvalidArgument(fmt::format("{}: the key is not absent: {}",
                                                 absent_->Where(absent), present_.Where(*at)));
    }
  }
  return Status::OK();
}

Status FileKeys::Check() const {
  if (absent_ != nullptr) {
    return CheckAbsentFile();
  }
  std::string key;
  for (uint64_t number = 0; number < kTrials; ++number) {
    if (!Mutate(number, &key)) {
      return Status::InvalidArgument(fmt::format(
          "--key_file: changing one character of a key gives no key that is absent and inside the "
          "key range of every sorted run ('{}' .. '{}'); give absent keys with --absent_key_file",
          first_absent_, last_absent_));
    }
  }
  return Status::OK();
}

}  // namespace tieredfilter::cold_lookup
