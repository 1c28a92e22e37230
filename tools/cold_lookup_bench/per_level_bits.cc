#include "tools/cold_lookup_bench/per_level_bits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace tieredfilter::cold_lookup {

namespace {

constexpr double kLn2 = 0.6931471805599453;

double BitsAt(const RunPlan& run, double bits_of_one_key) {
  const double bits = bits_of_one_key - std::log(static_cast<double>(run.entries)) / (kLn2 * kLn2);
  return bits < 1.0 ? 0.0 : std::min(bits, kMaxBloomBits);
}

}  // namespace

std::vector<double> BloomBitsPerRun(const TreePlan& plan, double average_bits) {
  const double budget = average_bits * static_cast<double>(plan.TotalEntries());
  // Bisect on the bits a run of a single key would get; memory grows with it.
  double low = 0;
  double high = 200;
  for (int step = 0; step < 100; ++step) {
    const double middle = (low + high) / 2;
    double bits = 0;
    for (const RunPlan& run : plan.runs) {
      bits += BitsAt(run, middle) * static_cast<double>(run.entries);
    }
    (bits > budget ? high : low) = middle;
  }
  std::vector<double> result;
  result.reserve(plan.runs.size());
  for (const RunPlan& run : plan.runs) {
    result.push_back(BitsAt(run, low));
  }
  return result;
}

std::string BloomSpecPerLevel(const TreePlan& plan, double average_bits) {
  const std::vector<double> bits = BloomBitsPerRun(plan, average_bits);
  std::map<int, double> bits_of_level;  // the files of level 0 have one size and so one setting
  for (size_t run = 0; run < plan.runs.size(); ++run) {
    bits_of_level[plan.runs[run].level] = bits[run];
  }
  std::string spec;
  for (const auto& [level, level_bits] : bits_of_level) {
    spec += spec.empty() ? "tieredfilter:" : ",";
    spec += level_bits > 0 ? fmt::format("{}:bloom:{:.3f}", level, level_bits)
                           : fmt::format("{}:none", level);
  }
  return spec;
}

}  // namespace tieredfilter::cold_lookup
