#include "tools/cold_lookup_bench/latency_histogram.h"

#include <algorithm>

namespace tieredfilter::cold_lookup {

// Below 2^kSubBits every value has a bucket of its own; above, the leading kSubBits + 1 bits choose
// it.
size_t LatencyHistogram::BucketOf(uint64_t nanoseconds) {
  const int log2 = 63 - __builtin_clzll(nanoseconds | 1);
  if (log2 < kSubBits) {
    return nanoseconds;
  }
  const int shift = log2 - kSubBits;
  return (static_cast<size_t>(shift + 1) << kSubBits) +
         ((nanoseconds >> shift) & ((1u << kSubBits) - 1));
}

uint64_t LatencyHistogram::UpperBound(size_t bucket) {
  const size_t group = bucket >> kSubBits;
  if (group == 0) {
    return bucket;
  }
  const uint64_t leading = (uint64_t{1} << kSubBits) + (bucket & ((1u << kSubBits) - 1));
  return ((leading + 1) << (group - 1)) - 1;
}

void LatencyHistogram::Add(uint64_t nanoseconds) {
  ++counts_[BucketOf(nanoseconds)];
  ++count_;
  sum_ += nanoseconds;
  max_ = std::max(max_, nanoseconds);
}

void LatencyHistogram::Merge(const LatencyHistogram& other) {
  for (size_t i = 0; i < kBuckets; ++i) {
    counts_[i] += other.counts_[i];
  }
  count_ += other.count_;
  sum_ += other.sum_;
  max_ = std::max(max_, other.max_);
}

double LatencyHistogram::Mean() const {
  return count_ == 0 ? 0.0 : static_cast<double>(sum_) / static_cast<double>(count_);
}

double LatencyHistogram::Percentile(double percent) const {
  const double wanted = percent / 100.0 * static_cast<double>(count_);
  uint64_t seen = 0;
  for (size_t i = 0; i < kBuckets; ++i) {
    seen += counts_[i];
    if (counts_[i] > 0 && static_cast<double>(seen) >= wanted) {
      return static_cast<double>(std::min(UpperBound(i), max_));
    }
  }
  return static_cast<double>(max_);
}

std::vector<std::pair<uint64_t, uint64_t>> LatencyHistogram::Buckets() const {
  std::vector<std::pair<uint64_t, uint64_t>> result;
  for (size_t i = 0; i < kBuckets; ++i) {
    if (counts_[i] > 0) {
      result.emplace_back(UpperBound(i), counts_[i]);
    }
  }
  return result;
}

}  // namespace tieredfilter::cold_lookup
