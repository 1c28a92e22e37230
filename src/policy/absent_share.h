// Which share of the lookups find nothing, measured by what filters are asked and answer.
//
// A filter of rate p that is asked m times and says "no" r times was asked about r / (1 - p) keys
// that its run does not hold; the others were found there. A lookup that finds nothing asks every
// run, so the last level's share of those is the answer. Where the last level has no filter that
// counts, part of what the lowest counted one is asked in vain is found below; how much follows
// from what is found in the counted ones, for keys that are asked for alike wherever they are.
#pragma once

#include <cstdint>
#include <vector>

namespace tieredfilter {

// What the filters of one level have been asked since the process began.
struct LevelLookups {
  uint64_t probes = 0;
  uint64_t negatives = 0;
};

// A level as it is: its entries and its filters' false-positive rate.
struct LevelShape {
  double entries = 0;
  double rate = 0;
  double runs = 1;  // files of level 0; a lookup asks each
};

// Forgets by half within kHalfLifeSeconds, so that a change of traffic shows within hours while the
// pauses of a night do not end all evidence. Not thread-safe.
class AbsentShareMeter {
 public:
  static constexpr double kHalfLifeSeconds = 3600;
  // Fewer lookups than this (after forgetting) are no evidence: the share would be off by more than
  // a percent by chance.
  static constexpr double kLeastLookups = 2000;
  // Never quite none: the last level would get no filter then, and without one there is nothing
  // that would show the next change.
  static constexpr double kLeastShare = 0.02;

  // Totals by level, which only grow, at a time of any clock that only moves forward.
  void Add(const std::vector<LevelLookups>& totals, double now_seconds);

  // From 0 to 1, or `otherwise` if there is too little evidence.
  double Share(const std::vector<LevelShape>& levels, double otherwise) const;

 private:
  struct Recent {
    double probes = 0;
    double negatives = 0;
  };
  std::vector<LevelLookups> totals_;
  std::vector<Recent> recent_;
  double last_seconds_ = 0;
};

}  // namespace tieredfilter
