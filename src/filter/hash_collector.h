// The key hashes of one filter, collected until it is built.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tieredfilter {

// A growing array of key hashes, with RocksDB's rules for dropping repeats as they arrive: keys
// come in sorted order, so equal ones, and the prefixes that keys share, are neighbours. What is
// dropped is counted nowhere, so that the number of entries is the number a filter is sized for;
// repeats that are not neighbours go when the block is built (SortUnique).
//
// One array, and malloc's realloc to grow it: a block is built by sorting in place, which chunks
// would have to be copied for, at twice the memory; and realloc moves a big array by exchanging
// pages instead of copying. It grows by an eighth, so that what malloc hands out is never more than
// 9 bytes per hash.
//
// For one thread, but for size(), which any thread may call. Never throws: without memory the
// hashes are given up and complete() says so.
class HashCollector {
 public:
  HashCollector() = default;
  ~HashCollector();
  HashCollector(const HashCollector&) = delete;
  HashCollector& operator=(const HashCollector&) = delete;

  // A key, or a prefix, by itself. Dropped if the previous key (not alternate) was the same.
  void AddKey(uint64_t hash) {
    if (any_key_ && hash == last_key_) return;
    last_key_ = hash;
    any_key_ = true;
    Append(hash);
  }

  // A key and its alternate, which is its prefix. Both are dropped if equal to the previous key or
  // the previous alternate, and the alternate also if equal to the key.
  void AddKeyAndAlt(uint64_t key_hash, uint64_t alt_hash);

  // Entries added and not dropped, also if !complete().
  size_t size() const { return size_.load(std::memory_order_relaxed); }
  bool empty() const { return size() == 0; }

  // False if an entry could not be stored: then there are no hashes, and nothing but a filter that
  // matches everything may be made of this.
  bool complete() const { return !gave_up_; }

  // The hashes, size() of them if complete(). The caller may reorder and change them.
  uint64_t* hashes() { return hashes_; }

  // True if the hashes still are, in any order, what was added. Costs a pass over them.
  bool ChecksumHolds() const;

  // Gives back what growing took in advance. Cheap; for the time when the block's own memory is
  // added.
  void ShrinkToFit();

  // Bytes held.
  size_t memory_bytes() const { return capacity_ * sizeof(uint64_t); }

  // Back to the start; keeps a little memory, at most kKeptHashes, for the next partition.
  void Clear();

  void Swap(HashCollector* other);

 private:
  static constexpr size_t kFirstHashes = 1024;
  // 32 kB: what a builder may hold while it waits. Partitions are mostly smaller than this.
  static constexpr size_t kKeptHashes = 4096;

  void Append(uint64_t hash) {
    const size_t size = size_.load(std::memory_order_relaxed);
    if (size < capacity_ || Grow()) hashes_[size] = hash;
    xor_ ^= hash;
    // A plain store, not an atomic increment: there is one writer.
    size_.store(size + 1, std::memory_order_relaxed);
  }

  bool Grow();
  bool Resize(size_t capacity);

  uint64_t* hashes_ = nullptr;
  size_t capacity_ = 0;
  std::atomic<size_t> size_{0};
  uint64_t xor_ = 0;
  uint64_t last_key_ = 0;
  uint64_t last_alt_ = 0;
  bool any_key_ = false;
  bool any_alt_ = false;
  bool gave_up_ = false;
};

}  // namespace tieredfilter
