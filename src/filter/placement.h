// Which of its two candidate lines each key lives in.
//
// All hashes are known before a bit is written, so placement is planned instead of tried by random
// kicks: keys start in their primary line, and a line that has too many gives away those of lowest
// rank group, always whole groups, to their secondary lines. A threshold in the line then tells a
// lookup where to go without looking at both. A key moves at most once, so giving away ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/filter/line_layout.h"

namespace tieredfilter {

// First the plan, which only counts (PlanPlacement); then Settle; from then on who got which key
// can be asked, and a line whose system has no solution can give away more.
//
// Not thread-safe. Memory: about 20 bytes per line and 8 per key given away (0.3 and 1 bytes per
// key in all).
class Placement {
 public:
  static constexpr uint32_t kLastGroup = 127;  // never given away: the threshold has seven bits

  // `hashes` (salted, ascending, distinct) are borrowed.
  Placement(const uint64_t* hashes, size_t n, uint32_t lines);

  uint32_t lines() const { return static_cast<uint32_t>(given_.size()); }
  uint32_t own(uint32_t line) const { return start_[line + 1] - start_[line]; }  // by primary line
  uint32_t kept(uint32_t line) const { return own(line) - given_[line]; }  // own, not given away
  uint32_t received(uint32_t line) const { return received_[line]; }
  uint32_t load(uint32_t line) const { return kept(line) + received(line); }
  size_t keys_given() const { return keys_given_; }

  // The kept keys in ascending order.
  const uint64_t* kept_hashes(uint32_t line) const { return hashes_ + start_[line] + given_[line]; }

  // Has the line's kept keys, or the first 64 of them, brought into the cache.
  void Prefetch(uint32_t line) const {
    const uint64_t* const kept = kept_hashes(line);
    for (uint32_t i = 0; i < 64; i += kLineBytes / sizeof(*kept)) __builtin_prefetch(kept + i);
  }

  // Keys whose rank group is below this are given away.
  uint32_t threshold(uint32_t line) const;

  // Gives away whole groups until at most `keep` own keys are left. Returns false if the last group
  // would have to go; then everything else has gone.
  bool GiveAway(uint32_t line, uint32_t keep);

  // Gives away all keys of rank group `group` and below. Returns false for the last group.
  bool GiveAwayThrough(uint32_t line, uint32_t group);

  uint32_t group_of(uint64_t hash) const { return PrimaryOf(hash, lines()).group; }

  // To be called once, when planning is done: sorts what was given away so far by receiver.
  void Settle();

  // After Settle: the received keys, ascending (arrival order must not reach the bytes), `out`
  // having room for received(line).
  void ReceivedHashes(uint32_t line, uint64_t* out) const;

  // The keys given away after Settle, in the order in which they went, and who received them.
  size_t late_keys() const { return late_.size(); }
  uint32_t late_receiver(size_t i) const { return late_[i].to; }

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};
  struct Late {
    uint64_t hash;
    uint32_t to;
    uint32_t next;  // chain of the receiver's late keys
  };

  bool settled() const { return !settled_start_.empty(); }

  const uint64_t* const hashes_;
  std::vector<uint32_t> start_;  // lines + 1
  std::vector<uint32_t> given_;
  std::vector<uint32_t> received_;
  std::vector<uint64_t> settled_;        // by receiver
  std::vector<uint32_t> settled_start_;  // lines + 1
  size_t keys_given_ = 0;
  std::vector<Late> late_;
  std::vector<uint32_t> first_late_;  // per line
};

}  // namespace tieredfilter
