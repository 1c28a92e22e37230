#include "src/policy/allotment.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tieredfilter {
namespace {

// Points per halving of the rate at which the kinds are compared: finer than what a percent of
// memory is at any rate.
constexpr int kStepsPerHalving = 64;
constexpr double kMostHalvings = 24;
// Runs whose gaps are tried both ways; each doubles the work. Later ones stay below their gap.
constexpr int kMaxGapsTried = 5;
constexpr int kBisectionSteps = 44;
// Bits per key that are told apart; a setting has thousandths.
constexpr double kSameBits = 1e-4;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// From cheap to dear, to build as well as to look up: one order serves short-lived runs and busy
// ones. filter_bench: a cuckoo filter builds in 3 to 4 times Bloom's time and is looked up in 1.0
// to 1.25 of it, Ribbon in up to 10 times and 1.1 to 2.0.
constexpr FilterKind kByCost[] = {FilterKind::kBloom, FilterKind::kCuckoo, FilterKind::kRibbon};

std::vector<FilterFrontier::KindCurve> CurvesOf(const AllotmentLimits& limits) {
  std::vector<FilterFrontier::KindCurve> curves;
  for (FilterKind kind : kByCost) {
    if (std::find(limits.kinds.begin(), limits.kinds.end(), kind) != limits.kinds.end()) {
      curves.push_back({kind, &CurveOf(kind)});
    }
  }
  return curves;
}

// The cheapest kind at a rate, and its bits; infinite bits if none reaches it.
FilterFrontier::Point PointAt(double halvings, const std::vector<FilterFrontier::KindCurve>& curves,
                              double tolerance) {
  double fewest = kInfinity;
  for (const FilterFrontier::KindCurve& entry : curves) {
    if (halvings >= entry.curve->min_halvings()) {
      fewest = std::min(fewest, entry.curve->BitsForHalvings(halvings));
    }
  }
  for (const FilterFrontier::KindCurve& entry : curves) {
    const double bits = halvings >= entry.curve->min_halvings()
                            ? entry.curve->BitsForHalvings(halvings)
                            : kInfinity;
    if (bits <= fewest * (1 + tolerance) && bits < kInfinity) {
      return {bits, std::exp2(-halvings), entry.kind};
    }
  }
  return {kInfinity, 1, FilterKind::kNone};
}

// Keeps the lower convex hull of points that are added with falling rate.
void AddToHull(const FilterFrontier::Point& point, std::vector<FilterFrontier::Point>* hull) {
  while (hull->size() > 1) {
    const FilterFrontier::Point& last = hull->back();
    const FilterFrontier::Point& before = (*hull)[hull->size() - 2];
    const bool below =
        last.bits < point.bits && (before.rate - last.rate) * (point.bits - last.bits) >
                                      (last.rate - point.rate) * (last.bits - before.bits);
    if (below) {
      break;
    }
    hull->pop_back();
  }
  hull->push_back(point);
}

// What a run may become: between two points of the frontier, both included, and at most `cap` bits.
struct Bounds {
  size_t least = 0;
  size_t most = 0;
  double cap = 0;
};

// Finds the price of memory at which the runs take what there is: how many wasted reads a bit has
// to save. In the logarithm, so that a run's size only shifts it.
class Solver {
 public:
  Solver(const FilterFrontier& frontier, const std::vector<AllotmentRun>& runs, double budget_bytes)
      : frontier_(frontier), runs_(runs), budget_(budget_bytes) {
    double least = 0, most = 0;
    for (const AllotmentRun& run : runs) {
      const bool counts = run.entries > 0 && run.wasted_lookups > 0;
      log_size_per_waste_.push_back(counts ? std::log(run.entries / run.wasted_lookups) : 0);
      least = std::min(least, log_size_per_waste_.back());
      most = std::max(most, log_size_per_waste_.back());
    }
    if (frontier.points().size() > 1) {
      most_log_price_ = frontier.LogSlope(0) - least + 1;
      least_log_price_ = frontier.LogSlope(frontier.points().size() - 2) - most - 1;
    }
  }

