// Bits per key for every level of a tree such that all levels together take as much filter memory
// as one setting for all.
#pragma once

#include <string>
#include <vector>

#include "tools/cold_lookup_bench/tree_plan.h"

namespace tieredfilter::cold_lookup {

// Above about 20 bits RocksDB's Bloom filter gains little (its rate levels off with its 512-bit
// blocks), and memory spent there is missing where the keys are.
constexpr double kMaxBloomBits = 20.0;

// Distributes `average_bits` (bits per key over all keys of the tree) so that the expected number
// of false positives per absent lookup, summed over all sorted runs, is smallest. A Bloom filter's
// rate falls by e per 1 / ln(2)^2 = 2.08 bits, so a run with a tenth of the keys gets 4.8 bits
// more; a run never gets more than kMaxBloomBits, and one that would get less than 1 bit gets 0 (no
// filter). Returns one figure per run of the plan.
std::vector<double> BloomBitsPerRun(const TreePlan& plan, double average_bits);

// The same as a filter policy spec: "tieredfilter:0:bloom:20.000,1:bloom:20.000,...".
std::string BloomSpecPerLevel(const TreePlan& plan, double average_bits);

}  // namespace tieredfilter::cold_lookup
