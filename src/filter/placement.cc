#include "src/filter/placement.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace tieredfilter {

Placement::Placement(const uint64_t* hashes, size_t n, uint32_t lines)
    : hashes_(hashes), start_(lines + 1), given_(lines), received_(lines) {
  uint32_t line = 0;
  for (size_t i = 0; i < n; ++i) {
    const uint32_t home = PrimaryOf(hashes[i], lines).line;
    while (line < home) start_[++line] = static_cast<uint32_t>(i);
  }
  while (line < lines) start_[++line] = static_cast<uint32_t>(n);
}

void Placement::Settle() {
  settled_start_.resize(received_.size() + 1);
  std::partial_sum(received_.begin(), received_.end(), settled_start_.begin() + 1);
  settled_.resize(settled_start_.back());
  // Which keys they are was not kept while planning: working it out again is cheaper than a list,
  // which at this point would be a build's largest piece of memory.
  first_late_ = settled_start_;  // as write positions for now
  for (uint32_t line = 0; line < lines(); ++line) {
    const uint64_t* const own = hashes_ + start_[line];
    for (uint32_t i = 0; i < given_[line]; ++i) {
      const uint32_t to = SecondaryOf(line, EquationOf(own[i]).spread, lines());
      settled_[first_late_[to]++] = own[i];
    }
  }
  first_late_.assign(received_.size(), kNone);
}

void Placement::ReceivedHashes(uint32_t line, uint64_t* out) const {
  assert(settled());
  uint64_t* end = std::copy(settled_.begin() + settled_start_[line],
                            settled_.begin() + settled_start_[line + 1], out);
  for (uint32_t late = first_late_[line]; late != kNone; late = late_[late].next) {
    *end++ = late_[late].hash;
  }
  std::sort(out, end);
}

uint32_t Placement::threshold(uint32_t line) const {
  if (given_[line] == 0) return 0;
  return group_of(hashes_[start_[line] + given_[line] - 1]) + 1;
}

bool Placement::GiveAwayThrough(uint32_t line, uint32_t group) {
  const bool possible = group < kLastGroup;
  const uint32_t limit = possible ? group : kLastGroup - 1;
  const uint64_t* hash = hashes_ + start_[line] + given_[line];
  const uint64_t* const end = hashes_ + start_[line + 1];
  for (; hash < end && group_of(*hash) <= limit; ++hash) {
    const uint32_t to = SecondaryOf(line, EquationOf(*hash).spread, lines());
    ++received_[to];
    ++given_[line];
    ++keys_given_;
    if (!settled()) continue;
    late_.push_back({*hash, to, first_late_[to]});
    first_late_[to] = static_cast<uint32_t>(late_.size() - 1);
  }
  return possible;
}

bool Placement::GiveAway(uint32_t line, uint32_t keep) {
  if (kept(line) <= keep) return true;
  const uint64_t last = hashes_[start_[line + 1] - 1 - keep];  // the highest hash that has to go
  return GiveAwayThrough(line, group_of(last));
}

}  // namespace tieredfilter
