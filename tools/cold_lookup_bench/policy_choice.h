// From the words of --policies to filter policy objects.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "rocksdb/filter_policy.h"
#include "rocksdb/status.h"
#include "tools/cold_lookup_bench/tree_plan.h"

namespace tieredfilter::cold_lookup {

struct PolicyChoice {
  std::string requested;  // as typed
  std::string spec;  // what RocksDB was given; differs from `requested` for the driver's own words
  std::shared_ptr<const ROCKSDB_NAMESPACE::FilterPolicy> policy;  // null for "none"
  bool optimize_filters_for_hits = false;                         // the column family's option
};

// Behind a policy: sets the column family's option of the same name as well.
constexpr char kOptimizeForHits[] = "+optimize_filters_for_hits";

// Creates every policy through FilterPolicy::CreateFromString, as an options file would, after
// registering this project's policies. "none" comes first, added if it is not in the list: every
// figure is relative to it. InvalidArgument names the policy that RocksDB refuses. A string for
// which RocksDB says OK but yields no policy is refused as well: such a run would measure nothing
// under the name of something.
ROCKSDB_NAMESPACE::Status ChoosePolicies(const std::vector<std::string>& requested,
                                         const TreePlan& plan, std::vector<PolicyChoice>* choices);

}  // namespace tieredfilter::cold_lookup
