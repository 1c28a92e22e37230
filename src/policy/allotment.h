// Divides a memory budget among the runs of an LSM tree so that lookups read as few blocks in vain
// as possible.
//
// A run is asked for keys it does not hold v times per lookup; a filter of rate p lets v x p of
// them through and takes n x bits(p) of memory. The sum of v x p is least where the last bit of
// memory saves the same everywhere: bits grow by a fixed step from each run to one a tenth its
// size. Real filters bend that rule: kinds are better at different rates, have least sizes, and
// caps. So the solver walks the lower convex hull of the real curves, and where a run sits at a gap
// of the hull (no filter at all, or another kind) it tries both sides.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "src/policy/filter_curves.h"
#include "src/policy/filter_setting.h"

namespace tieredfilter {

// One sorted run: a level, or a file of level 0.
struct AllotmentRun {
  double entries = 0;
  // Tables it consists of; the fixed costs of a filter, and the cap in bytes, are per table.
  double tables = 1;
  // v: how often, per lookup, the run is asked for a key that it does not hold, times what a wasted
  // read costs there. See WastedLookups().
  double wasted_lookups = 1;
};

struct AllotmentLimits {
  std::vector<FilterKind> kinds = {FilterKind::kBloom, FilterKind::kCuckoo};
  double max_bits_per_key = 20;  // of any run
  double max_bytes_per_table = std::numeric_limits<double>::infinity();
  // A filter that lets more than this share through is not worth the lookup.
  double worst_rate = 0.7;
  // Where two kinds reach the same rate and the cheaper one to build and to look up takes at most
  // this share more memory, it is taken.
  double kind_tolerance = 0.02;
};

struct RunAllotment {
  FilterKind kind = FilterKind::kNone;
  double bits_per_key = 0;  // whole thousandths, rounded down; 0 for none
  double rate = 1;          // expected false-positive rate
};

struct Allotment {
  std::vector<RunAllotment> runs;
  // Filter bytes of all runs, fixed costs included. Never over the budget. More than 1% under it
  // only where more bytes buy nothing: every run that is asked in vain is at its cap, or the next
  // step up is a gap that the rest does not bridge.
  double bytes = 0;
  // Expected wasted reads per lookup, and what the best single setting for all runs would have in
  // the same bytes.
  double wasted_reads = 0;
  double uniform_wasted_reads = 0;

  double gain() const { return wasted_reads > 0 ? uniform_wasted_reads / wasted_reads : 1; }
  // False where the tree is too shallow for an allotment to matter: measurements vary by more.
  bool is_worth_it() const { return gain() >= 1.5; }
};

// The best filters to be had, as the lower convex hull of the allowed kinds' curves in (bits per
// key, rate), from "no filter". Immutable; takes about a millisecond to make.
class FilterFrontier {
 public:
  struct KindCurve {
    FilterKind kind;
    const FilterCurve* curve;  // must outlive the frontier
  };
  struct Point {
    double bits;
    double rate;
    FilterKind kind;
  };

  explicit FilterFrontier(const AllotmentLimits& limits);
  // With other curves; cheapest kind to build and look up first.
  FilterFrontier(const std::vector<KindCurve>& curves, const AllotmentLimits& limits);

  const std::vector<Point>& points() const { return points_; }
  const std::vector<KindCurve>& curves() const { return curves_; }
  const AllotmentLimits& limits() const { return limits_; }
  // Natural logarithm of the rate saved per bit between points()[i] and points()[i + 1]; falls
  // with i.
  double LogSlope(size_t i) const { return log_slopes_[i]; }
  // True if there is nothing between points()[i] and points()[i + 1]: the kind changes.
  bool IsGap(size_t i) const { return points_[i].kind != points_[i + 1].kind; }
  const FilterCurve& CurveOf(FilterKind kind) const;

 private:
  std::vector<KindCurve> curves_;
  AllotmentLimits limits_;
  std::vector<Point> points_;
  std::vector<double> log_slopes_;
};

// Divides `budget_bytes`. Runs without entries, or never asked in vain, get no filter. Some tens of
// microseconds for a dozen runs.
Allotment Allot(const FilterFrontier& frontier, const std::vector<AllotmentRun>& runs,
                double budget_bytes);

// v of each run, newest first: a lookup asks every run until it finds its key. `absent_share` (0 to
// 1) of the lookups find nothing; the others find their key in run i with the share found_shares[i]
// (sum 1), or in proportion to entries if `found_shares` is empty.
std::vector<double> WastedLookups(const std::vector<double>& entries, double absent_share,
                                  const std::vector<double>& found_shares = {});

}  // namespace tieredfilter
