// What the benchmark asks of a filter, whichever family it comes from.
//
// BenchFilter is the untimed frame (one virtual call per 512 keys). Inside it, TypedBenchFilter
// makes exactly the calls that RocksDB makes: a virtual AddKey(const Slice&) per key and Finish for
// a build, a virtual MayMatch(const Slice&) or MayMatch(int, Slice**, bool*) for a lookup. The
// family's own classes are template parameters, so no family pays for an adapter around it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tools/filter_bench/keys.h"

namespace tieredfilter::bench {

// How lookups reach filters.
enum class CallShape {
  kSingle,     // one key at a time, independent of each other
  kDependent,  // which key is asked next depends on the last answer: latency instead of throughput
  kBatch,      // kBatchKeys keys in one call
};

// A finished filter block. Owned, at most 4 GiB.
struct Block {
  std::unique_ptr<const char[]> data;
  size_t size = 0;
};

class BenchFilter {
 public:
  BenchFilter(std::string name, std::string kernel)
      : name_(std::move(name)), kernel_(std::move(kernel)) {}
  virtual ~BenchFilter() = default;

  const std::string& name() const { return name_; }      // e.g. "bloom:10"
  const std::string& kernel() const { return kernel_; }  // e.g. "avx2"

  // Builds the filter of the present keys 0 .. keys - 1 of `filter_id`, using `chunk` to make them.
  // Only the builder's own work is on `watch`, and nothing else allocates memory that lasts. On
  // failure returns false and sets `error`.
  virtual bool Build(uint64_t filter_id, uint64_t keys, KeyChunk* chunk, Stopwatch* watch,
                     Block* block, std::string* error) = 0;

  // Opens one reader per block, after closing the present ones. The bytes stay the caller's and
  // must live until the next Open or Close.
  virtual bool Open(const std::vector<std::pair<const char*, size_t>>& blocks,
                    std::string* error) = 0;
  virtual void Close() = 0;

  // Takes over the chunk's keys (they must stay alive), then Lookup asks the chosen filters for all
  // of them and returns how many may match. Only Lookup is meant to be timed.
  virtual void Prepare(const KeyChunk& chunk) = 0;
  virtual uint64_t Lookup(CallShape shape) = 0;

 private:
  const std::string name_;
  const std::string kernel_;
};

// Builder: AddKey(const Slice&), virtual as in RocksDB. Reader: both MayMatch, virtual as in
// RocksDB. Slice: constructible from (data, size).
template <class Builder, class Reader, class Slice>
class TypedBenchFilter : public BenchFilter {
 public:
  using BenchFilter::BenchFilter;

  bool Build(uint64_t filter_id, uint64_t keys, KeyChunk* chunk, Stopwatch* watch, Block* block,
             std::string* error) override {
    if (!Configure(keys, error)) {
      return false;
    }
    watch->Start();
    std::unique_ptr<Builder> builder = NewBuilder();
    watch->Stop();
    for (uint64_t first = 0; first < keys; first += kChunkKeys) {
      const uint64_t left = keys - first;
      chunk->FillConsecutive(filter_id, /*present=*/true, first,
                             left < kChunkKeys ? static_cast<size_t>(left) : kChunkKeys);
      Prepare(*chunk);
      watch->Start();
      for (size_t i = 0; i < count_; ++i) {
        builder->AddKey(slices_[i]);
      }
      watch->Stop();
    }
    watch->Start();
    const bool ok = Finish(builder.get(), block, error);
    watch->Stop();
    return ok;
  }

  bool Open(const std::vector<std::pair<const char*, size_t>>& blocks,
            std::string* error) override {
    readers_.clear();
    readers_.reserve(blocks.size());
    for (const auto& [data, size] : blocks) {
      readers_.emplace_back(NewReader(data, size, error));
      if (!readers_.back()) {
        readers_.clear();
        return false;
      }
    }
    return true;
  }

  void Close() override { readers_.clear(); }

  void Prepare(const KeyChunk& chunk) override {
    count_ = chunk.count();
    chosen_ = chunk.readers();
    for (size_t i = 0; i < count_; ++i) {
      slices_[i] = Slice(chunk.data(i), chunk.size(i));
      pointers_[i] = &slices_[i];
    }
  }

  uint64_t Lookup(CallShape shape) override {
    switch (shape) {
      case CallShape::kSingle:
        return LookupSingle();
      case CallShape::kDependent:
        return LookupDependent();
      case CallShape::kBatch:
        return LookupBatch();
    }
    return 0;
  }

 protected:
  // Turns the request into the builder's own parameters where they depend on the number of keys.
  // Untimed: in RocksDB a policy does this once, or the parameter is given.
  virtual bool Configure(uint64_t keys, std::string* error) {
    (void)keys;
    (void)error;
    return true;
  }
  virtual std::unique_ptr<Builder> NewBuilder() = 0;
  virtual bool Finish(Builder* builder, Block* block, std::string* error) = 0;
  virtual std::unique_ptr<Reader> NewReader(const char* data, size_t size, std::string* error) = 0;

 private:
  uint64_t LookupSingle() {
    uint64_t matches = 0;
    for (size_t i = 0; i < count_; ++i) {
      matches += readers_[chosen_[i]]->MayMatch(slices_[i]) ? 1 : 0;
    }
    return matches;
  }

  uint64_t LookupDependent() {
    uint64_t matches = 0;
    uint64_t last = 0;
    for (size_t i = 0; i < count_; ++i) {
      // The mask is zero, but the compiler cannot know; so the address of the next key waits for
      // the answer to this one, without a branch that could be predicted.
      const size_t next = i + static_cast<size_t>(last & dependent_mask_);
      last = readers_[chosen_[next]]->MayMatch(slices_[next]) ? 1 : 0;
      matches += last;
    }
    return matches;
  }

  uint64_t LookupBatch() {
    uint64_t matches = 0;
    bool may_match[kBatchKeys];
    for (size_t i = 0; i < count_; i += kBatchKeys) {
      const size_t n = count_ - i < kBatchKeys ? count_ - i : kBatchKeys;
      readers_[chosen_[i]]->MayMatch(static_cast<int>(n), &pointers_[i], may_match);
      for (size_t k = 0; k < n; ++k) {
        matches += may_match[k] ? 1 : 0;
      }
    }
    return matches;
  }

  std::vector<std::unique_ptr<Reader>> readers_;
  const uint32_t* chosen_ = nullptr;
  size_t count_ = 0;
  volatile uint64_t dependent_mask_source_ = 0;
  uint64_t dependent_mask_ = dependent_mask_source_;
  Slice slices_[kChunkKeys];
  Slice* pointers_[kChunkKeys] = {};
};

// One item of "--filters=bloom:10,cuckoo-equations:8.6".
struct FilterRequest {
  std::string name;           // as given: "bloom:10"
  std::string kind;           // "bloom"
  double bits_per_key = 0.0;  // bits really stored, for every kind
  // If not 0, as many bits as fit into this share of the bytes of a stock Bloom filter that has
  // `bits_per_key` bits and as many keys.
  double share_of_bloom = 0.0;
};

}  // namespace tieredfilter::bench
