// What a run lets one say about its policies, and what it does not.
#pragma once

#include <string>
#include <vector>

#include "tools/cold_lookup_bench/report.h"

namespace tieredfilter::cold_lookup {

// Two policies have the same memory within this part of it.
constexpr double kEqualMemory = 0.01;

// How the wasted reads of two policies compare, beyond chance.
struct Comparison {
  bool differs = false;      // by more than chance explains
  bool tells = true;         // false: one seed of a load in which popular keys repeat
  double ratio = 1;          // wasted reads of the reference / of the policy
  double low = 1, high = 1;  // the interval of the ratio, 3 standard errors to each side
};

// Chance is the larger of two estimates: that of counting rare independent events, and the spread
// over the seeds where there are several.
Comparison Compare(const RunReport& report, const PolicyReport& policy,
                   const PolicyReport& reference);

// The policy that others are compared with: the first stock Bloom filter, or the first policy with
// filters. Null if there is none.
const PolicyReport* FindReference(const RunReport& report);

// One sentence for each policy but the reference and "none". A winner is called only at equal
// filter memory, at equal reads, or where a policy needs less of both.
std::vector<std::string> Verdicts(const RunReport& report);

}  // namespace tieredfilter::cold_lookup
