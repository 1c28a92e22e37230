#include "src/filter/placement.h"

#include <algorithm>

namespace tieredfilter {

Placement::Placement(const uint64_t* hashes, size_t n, uint32_t lines)
    : hashes_(hashes), start_(lines + 1), given_(lines), received_(lines), first_(lines, kNone) {
  uint32_t line = 0;
  for (size_t i = 0; i < n; ++i) {
    const uint32_t home = PrimaryOf(hashes[i], lines).line;
    while (line < home) start_[++line] = static_cast<uint32_t>(i);
  }
  while (line < lines) start_[++line] = static_cast<uint32_t>(n);
  // About one key in twelve moves at the usual fill.
  node_hash_.reserve(n / 12);
  node_next_.reserve(n / 12);
}

void Placement::ReceivedHashes(uint32_t line, uint64_t* out) const {
  uint64_t* end = out;
  for (uint32_t node = first_[line]; node != kNone; node = node_next_[node])
    *end++ = node_hash_[node];
  std::sort(out, end);
}

uint32_t Placement::threshold(uint32_t line) const {
  if (given_[line] == 0) return 0;
  return group_of(hashes_[start_[line] + given_[line] - 1]) + 1;
}

bool Placement::GiveAwayThrough(uint32_t line, uint32_t group, std::vector<uint32_t>* receivers) {
  const bool possible = group < kLastGroup;
  const uint32_t limit = possible ? group : kLastGroup - 1;
  const uint64_t* hash = hashes_ + start_[line] + given_[line];
  const uint64_t* const end = hashes_ + start_[line + 1];
  for (; hash < end && group_of(*hash) <= limit; ++hash) {
    const uint32_t to = SecondaryOf(line, EquationOf(*hash).spread, lines());
    node_next_.push_back(first_[to]);
    first_[to] = static_cast<uint32_t>(node_hash_.size());
    node_hash_.push_back(*hash);
    ++received_[to];
    ++given_[line];
    receivers->push_back(to);
  }
  return possible;
}

bool Placement::GiveAway(uint32_t line, uint32_t keep, std::vector<uint32_t>* receivers) {
  if (kept(line) <= keep) return true;
  const uint64_t last = hashes_[start_[line + 1] - 1 - keep];  // the highest hash that has to go
  return GiveAwayThrough(line, group_of(last), receivers);
}

}  // namespace tieredfilter
