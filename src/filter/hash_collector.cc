#include "src/filter/hash_collector.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace tieredfilter {

HashCollector::~HashCollector() { std::free(hashes_); }

void HashCollector::AddKeyAndAlt(uint64_t key_hash, uint64_t alt_hash) {
  const auto is_last_key = [&](uint64_t hash) { return any_key_ && hash == last_key_; };
  const auto is_last_alt = [&](uint64_t hash) { return any_alt_ && hash == last_alt_; };
  const bool add_alt = alt_hash != key_hash && !is_last_alt(alt_hash) && !is_last_key(alt_hash);
  const bool add_key = !is_last_key(key_hash) && !is_last_alt(key_hash);
  if (add_alt) Append(alt_hash);
  if (add_key) Append(key_hash);
  last_key_ = key_hash;
  last_alt_ = alt_hash;
  any_key_ = any_alt_ = true;
}

bool HashCollector::ChecksumHolds() const {
  uint64_t sum = 0;
  for (size_t i = 0; i < size(); ++i) sum ^= hashes_[i];
  return sum == xor_;
}

bool HashCollector::Resize(size_t capacity) {
  void* const moved = std::realloc(hashes_, capacity * sizeof(uint64_t));
  if (moved == nullptr) return false;
  hashes_ = static_cast<uint64_t*>(moved);
  capacity_ = capacity;
  return true;
}

bool HashCollector::Grow() {
  if (gave_up_) return false;
  if (Resize(capacity_ + std::max(kFirstHashes, capacity_ / 8))) return true;
  gave_up_ = true;
  std::free(hashes_);
  hashes_ = nullptr;
  capacity_ = 0;
  return false;
}

void HashCollector::ShrinkToFit() {
  // If that fails, the array is as good as it was.
  if (capacity_ > kKeptHashes && size() > 0 && size() < capacity_) Resize(size());
}

void HashCollector::Clear() {
  if (capacity_ > kKeptHashes) {
    std::free(hashes_);
    hashes_ = nullptr;
    capacity_ = 0;
  }
  size_.store(0, std::memory_order_relaxed);
  xor_ = 0;
  any_key_ = any_alt_ = gave_up_ = false;
}

void HashCollector::Swap(HashCollector* other) {
  std::swap(hashes_, other->hashes_);
  std::swap(capacity_, other->capacity_);
  const size_t size = other->size();
  other->size_.store(this->size(), std::memory_order_relaxed);
  size_.store(size, std::memory_order_relaxed);
  std::swap(xor_, other->xor_);
  std::swap(last_key_, other->last_key_);
  std::swap(last_alt_, other->last_alt_);
  std::swap(any_key_, other->any_key_);
  std::swap(any_alt_, other->any_alt_);
  std::swap(gave_up_, other->gave_up_);
}

}  // namespace tieredfilter
