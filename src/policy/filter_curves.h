// What each kind of filter really costs: bits per key against false-positive rate, and the bytes a
// table's filter takes beyond them. What the memory budget reckons with.
#pragma once

#include <cstddef>
#include <vector>

#include "src/policy/filter_setting.h"

namespace tieredfilter {

// One kind's curve, for filters of some thousand keys and more. Rates are those an absent key
// meets, not RocksDB's estimates. Immutable; safe to read from many threads.
class FilterCurve {
 public:
  // A point of the curve; `halvings` is -log2 of the false-positive rate. Between points the rate
  // falls exponentially with the bits.
  struct Point {
    double bits_per_key;
    double halvings;
  };
  // `points` ascend in both. `bytes_per_table`: see bytes_per_table().
  FilterCurve(std::vector<Point> points, double bytes_per_table)
      : points_(std::move(points)), bytes_per_table_(bytes_per_table) {}

  double min_bits() const { return points_.front().bits_per_key; }
  double max_bits() const { return points_.back().bits_per_key; }
  double min_halvings() const { return points_.front().halvings; }
  double max_halvings() const { return points_.back().halvings; }

  // The rate at this many bits per key, from 0 to 1: 1 below min_bits(), where there is no such
  // filter, and that of max_bits() above.
  double Rate(double bits_per_key) const;
  // Fewest bits per key with a rate of at most 2^-halvings: min_bits() below min_halvings(), and
  // infinity above max_halvings().
  double BitsForHalvings(double halvings) const;

  // Average bytes that a table's filter takes whatever its number of keys: the trailer, and what
  // rounding up to the kind's unit adds.
  double bytes_per_table() const { return bytes_per_table_; }

 private:
  std::vector<Point> points_;
  double bytes_per_table_;
};

// The curve of kBloom, kRibbon or kCuckoo (equations coding). The first call for cuckoo makes its
// table in some microseconds.
const FilterCurve& CurveOf(FilterKind kind);

}  // namespace tieredfilter
