// Compiled (not run) against the headers of every layout of RocksDB's filter builders, with the
// answers that the feature tests in plugin/rocksdb_compat.h must give there:
// LAYOUT_HAS_ADD_KEY_AND_ALT and LAYOUT_HAS_CALCULATE_SPACE, 0 or 1.
// See tools/check/check_rocksdb_layouts.sh.
#include <cstddef>
#include <memory>
#include <type_traits>

#include "plugin/rocksdb_compat.h"

namespace tieredfilter {
namespace {

using ROCKSDB_NAMESPACE::FilterBitsBuilder;
using ROCKSDB_NAMESPACE::Slice;
using ROCKSDB_NAMESPACE::Status;

static_assert(HasAddKeyAndAlt<FilterBitsBuilder>::value == (LAYOUT_HAS_ADD_KEY_AND_ALT != 0));
static_assert(HasCalculateSpace<FilterBitsBuilder>::value == (LAYOUT_HAS_CALCULATE_SPACE != 0));

// Overrides the newest interface in full, as our builders do.
class ProbeBuilder final : public FilterBitsBuilderBase {
 public:
  void AddKey(const Slice&) override {}
  void AddKeyAndAlt(const Slice&, const Slice&) override {}
  size_t EstimateEntriesAdded() override { return 0; }
  using FilterBitsBuilder::Finish;
  Slice Finish(std::unique_ptr<const char[]>*) override { return Slice(); }
  Slice Finish(std::unique_ptr<const char[]>* buf, Status* status) override {
    *status = Status::OK();
    return Finish(buf);
  }
  Status MaybePostVerify(const Slice&) override { return Status::OK(); }
  size_t ApproximateNumEntries(size_t) override { return 0; }
  size_t CalculateSpace(size_t) override { return 0; }
  double EstimatedFpRate(size_t, size_t) override { return 0; }
};
static_assert(!std::is_abstract<ProbeBuilder>::value);

}  // namespace

// Instantiates the shims around a stock builder, too.
size_t UseProbe(FilterBitsBuilder& stock_builder) {
  std::unique_ptr<FilterBitsBuilder> builder = std::make_unique<ProbeBuilder>();
  return builder->EstimateEntriesAdded() + StockCalculateSpace(stock_builder, 1) +
         static_cast<size_t>(StockEstimatedFpRate(stock_builder, 1, 1));
}

}  // namespace tieredfilter
