#include "tools/cold_lookup_bench/timed_policy.h"

#include <string>
#include <utility>

#include "plugin/rocksdb_compat.h"
#include "tools/cold_lookup_bench/thread_cpu.h"

namespace tieredfilter::cold_lookup {

using ROCKSDB_NAMESPACE::ColumnFamilyOptions;
using ROCKSDB_NAMESPACE::Customizable;
using ROCKSDB_NAMESPACE::DBOptions;
using ROCKSDB_NAMESPACE::FilterBitsBuilder;
using ROCKSDB_NAMESPACE::FilterBitsReader;
using ROCKSDB_NAMESPACE::FilterBuildingContext;
using ROCKSDB_NAMESPACE::FilterPolicy;
using ROCKSDB_NAMESPACE::Slice;
using ROCKSDB_NAMESPACE::Status;

namespace {

// Functions that only some versions of RocksDB have; those without never call ours.
template <class Builder>
void ForwardKeyAndAlt(Builder* builder, const Slice& key, const Slice& alt) {
  if constexpr (HasAddKeyAndAlt<Builder>::value) {
    builder->AddKeyAndAlt(key, alt);
  }
}
template <class Builder>
size_t ForwardCalculateSpace(Builder* builder, size_t entries) {
  if constexpr (HasCalculateSpace<Builder>::value) {
    return builder->CalculateSpace(entries);
  } else {
    return 0;
  }
}
template <class Builder>
double ForwardFpRate(Builder* builder, size_t entries, size_t bytes) {
  if constexpr (HasCalculateSpace<Builder>::value) {
    return builder->EstimatedFpRate(entries, bytes);
  } else {
    return 0;
  }
}

class TimedBuilder final : public FilterBitsBuilderBase {
 public:
  TimedBuilder(std::unique_ptr<FilterBitsBuilder> builder, std::shared_ptr<FilterBuildCost> cost)
      : builder_(std::move(builder)), cost_(std::move(cost)) {}

  void AddKey(const Slice& key) override { builder_->AddKey(key); }
  void AddKeyAndAlt(const Slice& key, const Slice& alt) override {
    ForwardKeyAndAlt(builder_.get(), key, alt);
  }
  size_t EstimateEntriesAdded() override { return builder_->EstimateEntriesAdded(); }
  size_t ApproximateNumEntries(size_t bytes) override {
    return builder_->ApproximateNumEntries(bytes);
  }
  size_t CalculateSpace(size_t entries) override {
    return ForwardCalculateSpace(builder_.get(), entries);
  }
  double EstimatedFpRate(size_t entries, size_t bytes) override {
    return ForwardFpRate(builder_.get(), entries, bytes);
  }
  Slice Finish(std::unique_ptr<const char[]>* buffer) override { return Finish(buffer, nullptr); }
  Slice Finish(std::unique_ptr<const char[]>* buffer, Status* status) override {
    cost_->filters.fetch_add(1);
    cost_->keys.fetch_add(builder_->EstimateEntriesAdded());
    const uint64_t start = ThreadCpuNanoseconds();
    const Slice block =
        status == nullptr ? builder_->Finish(buffer) : builder_->Finish(buffer, status);
    cost_->cpu_nanoseconds.fetch_add(ThreadCpuNanoseconds() - start);
    return block;
  }
  Status MaybePostVerify(const Slice& block) override {
    const uint64_t start = ThreadCpuNanoseconds();
    Status s = builder_->MaybePostVerify(block);
    cost_->cpu_nanoseconds.fetch_add(ThreadCpuNanoseconds() - start);
    return s;
  }

 private:
  const std::unique_ptr<FilterBitsBuilder> builder_;
  const std::shared_ptr<FilterBuildCost> cost_;
};

class TimedPolicy final : public FilterPolicy {
 public:
  TimedPolicy(std::shared_ptr<const FilterPolicy> policy, std::shared_ptr<FilterBuildCost> cost)
      : policy_(std::move(policy)), cost_(std::move(cost)) {}

  const char* Name() const override { return policy_->Name(); }
  std::string GetId() const override { return policy_->GetId(); }
  const char* CompatibilityName() const override { return policy_->CompatibilityName(); }
  // Whoever looks for the policy by its name must get that one, not this.
  bool IsInstanceOf(const std::string&) const override { return false; }
  const Customizable* Inner() const override { return policy_.get(); }
  Status ValidateOptions(const DBOptions& db_options,
                         const ColumnFamilyOptions& family_options) const override {
    return policy_->ValidateOptions(db_options, family_options);
  }
  FilterBitsBuilder* GetBuilderWithContext(const FilterBuildingContext& context) const override {
    if (cost_->paused.load()) {
      return nullptr;
    }
    std::unique_ptr<FilterBitsBuilder> builder(policy_->GetBuilderWithContext(context));
    return builder == nullptr ? nullptr : new TimedBuilder(std::move(builder), cost_);
  }
  FilterBitsReader* GetFilterBitsReader(const Slice& block) const override {
    return policy_->GetFilterBitsReader(block);
  }

 private:
  const std::shared_ptr<const FilterPolicy> policy_;
  const std::shared_ptr<FilterBuildCost> cost_;
};

}  // namespace

std::shared_ptr<const FilterPolicy> NewTimedPolicy(std::shared_ptr<const FilterPolicy> policy,
                                                   std::shared_ptr<FilterBuildCost> cost) {
  return policy == nullptr ? nullptr
                           : std::make_shared<TimedPolicy>(std::move(policy), std::move(cost));
}

}  // namespace tieredfilter::cold_lookup
