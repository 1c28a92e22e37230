#include "src/filter/placement.h"

#include <algorithm>

namespace tieredfilter {

Placement::Placement(const uint64_t* hashes, size_t n, uint32_t lines)
    : hashes_(hashes),
      start_(lines + 1),
      given_(lines),
      received_(lines),
      first_late_(lines, kNone) {
  uint32_t line = 0;
  for (size_t i = 0; i < n; ++i) {
    const uint32_t home = PrimaryOf(hashes[i], lines).line;
    while (line < home) start_[++line] = static_cast<uint32_t>(i);
  }
  while (line < lines) start_[++line] = static_cast<uint32_t>(n);
}

void Placement::Settle() {
  settled_start_.resize(received_.size() + 1);
  uint32_t sum = 0;
  for (size_t line = 0; line < received_.size(); ++line) {
    settled_start_[line] = sum;
    sum += received_[line];
  }
  settled_start_.back() = sum;
  settled_.resize(sum);
  first_late_ = settled_start_;  // as write positions for now
  for (const Given& given : given_keys_) settled_[first_late_[given.to]++] = given.hash;
  first_late_.assign(received_.size(), kNone);
  std::vector<Given>().swap(given_keys_);
}

void Placement::ReceivedHashes(uint32_t line, uint64_t* out) const {
  uint64_t* end = out;
  if (!settled_start_.empty()) {
    end = std::copy(settled_.begin() + settled_start_[line],
                    settled_.begin() + settled_start_[line + 1], out);
  }
  for (uint32_t late = first_late_[line]; late != kNone; late = given_keys_[late].next) {
    *end++ = given_keys_[late].hash;
  }
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
    given_keys_.push_back({*hash, to, first_late_[to]});
    first_late_[to] = static_cast<uint32_t>(given_keys_.size() - 1);
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
