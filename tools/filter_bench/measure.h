// Builds the filters, proves them right, and times them side by side.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tools/filter_bench/bench_filter.h"

namespace tieredfilter::bench {

// One way of asking. `many`: a filter chosen at random, for each key or each batch, among so many
// copies that none of them is cached.
struct Pattern {
  const char* name;
  CallShape shape;
  bool many;
};
const std::vector<Pattern>& AllPatterns();

struct MeasureOptions {
  KeyModel key_model;
  std::vector<uint64_t> key_counts;
  std::vector<const Pattern*> patterns;
  int repetitions = 5;
  double min_time_ms = 10;  // timed, per filter, pattern, outcome and repetition
  uint64_t fpr_keys = 0;    // absent keys asked to measure the false-positive rate
  double many_mb = 0;       // least total size (10^6 bytes) of the filters of a `many` pattern
  size_t block_offset = 0;  // where blocks start, in bytes behind a 64-byte boundary
  uint64_t seed = 0;
  bool build_times = true;
};

// A median and its ratio to the baseline filter. The ratio is the median of the ratios within each
// repetition, which cancels what slows down all filters for a while; so it need not be exactly the
// ratio of two medians.
struct Timing {
  double ns = 0;  // per key
  double ratio = 0;
};

struct LookupResult {
  const Pattern* pattern = nullptr;
  Timing negative;
  Timing positive;
};

struct FilterResult {
  std::string filter;
  std::string kernel;
  uint64_t keys = 0;
  double bits_per_key = 0;
  double fpr = 0;
  double fpr_sigma = 0;  // one standard deviation of `fpr`, from the number of false positives
  uint64_t false_negatives = 0;
  bool has_build = false;
  Timing build;                   // ratio to the baseline
  double build_ribbon_ratio = 0;  // ratio to the first Ribbon of the run; 0: none
  double build_peak_bytes_per_key = 0;
  double build_temporary_bytes_per_key = 0;  // peak less the block and 8 bytes per key hash
  std::vector<LookupResult> lookups;
};

// Measures every filter with `keys` keys; `baseline` is an index into `filters`. Returns false and
// sets `error` if a filter cannot be built or misses a key that it holds: then nothing is timed.
bool MeasureFilters(const std::vector<std::unique_ptr<BenchFilter>>& filters, size_t baseline,
                    uint64_t keys, const MeasureOptions& options,
                    std::vector<FilterResult>* results, std::string* error);

// Median; of an even number of values the mean of the middle two. Not for an empty list.
double Median(std::vector<double> values);

}  // namespace tieredfilter::bench
