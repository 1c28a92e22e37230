#include "src/policy/filter_curves.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "src/filter/cuckoo_geometry.h"

namespace tieredfilter {
namespace {

// -log2 of BloomRateForBits(1), (2), ... (24): the measured model of the stock filter, tabulated
// since each figure takes that function a millisecond. The test compares every entry, so a better
// model there cannot leave this behind.
constexpr double kBloomHalvings[] = {0.6617,  1.3457,  2.0754,  2.7552,  3.4257,  4.1142,
                                     4.7715,  5.4258,  6.0727,  6.6931,  7.3218,  7.9180,
                                     8.5193,  9.0902,  9.6647,  10.2108, 10.7574, 11.2830,
                                     11.7977, 12.3039, 12.7897, 13.2739, 13.7436, 14.1962};

// A stock Ribbon filter of one million keys stores so many bits per key for h halvings: a straight
// line through what its builder reports (RocksDB 7.8.3), which zigzags around it by less than 1.5%
// from 2 bits up. From 2,000 to 10 million keys it differs by another 2%.
constexpr double kRibbonBitsPerHalving = 1.048;
constexpr double kRibbonBits = 0.07;

// Marker and settings, as all stock filters have them.
constexpr double kStockTrailerBytes = 5;
// Sizes are rounded up to whole lines of 64 bytes (Bloom, cuckoo): half a line on average. Ribbon
// rounds to 128 slots: half of that at 8 bits.
constexpr double kHalfLineBytes = 32;
constexpr double kHalfSlotBlockBytes = 64;
constexpr double kCuckooTrailerBytes = 28;

FilterCurve BloomCurve() {
  std::vector<FilterCurve::Point> points;
  double bits = 1;
  for (double halvings : kBloomHalvings) {
    points.push_back({bits++, halvings});
  }
  return FilterCurve(std::move(points), kStockTrailerBytes + kHalfLineBytes);
}

FilterCurve RibbonCurve() {
  // Beyond 20 bits the Bloom parameter that RocksDB wants for it leaves the range it was made for.
  constexpr double kMost = 20;
  const double least = (1 - kRibbonBits) / kRibbonBitsPerHalving;
  const double most = (kMost - kRibbonBits) / kRibbonBitsPerHalving;
  return FilterCurve({{1, least}, {kMost, most}}, kStockTrailerBytes + kHalfSlotBlockBytes);
}

FilterCurve CuckooCurve() {
  // Between whole planes the rate is not quite exponential in the bits: 16 points a bit.
  constexpr double kStep = 1.0 / 16;
  const BitsLimits limits = LimitsOf(FilterKind::kCuckoo);
  const double most = static_cast<double>(limits.max_millibits) / 1e3;
  std::vector<FilterCurve::Point> points;
  for (double bits = static_cast<double>(limits.min_millibits) / 1e3; bits <= most; bits += kStep) {
    const double halvings = -std::log2(RateForBits(bits));
    // From 4.25 to 4.45 bits the rate stays the same: there, the line through the neighbours.
    if (points.empty() || halvings > points.back().halvings) points.push_back({bits, halvings});
  }
  return FilterCurve(std::move(points), kCuckooTrailerBytes + kHalfLineBytes);
}

}  // namespace

double FilterCurve::Rate(double bits_per_key) const {
  if (bits_per_key < min_bits()) {
    return 1;
  }
  const auto above =
      std::upper_bound(points_.begin(), points_.end(), bits_per_key,
                       [](double bits, const Point& point) { return bits < point.bits_per_key; });
  if (above == points_.end()) {
    return std::exp2(-max_halvings());
  }
  const Point& high = *above;
  const Point& low = *std::prev(above);
  const double share = (bits_per_key - low.bits_per_key) / (high.bits_per_key - low.bits_per_key);
  return std::exp2(-(low.halvings + share * (high.halvings - low.halvings)));
}

double FilterCurve::BitsForHalvings(double halvings) const {
  if (halvings <= min_halvings()) {
    return min_bits();
  }
  const auto above =
      std::lower_bound(points_.begin(), points_.end(), halvings,
                       [](const Point& point, double value) { return point.halvings < value; });
  if (above == points_.end()) {
    return std::numeric_limits<double>::infinity();
  }
  const Point& high = *above;
  const Point& low = *std::prev(above);
  const double share = (halvings - low.halvings) / (high.halvings - low.halvings);
  return low.bits_per_key + share * (high.bits_per_key - low.bits_per_key);
}

const FilterCurve& CurveOf(FilterKind kind) {
  // Never destroyed: policies may outlive static objects. Three statics, so that nobody pays for a
  // kind that is not used.
  switch (kind) {
    case FilterKind::kRibbon: {
      static const FilterCurve* const ribbon = new FilterCurve(RibbonCurve());
      return *ribbon;
    }
    case FilterKind::kCuckoo: {
      static const FilterCurve* const cuckoo = new FilterCurve(CuckooCurve());
      return *cuckoo;
    }
    case FilterKind::kBloom:
    case FilterKind::kNone:
      break;
  }
  static const FilterCurve* const bloom = new FilterCurve(BloomCurve());
  return *bloom;
}

}  // namespace tieredfilter
