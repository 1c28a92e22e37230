// How long lookups took, in bounded memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tieredfilter::cold_lookup {

// Counts durations in buckets that are 1/32 of a power of two wide: every figure is within 3%. 16
// KB.
class LatencyHistogram {
 public:
  void Add(uint64_t nanoseconds);
  void Merge(const LatencyHistogram& other);

  uint64_t count() const { return count_; }
  uint64_t max() const { return max_; }  // exact, nanoseconds; 0 if empty
  double Mean() const;                   // exact, nanoseconds; 0 if empty

  // The duration that `percent` (0 to 100) of all lookups did not exceed, in nanoseconds; 0 if
  // empty.
  double Percentile(double percent) const;

  // The buckets that are not empty, ascending: upper bound in nanoseconds, number of lookups.
  std::vector<std::pair<uint64_t, uint64_t>> Buckets() const;

 private:
  static constexpr int kSubBits = 5;
  static constexpr size_t kBuckets = (64 - kSubBits + 1) << kSubBits;

  static size_t BucketOf(uint64_t nanoseconds);
  static uint64_t UpperBound(size_t bucket);

  std::array<uint64_t, kBuckets> counts_{};
  uint64_t count_ = 0;
  uint64_t sum_ = 0;
  uint64_t max_ = 0;
};

}  // namespace tieredfilter::cold_lookup
