#include "tools/cold_lookup_bench/report_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/cold_lookup_bench/report_format.h"

namespace tieredfilter::cold_lookup {

namespace {

// Standard errors a difference must have before it is called one.
constexpr double kNoise = 3;

// Variance of the mean of wasted reads per lookup.
double VarianceOfMean(const PolicyReport& policy) {
  const Spread& spread = policy.wasted_reads_per_lookup;
  const auto seeds = static_cast<double>(std::max<size_t>(spread.values.size(), 1));
  const double lookups =
      seeds * static_cast<double>(std::max<uint64_t>(policy.total.counts.lookups, 1));
  // A count of rare events varies as much as its mean; a count of none could as well be one.
  const double chance = std::max(spread.Mean(), 1 / lookups) / lookups;
  const double deviation = spread.StandardDeviation();
  return std::max(chance, deviation * deviation / seeds);
}

std::string Ratio(const Comparison& comparison) {
  if (comparison.ratio >= 1) {
    return fmt::format("{:.1f} times fewer wasted reads ({:.1f} to {:.1f})", comparison.ratio,
                       comparison.low, comparison.high);
  }
  return fmt::format("{:.1f} times more wasted reads ({:.1f} to {:.1f})", 1 / comparison.ratio,
                     1 / comparison.high, 1 / comparison.low);
}

std::string VerdictOn(const RunReport& report, const PolicyReport& policy,
                      const PolicyReport& reference) {
  const double memory = static_cast<double>(policy.total.filter_bytes) /
                        std::max(1.0, static_cast<double>(reference.total.filter_bytes));
  const bool same_memory = std::abs(memory - 1) <= kEqualMemory;
  const std::string with =
      same_memory ? fmt::format("with the same filter memory as {}", reference.requested)
                  : fmt::format("with {:.0f}% of the filter memory of {}", 100 * memory,
                                reference.requested);
  const Comparison comparison = Compare(report, policy, reference);
  if (!comparison.tells) {
    return with + ": popular keys repeat, so one seed tells too little; use --seeds=5";
  }
  if (!comparison.differs) {
    return with + ", no difference in wasted reads beyond chance";
  }
  const bool fewer = comparison.ratio > 1;
  const std::string text = with + ", " + Ratio(comparison);
  return same_memory || fewer == (memory < 1)
             ? text
             : text + "; neither memory nor reads are equal, so no winner: see --equalize";
}

}  // namespace

Comparison Compare(const RunReport& report, const PolicyReport& policy,
                   const PolicyReport& reference) {
  const double a = policy.wasted_reads_per_lookup.Mean();
  const double b = reference.wasted_reads_per_lookup.Mean();
  const double var_a = VarianceOfMean(policy);
  const double var_b = VarianceOfMean(reference);
  Comparison comparison;
  comparison.tells = report.popularity.empty() || report.absent_percent == 100 || report.seeds > 1;
  comparison.differs = comparison.tells && std::abs(a - b) > kNoise * std::sqrt(var_a + var_b);
  // A policy that wasted nothing at all could have wasted one read.
  const double one =
      1.0 / static_cast<double>(std::max<uint64_t>(
                policy.total.counts.lookups * static_cast<uint64_t>(report.seeds), 1));
  const double least_a = std::max(a, one);
  const double least_b = std::max(b, one);
  comparison.ratio = least_b / least_a;
  const double width =
      std::exp(kNoise * std::sqrt(var_a / (least_a * least_a) + var_b / (least_b * least_b)));
  comparison.low = comparison.ratio / width;
  comparison.high = comparison.ratio * width;
  return comparison;
}

const PolicyReport* FindReference(const RunReport& report) {
  const PolicyReport* first = nullptr;
  for (const PolicyReport& policy : report.policies) {
    if (policy.requested.rfind("bloomfilter:", 0) == 0) {
      return &policy;
    }
    if (first == nullptr && policy.requested != "none") {
      first = &policy;
    }
  }
  return first;
}

std::vector<std::string> Verdicts(const RunReport& report) {
  std::vector<std::string> verdicts;
  const PolicyReport* reference = FindReference(report);
  for (const PolicyReport& policy : report.policies) {
    if (policy.requested == "none") {
      continue;
    }
    std::string text;
    if (&policy != reference) {
      text = VerdictOn(report, policy, *reference);
    }
    if (policy.total.saved && policy.total.saved->NetBytes() < 0) {
      text += fmt::format("{}reads {} more than without filters", text.empty() ? "" : "; ",
                          WithUnit(-policy.total.saved->NetBytes()));
    }
    if (!text.empty()) {
      verdicts.push_back(policy.requested + ": " + text + ".");
    }
  }
  return verdicts;
}

}  // namespace tieredfilter::cold_lookup
