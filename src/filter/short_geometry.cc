#include "src/filter/short_geometry.h"

#include <algorithm>
#include <cmath>

namespace tieredfilter {

namespace {

// Columns more than keys. A random system of any size takes about 1.6 keys less than it has
// columns, so this is a little tighter than the average line can be; giving keys away and, where
// that does not help, another salt find the better ones. Tightest where there are few lines to
// come out well at once: a lone line has one column to spare, which makes three of five salts work.
constexpr double kSlackPerLine = 1.5;
constexpr double kSavedSlack = 1;
constexpr size_t kHandful = 8;

}  // namespace

double ShortGeometry::fp_rate() const {
  return std::ldexp(1.0 - more / (2.0 * lines), -static_cast<int>(planes));
}

ShortGeometry ShortGeometryFor(size_t keys, double bits_per_key, uint32_t extra_slack) {
  ShortGeometry geometry;
  const auto n = static_cast<double>(keys);
  geometry.data_bytes = static_cast<size_t>(std::ceil(n * bits_per_key / 8));
  geometry.lines = static_cast<uint32_t>((keys + kShortLineKeys - 1) / kShortLineKeys);
  // For a handful of keys a column is worth more than a few quick attempts.
  const double slack = keys < kHandful ? 0 : kSlackPerLine * geometry.lines - kSavedSlack;
  const double needed = n + slack + extra_slack * geometry.lines;
  while (geometry.planes < kMaxPlanes && geometry.lines * geometry.columns(1) >= needed) {
    ++geometry.planes;
  }
  const double spare = geometry.lines * geometry.columns(0) - needed;
  const uint32_t price = geometry.columns(0) - geometry.columns(1);
  if (geometry.lines > 1 && price > 0 && spare > 0) {
    geometry.more = std::min(geometry.lines, static_cast<uint32_t>(spare / price));
  }
  return geometry;
}

}  // namespace tieredfilter
