#include "tools/cold_lookup_bench/policy_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "plugin/tieredfilter.h"
#include "rocksdb/convenience.h"
#include "rocksdb/utilities/object_registry.h"
#include "tools/cold_lookup_bench/per_level_bits.h"

namespace tieredfilter::cold_lookup {

using ROCKSDB_NAMESPACE::ConfigOptions;
using ROCKSDB_NAMESPACE::FilterPolicy;
using ROCKSDB_NAMESPACE::ObjectLibrary;
using ROCKSDB_NAMESPACE::Status;

namespace {

constexpr char kNone[] = "none";
constexpr char kPerLevel[] = "per-level-";
constexpr double kMaxPerLevelBits = 20.0;

// "per-level-<kind>:<bits>"
Status ExpandPerLevel(const std::string& requested, const TreePlan& plan, std::string* spec) {
  const size_t colon = std::min(requested.find(':'), requested.size());
  const size_t start = std::string(kPerLevel).size();
  const std::vector<FilterKind> kinds = KindsOfPerLevelWord(requested.substr(start, colon - start));
  if (kinds.empty()) {
    return Status::InvalidArgument(fmt::format(
        "--policies: '{}': per-level-bloom, -ribbon, -cuckoo and -best are known", requested));
  }
  const std::string amount = colon < requested.size() ? requested.substr(colon + 1) : "";
  char* end = nullptr;
  const double bits = std::strtod(amount.c_str(), &end);
  if (amount.empty() || *end != '\0' || !(bits >= 1.0 && bits <= kMaxPerLevelBits)) {
    return Status::InvalidArgument(
        fmt::format("--policies: '{}': the bits per key must be a number between 1 and {}",
                    requested, kMaxPerLevelBits));
  }
  *spec = SpecPerLevel(plan, kinds, bits);
  return Status::OK();
}

Status Create(const std::string& requested, const TreePlan& plan, PolicyChoice* choice) {
  choice->requested = requested;
  choice->spec = requested;
  if (requested == kNone) {
    return Status::OK();
  }
  const std::string option = kOptimizeForHits;
  if (requested.size() > option.size() &&
      requested.compare(requested.size() - option.size(), option.size(), option) == 0) {
    choice->spec.resize(requested.size() - option.size());
    choice->optimize_filters_for_hits = true;
  }
  if (choice->spec.rfind(kPerLevel, 0) == 0) {
    if (Status s = ExpandPerLevel(std::string(choice->spec), plan, &choice->spec); !s.ok()) {
      return s;
    }
  }
  choice->spec = SpecWithShape(choice->spec, plan);
  ConfigOptions options;
  options.ignore_unsupported_options = false;
  const Status s = FilterPolicy::CreateFromString(options, choice->spec, &choice->policy);
  if (!s.ok()) {
    return Status::InvalidArgument(fmt::format("--policies: RocksDB does not take '{}'", requested),
                                   s.ToString());
  }
  if (choice->policy == nullptr) {
    return Status::InvalidArgument(fmt::format(
        "--policies: RocksDB makes no filter policy of '{}'; write 'none' for no filter",
        requested));
  }
  return Status::OK();
}

}  // namespace

Status ChoosePolicies(const std::vector<std::string>& requested, const TreePlan& plan,
                      std::vector<PolicyChoice>* choices) {
  static const int registered = RegisterFilterPolicies(*ObjectLibrary::Default(), "");
  (void)registered;
  choices->clear();
  choices->push_back(PolicyChoice{kNone, kNone, nullptr});
  for (const std::string& name : requested) {
    if (name == kNone) {
      continue;
    }
    PolicyChoice choice;
    if (Status s = Create(name, plan, &choice); !s.ok()) {
      return s;
    }
    choices->push_back(std::move(choice));
  }
  return Status::OK();
}

}  // namespace tieredfilter::cold_lookup
