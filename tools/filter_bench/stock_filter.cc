// RocksDB's real builders and readers (FastLocalBloom, Standard128Ribbon), for a fair contest.
//
// Distributions build librocksdb for any x86-64, so that its Bloom runs a scalar loop; a benchmark
// against that library would flatter every competitor. So this file includes RocksDB's own
// filter_policy.cc from the source tree and is compiled once per instruction set, with our flags:
//   - ROCKSDB_NAMESPACE is defined differently for each compilation, so that neither two of them
//     nor a librocksdb can be mixed up, and NDEBUG can be set whatever a librocksdb was built with.
//     The benchmark links no librocksdb.
//   - What is left of inline functions and templates shared by all (std::deque<uint64_t>, ...) is
//     taken by the linker from the first object that has it. The objects are therefore linked in
//     ascending order of instruction sets: code of one level never ends up calling code of a higher
//     one, and the program still runs on a machine without AVX.
//   - filter_policy.cc also holds the policies, which need half of RocksDB. Nothing here refers to
//     them, and the linker drops them (--gc-sections) together with what they would need.
// Thin builders written here around RocksDB's *_impl.h headers would be smaller to link, but would
// have to repeat the builders' steps, and would no longer be what RocksDB runs.
#include <cmath>

// Of RocksDB's source tree. NOLINTNEXTLINE(bugprone-suspicious-include)
#include "table/block_based/filter_policy.cc"
#include "tools/filter_bench/stock_filter.h"

#define TIEREDFILTER_CONCAT_(a, b) a##b
#define TIEREDFILTER_CONCAT(a, b) TIEREDFILTER_CONCAT_(a, b)
#define TIEREDFILTER_STRING_(a) #a
#define TIEREDFILTER_STRING(a) TIEREDFILTER_STRING_(a)

namespace ROCKSDB_NAMESPACE {

// Ribbon logs when it falls back to Bloom; with the null logger used here this is never reached
// with anything to write to.
void Log(const InfoLogLevel /*level*/, Logger* /*logger*/, const char* /*format*/, ...) {}

}  // namespace ROCKSDB_NAMESPACE

namespace tieredfilter::bench {
namespace {

namespace stock = ROCKSDB_NAMESPACE;

class StockFilter : public TypedBenchFilter<stock::BuiltinFilterBitsBuilder,
                                            stock::FilterBitsReader, stock::Slice> {
 public:
  explicit StockFilter(const FilterRequest& request)
      : TypedBenchFilter(request.name, TIEREDFILTER_STRING(TIEREDFILTER_STOCK_LEVEL)),
        millibits_per_key_(static_cast<int>(std::lround(request.bits_per_key * 1000))) {}

 protected:
  bool Finish(stock::BuiltinFilterBitsBuilder* builder, Block* block, std::string*) override {
    const stock::Slice content = builder->Finish(&block->data);
    block->size = content.size();
    if (!block->data) {  // a static "always" block: take a copy, so that Block owns its bytes
      char* copy = new char[content.size()];
      std::copy(content.data(), content.data() + content.size(), copy);
      block->data.reset(copy);
    }
    return true;
  }

  std::unique_ptr<stock::FilterBitsReader> NewReader(const char* data, size_t size,
                                                     std::string*) override {
    return std::unique_ptr<stock::FilterBitsReader>(
        stock::BuiltinFilterPolicy::GetBuiltinFilterBitsReader(stock::Slice(data, size)));
  }

  const int millibits_per_key_;  // as asked for, really stored
};

// The null pointers: no optimize_filters_for_memory, no cache charging, no logger. All filters are
// compared without these host features.
class StockBloom : public StockFilter {
 public:
  using StockFilter::StockFilter;

 protected:
  std::unique_ptr<stock::BuiltinFilterBitsBuilder> NewBuilder() override {
    return std::make_unique<stock::FastLocalBloomBitsBuilder>(millibits_per_key_, nullptr, nullptr,
                                                              false);
  }
};

class StockRibbon : public StockFilter {
 public:
  using StockFilter::StockFilter;

 protected:
  // RocksDB's setting is the bits of a Bloom filter of the same rate. Search for the setting whose
  // Ribbon filter of this many keys comes closest to the bits asked for without exceeding them.
  bool Configure(uint64_t keys, std::string* error) override {
    if (keys == configured_keys_) {
      return true;
    }
    // Below about a thousand keys sizes grow in steps, and RocksDB may write a Bloom filter
    // instead. Then take the setting right for large filters, as a user would, and see.
    const uint64_t reference = keys < kSmallestExact ? kLarge : keys;
    const double target_bytes = static_cast<double>(reference) * millibits_per_key_ / 8000;
    int low = 1000;  // RocksDB's limits: 1 to 100 bits
    int high = 100000;
    while (high - low > 1) {
      equivalent_millibits_ = (low + high) / 2;
      const auto bytes = static_cast<double>(NewBuilder()->CalculateSpace(reference));
      (bytes <= target_bytes ? low : high) = equivalent_millibits_;
    }
    equivalent_millibits_ = low;
    if (low == 1000) {
      *error =
          name() + ": too few bits for a Ribbon filter of " + std::to_string(reference) + " keys";
      return false;
    }
    configured_keys_ = keys;
    return true;
  }

  // As RocksDB's Ribbon policy makes its builder.
  std::unique_ptr<stock::BuiltinFilterBitsBuilder> NewBuilder() override {
    const double fp_rate = stock::BloomMath::CacheLocalFpRate(
        equivalent_millibits_ / 1000.0,
        stock::FastLocalBloomImpl::ChooseNumProbes(equivalent_millibits_),
        /*cache_line_bits=*/512);
    return std::make_unique<stock::Standard128RibbonBitsBuilder>(1 / fp_rate, equivalent_millibits_,
                                                                 nullptr, nullptr, false, nullptr);
  }

 private:
  static constexpr uint64_t kSmallestExact = 1024;
  static constexpr uint64_t kLarge = 100000;

  uint64_t configured_keys_ = 0;
  int equivalent_millibits_ = 0;
};

}  // namespace

std::unique_ptr<BenchFilter> TIEREDFILTER_CONCAT(MakeStockFilter_, TIEREDFILTER_STOCK_LEVEL)(
    const FilterRequest& request, std::string* error) {
  if (!(request.bits_per_key >= 1 && request.bits_per_key <= 32)) {
    *error = request.name + ": a stock filter takes 1 to 32 bits per key";
    return nullptr;
  }
  if (request.kind == "bloom") {
    return std::make_unique<StockBloom>(request);
  }
  if (request.kind == "ribbon") {
    return std::make_unique<StockRibbon>(request);
  }
  *error = request.name + ": RocksDB has bloom and ribbon";
  return nullptr;
}

}  // namespace tieredfilter::bench
