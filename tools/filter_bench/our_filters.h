// This project's own kinds of filter, as the benchmark sees them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/filter_bench/bench_filter.h"

namespace tieredfilter::bench {

// The shape of RocksDB's interface (rocksdb::Slice, FilterBitsBuilder, FilterBitsReader), so that
// our kinds are called through the same virtual functions as the stock ones without linking RocksDB
// or mixing with the stock code's private copy of it.
class KeySlice {
 public:
  KeySlice() = default;
  KeySlice(const char* data, size_t size) : data_(data), size_(size) {}
  const char* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  const char* data_ = nullptr;
  size_t size_ = 0;
};

class BitsBuilder {
 public:
  virtual ~BitsBuilder() = default;
  virtual void AddKey(const KeySlice& key) = 0;
  // Called once. On failure returns false and sets `error`.
  virtual bool Finish(Block* block, std::string* error) = 0;
};

class BitsReader {
 public:
  virtual ~BitsReader() = default;
  virtual bool MayMatch(const KeySlice& key) = 0;
  virtual void MayMatch(int count, KeySlice** keys, bool* may_match) = 0;
};

// The base to derive an adapter from: NewBuilder, NewReader and, where needed, Configure.
class OurFilter : public TypedBenchFilter<BitsBuilder, BitsReader, KeySlice> {
 public:
  using TypedBenchFilter::TypedBenchFilter;

 protected:
  bool Finish(BitsBuilder* builder, Block* block, std::string* error) override {
    return builder->Finish(block, error);
  }
};

bool IsOurKind(const std::string& kind);

// Names of the kernels that run on this machine, best first. "portable" is among them.
std::vector<std::string> OurKernels();

// What `--filters=default` compares with the stock filters.
std::vector<std::string> DefaultOurFilters();

// Null with `error` set for a kind, setting or kernel that does not exist.
std::unique_ptr<BenchFilter> MakeOurFilter(const FilterRequest& request, const std::string& kernel,
                                           std::string* error);

}  // namespace tieredfilter::bench
