#include "tools/cold_lookup_bench/counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tieredfilter::cold_lookup {

namespace {

// The kernel must have fetched at least this part of what RocksDB read; the rest came from memory.
constexpr double kColdShare = 0.9;

// Reads of the process beside the lookups: pages of the program itself and of its libraries.
constexpr uint64_t kOtherReads = 4 << 20;

class Findings {
 public:
  void Expect(bool good, const std::string& sentence) {
    if (!good) {
      list_.push_back(sentence);
    }
  }
  void ExpectEqual(uint64_t own, uint64_t host, const std::string& what,
                   const std::string& source) {
    Expect(own == host,
           fmt::format("{}: the driver counted {}, {} says {}", what, own, source, host));
  }
  std::vector<std::string> Take() { return std::move(list_); }

 private:
  std::vector<std::string> list_;
};

void CheckLevels(const LookupCounts& own, const HostCounts& host, Findings* findings) {
  std::map<int, LevelCounts> own_levels =
      own.levels;  // a copy, to have zeros for levels only RocksDB knows
  for (const auto& [level, unused] : host.levels) {
    own_levels[level];
  }
  for (const auto& [level, counts] : own_levels) {
    const auto found = host.levels.find(level);
    const HostCounts::Level perf = found == host.levels.end() ? HostCounts::Level() : found->second;
    const std::string where = fmt::format("level {}: ", level);
    const std::string source = "the perf context";
    findings->ExpectEqual(counts.filter_checks, perf.useful + perf.positive,
                          where + "filter checks", source);
    findings->ExpectEqual(counts.filter_avoided, perf.useful, where + "reads avoided by filters",
                          source);
    findings->ExpectEqual(counts.false_positives, perf.positive - perf.true_positive,
                          where + "false positives", source);
    findings->ExpectEqual(counts.data_block_reads + counts.other_block_reads, perf.cache_misses,
                          where + "blocks read", source);
  }
}

void CheckColdness(const LevelCounts& total, const HostCounts& host, Findings* findings) {
  if (!host.process_bytes_known) {
    return;  // direct I/O was proven by the open files' flags
  }
  const auto bytes = static_cast<double>(total.bytes_read);
  const auto fetched = static_cast<double>(host.process_bytes);
  findings->Expect(
      fetched >= kColdShare * bytes,
      fmt::format("not cold: RocksDB read {} bytes but only {} came from a device (/proc/self/io)",
                  total.bytes_read, host.process_bytes));
  findings->Expect(
      fetched <= bytes / kColdShare + static_cast<double>(kOtherReads),
      fmt::format("RocksDB read {} bytes but the process fetched {} from devices (/proc/self/io)",
                  total.bytes_read, host.process_bytes));
}

}  // namespace

void LevelCounts::Add(const LevelCounts& other) {
  lookups += other.lookups;
  probes += other.probes;
  filter_checks += other.filter_checks;
  filter_avoided += other.filter_avoided;
  false_positives += other.false_positives;
  true_positives += other.true_positives;
  found += other.found;
  data_block_reads += other.data_block_reads;
  wasted_data_block_reads += other.wasted_data_block_reads;
  other_block_reads += other.other_block_reads;
  bytes_read += other.bytes_read;
}

LevelCounts LookupCounts::Total() const {
  LevelCounts total;
  for (const auto& [level, counts] : levels) {
    total.Add(counts);
  }
  total.lookups = lookups;
  return total;
}

void LookupCounts::Add(const LookupCounts& other) {
  for (const auto& [level, counts] : other.levels) {
    levels[level].Add(counts);
  }
  lookups += other.lookups;
  found += other.found;
  negative_checks.resize(std::max(negative_checks.size(), other.negative_checks.size()));
  for (size_t file = 0; file < other.negative_checks.size(); ++file) {
    negative_checks[file] += other.negative_checks[file];
  }
  latency.Merge(other.latency);
  cpu_nanoseconds += other.cpu_nanoseconds;
}

void HostCounts::Add(const HostCounts& other) {
  for (const auto& [level, counts] : other.levels) {
    Level& sum = levels[level];
    sum.useful += counts.useful;
    sum.positive += counts.positive;
    sum.true_positive += counts.true_positive;
    sum.cache_misses += counts.cache_misses;
    sum.cache_hits += counts.cache_hits;
  }
  block_reads += other.block_reads;
  filter_block_reads += other.filter_block_reads;
  index_block_reads += other.index_block_reads;
}

std::vector<std::string> CrossCheck(const LookupCounts& own, const HostCounts& host,
                                    bool has_filters) {
  Findings findings;
  const LevelCounts total = own.Total();
  findings.Expect(
      total.probes > 0,
      "no lookup came to a file: the keys lie outside all key ranges or in the memtable");
  findings.Expect(!has_filters || total.filter_checks > 0,
                  "the filter was never consulted: no file carries one");
  findings.Expect(!has_filters || host.ticker_useful + host.ticker_positive > 0,
                  "the filter was never consulted: RocksDB's filter tickers did not move");
  findings.Expect(has_filters || total.data_block_reads > 0,
                  "nothing was read: the lookups were served from memory");
  findings.ExpectEqual(total.filter_checks, host.ticker_useful + host.ticker_positive,
                       "filter checks", "RocksDB's tickers (useful + full positive)");
  findings.ExpectEqual(total.false_positives, host.ticker_positive - host.ticker_true_positive,
                       "false positives", "RocksDB's tickers (full positive - full true positive)");
  findings.ExpectEqual(total.data_block_reads + total.other_block_reads, host.block_reads,
                       "blocks read", "the perf context");
  findings.ExpectEqual(total.other_block_reads, host.filter_block_reads + host.index_block_reads,
                       "index and filter blocks read", "the perf context");
  findings.ExpectEqual(total.true_positives, host.ticker_true_positive, "true positives",
                       "RocksDB's ticker (full true positive)");
  findings.ExpectEqual(total.found, own.found, "keys found", "the sum of all lookups");
  CheckLevels(own, host, &findings);
  CheckColdness(total, host, &findings);
  return findings.Take();
}

}  // namespace tieredfilter::cold_lookup
