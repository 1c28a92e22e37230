// Tunes the bits of policies until they are equal in filter memory or in wasted reads: two filters
// of different size say nothing about which kind is better.
#pragma once

#include <string>
#include <vector>

#include "rocksdb/status.h"
#include "tools/cold_lookup_bench/policy_choice.h"
#include "tools/cold_lookup_bench/policy_run.h"

namespace tieredfilter::cold_lookup {

// Equal means within this part of the first policy's figure.
constexpr double kEqualWithin = 0.01;

// Adds `bits` to every number of bits in a policy string: "bloomfilter:10", "per-level-bloom:9.5",
// "tieredfilter:0-1:bloom:14,2+:ribbon:7". Rates (with '%') and all other numbers stay. Returns
// false, with *spec untouched, if there is no such number or one would leave 1 to 40.
bool ShiftBits(double bits, std::string* spec);

// Tunes every policy after the first one with filters, which is the reference, by loading trees in
// `folder` and looking at the filters in them: their bytes, or the wasted reads per absent lookup
// that their bits lead one to expect. `choices` get new specs and policies. InvalidArgument names a
// policy that cannot be tuned or does not get there.
ROCKSDB_NAMESPACE::Status EqualizePolicies(const Setup& setup, Equalize equalize,
                                           const std::string& folder,
                                           std::vector<PolicyChoice>* choices);

}  // namespace tieredfilter::cold_lookup
