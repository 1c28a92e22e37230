#include "plugin/stock_filters.h"

#include "plugin/rocksdb_compat.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/table.h"
#include "src/policy/bloom_rate.h"

namespace tieredfilter {
namespace {

using ROCKSDB_NAMESPACE::FilterBitsBuilder;
using ROCKSDB_NAMESPACE::FilterPolicy;

// At this many keys a Ribbon filter's fixed costs (rounding to 128-slot blocks, slots to spare) are
// under 1%.
constexpr size_t kReferenceKeys = 1000 * 1000;
// RocksDB clamps its parameter at 100. Halving [1, 100] twenty-four times is finer than the
// thousandths it keeps.
constexpr double kMinParameter = 1.0;
constexpr double kMaxParameter = 100.0;
constexpr int kBisectionSteps = 24;
// Ribbon at every level, also for flushes.
constexpr int kNeverBloom = -1;

// What a Ribbon filter of this parameter really stores.
struct RibbonCost {
  double bits_per_key;
  double false_positive_rate;
};

RibbonCost CostOfRibbon(double parameter) {
  // format_version and the rest do not matter for Ribbon, except that a filter charged to a cache
  // could fall back.
  ROCKSDB_NAMESPACE::BlockBasedTableOptions table_options;
  table_options.optimize_filters_for_memory = false;
  table_options.no_block_cache = true;
  const std::unique_ptr<const FilterPolicy> policy(
      ROCKSDB_NAMESPACE::NewRibbonFilterPolicy(parameter, kNeverBloom));
  const std::unique_ptr<FilterBitsBuilder> builder(
      policy->GetBuilderWithContext(ROCKSDB_NAMESPACE::FilterBuildingContext(table_options)));
  const size_t bytes = StockCalculateSpace(*builder, kReferenceKeys);
  return {8.0 * static_cast<double>(bytes) / static_cast<double>(kReferenceKeys),
          StockEstimatedFpRate(*builder, kReferenceKeys, bytes)};
}

}  // namespace

double StockBloomParameter(const FilterSetting& setting) {
  return setting.has_rate() ? BloomBitsForRate(setting.false_positive_rate())
                            : setting.bits_per_key();
}

double StockRibbonParameter(const FilterSetting& setting) {
  double low = kMinParameter;
  double high = kMaxParameter;
  for (int step = 0; step < kBisectionSteps; ++step) {
    const double middle = (low + high) / 2;
    const RibbonCost cost = CostOfRibbon(middle);
    const bool too_small = setting.has_rate()
                               ? cost.false_positive_rate > setting.false_positive_rate()
                               : cost.bits_per_key < setting.bits_per_key();
    (too_small ? low : high) = middle;
  }
  return high;
}

std::unique_ptr<const FilterPolicy> NewStockBloomPolicy(const FilterSetting& setting) {
  return std::unique_ptr<const FilterPolicy>(
      ROCKSDB_NAMESPACE::NewBloomFilterPolicy(StockBloomParameter(setting)));
}

std::unique_ptr<const FilterPolicy> NewStockRibbonPolicy(const FilterSetting& setting) {
  return std::unique_ptr<const FilterPolicy>(
      ROCKSDB_NAMESPACE::NewRibbonFilterPolicy(StockRibbonParameter(setting), kNeverBloom));
}

}  // namespace tieredfilter
