// What every filter has to fulfil, whatever it is made of: the tests are in filter_conformance.cc,
// and a filter takes part by being one more FilterKind in an INSTANTIATE_TEST_SUITE_P of
// FilterConformance, FilterHashConformance, FilterRates and FilterConformanceSlow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "gtest/gtest.h"
#include "src/filter/lookup.h"

namespace tieredfilter {

// One filter: keys are added, then it is finished, then it answers.
class FilterUnderTest {
 public:
  virtual ~FilterUnderTest() = default;

  virtual void Add(const std::string& key) = 0;
  // Only for kinds that take hashes.
  virtual void AddHash(uint64_t) {}
  virtual void Finish() = 0;

  virtual bool MayMatch(const KeyView& key) const = 0;
  virtual bool HashMayMatch(uint64_t) const { return true; }
  // count <= kMaxBatch.
  virtual void MayMatchBatch(const KeyView* keys, size_t count, bool* may_match) const = 0;

  virtual size_t bytes() const = 0;
  // What the filter itself says its false-positive rate is; 1 where it filters nothing.
  virtual double fp_rate() const = 0;
};

struct FilterKind {
  std::string name;  // letters, digits and underscores: part of a test's name
  std::function<std::unique_ptr<FilterUnderTest>(double bits_per_key)> make;
  double min_bits = 4;
  // Whether AddHash() and HashMayMatch() work, so that crafted hashes can be tried.
  bool takes_hashes = true;
  // How far the filter's own estimate may be off, as a factor: estimates need not be exact, but the
  // tests must know how far to trust them.
  double rate_tolerance = 1;
  // Bytes beyond keys x bits that any filter of this kind may have.
  size_t extra_bytes = 128;
};

inline void PrintTo(const FilterKind& kind, std::ostream* out) { *out << kind.name; }

inline std::string NameOfKind(const ::testing::TestParamInfo<FilterKind>& test) {
  return test.param.name;
}

class FilterConformanceBase : public ::testing::TestWithParam<FilterKind> {
 protected:
  std::unique_ptr<FilterUnderTest> Make(double bits) const { return GetParam().make(bits); }
  // `count` random hashes where the kind takes them, random keys otherwise. Then none may be lost.
  void CheckRandomKeys(uint64_t seed, size_t count, double bits) const;
};

// Zero false negatives and agreeing answers: for each kind with each kernel.
class FilterConformance : public FilterConformanceBase {};
// The same with hashes that no keys are known for: for each kind that takes hashes.
class FilterHashConformance : public FilterConformanceBase {};
// False-positive rates and sizes: once for each kind, since kernels share bytes and answers.
class FilterRates : public FilterConformanceBase {};
// The same as FilterConformance with sizes that take minutes.
class FilterConformanceSlow : public FilterConformanceBase {};

}  // namespace tieredfilter
