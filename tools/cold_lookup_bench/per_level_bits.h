// Filters for every level of a tree such that all levels together take as much filter memory as one
// setting for all.
#pragma once

#include <string>
#include <vector>

#include "src/policy/allotment.h"
#include "tools/cold_lookup_bench/tree_plan.h"

namespace tieredfilter::cold_lookup {

// "bloom", "ribbon", "cuckoo", or "best" for whichever kind is best at each level. Empty for other
// words.
std::vector<FilterKind> KindsOfPerLevelWord(const std::string& word);

// Divides `average_bits` (bits per key over all keys of the tree) among the runs so that lookups of
// absent keys waste the fewest reads. One figure per run of the plan.
std::vector<RunAllotment> AllotPerRun(const TreePlan& plan, const std::vector<FilterKind>& kinds,
                                      double average_bits);

// The same as a filter policy spec: "tieredfilter:0:bloom:20,1:bloom:19.5,...".
std::string SpecPerLevel(const TreePlan& plan, const std::vector<FilterKind>& kinds,
                         double average_bits);

// A memory budget that states no shape gets the plan's: each of the tree's files is written once,
// so a policy could not learn the sizes while the tree grows, as it does in a database. Every other
// policy string, a wrong one included, comes back as it is.
std::string SpecWithShape(const std::string& policy, const TreePlan& plan);

}  // namespace tieredfilter::cold_lookup
