#include "tools/cold_lookup_bench/report.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <numeric>
#include <set>

namespace tieredfilter::cold_lookup {

namespace {

double BitsPerKey(uint64_t bytes, uint64_t keys) {
  return keys == 0 ? 0.0 : 8.0 * static_cast<double>(bytes) / static_cast<double>(keys);
}

// Kind and bits really stored of a group of files.
std::string DescribeFilters(const std::vector<const TreeFile*>& files) {
  std::map<std::string, std::pair<uint64_t, uint64_t>> kinds;  // kind -> bytes, keys
  for (const TreeFile* file : files) {
    auto& [bytes, keys] = kinds[file->filter.kind];
    bytes += file->filter.bytes;
    keys += file->filter_entries;
  }
  std::string text;
  for (const auto& [kind, size] : kinds) {
    text += text.empty() ? "" : "+";
    text +=
        kind == "none" ? kind : fmt::format("{}:{:.2f}", kind, BitsPerKey(size.first, size.second));
  }
  return text;
}

}  // namespace

SavedIo Difference(const LevelCounts& none, const LevelCounts& counts) {
  const auto less = [](uint64_t a, uint64_t b) {
    return static_cast<int64_t>(a) - static_cast<int64_t>(b);
  };
  SavedIo saved;
  saved.data_block_reads = less(none.data_block_reads, counts.data_block_reads);
  saved.data_bytes = less(none.data_bytes, counts.data_bytes);
  saved.other_block_reads = less(none.index_block_reads + none.filter_block_reads,
                                 counts.index_block_reads + counts.filter_block_reads);
  saved.other_bytes =
      less(none.index_bytes + none.filter_bytes, counts.index_bytes + counts.filter_bytes);
  saved.operations = less(none.operations, counts.operations);
  return saved;
}

double FilterBuild::NanosecondsPerKey() const {
  return keys == 0 ? 0.0 : static_cast<double>(cpu_nanoseconds) / static_cast<double>(keys);
}

double LevelReport::FilterBitsPerKey() const { return BitsPerKey(filter_bytes, entries); }

double LevelReport::FalsePositiveRate() const {
  const uint64_t negatives = counts.filter_avoided + counts.false_positives;
  return negatives == 0
             ? 0.0
             : static_cast<double>(counts.false_positives) / static_cast<double>(negatives);
}

void Expectation::AddFile(uint64_t negative_checks, double rate) {
  if (negative_checks == 0) {
    return;
  }
  if (rate < 0) {
    known = false;
    return;
  }
  false_positives += static_cast<double>(negative_checks) * rate;
  variance += static_cast<double>(negative_checks) * rate * (1 - rate);
}

double Expectation::HalfWidth() const {
  // 3.29 standard deviations, and half a count because counts are whole numbers. Where a handful is
  // expected the normal approximation is too narrow, which the three more make up for (a Poisson
  // count with mean 0 to 5).
  return 3.29 * std::sqrt(variance) + 0.5 + (false_positives < 30 ? 3 : 0);
}

bool Expectation::Covers(uint64_t measured) const {
  return !known || std::abs(static_cast<double>(measured) - false_positives) <= HalfWidth();
}

double Spread::Mean() const {
  return values.empty() ? 0.0
                        : std::accumulate(values.begin(), values.end(), 0.0) /
                              static_cast<double>(values.size());
}

double Spread::StandardDeviation() const {
  if (values.size() < 2) {
    return 0.0;
  }
  const double mean = Mean();
  double squares = 0;
  for (const double value : values) {
    squares += (value - mean) * (value - mean);
  }
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

double PolicyReport::WastedReadsPerLookup() const {
  return total.counts.lookups == 0 ? 0.0
                                   : static_cast<double>(total.counts.wasted_data_block_reads) /
                                         static_cast<double>(total.counts.lookups);
}

void FillLevels(const TreeFiles& files, const LookupCounts& counts, PolicyReport* report) {
  std::map<int, std::vector<const TreeFile*>> by_level;
  std::vector<const TreeFile*> all;
  std::set<std::string> policy_names;
  for (const TreeFile& file : files.files()) {
    by_level[file.level].push_back(&file);
    all.push_back(&file);
    policy_names.insert(file.policy_name);
    for (LevelReport* part : {&report->levels[file.level], &report->total}) {
      ++part->files;
      part->entries += file.entries;
      part->file_bytes += file.file_bytes;
      part->filter_bytes += file.filter.bytes;
    }
  }
  for (const auto& [level, level_files] : by_level) {
    report->levels[level].stored = DescribeFilters(level_files);
  }
  report->total.stored = DescribeFilters(all);
  for (const auto& [level, level_counts] : counts.levels) {
    report->levels[level].counts = level_counts;
  }
  report->total.counts = counts.Total();
  for (size_t file = 0; file < counts.negative_checks.size(); ++file) {
    const TreeFile& info = files.files()[file];
    for (LevelReport* part : {&report->levels[info.level], &report->total}) {
      part->expected.AddFile(counts.negative_checks[file], info.filter.expected_rate);
    }
  }
  report->latency = counts.latency;
  report->modelled = counts.modelled;
  report->cpu_microseconds_per_lookup = static_cast<double>(counts.cpu_nanoseconds) / 1e3 /
                                        static_cast<double>(std::max<uint64_t>(counts.lookups, 1));
  report->lookup_seconds = counts.seconds;
  report->wasted_reads_per_lookup.values = {report->WastedReadsPerLookup()};
  for (const std::string& name : policy_names) {
    report->policy_name += (report->policy_name.empty() ? "" : "+") + name;
  }
}

MachineInfo DescribeMachine() {
  MachineInfo info;
  std::ifstream cpuinfo("/proc/cpuinfo");
  std::string line;
  while (info.cpu.empty() && std::getline(cpuinfo, line)) {
    if (line.rfind("model name", 0) == 0 && line.find(": ") != std::string::npos) {
      info.cpu = line.substr(line.find(": ") + 2);
    }
  }
  info.cpus = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  info.memory_bytes = static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                      static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  struct utsname name;
  if (::uname(&name) == 0) {
    info.kernel = fmt::format("{} {} {}", name.sysname, name.release, name.machine);
  }
  return info;
}

}  // namespace tieredfilter::cold_lookup