  Allotment Solve() const {
    std::vector<Bounds> bounds;
    for (const AllotmentRun& run : runs_) {
      bounds.push_back(BoundsOf(run));
    }
    return Search(bounds, 0);
  }

  // Bytes and wasted reads of what is in allotment->runs.
  void Sum(Allotment* allotment) const {
    allotment->bytes = 0;
    allotment->wasted_reads = 0;
    for (size_t i = 0; i < runs_.size(); ++i) {
      const RunAllotment& run = allotment->runs[i];
      allotment->bytes += Bytes(i, run.kind, run.bits_per_key);
      allotment->wasted_reads += runs_[i].wasted_lookups * run.rate;
    }
  }

  double Bytes(size_t i, FilterKind kind, double bits) const {
    return kind == FilterKind::kNone
               ? 0
               : runs_[i].entries * bits / 8 +
                     runs_[i].tables * frontier_.CurveOf(kind).bytes_per_table();
  }

 private:
  Bounds BoundsOf(const AllotmentRun& run) const {
    const AllotmentLimits& limits = frontier_.limits();
    Bounds bounds;
    if (run.entries <= 0 || run.wasted_lookups <= 0) {
      return bounds;
    }
    bounds.cap = limits.max_bits_per_key;
    if (limits.max_bytes_per_table < kInfinity) {
      // The dearest kind's fixed cost: which kind it will be is not known yet.
      double fixed = 0;
      for (const FilterFrontier::KindCurve& entry : frontier_.curves()) {
        fixed = std::max(fixed, entry.curve->bytes_per_table());
      }
      bounds.cap =
          std::min(bounds.cap, (limits.max_bytes_per_table - fixed) * 8 * run.tables / run.entries);
    }
    const auto& points = frontier_.points();
    while (bounds.most + 1 < points.size() && points[bounds.most].bits < bounds.cap) {
      // A gap that ends beyond the cap is not taken.
      if (frontier_.IsGap(bounds.most) && points[bounds.most + 1].bits > bounds.cap) {
        break;
      }
      ++bounds.most;
    }
    return bounds;
  }

