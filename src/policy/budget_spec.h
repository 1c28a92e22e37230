// A memory budget as text:
//
//   spec     = [ "tieredfilter:" ] "budget:" amount *( "," property )
//   amount   = bits per key on average, as in "10"  |  bytes, as in "512MB"
//   property = "absent:" share          of the lookups that find nothing, 0 to 1; 1 if left out
//            | "absent:auto"            measured; 1 as long as there is too little to go by
//            | "kinds:" kind *( "+" kind )   filters to choose from: bloom, ribbon, cuckoo;
//                                       bloom+cuckoo if left out
//            | "cap:" limit [ "+" limit ]    most bits per key, and most bytes per table; 20 bits
//            | "shape:" runs            the tree to plan for while its real sizes are not known
//   runs     = [ files "x" ] keys *( "+" keys )  level 0 (so many files of so many keys), level 1,
//   ...
//
// For example "budget:10,absent:0.8,shape:4x25k+100k+1M+10M". kB, MB and GB are powers of 1024, as
// in RocksDB's options; keys take k, M and G for powers of 1000. In place of the first ":" of a
// piece "=" is read, too; it is not printed, since it has a meaning of its own in options files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "src/policy/filter_setting.h"
#include "src/policy/spec_error.h"

namespace tieredfilter {

// Names of what a budget is made of; each is also the name of a property of the policy's options.
inline constexpr const char* kBudgetNames[] = {"budget", "absent", "kinds", "cap", "shape"};

// True if `text`, a spec with or without the policy id, is a budget rather than rules.
bool IsBudgetSpec(const std::string& text);

// Plain data; equal texts give equal specs and the other way round.
struct BudgetSpec {
  // Exactly one of the two is set.
  int64_t millibits_per_key = 0;
  int64_t bytes = 0;
  int64_t absent_per_myriad = 10000;  // absent share, in 1/10000
  // Measured from what the filters are asked (AbsentShareMeter); the above until then.
  bool absent_is_measured = false;
  std::vector<FilterKind> kinds = {FilterKind::kBloom, FilterKind::kCuckoo};
  int64_t cap_millibits = 20000;
  int64_t cap_bytes = 0;  // per table; 0: none
  // Empty: not stated.
  int64_t shape_files = 0;             // of level 0
  std::vector<int64_t> shape_entries;  // of a file of level 0, of level 1, ...

  double absent_share() const { return static_cast<double>(absent_per_myriad) / 1e4; }

  // Parses `text`. On failure says why in *error and leaves *spec alone.
  static bool Parse(const std::string& text, BudgetSpec* spec, SpecError* error);
  // Canonical text, without the policy id; what is as if left out is not printed.
  std::string ToString() const;
};

}  // namespace tieredfilter
