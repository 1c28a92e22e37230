#include "tools/filter_bench/our_filters.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "src/filter/hash_collector.h"
#include "src/filter/key_hash.h"
#include "src/format/block.h"
#include "tools/filter_bench/memory_meter.h"

namespace tieredfilter::bench {

namespace {

constexpr double kLeastBits = 4, kMostBits = 24;  // what our kinds are offered with

// What the plugin's builder does, without RocksDB.
class CuckooBuilder : public BitsBuilder {
 public:
  CuckooBuilder(const BlockRequest& request, CpuKernel kernel)
      : request_(request), kernel_(kernel) {}

  void AddKey(const KeySlice& key) override { hashes_.AddKey(HashKey(key.data(), key.size())); }

  bool Finish(Block* block, std::string* error) override {
    hashes_.ShrinkToFit();
    // These do not come from operator new. Growing them, which moves pages, is not counted.
    const auto held = static_cast<int64_t>(hashes_.memory_bytes());
    MemoryMeter::Add(held);
    BuiltBlock built = BuildBlock(hashes_.hashes(), hashes_.size(), request_, kernel_);
    MemoryMeter::Add(-held);
    if (!built.ok) {
      *error = "placement failed";
      return false;
    }
    block->size = built.size;
    block->data = std::move(built.data);
    return true;
  }

 private:
  const BlockRequest request_;
  const CpuKernel kernel_;
  HashCollector hashes_;
};

class CuckooReader : public BitsReader {
 public:
  CuckooReader(const char* data, size_t size, CpuKernel kernel) : reader_(data, size, kernel) {}

  bool MayMatch(const KeySlice& key) override { return reader_.MayMatch(key.data(), key.size()); }

  void MayMatch(int count, KeySlice** keys, bool* may_match) override {
    KeyView views[kMaxBatch];
    for (int first = 0; first < count; first += static_cast<int>(kMaxBatch)) {
      const int chunk = std::min(count - first, static_cast<int>(kMaxBatch));
      for (int i = 0; i < chunk; ++i) {
        views[i] = {keys[first + i]->data(), keys[first + i]->size()};
      }
      reader_.MayMatch(views, static_cast<size_t>(chunk), may_match + first);
    }
  }

 private:
  BlockReader reader_;
};

class CuckooFilter : public OurFilter {
 public:
  CuckooFilter(const FilterRequest& request, const BlockRequest& block, CpuKernel kernel)
      : OurFilter(request.name, std::string(CpuKernelName(kernel))),
        bloom_bits_(request.bits_per_key),
        share_of_bloom_(request.share_of_bloom),
        request_(block),
        cpu_kernel_(kernel) {}

 protected:
  // Searches the most bits that fit where the filter is to have a Bloom filter's bytes.
  bool Configure(uint64_t keys, std::string* error) override {
    if (share_of_bloom_ == 0) return true;
    // RocksDB's Bloom filters: whole lines of 64 bytes, and five for marker and settings.
    const auto n = static_cast<double>(keys);
    const double bytes = (std::ceil(n * bloom_bits_ / 512) * 64 + 5) * share_of_bloom_;
    const auto fits = [&](double bits) {
      request_.bits_per_key = bits;
      return static_cast<double>(BlockBytes(keys, request_)) <= bytes;
    };
    double low = kLeastBits, high = kMostBits;
    if (!fits(low)) {
      *error = name() + ": no filter of " + std::to_string(keys) + " keys is as small as that";
      return false;
    }
    while (high - low > 1e-6) {
      const double middle = (low + high) / 2;
      (fits(middle) ? low : high) = middle;
    }
    request_.bits_per_key = low;
    return true;
  }
  std::unique_ptr<BitsBuilder> NewBuilder() override {
    return std::make_unique<CuckooBuilder>(request_, cpu_kernel_);
  }
  std::unique_ptr<BitsReader> NewReader(const char* data, size_t size, std::string*) override {
    return std::make_unique<CuckooReader>(data, size, cpu_kernel_);
  }

 private:
  const double bloom_bits_;
  const double share_of_bloom_;
  BlockRequest request_;
  const CpuKernel cpu_kernel_;
};

std::optional<BlockCoding> CodingOf(const std::string& kind) {
  // "cuckoo" as in a policy's spec, where equations are the default.
  if (kind == "cuckoo-equations" || kind == "cuckoo") return BlockCoding::kEquations;
  if (kind == "cuckoo-fingerprints") return BlockCoding::kFingerprints;
  return std::nullopt;
}

}  // namespace

bool IsOurKind(const std::string& kind) { return CodingOf(kind).has_value(); }

std::vector<std::string> OurKernels() {
  std::vector<std::string> names;
  for (CpuKernel kernel : SupportedCpuKernels())
    names.emplace(names.begin(), CpuKernelName(kernel));
  return names;
}

std::vector<std::string> DefaultOurFilters() {
  return {"cuckoo-equations:8.6", "cuckoo-equations:10"};
}

std::unique_ptr<BenchFilter> MakeOurFilter(const FilterRequest& request, const std::string& kernel,
                                           std::string* error) {
  const std::optional<BlockCoding> coding = CodingOf(request.kind);
  const std::optional<CpuKernel> cpu_kernel = CpuKernelFromName(kernel);
  if (!coding || !cpu_kernel || !CpuKernelSupported(*cpu_kernel)) {
    *error = request.name + ": no kind of this name with kernel " + kernel;
    return nullptr;
  }
  const double bits = request.bits_per_key;
  if (request.share_of_bloom == 0 && (bits < kLeastBits || bits > kMostBits)) {
    *error = request.name + ": this kind has 4 to 24 bits per key";
    return nullptr;
  }
  BlockRequest block;
  block.coding = *coding;
  block.bits_per_key = request.bits_per_key;
  return std::make_unique<CuckooFilter>(request, block, *cpu_kernel);
}

}  // namespace tieredfilter::bench