  // Bits per key at a price. Continuous but for gaps, where it stays below at the very price of the
  // gap: the middle of a segment is taken at the segment's slope, and between middles the bits
  // follow the logarithm of the price.
  double BitsAt(double log_price, const Bounds& bounds) const {
    const auto& points = frontier_.points();
    // Segments before `end` save more than the price.
    size_t begin = bounds.least;
    size_t end = bounds.most;
    while (begin < end) {
      const size_t middle = (begin + end) / 2;
      if (frontier_.LogSlope(middle) > log_price) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    const double here = points[end].bits;
    // The middles of the segments before and after, unless there is nothing to move in.
    const bool moves_down = end > bounds.least && !frontier_.IsGap(end - 1);
    const bool moves_up = end < bounds.most && !frontier_.IsGap(end);
    const double low = moves_down ? (points[end - 1].bits + here) / 2 : here;
    const double high = moves_up ? (here + points[end + 1].bits) / 2 : here;
    // At the ends the way from the middle to the end point is made within a few percent of price.
    constexpr double kAtEnds = 0.05;
    double dear = end > bounds.least ? frontier_.LogSlope(end - 1) : 0;
    double cheap = end < bounds.most ? frontier_.LogSlope(end) : 0;
    dear = end > bounds.least ? dear : cheap + kAtEnds;
    cheap = end < bounds.most ? cheap : dear - kAtEnds;
    double bits = here;
    if (dear > cheap) {
      const double share = (dear - log_price) / (dear - cheap);
      bits = low + std::clamp(share, 0.0, 1.0) * (high - low);
    }
    return std::min(bits, std::max(bounds.cap, points[bounds.least].bits));
  }

  FilterKind KindAt(double bits, const Bounds& bounds) const {
    const auto& points = frontier_.points();
    // The last point at or below; inside a segment both ends are of one kind.
    auto above = std::upper_bound(
        points.begin() + static_cast<std::ptrdiff_t>(bounds.least) + 1,
        points.begin() + static_cast<std::ptrdiff_t>(bounds.most) + 1, bits + 1e-9,
        [](double value, const FilterFrontier::Point& point) { return value < point.bits; });
    return std::prev(above)->kind;
  }

  double PriceFor(size_t i, double log_price) const { return log_price + log_size_per_waste_[i]; }

  double TotalBytes(double log_price, const std::vector<Bounds>& bounds) const {
    double total = 0;
    for (size_t i = 0; i < runs_.size(); ++i) {
      const double bits = BitsAt(PriceFor(i, log_price), bounds[i]);
      if (bits > 0) {
        total += Bytes(i, KindAt(bits, bounds[i]), bits);
      }
    }
    return total;
  }

  Allotment AtPrice(double log_price, const std::vector<Bounds>& bounds) const {
    Allotment result;
    for (size_t i = 0; i < runs_.size(); ++i) {
      RunAllotment run;
      const double exact = BitsAt(PriceFor(i, log_price), bounds[i]);
      // A hair more, so that 4.5 does not become 4.499.
      const double bits = std::floor(exact * 1e3 + 1e-6) / 1e3;
      // Not by the rounded bits: a kind's first point need not be at a whole thousandth.
      run.kind = bits > 0 ? KindAt(exact, bounds[i]) : FilterKind::kNone;
      if (run.kind != FilterKind::kNone) {
        const FilterCurve& curve = frontier_.CurveOf(run.kind);
        run.bits_per_key = std::max(bits, std::ceil(curve.min_bits() * 1e3 - 1e-6) / 1e3);
        run.rate = curve.Rate(run.bits_per_key + 1e-9);
      }
      result.runs.push_back(run);
    }
    Sum(&result);
    return result;
  }

  // No run over its bounds, none under, and not over the budget; infinitely bad if the lower bounds
  // alone are.
  Allotment Search(const std::vector<Bounds>& bounds, int gaps_tried) const {
    // Outside these every run is at one of its ends.
    double cheap = least_log_price_, dear = most_log_price_;
    if (TotalBytes(dear, bounds) > budget_) {
      Allotment none;
      none.wasted_reads = kInfinity;
      return none;
    }
    if (TotalBytes(cheap, bounds) <= budget_) {
      return AtPrice(cheap, bounds);
    }
    for (int step = 0; step < kBisectionSteps; ++step) {
      const double middle = (cheap + dear) / 2;
      (TotalBytes(middle, bounds) > budget_ ? cheap : dear) = middle;
    }
    // A run that changes here is at a gap.
    for (size_t i = 0; i < runs_.size(); ++i) {
      const double below = BitsAt(PriceFor(i, dear), bounds[i]);
      const double above = BitsAt(PriceFor(i, cheap), bounds[i]);
      for (size_t gap = bounds[i].least; gap < bounds[i].most; ++gap) {
        const auto& points = frontier_.points();
        if (frontier_.IsGap(gap) && below <= points[gap].bits + kSameBits &&
            above >= points[gap + 1].bits - kSameBits) {
          return BestAtGap(i, gap, dear, bounds, gaps_tried);
        }
      }
    }
    return AtPrice(dear, bounds);
  }

  // Three ways: the run stays at the lower end of the gap and the others share the rest; it goes to
  // the upper end and the others pay; or it takes all that is left, with whatever filter has the
  // lowest rate for that.
  Allotment BestAtGap(size_t i, size_t gap, double log_price, std::vector<Bounds> bounds,
                      int gaps_tried) const {
    const size_t most = bounds[i].most;
    bounds[i].most = gap;
    Allotment filled = AtPrice(log_price, bounds);
    FillRun(i, bounds[i].cap, &filled);
    Allotment best = Search(bounds, gaps_tried + 1);
    if (filled.wasted_reads < best.wasted_reads) {
      best = std::move(filled);
    }
    if (gaps_tried < kMaxGapsTried) {
      bounds[i].most = most;
      bounds[i].least = gap + 1;
      Allotment other = Search(bounds, gaps_tried + 1);
      if (other.wasted_reads < best.wasted_reads) {
        best = std::move(other);
      }
    }
    return best;
  }

  // Gives run `i` what is left of the budget.
  void FillRun(size_t i, double cap, Allotment* allotment) const {
    RunAllotment& run = allotment->runs[i];
    const double bytes = budget_ - allotment->bytes + Bytes(i, run.kind, run.bits_per_key);
    for (const FilterFrontier::KindCurve& entry : frontier_.curves()) {
      const double fixed = runs_[i].tables * entry.curve->bytes_per_table();
      const double all = std::min(cap, (bytes - fixed) * 8 / runs_[i].entries);
      const double bits = std::floor(all * 1e3) / 1e3;
      const double rate = entry.curve->Rate(bits);
      if (rate < run.rate && rate <= frontier_.limits().worst_rate) {
        run = {entry.kind, bits, rate};
      }
    }
    Sum(allotment);
  }

  const FilterFrontier& frontier_;
  const std::vector<AllotmentRun>& runs_;
  const double budget_;
  std::vector<double> log_size_per_waste_;  // n / v of each run
  double least_log_price_ = 0;
  double most_log_price_ = 0;
};

// Fewest wasted reads with one kind and one number of bits for all runs.
double UniformWastedReads(const FilterFrontier& frontier, const std::vector<AllotmentRun>& runs,
                          double budget_bytes) {
  double entries = 0, tables = 0, wasted = 0;
  for (const AllotmentRun& run : runs) {
    entries += run.entries;
    tables += run.tables;
    wasted += run.entries > 0 ? run.wasted_lookups : 0;
  }
  double best = wasted;
  for (const FilterFrontier::KindCurve& entry : frontier.curves()) {
    const double bits =
        entries > 0 ? (budget_bytes - tables * entry.curve->bytes_per_table()) * 8 / entries : 0;
    best = std::min(best,
                    wasted * entry.curve->Rate(std::min(bits, frontier.limits().max_bits_per_key)));
  }
  return best;
}

}  // namespace

FilterFrontier::FilterFrontier(const AllotmentLimits& limits)
    : FilterFrontier(CurvesOf(limits), limits) {}

FilterFrontier::FilterFrontier(const std::vector<KindCurve>& curves, const AllotmentLimits& limits)
    : curves_(curves), limits_(limits) {
  points_.push_back({0, 1, FilterKind::kNone});
  const int first = static_cast<int>(std::ceil(-std::log2(limits.worst_rate) * kStepsPerHalving));
  const int last = static_cast<int>(kMostHalvings * kStepsPerHalving);
  for (int step = std::max(first, 1); step <= last; ++step) {
    const Point point =
        PointAt(static_cast<double>(step) / kStepsPerHalving, curves_, limits.kind_tolerance);
    if (point.bits <= limits.max_bits_per_key) {
      AddToHull(point, &points_);
    }
  }
  for (size_t i = 0; i + 1 < points_.size(); ++i) {
    log_slopes_.push_back(std::log((points_[i].rate - points_[i + 1].rate) /
                                   (points_[i + 1].bits - points_[i].bits)));
  }
}

const FilterCurve& FilterFrontier::CurveOf(FilterKind kind) const {
  for (const KindCurve& entry : curves_) {
    if (entry.kind == kind) {
      return *entry.curve;
    }
  }
  return *curves_.front().curve;
}

Allotment Allot(const FilterFrontier& frontier, const std::vector<AllotmentRun>& runs,
                double budget_bytes) {
  Allotment result = Solver(frontier, runs, budget_bytes).Solve();
  if (result.runs.empty()) {
    // A negative budget, or none at all.
    result.runs.resize(runs.size());
    Solver(frontier, runs, budget_bytes).Sum(&result);
  }
  result.uniform_wasted_reads = UniformWastedReads(frontier, runs, budget_bytes);
  return result;
}

std::vector<double> WastedLookups(const std::vector<double>& entries, double absent_share,
                                  const std::vector<double>& found_shares) {
  const double total = std::accumulate(entries.begin(), entries.end(), 0.0);
  std::vector<double> result(entries.size());
  double found_below = 0;
  for (size_t i = entries.size(); i-- > 0;) {
    result[i] = absent_share + (1 - absent_share) * found_below;
    if (!found_shares.empty()) {
      found_below += found_shares[i];
    } else if (total > 0) {
      found_below += entries[i] / total;
    }
  }
  return result;
}

}  // namespace tieredfilter
