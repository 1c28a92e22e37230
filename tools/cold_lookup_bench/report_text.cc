#include <fmt/format.h>

#include <algorithm>

#include "tools/cold_lookup_bench/report.h"
#include "tools/cold_lookup_bench/report_format.h"
#include "tools/cold_lookup_bench/report_verdict.h"

namespace tieredfilter::cold_lookup {

namespace {

std::string Header(const RunReport& report) {
  const std::string& cpu = report.machine.cpu;
  std::string text =
      fmt::format("RocksDB {}, {} ({} CPUs, {} of memory), seed {}\n", report.rocksdb_version,
                  cpu.empty() ? "unknown CPU" : cpu, report.machine.cpus,
                  WithUnit(static_cast<int64_t>(report.machine.memory_bytes)), report.seed);
  if (report.policies.empty()) {
    return text + "\n";
  }
  const PolicyReport& first = report.policies.front();  // all have the same shape
  std::string levels;
  for (const auto& [level, figures] : first.levels) {
    levels += fmt::format("{}L{} {} keys in {}", levels.empty() ? "" : ", ", level, figures.entries,
                          Plural(figures.files, "file"));
  }
  text += fmt::format("Tree {}, {}: {}\n", report.shape_fingerprint,
                      WithUnit(static_cast<int64_t>(first.total.file_bytes)), levels);
  return text + "Each policy: " + DescribeLookups(report) + "\n\n";
}

std::string SummaryTable(const RunReport& report) {
  std::string text = fmt::format("{:>10} {:>6} {:>13} {:>21} {:>6}\n", "filter", "bits/",
                                 "wasted reads", "I/O avoided, net", "keys");
  text += fmt::format("{:>10} {:>6} {:>13} {:>10} {:>10} {:>6}  {}\n", "memory", "key", "per 1000",
                      "blocks", "bytes", "lost", "policy");
  for (const PolicyReport& policy : report.policies) {
    const LevelReport& total = policy.total;
    text +=
        fmt::format("{:>10} {:>6.2f} {:>13} {:>10} {:>10} {:>6}  {}{}\n",
                    WithUnit(static_cast<int64_t>(total.filter_bytes)), total.FilterBitsPerKey(),
                    Short(1000 * policy.wasted_reads_per_lookup.Mean()),
                    total.saved ? fmt::format("{}", total.saved->NetReads()) : "-",
                    total.saved ? WithUnit(total.saved->NetBytes()) : "-", total.keys_lost,
                    policy.requested, policy.disagreements.empty() ? "" : "  INVALID");
  }
  return text + "\n";
}

std::string DeviceTable(const RunReport& report) {
  if (report.lookups.devices.empty()) {
    return "";
  }
  std::string text = fmt::format(
      "Mean time of a {}, modelled for devices: CPU time as measured, reads as counted\n",
      report.lookups.batch_size == 1 ? "lookup" : "MultiGet");
  for (const Device& device : report.lookups.devices) {
    text += fmt::format("{:>13}", device.name);
  }
  text += "\n";
  for (const PolicyReport& policy : report.policies) {
    for (const LatencyHistogram& modelled : policy.modelled) {
      text += fmt::format("{:>13}", Duration(modelled.Mean()));
    }
    text += "  " + policy.requested + "\n";
  }
  return text + "\n";
}

// Rates go from a tenth to a millionth, so they have three digits wherever the point is. What the
// stored filters lead one to expect, with what chance makes of it; "!" where the measured rate lies
// outside.
std::string ExpectedRate(const LevelReport& level, uint64_t negatives) {
  if (negatives == 0 || !level.expected.known) {
    return "-";
  }
  const double percent = 100.0 / static_cast<double>(negatives);
  return fmt::format("{:.3g}%+-{:.2g}{}", level.expected.false_positives * percent,
                     level.expected.HalfWidth() * percent,
                     level.expected.Covers(level.counts.false_positives) ? "" : "!");
}

std::string LevelTable(const PolicyReport& policy) {
  std::string text =
      policy.spec + "\n" +
      fmt::format("{:>5} {:>9} {:>8} {:>8} {:>7} {:>9} {:>19} {:>8} {:>7} {:>7}  {}\n", "level",
                  "checks", "avoided", "false +", "found", "rate", "expected", "data", "index",
                  "filter", "stored");
  const auto row = [&](const std::string& name, const LevelReport& level) {
    const LevelCounts& counts = level.counts;
    const uint64_t negatives = counts.filter_avoided + counts.false_positives;
    const std::string rate =
        negatives == 0 ? "-" : fmt::format("{:.3g}%", 100 * level.FalsePositiveRate());
    text += fmt::format("{:>5} {:>9} {:>8} {:>8} {:>7} {:>9} {:>19} {:>8} {:>7} {:>7}  {}\n", name,
                        counts.filter_checks, counts.filter_avoided, counts.false_positives,
                        counts.found, rate, ExpectedRate(level, negatives), counts.data_block_reads,
                        counts.index_block_reads, counts.filter_block_reads, level.stored);
  };
  for (const auto& [level, figures] : policy.levels) {
    row(fmt::format("L{}", level), figures);
  }
  row("all", policy.total);
  return text + "\n";
}

std::string TimeTable(const RunReport& report) {
  std::string text = fmt::format(
      "Measured on this machine: time per call, CPU per lookup\n{:>10} {:>10} {:>10} "
      "{:>10} {:>10}\n",
      "mean", "p50", "p99", "p99.9", "CPU");
  for (const PolicyReport& policy : report.policies) {
    text += fmt::format("{:>10} {:>10} {:>10} {:>10} {:>10}  {}\n", Duration(policy.latency.Mean()),
                        Duration(policy.latency.Percentile(50)),
                        Duration(policy.latency.Percentile(99)),
                        Duration(policy.latency.Percentile(99.9)),
                        Duration(1e3 * policy.cpu_microseconds_per_lookup), policy.requested);
  }
  return text + "\n";
}

std::string MemoryTable(const RunReport& report) {
  std::string text = fmt::format(
      "Memory after the lookups; CPU to build the filters, from key hashes to blocks\n"
      "{:>13} {:>11} {:>11} {:>11} {:>10}\n",
      "table readers", "block cache", "process", "build", "per key");
  for (const PolicyReport& policy : report.policies) {
    const bool built = policy.build.filters > 0;
    const auto bytes = [](uint64_t value) { return WithUnit(static_cast<int64_t>(value)); };
    text += fmt::format(
        "{:>13} {:>11} {:>11} {:>11} {:>10}  {}\n", bytes(policy.memory.table_readers),
        bytes(policy.memory.block_cache), bytes(policy.memory.process),
        built ? Duration(static_cast<double>(policy.build.cpu_nanoseconds)) : "-",
        built ? fmt::format("{:.0f} ns", policy.build.NanosecondsPerKey()) : "-", policy.requested);
  }
  return text + "\n";
}

std::string SeedTable(const RunReport& report) {
  std::string text = fmt::format(
      "Wasted reads per 1000 lookups over {} seeds: mean, standard deviation\n", report.seeds);
  for (const PolicyReport& policy : report.policies) {
    const Spread& spread = policy.wasted_reads_per_lookup;
    text += fmt::format("{:>10.2f} {:>10.2f}  {}\n", 1000 * spread.Mean(),
                        1000 * spread.StandardDeviation(), policy.requested);
  }
  return text + "\n";
}

// The driver's own words, with what RocksDB was given for them.
std::string Meanings(const RunReport& report) {
  std::string text;
  for (const PolicyReport& policy : report.policies) {
    if (policy.spec.rfind(policy.requested, 0) != 0) {
      text += fmt::format("{} is {}\n", policy.requested, policy.spec);
    }
  }
  return text.empty() ? "" : text + "\n";
}

}  // namespace

std::string ReportSentence(const RunReport& report) {
  std::string text =
      report.absent_percent < 100
          ? fmt::format("Per 1000 lookups, {:g}% of them of absent keys:", report.absent_percent)
          : "Per 1000 lookups of absent keys:";
  const char* separator = " ";
  for (const PolicyReport& policy : report.policies) {
    const std::string reads = Short(1000 * policy.wasted_reads_per_lookup.Mean());
    text += separator;
    text += policy.requested == "none"
                ? fmt::format("without filters {} data blocks are read from the disk for nothing",
                              reads)
                : fmt::format("{} with {}", reads, policy.requested);
    separator = "; ";
  }
  return text + ".";
}

std::string ReportAsText(const RunReport& report, bool details) {
  std::string text;
  if (!report.optimized_build) {
    text += "WARNING: this program was compiled without optimization; counts hold, times do not.\n";
  }
  text += Header(report);
  if (details) {
    for (const PolicyReport& policy : report.policies) {
      text += LevelTable(policy);
    }
    text += TimeTable(report) + MemoryTable(report);
  }
  text += SummaryTable(report) + DeviceTable(report) + Meanings(report);
  text += report.seeds > 1 ? SeedTable(report) : "";
  if (report.valid) {
    text += ReportSentence(report) + "\n";
    for (const std::string& verdict : Verdicts(report)) {
      text += "- " + verdict + "\n";
    }
  }
  for (const std::string& note : report.notes) {
    text += "Note: " + note + "\n";
  }
  if (!report.valid) {
    text += "\nTHIS RUN IS INVALID; its figures prove nothing:\n";
    for (const std::string& reason : report.reasons) {
      text += "  - " + reason + "\n";
    }
  }
  return text;
}

}  // namespace tieredfilter::cold_lookup
