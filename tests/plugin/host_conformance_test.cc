// The conformance tests of filters through the plugin's own builders and readers, for every kind
// that a spec can name: the stock kinds promise no less.
#include <memory>
#include <sstream>
#include <string>

#include "gtest/gtest.h"
#include "plugin/rocksdb_compat.h"
#include "rocksdb/table.h"
#include "tests/filter/test_keys.h"
#include "tests/format/filter_conformance.h"
#include "tests/plugin/host_test_util.h"

namespace tieredfilter {
namespace {

using ROCKSDB_NAMESPACE::BlockBasedTableOptions;
using ROCKSDB_NAMESPACE::FilterBitsBuilder;
using ROCKSDB_NAMESPACE::FilterBitsReader;
using ROCKSDB_NAMESPACE::FilterBuildingContext;
using ROCKSDB_NAMESPACE::FilterPolicy;
using ROCKSDB_NAMESPACE::Slice;

class PolicyUnderTest : public FilterUnderTest {
 public:
  explicit PolicyUnderTest(const std::string& spec)
      : policy_(Policy(spec)),
        builder_(policy_->GetBuilderWithContext(FilterBuildingContext(options_))) {}

  void Add(const std::string& key) override { builder_->AddKey(key); }
  void Finish() override {
    block_ = builder_->Finish(&buffer_);
    reader_.reset(policy_->GetFilterBitsReader(block_));
  }

  bool MayMatch(const KeyView& key) const override {
    return reader_->MayMatch(Slice(key.data, key.size));
  }
  void MayMatchBatch(const KeyView* keys, size_t count, bool* may_match) const override {
    Slice slices[kMaxBatch];
    Slice* pointers[kMaxBatch];
    for (size_t i = 0; i < count; ++i) {
      slices[i] = Slice(keys[i].data, keys[i].size);
      pointers[i] = &slices[i];
    }
    reader_->MayMatch(static_cast<int>(count), pointers, may_match);
  }

  size_t bytes() const override { return block_.size(); }
  // Measured, since a stock filter does not say.
  double fp_rate() const override {
    constexpr int kAsked = 1000;
    int matched = 0;
    for (uint64_t i = 0; i < kAsked; ++i) {
      matched += reader_->MayMatch(FamilyKey(KeyFamily::kUrl, 1000000000 + i));
    }
    return static_cast<double>(matched) / kAsked;
  }

 private:
  const BlockBasedTableOptions options_;
  const std::shared_ptr<const FilterPolicy> policy_;
  const std::unique_ptr<FilterBitsBuilder> builder_;
  std::unique_ptr<const char[]> buffer_;
  Slice block_;
  std::unique_ptr<FilterBitsReader> reader_;
};

FilterKind KindOf(const std::string& name, double min_bits) {
  FilterKind kind;
  kind.name = name;
  kind.make = [name](double bits) {
    std::ostringstream spec;
    spec << name << ":" << bits;
    return std::make_unique<PolicyUnderTest>(spec.str());
  };
  kind.min_bits = min_bits;
  kind.takes_hashes = false;
  return kind;
}

INSTANTIATE_TEST_SUITE_P(Specs, FilterConformance,
                         ::testing::Values(KindOf("bloom", 4), KindOf("ribbon", 4),
                                           KindOf("cuckoo", 4)),
                         NameOfKind);

}  // namespace
// The plugin's builders take keys; rates and sizes have tests of their own.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(FilterHashConformance);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(FilterRates);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(FilterConformanceSlow);
}  // namespace tieredfilter
