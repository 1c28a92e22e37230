#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/cold_lookup_bench/report.h"

namespace tieredfilter::cold_lookup {

namespace {

// Two policies are said to have the same memory within this part of it.
constexpr double kEqualMemory = 0.01;

std::string WithUnit(uint64_t bytes) {
  if (bytes < 10000) {
    return fmt::format("{} B", bytes);
  }
  return bytes < 10000000 ? fmt::format("{:.1f} kB", static_cast<double>(bytes) / 1e3)
                          : fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

// Standard deviations a difference must have before it is called one.
constexpr double kNoise = 3;

// As many digits as a figure read by people needs.
std::string Short(double value) {
  return value >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.1f}", value);
}

std::string Header(const RunReport& report) {
  std::string text = fmt::format("RocksDB {}, {} ({} CPUs), seed {}\n", report.rocksdb_version,
                                 report.machine.cpu.empty() ? "unknown CPU" : report.machine.cpu,
                                 report.machine.cpus, report.seed);
  text += fmt::format("Tree {}: ", report.shape_fingerprint);
  if (!report.policies.empty()) {
    const PolicyReport& first = report.policies.front();
    bool begun = false;
    for (const auto& [level, figures] : first.levels) {
      text += fmt::format("{}L{} {} keys in {} {}", begun ? ", " : "", level, figures.entries,
                          figures.files, figures.files == 1 ? "file" : "files");
      begun = true;
    }
    text += fmt::format(
        "\nEach policy: {} lookups, every data block read from the device with direct I/O",
        first.total.counts.lookups);
  }
  return text + "\n\n";
}

std::string SummaryTable(const RunReport& report) {
  std::string text =
      fmt::format("{:>12} {:>10} {:>14} {:>12} {:>10} {:>14} {:>10}  {}\n", "filter", "bits per",
                  "wasted reads", "data block", "read from", "reads avoided", "keys", "");
  text += fmt::format("{:>12} {:>10} {:>14} {:>12} {:>10} {:>14} {:>10}  {}\n", "memory", "key",
                      "per 1000", "reads", "device", "by the filter", "lost", "policy");
  for (const PolicyReport& policy : report.policies) {
    const LevelReport& total = policy.total;
    text += fmt::format(
        "{:>12} {:>10.2f} {:>14} {:>12} {:>10} {:>14} {:>10}  {}{}\n", WithUnit(total.filter_bytes),
        total.FilterBitsPerKey(), Short(1000 * policy.WastedReadsPerLookup()),
        total.counts.data_block_reads, WithUnit(total.counts.BytesRead()),
        total.reads_avoided ? fmt::format("{}", *total.reads_avoided) : "-", total.keys_lost,
        policy.spec, policy.disagreements.empty() ? "" : "  INVALID");
  }
  return text + "\n";
}

// What the stored filters lead one to expect, with what chance makes of it; "!" where the measured
// rate lies outside.
std::string ExpectedRate(const LevelReport& level, uint64_t negatives) {
  if (negatives == 0 || !level.expected.known) {
    return "-";
  }
  const double percent = 100.0 / static_cast<double>(negatives);
  return fmt::format("{:.3f}%+-{:.3f}{}", level.expected.false_positives * percent,
                     level.expected.HalfWidth() * percent,
                     level.expected.Covers(level.counts.false_positives) ? "" : "!");
}

std::string LevelTable(const PolicyReport& policy) {
  std::string text =
      fmt::format("{}\n{:>7} {:>10} {:>12} {:>10} {:>10} {:>10} {:>10} {:>11} {:>10} {:>16}  {}\n",
                  policy.spec, "level", "keys", "filter", "checks", "avoided", "false pos.",
                  "blocks", "read", "rate", "expected", "stored filter");
  const auto row = [&](const std::string& name, const LevelReport& level) {
    const LevelCounts& counts = level.counts;
    const uint64_t negatives = counts.filter_avoided + counts.false_positives;
    const std::string rate =
        negatives == 0 ? "-" : fmt::format("{:.3f}%", 100 * level.FalsePositiveRate());
    text += fmt::format(
        "{:>7} {:>10} {:>12} {:>10} {:>10} {:>10} {:>10} {:>11} {:>10} {:>16}  {}\n", name,
        level.entries, WithUnit(level.filter_bytes), counts.filter_checks, counts.filter_avoided,
        counts.false_positives, counts.data_block_reads, WithUnit(counts.BytesRead()), rate,
        ExpectedRate(level, negatives), level.stored);
  };
  for (const auto& [level, figures] : policy.levels) {
    row(fmt::format("L{}", level), figures);
  }
  row("all", policy.total);
  return text + "\n";
}

std::string TimeTable(const RunReport& report) {
  std::string text = fmt::format("{:>10} {:>10} {:>10} {:>10} {:>12}  microseconds per lookup\n",
                                 "mean", "p50", "p99", "p99.9", "on the CPU");
  for (const PolicyReport& policy : report.policies) {
    text += fmt::format("{:>10.1f} {:>10.1f} {:>10.1f} {:>10.1f} {:>12.2f}  {}\n",
                        policy.latency.Mean() / 1e3, policy.latency.Percentile(50) / 1e3,
                        policy.latency.Percentile(99) / 1e3, policy.latency.Percentile(99.9) / 1e3,
                        policy.cpu_microseconds_per_lookup, policy.spec);
  }
  return text + "\n";
}

std::string SeedTable(const RunReport& report) {
  std::string text = fmt::format(
      "Wasted reads per 1000 lookups over {} seeds: mean, standard deviation\n", report.seeds);
  for (const PolicyReport& policy : report.policies) {
    const Spread& spread = policy.wasted_reads_per_lookup;
    text += fmt::format("{:>10.2f} {:>10.2f}  {}\n", 1000 * spread.Mean(),
                        1000 * spread.StandardDeviation(), policy.spec);
  }
  return text + "\n";
}

const PolicyReport* FindUniformBloom(const RunReport& report) {
  for (const PolicyReport& policy : report.policies) {
    if (policy.requested.rfind("bloomfilter:", 0) == 0) {
      return &policy;
    }
  }
  return nullptr;
}

// What a policy has to do with the stock setting everyone knows.
std::string ComparedWith(const PolicyReport& policy, const PolicyReport& reference) {
  const double memory = static_cast<double>(policy.total.filter_bytes) /
                        std::max(1.0, static_cast<double>(reference.total.filter_bytes));
  std::string text =
      std::abs(memory - 1) <= kEqualMemory
          ? fmt::format("with the same filter memory as {}", reference.spec)
          : fmt::format("with {:.0f}% of the filter memory of {}", 100 * memory, reference.spec);
  const auto wasted = static_cast<double>(policy.total.counts.wasted_data_block_reads);
  const auto reference_wasted = static_cast<double>(reference.total.counts.wasted_data_block_reads);
  // Wasted reads are rare independent events, so their count scatters by its square root.
  if (std::abs(wasted - reference_wasted) <= kNoise * std::sqrt(wasted + reference_wasted)) {
    return text + ", no difference beyond chance";
  }
  return text +
         (wasted < reference_wasted
              ? fmt::format(", {:.1f} times fewer", reference_wasted / std::max(wasted, 1.0))
              : fmt::format(", {:.1f} times more", wasted / std::max(reference_wasted, 1.0)));
}

}  // namespace

std::string ReportSentence(const RunReport& report) {
  std::string text =
      report.absent_percent < 100
          ? fmt::format("Per 1000 lookups, {:g}% of them of absent keys:", report.absent_percent)
          : "Per 1000 lookups of absent keys:";
  const PolicyReport* reference = FindUniformBloom(report);
  for (const PolicyReport& policy : report.policies) {
    const std::string reads = Short(1000 * policy.WastedReadsPerLookup());
    if (policy.spec == "none") {
      text +=
          fmt::format(" without filters {} data blocks are read from the disk for nothing", reads);
    } else {
      text += fmt::format("; {} with {}", reads, policy.requested);
      if (reference != nullptr && &policy != reference) {
        text += " (" + ComparedWith(policy, *reference) + ")";
      }
    }
  }
  return text + ".";
}

std::string ReportAsText(const RunReport& report, bool per_level) {
  std::string text;
  if (!report.optimized_build) {
    text += "WARNING: this program was compiled without optimization; counts hold, times do not.\n";
  }
  text += Header(report);
  for (const PolicyReport& policy : report.policies) {
    text += per_level ? LevelTable(policy) : "";
  }
  text += per_level ? TimeTable(report) : "";
  text += SummaryTable(report);
  text += report.seeds > 1 ? SeedTable(report) : "";
  if (report.valid) {
    text += ReportSentence(report) + "\n";
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
