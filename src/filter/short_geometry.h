// How many lines and planes a short filter gets.
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/filter/short_layout.h"

namespace tieredfilter {

// A line gets so many keys at most. With as many as there are columns, lines whose bits come to a
// little less than one more plane would have no use for the rest; 86 to 92 give the best rates.
inline constexpr uint32_t kShortLineKeys = 90;

// Filters of up to so many keys are short. Here whole lines, with their longer trailer and the half
// line of rounding, waste 5% at 10 bits per key, so little is left to gain by slower lookups.
inline constexpr size_t kMaxShortKeys = size_t{kMaxShortLines} * kShortLineKeys;

struct ShortGeometry {
  uint32_t lines = 1;
  uint32_t planes = kMinPlanes;
  uint32_t more = 0;      // so many of the lines have a plane more
  size_t data_bytes = 1;  // of all lines, without the block's trailer

  size_t stride() const { return data_bytes / lines; }
  // `more_planes` 0 or 1.
  uint32_t columns(uint32_t more_planes) const {
    return ShortColumns(lines, stride(), planes + more_planes);
  }
  double fp_rate() const;
};

// 1 to kMaxShortKeys keys in ceil(keys x bits_per_key / 8) bytes. bits_per_key from 4 on; beyond 25
// bits planes and rate stay what they are. `extra_slack` is how many more columns than usual a line
// is to leave unused.
ShortGeometry ShortGeometryFor(size_t keys, double bits_per_key, uint32_t extra_slack = 0);

}  // namespace tieredfilter
