#include "tools/cold_lookup_bench/tree_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/cold_lookup_bench/generated_keys.h"

namespace tieredfilter::cold_lookup {

using ROCKSDB_NAMESPACE::Status;

uint64_t RunPlan::FirstEntryOfFile(uint64_t file) const {
  const uint64_t base = entries / files;
  const uint64_t longer_files = entries % files;
  return file * base + std::min(file, longer_files);
}

uint64_t TreePlan::TotalEntries() const {
  uint64_t total = 0;
  for (const RunPlan& run : runs) {
    total += run.entries;
  }
  return total;
}

uint64_t TreePlan::TotalFiles() const {
  uint64_t total = 0;
  for (const RunPlan& run : runs) {
    total += run.files;
  }
  return total;
}

namespace {

Status CheckShape(const TreeShape& shape) {
  if (shape.num_levels < 2) {
    return Status::InvalidArgument(
        fmt::format("--num_levels={}: at least 2 are needed", shape.num_levels));
  }
  if (shape.sorted_levels < 1 || shape.sorted_levels >= shape.num_levels) {
    return Status::InvalidArgument(
        fmt::format("--sorted_levels={}: must lie between 1 and num_levels - 1 = {}",
                    shape.sorted_levels, shape.num_levels - 1));
  }
  if (shape.level0_files < 0) {
    return Status::InvalidArgument(
        fmt::format("--level0_files={}: must not be negative", shape.level0_files));
  }
  if (static_cast<size_t>(shape.level0_files + shape.sorted_levels) > kMaxRuns) {
    return Status::InvalidArgument(
        fmt::format("--level0_files={}: with {} sorted levels at most {} are possible",
                    shape.level0_files, shape.sorted_levels, kMaxRuns - shape.sorted_levels));
  }
  // A ratio under 1 would turn the tree upside down; NaN fails the comparison as well.
  if (!(shape.size_ratio >= 1.0) || !std::isfinite(shape.size_ratio)) {
    return Status::InvalidArgument(
        fmt::format("--max_bytes_for_level_multiplier={}: must be 1 or more", shape.size_ratio));
  }
  if (shape.entries_per_file == 0) {
    return Status::InvalidArgument("--target_file_size_base: smaller than one key with its value");
  }
  return Status::OK();
}

}  // namespace

Status PlanTree(const TreeShape& shape, TreePlan* plan) {
  if (Status s = CheckShape(shape); !s.ok()) {
    return s;
  }
  // Weight of a level relative to the last one.
  std::vector<double> weight(shape.sorted_levels);
  double total_weight = 0;
  for (int up = 0; up < shape.sorted_levels; ++up) {
    weight[up] = std::pow(shape.size_ratio, -up);
    total_weight += weight[up];
  }
  const double level0_weight = shape.level0_files > 0 ? weight.back() : 0;
  total_weight += level0_weight;

  const auto share = [&](double part) {
    return static_cast<uint64_t>(
        std::floor(static_cast<double>(shape.num_keys) * part / total_weight));
  };
  TreePlan result;
  uint64_t above_last = 0;
  for (int up = 0; up < shape.sorted_levels; ++up) {
    result.runs.push_back({shape.num_levels - 1 - up, share(weight[up]), 0});
    above_last += up > 0 ? result.runs.back().entries : 0;
  }
  for (int file = 0; file < shape.level0_files; ++file) {
    result.runs.push_back({0, share(level0_weight / shape.level0_files), 1});
    above_last += result.runs.back().entries;
  }
  // What rounding left over goes to the last level, where it changes the ratios least.
  result.runs.front().entries = shape.num_keys - above_last;
  for (RunPlan& run : result.runs) {
    // Two keys at least, so that there is a range for an absent key to lie in.
    if (run.entries < 2) {
      const double smallest =
          std::min(weight.back(),
                   shape.level0_files > 0 ? level0_weight / shape.level0_files : weight.back());
      return Status::InvalidArgument(
          fmt::format("--num={}: level {} would hold {} keys in a sorted run, at least 2 are "
                      "needed; this shape "
                      "wants --num={} or more",
                      shape.num_keys, run.level, run.entries,
                      static_cast<uint64_t>(std::ceil(2 * total_weight / smallest)) + 1));
    }
    if (run.level > 0) {
      // A file must keep two keys as well.
      const uint64_t files = (run.entries + shape.entries_per_file - 1) / shape.entries_per_file;
      run.files = std::max<uint64_t>(1, std::min(files, run.entries / 2));
    }
  }
  *plan = std::move(result);
  return Status::OK();
}

}  // namespace tieredfilter::cold_lookup
