// A filter policy as text: which tables get which filter.
//
//   spec    = [ "tieredfilter" [ ":" ] ] [ rules ]
//   rules   = rule *( "," rule )  |  setting             one setting alone is for every table
//   rule    = levels ":" setting
//   levels  = N | N "-" M | N "+"                        from the top; level 0 is the top
//           | last [ "-" K ] [ ".." last [ "-" J ] ]     from the bottom; last is num_levels - 1
//           | "flush" | "bottommost" | "unknown" | "*"   ("default" is another word for "*")
//   setting = "none" | kind ":" amount [ ":" coding ]    kind: bloom, ribbon, cuckoo
//   amount  = bits per key really stored, as in "9.5"    at most three decimals
//           | false positives in percent, as in "0.5%"   at most seven decimals
//   coding  = "equations" | "fingerprints"               cuckoo only; equations if left out
//
// For example "0-1:bloom:14,2-4:bloom:10,5+:bloom:7,bottommost:bloom:7". There are no spaces and
// none of = ; { } #, which have a meaning of their own in RocksDB's options strings and files.
// src/policy/RULES.md says which rule is taken.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/policy/filter_setting.h"
#include "src/policy/level_selector.h"
#include "src/policy/spec_error.h"
#include "src/policy/table_context.h"

namespace tieredfilter {

// The id under which RocksDB knows the policy; a spec may carry it in front, as it stands in an
// options file.
constexpr char kPolicyId[] = "tieredfilter";

// A spec is refused beyond these sizes: no real one comes near, and a limit bounds the work a
// hostile one causes.
constexpr size_t kMaxSpecBytes = 4096;
constexpr size_t kMaxRules = 64;

struct ParseOptions {
  // False: "cuckoo" is refused as not in this build.
  bool cuckoo_available = false;
};

struct PolicyRule {
  LevelSelector levels;
  FilterSetting setting;

  std::string ToString() const { return levels.ToString() + ":" + setting.ToString(); }
};

// Immutable after Parse; copies share nothing. Safe to read from many threads.
class PolicySpec {
 public:
  // The classic ladder for cold data: what an empty spec means.
  PolicySpec();

  // Parses `text`. Returns false, says why in *error and leaves *spec alone if it is not a spec.
  static bool Parse(const std::string& text, const ParseOptions& options, PolicySpec* spec,
                    SpecError* error);

  // The setting for a table no rule fits: what RocksDB users call the usual Bloom filter. Not
  // "none": forgetting a level should cost memory, not reads.
  static FilterSetting SettingWithoutRule() {
    return FilterSetting::WithBits(FilterKind::kBloom, 10);
  }

  const std::vector<PolicyRule>& rules() const { return rules_; }

  // Index into rules() of the rule for this table, or rules().size() if none fits.
  size_t RuleFor(const TableContext& table) const;
  FilterSetting SettingFor(const TableContext& table) const;

  // Checks the rules against a column family's number of levels. A rule that names only levels the
  // column family does not have is a mistake, and refused, unless the spec has an open-ended rule
  // ("5+"): such a ladder is written for column families of any depth. Returns false and says which
  // rule in *error (position: in ToString()).
  bool FitsNumLevels(int num_levels, SpecError* error) const;

  // Canonical text, without the policy id. Parses back to an equal spec.
  std::string ToString() const;

 private:
  explicit PolicySpec(std::vector<PolicyRule> rules) : rules_(std::move(rules)) {}

  std::vector<PolicyRule> rules_;
};

bool operator==(const PolicySpec& a, const PolicySpec& b);

}  // namespace tieredfilter
