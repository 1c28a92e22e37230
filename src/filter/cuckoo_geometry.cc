#include "src/filter/cuckoo_geometry.h"

#include <algorithm>
#include <cmath>

namespace tieredfilter {

namespace {

// Keys that lines of so many planes take on average. The 2: a random system of C columns takes C
// - 1.6 rows on average before one contradicts the others, whatever C (measured for C = 20 to 126;
// theory: sum of 1/(2^i - 1)).
double KeysPerLine(uint32_t planes, uint32_t lower, double fill) {
  return fill * (LineColumns(planes, lower) - 2.0);
}

// Planes (a real number: the fraction is the share of lines with one more) for an average number of
// keys per line.
double PlanesFor(double keys_per_line, double fill) {
  uint32_t planes = kMinPlanes;
  while (planes < kMaxPlanes && KeysPerLine(planes + 1, planes + 1, fill) >= keys_per_line) {
    ++planes;
  }
  const double here = KeysPerLine(planes, planes, fill);
  const double next = KeysPerLine(planes + 1, planes, fill);
  // Lines of four planes take more keys in a triple filter than in a wide one, so between the two
  // all lines of a triple filter have four; it must not be taken for a wide one then.
  const double most = planes < kWidePlanes ? 1 - 1e-12 : 1.0;
  return planes + std::clamp((here - keys_per_line) / (here - next), 0.0, most);
}

double RateOf(uint32_t planes, double share_of_more) {
  return std::ldexp(1.0 - share_of_more / 2, -static_cast<int>(planes));
}

constexpr double kBitsPerLine = kLineBytes * 8.0;

}  // namespace

size_t CuckooGeometry::data_bytes() const { return size_t{lines} * kLineBytes; }

double CuckooGeometry::fp_rate() const { return RateOf(planes, static_cast<double>(more) / lines); }

CuckooGeometry GeometryForBits(size_t keys, double bits_per_key, double fill) {
  CuckooGeometry geometry;
  const double bits = static_cast<double>(keys) * bits_per_key;
  const double lines = std::ceil(bits / kBitsPerLine);
  geometry.lines = static_cast<uint32_t>(std::clamp(lines, 1.0, static_cast<double>(kMaxLines)));
  const double planes = PlanesFor(static_cast<double>(keys) / geometry.lines, fill);
  geometry.planes = std::min(static_cast<uint32_t>(planes), kMaxPlanes);
  geometry.more = static_cast<uint32_t>((planes - geometry.planes) * geometry.lines);
  return geometry;
}

double BitsForRate(double fp_rate, bool* rate_is_met) {
  double low = kMinEquationsBits, high = kMaxEquationsBits;
  const bool met = RateForBits(high) <= fp_rate;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (RateForBits(middle) > fp_rate ? low : high) = middle;
  }
  if (rate_is_met != nullptr) *rate_is_met = met;
  return high;
}

double RateForBits(double bits_per_key) {
  const double planes = PlanesFor(kBitsPerLine / bits_per_key, kDefaultFill);
  const double whole = std::floor(planes);
  return RateOf(static_cast<uint32_t>(whole), planes - whole);
}

}  // namespace tieredfilter
