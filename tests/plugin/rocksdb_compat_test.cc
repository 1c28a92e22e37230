// The builder base class offers the newest interface on every RocksDB version. What matters happens
// when this file is compiled: `override` on every function, and the class not abstract.
#include "plugin/rocksdb_compat.h"

#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "rocksdb/table.h"

namespace tieredfilter {
namespace {

using ROCKSDB_NAMESPACE::Slice;
using ROCKSDB_NAMESPACE::Status;

class CompleteBuilder final : public FilterBitsBuilderBase {
 public:
  void AddKey(const Slice&) override { ++entries_; }
  void AddKeyAndAlt(const Slice&, const Slice&) override { entries_ += 2; }
  size_t EstimateEntriesAdded() override { return entries_; }
  Slice Finish(std::unique_ptr<const char[]>* buffer) override { return Finish(buffer, nullptr); }
  Slice Finish(std::unique_ptr<const char[]>*, Status*) override { return Slice(); }
  Status MaybePostVerify(const Slice&) override { return Status::OK(); }
  size_t ApproximateNumEntries(size_t bytes) override { return bytes; }
  size_t CalculateSpace(size_t num_entries) override { return num_entries; }
  double EstimatedFpRate(size_t, size_t) override { return 1; }

 private:
  size_t entries_ = 0;
};

TEST(RocksdbCompatTest, ABuilderOfTheNewestInterfaceWorksAsTheHostsOwnClass) {
  const std::unique_ptr<ROCKSDB_NAMESPACE::FilterBitsBuilder> builder =
      std::make_unique<CompleteBuilder>();
  builder->AddKey("key");
  EXPECT_EQ(builder->EstimateEntriesAdded(), 1u);
  EXPECT_EQ(builder->ApproximateNumEntries(7), 7u);
  std::unique_ptr<const char[]> buffer;
  EXPECT_EQ(builder->Finish(&buffer).size(), 0u);
}

TEST(RocksdbCompatTest, ShimsAddOnlyWhatIsMissing) {
  EXPECT_TRUE(HasAddKeyAndAlt<FilterBitsBuilderBase>::value);
  EXPECT_TRUE(HasCalculateSpace<FilterBitsBuilderBase>::value);
  using Host = ROCKSDB_NAMESPACE::FilterBitsBuilder;
  if (HasCalculateSpace<Host>::value) {
    EXPECT_TRUE(HasAddKeyAndAlt<Host>::value) << "a layout nobody has seen";
  }
}

TEST(RocksdbCompatTest, SpaceAndRateOfStockBuilders) {
  ROCKSDB_NAMESPACE::BlockBasedTableOptions options;
  options.optimize_filters_for_memory = false;
  const std::unique_ptr<const ROCKSDB_NAMESPACE::FilterPolicy> policy(
      ROCKSDB_NAMESPACE::NewBloomFilterPolicy(10));
  const std::unique_ptr<ROCKSDB_NAMESPACE::FilterBitsBuilder> builder(
      policy->GetBuilderWithContext(ROCKSDB_NAMESPACE::FilterBuildingContext(options)));
  const size_t bytes = StockCalculateSpace(*builder, 10000);
  EXPECT_NEAR(static_cast<double>(bytes), 12500, 70);
  EXPECT_NEAR(StockEstimatedFpRate(*builder, 10000, bytes), 0.0095, 0.0005);
}

}  // namespace
}  // namespace tieredfilter
