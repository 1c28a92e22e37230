// How many whole lines a cuckoo filter gets, and how many planes they have: the arithmetic between
// keys, bits and rate. (Filters of few keys: short_geometry.h.)
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/filter/line_layout.h"

namespace tieredfilter {

// Bits per key that the equations coding is offered with.
inline constexpr double kMinEquationsBits = 4;
inline constexpr double kMaxEquationsBits = 24;

// Beyond this a block would come near RocksDB's limit of 4 GiB for a block; the builder refuses it
// (no filter).
inline constexpr uint64_t kMaxLines = (uint64_t{1} << 31) / kLineBytes;

// Lines of `planes` and of `planes` + 1 planes in one filter. `more` of the lines, those with the
// fewest keys, are to have the extra plane: that makes the rate fall smoothly with the bits, and
// evens out lines that got many keys.
struct CuckooGeometry {
  uint32_t lines = 1;
  uint32_t planes = kMinPlanes;
  uint32_t more = 0;  // 0..lines

  // Bytes of the lines alone, without the block's trailer.
  size_t data_bytes() const;
  // 2^-planes, less what the lines with one more plane save.
  double fp_rate() const;
};

// The share of a line's columns, less two that an average random system of this size cannot use,
// that keys may fill on average. Higher is smaller at the same rate, moves more keys to their
// secondary line (slower lookups) and builds slower; above about 0.985 builds start to fail.
inline constexpr double kDefaultFill = 0.977;

// The geometry for `keys` distinct keys in about keys x bits_per_key bits: at most one line more,
// never less. bits_per_key 4..24. Lowering `fill` gives fewer planes in the same number of lines.
CuckooGeometry GeometryForBits(size_t keys, double bits_per_key, double fill = kDefaultFill);

// The bits per key that GeometryForBits needs for a false-positive rate (0 < rate < 1), for large
// filters. Limited to 4..24 bits, where rate_is_met says whether the limit cut it.
double BitsForRate(double fp_rate, bool* rate_is_met = nullptr);

// The rate that a large filter of so many bits per key has.
double RateForBits(double bits_per_key);

}  // namespace tieredfilter
