#include "tools/cold_lookup_bench/counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tieredfilter::cold_lookup {

namespace {

// The kernel must have fetched at least this part of what RocksDB read; the rest came from memory.
constexpr double kColdShare = 0.9;

// The part of all lookups that may lie beside all key ranges.
constexpr double kOutOfRangeShare = 0.01;

// Where every block should come from the device, a thread can still find one that another thread
// holds at that moment. It is not counted as read; with more than this part the run is not what it
// says.
constexpr double kHeldShare = 0.1;

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
    findings->ExpectEqual(counts.BlockReads(), perf.cache_misses, where + "blocks read", source);
  }
}

// What the degree of coldness promises, by RocksDB's own account of its block cache.
void CheckDegree(const LookupCounts& own, const HostCounts& host, Cold cold, Findings* findings) {
  const LevelCounts total = own.Total();
  findings->Expect(
      static_cast<double>(own.out_of_range) <= kOutOfRangeShare * static_cast<double>(own.lookups),
      fmt::format("{} of {} lookups lie outside the key ranges of all files and cost nothing",
                  own.out_of_range, own.lookups));
  findings->Expect(
      host.memtable_hits == 0,
      fmt::format("not cold: {} lookups were answered by the memtable", host.memtable_hits));
  findings->Expect(
      host.data_cache_hits == 0,
      fmt::format("not cold: {} data blocks came from the block cache", host.data_cache_hits));
  const uint64_t hits = host.index_cache_hits + host.filter_cache_hits;
  if (cold == Cold::kResident) {
    findings->Expect(total.index_block_reads + total.filter_block_reads + hits == 0,
                     fmt::format("indexes and filters were not resident: {} reads of them, {} hits "
                                 "in the block cache",
                                 total.index_block_reads + total.filter_block_reads, hits));
  } else if (cold == Cold::kAll) {
    findings->Expect(
        static_cast<double>(hits) <= kHeldShare * static_cast<double>(total.BlockReads()),
        fmt::format("not cold: {} index and filter blocks came from the block cache", hits));
  }
}

void CheckColdness(const LevelCounts& total, const HostCounts& host, Findings* findings) {
  if (!host.process_bytes_known) {
    return;  // direct I/O was proven by the open files' flags
  }
  const auto bytes = static_cast<double>(total.BytesRead());
  const auto fetched = static_cast<double>(host.process_bytes);
  findings->Expect(
      fetched >= kColdShare * bytes,
      fmt::format("not cold: RocksDB read {} bytes but only {} came from a device (/proc/self/io)",
                  total.BytesRead(), host.process_bytes));
  findings->Expect(
      fetched <= bytes / kColdShare + static_cast<double>(kOtherReads),
      fmt::format("RocksDB read {} bytes but the process fetched {} from devices (/proc/self/io)",
                  total.BytesRead(), host.process_bytes));
}

}  // namespace

const char* NameOf(Cold cold) {
  return cold == Cold::kResident ? "resident" : cold == Cold::kCache ? "cache" : "all";
}

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
  index_block_reads += other.index_block_reads;
  filter_block_reads += other.filter_block_reads;
  operations += other.operations;
  data_bytes += other.data_bytes;
  index_bytes += other.index_bytes;
  filter_bytes += other.filter_bytes;
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
  out_of_range += other.out_of_range;
  negative_checks.resize(std::max(negative_checks.size(), other.negative_checks.size()));
  for (size_t file = 0; file < other.negative_checks.size(); ++file) {
    negative_checks[file] += other.negative_checks[file];
  }
  latency.Merge(other.latency);
  modelled.resize(std::max(modelled.size(), other.modelled.size()));
  for (size_t i = 0; i < other.modelled.size(); ++i) {
    modelled[i].Merge(other.modelled[i]);
  }
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
                                    bool has_filters, Cold cold) {
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
  findings.ExpectEqual(total.BlockReads(), host.block_reads, "blocks read", "the perf context");
  findings.ExpectEqual(total.filter_block_reads, host.filter_block_reads, "filter blocks read",
                       "the perf context");
  findings.ExpectEqual(total.index_block_reads, host.index_block_reads, "index blocks read",
                       "the perf context");
  findings.ExpectEqual(total.true_positives, host.ticker_true_positive, "true positives",
                       "RocksDB's ticker (full true positive)");
  findings.ExpectEqual(total.found, own.found, "keys found", "the sum of all lookups");
  CheckLevels(own, host, &findings);
  CheckDegree(own, host, cold, &findings);
  CheckColdness(total, host, &findings);
  return findings.Take();
}

}  // namespace tieredfilter::cold_lookup
