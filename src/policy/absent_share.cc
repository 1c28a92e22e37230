#include "src/policy/absent_share.h"

#include <algorithm>
#include <cmath>

namespace tieredfilter {

void AbsentShareMeter::Add(const std::vector<LevelLookups>& totals, double now_seconds) {
  const size_t levels = std::max(totals.size(), totals_.size());
  totals_.resize(levels);
  recent_.resize(levels);
  const double kept = std::exp2(-std::max(now_seconds - last_seconds_, 0.0) / kHalfLifeSeconds);
  last_seconds_ = std::max(last_seconds_, now_seconds);
  for (Recent& recent : recent_) {
    recent.probes *= kept;
    recent.negatives *= kept;
  }
  for (size_t i = 0; i < totals.size(); ++i) {
    // Other threads count meanwhile: a negative may show before its probe.
    const uint64_t probes = totals[i].probes - totals_[i].probes;
    const uint64_t negatives = totals[i].negatives - totals_[i].negatives;
    recent_[i].probes += static_cast<double>(probes);
    recent_[i].negatives += static_cast<double>(negatives);
    totals_[i] = totals[i];
  }
}

double AbsentShareMeter::Share(const std::vector<LevelShape>& levels, double otherwise) const {
  double found = 0;                                // by filters that count
  double in_vain = 0;                              // lookups that came to the lowest of those
  double counted = 0, counted_below = 0, all = 0;  // entries
  for (size_t i = 0; i < levels.size(); ++i) {
    const LevelShape& level = levels[i];
    all += level.entries;
    if (i >= recent_.size() || recent_[i].probes <= 0 || level.entries <= 0) {
      continue;
    }
    const Recent& recent = recent_[i];
    const double absent_here =
        std::min(recent.negatives / std::max(1 - level.rate, 0.1), recent.probes);
    found += recent.probes - absent_here;
    in_vain = absent_here / std::max(level.runs, 1.0);
    counted += level.entries;
    counted_below = all;
  }
  if (counted <= 0) {
    return otherwise;
  }
  const double found_anywhere = found * all / counted;
  const double absent = std::max(in_vain - found_anywhere * (all - counted_below) / all, 0.0);
  const double lookups = absent + found_anywhere;
  return lookups < kLeastLookups ? otherwise : std::clamp(absent / lookups, kLeastShare, 1.0);
}

}  // namespace tieredfilter
