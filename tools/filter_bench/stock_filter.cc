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

#include "table/block_based/filter_policy.cc"  // of RocksDB's source tree
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

  const int millibits_per_key_;
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
  // RocksDB's setting is a rate, and its size follows in steps from it; so search for the rate
  // whose filter of this many keys comes closest to the bits asked for, without exceeding them.
  bool Configure(uint64_t keys, std::string* error) override {
    if (keys == configured_keys_) {
      return true;
    }
    const double target_bytes = static_cast<double>(keys) * millibits_per_key_ / 8000;
    double low = 0;    // log2 of one_in_fp_rate
    double high = 31;  // Ribbon has at most 32 result bits
    for (int i = 0; i < 60; ++i) {
      const double middle = (low + high) / 2;
      one_in_fp_rate_ = std::exp2(middle);
      (static_cast<double>(NewBuilder()->CalculateSpace(keys)) <= target_bytes ? low : high) =
          middle;
    }
    one_in_fp_rate_ = std::exp2(low);
    if (low == 0) {
      *error = name() + ": too few bits for a Ribbon filter of " + std::to_string(keys) + " keys";
      return false;
    }
    configured_keys_ = keys;
    return true;
  }

  std::unique_ptr<stock::BuiltinFilterBitsBuilder> NewBuilder() override {
    return std::make_unique<stock::Standard128RibbonBitsBuilder>(
        one_in_fp_rate_, millibits_per_key_, nullptr, nullptr, false, nullptr);
  }

 private:
  uint64_t configured_keys_ = 0;
  double one_in_fp_rate_ = 1;
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
