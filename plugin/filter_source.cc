#include "plugin/filter_source.h"

#include "plugin/cuckoo_bits_builder.h"
#include "plugin/stock_filters.h"
#include "rocksdb/filter_policy.h"

namespace tieredfilter {
namespace {

class NoFilterSource final : public FilterSource {
 public:
  ROCKSDB_NAMESPACE::FilterBitsBuilder* NewBuilder(
      const ROCKSDB_NAMESPACE::FilterBuildingContext&) const override {
    return nullptr;
  }
};

// A stock policy's builder, unwrapped: what it writes is a stock filter byte for byte, and options
// such as optimize_filters_for_memory or detect_filter_construct_corruption act as they always do.
class StockFilterSource final : public FilterSource {
 public:
  explicit StockFilterSource(std::unique_ptr<const ROCKSDB_NAMESPACE::FilterPolicy> policy)
      : policy_(std::move(policy)) {}

  ROCKSDB_NAMESPACE::FilterBitsBuilder* NewBuilder(
      const ROCKSDB_NAMESPACE::FilterBuildingContext& context) const override {
    return policy_->GetBuilderWithContext(context);
  }

 private:
  const std::unique_ptr<const ROCKSDB_NAMESPACE::FilterPolicy> policy_;
};

}  // namespace

std::unique_ptr<const FilterSource> NewFilterSource(const FilterSetting& setting) {
  switch (setting.kind) {
    case FilterKind::kBloom:
      return std::make_unique<StockFilterSource>(NewStockBloomPolicy(setting));
    case FilterKind::kRibbon:
      return std::make_unique<StockFilterSource>(NewStockRibbonPolicy(setting));
    case FilterKind::kCuckoo:
      return NewCuckooFilterSource(setting);
    case FilterKind::kNone:
      break;
  }
  return std::make_unique<NoFilterSource>();
}

}  // namespace tieredfilter
