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

// Not thread-safe. Memory: about 16 bytes per line and 12 per key given away (0.3 and 1.2 bytes per
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
  size_t keys_given() const { return settled_.size() + given_keys_.size(); }

  // The kept keys in ascending order, and the received ones, `out` having room for received(line),
  // ascending too: arrival order must not reach the bytes.
  const uint64_t* kept_hashes(uint32_t line) const { return hashes_ + start_[line] + given_[line]; }
  void ReceivedHashes(uint32_t line, uint64_t* out) const;

  // Keys whose rank group is below this are given away.
  uint32_t threshold(uint32_t line) const;

  // Gives away whole groups until at most `keep` own keys are left; the lines that received are
  // appended to *receivers, with repeats. Returns false if the last group would have to go; then
  // everything else has gone.
  bool GiveAway(uint32_t line, uint32_t keep, std::vector<uint32_t>* receivers);

  // Gives away all keys of rank group `group` and below.
  bool GiveAwayThrough(uint32_t line, uint32_t group, std::vector<uint32_t>* receivers);

  uint32_t group_of(uint64_t hash) const { return PrimaryOf(hash, lines()).group; }

  // May be called once, when planning is done: sorts what was given away so far by receiver, so
  // that gathering a line's keys does not chase pointers all over memory. Keys given away later are
  // few.
  void Settle();

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};
  struct Given {
    uint64_t hash;
    uint32_t to;
    uint32_t next;  // chain of the receiver's late keys
  };

  const uint64_t* const hashes_;
  std::vector<uint32_t> start_;  // lines + 1
  std::vector<uint32_t> given_;
  std::vector<uint32_t> received_;
  std::vector<Given> given_keys_;        // before Settle: all; after: the late ones
  std::vector<uint64_t> settled_;        // by receiver
  std::vector<uint32_t> settled_start_;  // lines + 1
  std::vector<uint32_t> first_late_;     // per line
};

}  // namespace tieredfilter
