// All that differs between RocksDB versions, in one place. Everything else in plugin/, tests/ and
// tools/ is written against the newest interface and compiles unchanged with older ones.
//
// The virtual functions of FilterBitsBuilder come in three layouts, told apart by feature tests,
// not by version numbers (distributions patch, and the header tree decides):
//   7.0 to 9.5     AddKey, EstimateEntriesAdded, Finish, MaybePostVerify, ApproximateNumEntries;
//                  CalculateSpace and EstimatedFpRate only in the derived class
//                  BuiltinFilterBitsBuilder
//   9.6 to 10.8    adds the pure virtual AddKeyAndAlt
//   from 10.9 on   moves CalculateSpace and EstimatedFpRate into FilterBitsBuilder; no
//   BuiltinFilterBitsBuilder
// A binary fits one layout, so it must be compiled against the headers of exactly the library it
// runs with.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "rocksdb/slice.h"
#include "rocksdb/version.h"
#include "table/block_based/filter_policy_internal.h"

#if ROCKSDB_MAJOR < 7
#error "tieredfilter needs RocksDB 7.0 or later: before that, filter builders had another interface"
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

}  // namespace tieredfilter
