// Planning a placement: which keys each line gives away so that no line holds more than it should.
#pragma once

#include <cstdint>
#include <vector>

#include "src/filter/placement.h"

namespace tieredfilter {

// Makes every line's load at most capacity(line), as far as giving own keys away can. Where it
// cannot (a line received too many, or all its keys share the last rank group), the line stays
// over; callers look at loads afterwards. One pass over all lines, then over those that received
// late. Ends, since a key moves at most once.
template <class Capacity>
void PlanPlacement(Placement* placement, const Capacity& capacity) {
  if (placement->lines() < 2) return;
  std::vector<uint32_t> work, receivers;
  const auto fit = [&](uint32_t line) {
    receivers.clear();
    const uint32_t load = placement->load(line), most = capacity(line);
    if (load <= most) return;
    const uint32_t excess = load - most, kept = placement->kept(line);
    placement->GiveAway(line, kept > excess ? kept - excess : 0, &receivers);
  };
  for (uint32_t line = 0; line < placement->lines(); ++line) {
    fit(line);
    for (uint32_t to : receivers) {
      if (to < line) work.push_back(to);  // lines further on get their turn anyway
    }
  }
  for (size_t i = 0; i < work.size(); ++i) {
    fit(work[i]);
    for (uint32_t to : receivers) {
      if (placement->load(to) > capacity(to)) work.push_back(to);
    }
  }
}

}  // namespace tieredfilter
