// Planning a placement: which keys each line gives away so that no line holds more than it should.
#pragma once

#include <cstdint>

#include "src/filter/placement.h"

namespace tieredfilter {

// Makes every line's load at most capacity(line), as far as giving own keys away can. Where it
// cannot (a line received too many, or all its keys share the last rank group), the line stays
// over; callers look at loads afterwards.
//
// A line gives away no more than what it received so far makes necessary, and what it receives only
// grows: so the order in which lines are looked at does not show in the result, and sweeping over
// all of them until nothing moves is the simplest. Random keys take 2 to 25 sweeps, of which the
// first takes nearly all the time.
template <class Capacity>
void PlanPlacement(Placement* placement, const Capacity& capacity) {
  // Crafted hashes could pass a key on by one line per sweep.
  constexpr int kMostSweeps = 100;
  if (placement->lines() < 2) return;
  size_t given = 0;
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    for (uint32_t line = 0; line < placement->lines(); ++line) {
      const uint32_t load = placement->load(line), most = capacity(line);
      if (load <= most) continue;
      const uint32_t excess = load - most, kept = placement->kept(line);
      placement->GiveAway(line, kept > excess ? kept - excess : 0);
    }
    if (placement->keys_given() == given) break;
    given = placement->keys_given();
  }
}

}  // namespace tieredfilter
