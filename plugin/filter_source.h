// Where a table's filter builder comes from, for one filter setting.
#pragma once

#include <memory>
#include <string>

#include "rocksdb/rocksdb_namespace.h"
#include "src/policy/filter_setting.h"

namespace ROCKSDB_NAMESPACE {
class FilterBitsBuilder;
struct FilterBuildingContext;
}  // namespace ROCKSDB_NAMESPACE

namespace tieredfilter {

// Immutable and safe to use from many threads.
class FilterSource {
 public:
  virtual ~FilterSource() = default;
  // Returns a new builder that the caller owns, or nullptr for "no filter". The builder keeps no
  // reference to `context`. It may refer to this source, which RocksDB keeps alive through the
  // policy.
  virtual ROCKSDB_NAMESPACE::FilterBitsBuilder* NewBuilder(
      const ROCKSDB_NAMESPACE::FilterBuildingContext& context) const = 0;
};

// True if this build can write cuckoo filters; the spec grammar accepts the kind only then.
constexpr bool kCuckooAvailable = true;

// The one place that knows how each kind is built. Never null.
std::unique_ptr<const FilterSource> NewFilterSource(const FilterSetting& setting);

}  // namespace tieredfilter
