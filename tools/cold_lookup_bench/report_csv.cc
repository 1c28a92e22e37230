#include <fmt/format.h>

#include "tools/cold_lookup_bench/report.h"

namespace tieredfilter::cold_lookup {

namespace {

// Specs hold commas; quotes inside are doubled, as spreadsheets expect.
std::string Quote(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c == '"' ? "\"\"" : std::string(1, c);
  }
  return quoted + "\"";
}

std::string Row(const PolicyReport& policy, const std::string& level, const LevelReport& figures) {
  const LevelCounts& counts = figures.counts;
  return fmt::format(
      "{},{},{},{},{},{},{:.4f},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", Quote(policy.spec),
      level, figures.files, figures.entries, Quote(figures.stored), figures.filter_bytes,
      figures.FilterBitsPerKey(), counts.lookups, counts.filter_checks, counts.filter_avoided,
      counts.false_positives, counts.true_positives, counts.found, counts.data_block_reads,
      counts.wasted_data_block_reads, counts.BytesRead(), counts.index_block_reads,
      counts.filter_block_reads,
      figures.saved ? fmt::format("{}", figures.saved->data_block_reads) : "",
      figures.saved ? fmt::format("{}", figures.saved->NetReads()) : "",
      figures.saved ? fmt::format("{}", figures.saved->NetBytes()) : "", figures.keys_lost);
}

}  // namespace

std::string ReportAsCsv(const RunReport& report) {
  std::string csv =
      "spec,level,files,entries,stored,filter_bytes,filter_bits_per_key,lookups,filter_checks,"
      "filter_avoided,"
      "false_positives,true_positives,found,data_block_reads,wasted_data_block_reads,bytes_read,"
      "index_block_reads,filter_block_reads,reads_avoided,net_reads_avoided,net_bytes_avoided,"
      "keys_lost\n";
  for (const PolicyReport& policy : report.policies) {
    csv += Row(policy, "all", policy.total);
    for (const auto& [level, figures] : policy.levels) {
      csv += Row(policy, fmt::format("{}", level), figures);
    }
  }
  return csv;
}

}  // namespace tieredfilter::cold_lookup
