// All that differs between RocksDB versions, in one place. Everything else in plugin/, tests/ and
// tools/ is written against the newest interface and compiles unchanged with older ones.
//
// The virtual functions of FilterBitsBuilder come in three layouts, told apart by feature tests,
// not by version numbers (distributions patch, and the header tree decides):
//   7.3 to 9.5     AddKey, EstimateEntriesAdded, Finish, MaybePostVerify, ApproximateNumEntries;
//                  CalculateSpace and EstimatedFpRate only in the derived class
//                  BuiltinFilterBitsBuilder
//   9.6 to 10.8    adds the pure virtual AddKeyAndAlt
//   from 10.9 on   moves CalculateSpace and EstimatedFpRate into FilterBitsBuilder; no
//   BuiltinFilterBitsBuilder
// A binary fits one layout, so it must be compiled against the headers of exactly the library it
// runs with.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include "cache/cache_reservation_manager.h"
#include "rocksdb/slice.h"
#include "rocksdb/table.h"
#include "rocksdb/version.h"
#include "table/block_based/filter_policy_internal.h"

#if ROCKSDB_MAJOR < 7 || (ROCKSDB_MAJOR == 7 && ROCKSDB_MINOR < 3)
#error "tieredfilter needs RocksDB 7.3 or later: older ones cannot give a policy options of its own"
#endif

namespace ROCKSDB_NAMESPACE {
// Gone in the newest layout; declared so that templates can name it there without using it.
class BuiltinFilterBitsBuilder;
}  // namespace ROCKSDB_NAMESPACE

namespace tieredfilter {

template <class Builder, class = void>
struct HasAddKeyAndAlt : std::false_type {};
template <class Builder>
struct HasAddKeyAndAlt<Builder, std::void_t<decltype(std::declval<Builder&>().AddKeyAndAlt(
                                    std::declval<const ROCKSDB_NAMESPACE::Slice&>(),
                                    std::declval<const ROCKSDB_NAMESPACE::Slice&>()))>>
    : std::true_type {};

template <class Builder, class = void>
struct HasCalculateSpace : std::false_type {};
template <class Builder>
struct HasCalculateSpace<Builder,
                         std::void_t<decltype(std::declval<Builder&>().CalculateSpace(size_t{0}))>>
    : std::true_type {};

namespace compat_internal {

// Each layer introduces the functions its base lacks, as pure virtual ones, so that a final class
// writes `override` on all of them in every layout and a changed signature stops the build.
template <class Base, bool kPresent = HasAddKeyAndAlt<Base>::value>
class WithAddKeyAndAlt : public Base {};

template <class Base>
class WithAddKeyAndAlt<Base, false> : public Base {
 public:
  virtual void AddKeyAndAlt(const ROCKSDB_NAMESPACE::Slice& key,
                            const ROCKSDB_NAMESPACE::Slice& alt) = 0;
};

template <class Base, bool kPresent = HasCalculateSpace<Base>::value>
class WithSpace : public Base {};

template <class Base>
class WithSpace<Base, false> : public Base {
 public:
  virtual size_t CalculateSpace(size_t num_entries) = 0;
  virtual double EstimatedFpRate(size_t num_entries, size_t bytes) = 0;
};

// The class that has CalculateSpace in a stock builder. A template parameter so that
// BuiltinFilterBitsBuilder stays unnamed where it does not exist.
template <class Builder, class Stock = ROCKSDB_NAMESPACE::BuiltinFilterBitsBuilder>
auto& StockBuilder(Builder& builder) {
  if constexpr (HasCalculateSpace<Builder>::value) {
    return builder;
  } else {
    // Every builder of a stock policy is one; there is no RTTI to check it with in release builds
    // of RocksDB.
    return static_cast<Stock&>(builder);
  }
}

}  // namespace compat_internal

// Base class of our filter builders: the newest interface, whatever the RocksDB version.
using FilterBitsBuilderBase = compat_internal::WithSpace<
    compat_internal::WithAddKeyAndAlt<ROCKSDB_NAMESPACE::FilterBitsBuilder>>;

// CalculateSpace and EstimatedFpRate of a builder that a *stock* policy made. Undefined for any
// other builder.
inline size_t StockCalculateSpace(ROCKSDB_NAMESPACE::FilterBitsBuilder& stock_builder,
                                  size_t num_entries) {
  return compat_internal::StockBuilder(stock_builder).CalculateSpace(num_entries);
}
inline double StockEstimatedFpRate(ROCKSDB_NAMESPACE::FilterBitsBuilder& stock_builder,
                                   size_t num_entries, size_t bytes) {
  return compat_internal::StockBuilder(stock_builder).EstimatedFpRate(num_entries, bytes);
}

namespace compat_internal {

template <class TableOptions, class = void>
struct ChargesConstruction {  // up to 7.3
  static bool In(const TableOptions& options) { return options.reserve_table_builder_memory; }
};
template <class TableOptions>
struct ChargesConstruction<
    TableOptions, std::void_t<decltype(std::declval<TableOptions&>().cache_usage_options)>> {
  static bool In(const TableOptions& options) {
    const auto& usage = options.cache_usage_options;
    const auto entry =
        usage.options_overrides.find(ROCKSDB_NAMESPACE::CacheEntryRole::kFilterConstruction);
    const auto charged =
        entry == usage.options_overrides.end() ? usage.options.charged : entry->second.charged;
    using Decision = std::decay_t<decltype(charged)>;
    return charged == Decision::kEnabled;
  }
};

}  // namespace compat_internal

// Charges the memory of a filter under construction to the block cache, where the table options ask
// for it (role kFilterConstruction; before 7.4: reserve_table_builder_memory), through the very
// class that RocksDB's own builders charge with. Best effort as there: a cache that has no room,
// strict_capacity_limit or not, does not stop a filter. Not thread-safe.
class FilterConstructionCharge {
 public:
  explicit FilterConstructionCharge(const ROCKSDB_NAMESPACE::BlockBasedTableOptions& options) {
    using TableOptions = ROCKSDB_NAMESPACE::BlockBasedTableOptions;
    if (options.block_cache != nullptr &&
        compat_internal::ChargesConstruction<TableOptions>::In(options)) {
      manager_ = std::make_shared<Manager>(options.block_cache);
    }
  }

  bool enabled() const { return manager_ != nullptr; }

  // `bytes` is all that is in use now. The cache counts in steps of 256 KiB, rounded up.
  void Set(size_t bytes) {
    if (!enabled()) return;
#if ROCKSDB_MAJOR == 7 && ROCKSDB_MINOR < 2
    manager_->UpdateCacheReservation<kRole>(bytes).PermitUncheckedError();
#else
    manager_->UpdateCacheReservation(bytes).PermitUncheckedError();
#endif
  }

 private:
  static constexpr auto kRole = ROCKSDB_NAMESPACE::CacheEntryRole::kFilterConstruction;
#if ROCKSDB_MAJOR == 7 && ROCKSDB_MINOR < 2
  using Manager = ROCKSDB_NAMESPACE::CacheReservationManager;
#else
  using Manager = ROCKSDB_NAMESPACE::CacheReservationManagerImpl<kRole>;
#endif
  std::shared_ptr<Manager> manager_;
};

}  // namespace tieredfilter
