// One filter setting: which kind of filter a table gets, and how big or how precise it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "src/policy/spec_error.h"

namespace tieredfilter {

enum class FilterKind { kNone, kBloom, kRibbon, kCuckoo };

// How the content of a cuckoo filter's buckets is stored. Equations are smaller at the same rate
// and just as fast to look up; fingerprints are cheaper to build.
enum class CuckooCoding { kEquations, kFingerprints };

// Exactly one of the two amounts is set (neither for kNone). Both are whole numbers of a small
// unit, so that a setting is equal to itself after being printed and parsed again:
//   millibits_per_key    thousandths of a bit really stored per key; RocksDB keeps no finer steps
//   either rate_per_billion     target false positives per 10^9 lookups of absent keys
struct FilterSetting {
  FilterKind kind = FilterKind::kNone;
  int64_t millibits_per_key = 0;
  int64_t rate_per_billion = 0;
  CuckooCoding coding = CuckooCoding::kEquations;

  static FilterSetting None() { return FilterSetting(); }
  static FilterSetting WithBits(FilterKind kind, double bits_per_key);

  bool has_bits() const { return millibits_per_key > 0; }
  bool has_rate() const { return rate_per_billion > 0; }
  double bits_per_key() const { return static_cast<double>(millibits_per_key) / 1e3; }
  double false_positive_rate() const { return static_cast<double>(rate_per_billion) / 1e9; }

  // The text that ParseFilterSetting reads back to an equal setting, e.g. "bloom:9.5",
  // "ribbon:0.1%", "none".
  std::string ToString() const;
};

bool operator==(const FilterSetting& a, const FilterSetting& b);
inline bool operator!=(const FilterSetting& a, const FilterSetting& b) { return !(a == b); }

// Smallest and largest number of bits per key a kind is offered with, both allowed, in thousandths.
struct BitsLimits {
  int64_t min_millibits;
  int64_t max_millibits;
};
// Bloom 1..64:   below 1, RocksDB would round up to 1 (or drop the filter below 0.5); above 64 more
// bits buy nothing, since
//                a 64-byte block then holds fewer than 8 keys and the rate is limited by blocks
//                that are full by chance.
// Ribbon 1..32:  a Ribbon filter stores at most 32 bits a slot.
// Cuckoo 4..24:  below, a filter costs hardly less and stops little; 24 bits are a rate of about
//                one in four million.
BitsLimits LimitsOf(FilterKind kind);

// Rates are accepted from 0.0001% to 50%. Beyond 50% no filter is cheaper and nearly as good.
constexpr int64_t kMinRatePerBillion = 1000;
constexpr int64_t kMaxRatePerBillion = 500 * 1000 * 1000;

const char* NameOf(FilterKind kind);
// Finds the kind with exactly this name. Returns false if there is none.
bool FindFilterKind(const std::string& name, FilterKind* kind);
// The kinds one can ask for, for messages: "bloom, ribbon, none" (and cuckoo where it is
// available).
std::string KindNames(bool cuckoo_available);

// Parses "kind[:amount[:coding]]" that starts at `offset` of the whole text (for positions in
// errors only). On failure *setting is untouched.
bool ParseFilterSetting(const std::string& text, size_t offset, bool cuckoo_available,
                        FilterSetting* setting, SpecError* error);

}  // namespace tieredfilter
