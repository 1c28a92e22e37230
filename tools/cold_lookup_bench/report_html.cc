#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tools/cold_lookup_bench/report.h"
#include "tools/cold_lookup_bench/report_page.h"
#include "tools/cold_lookup_bench/svg_chart.h"

namespace tieredfilter::cold_lookup {

namespace {

std::string Row(const std::string& cell, const std::vector<std::string>& cells) {
  std::string row = "<tr>";
  for (const std::string& text : cells) {
    row += fmt::format("<{0}>{1}</{0}>", cell, EscapeHtml(text));
  }
  return row + "</tr>\n";
}

std::string Summary(const RunReport& report) {
  std::string html =
      "<div class=\"wide\"><table>\n" +
      Row("th", {"", "policy", "filter memory", "bits per key", "wasted reads per 1000 lookups",
                 "data block reads", "reads avoided", "keys lost"});
  for (size_t i = 0; i < report.policies.size(); ++i) {
    const PolicyReport& policy = report.policies[i];
    std::string row =
        Row("td", {policy.spec, fmt::format("{} B", policy.total.filter_bytes),
                   fmt::format("{:.2f}", policy.total.FilterBitsPerKey()),
                   fmt::format("{:.2f}", 1000 * policy.wasted_reads_per_lookup.Mean()),
                   fmt::format("{}", policy.total.counts.data_block_reads),
                   policy.total.saved ? fmt::format("{}", policy.total.saved->NetReads()) : "-",
                   fmt::format("{}", policy.total.keys_lost)});
    // The colour of the policy in every chart.
    row.insert(std::string("<tr>").size(),
               fmt::format("<td><i class=\"key c{}\"></i></td>", i % kChartColors));
    html += row;
  }
  return html + "</table></div>\n";
}

std::string MemoryChart(const RunReport& report) {
  std::vector<ChartPoint> points;
  for (size_t i = 0; i < report.policies.size(); ++i) {
    const PolicyReport& policy = report.policies[i];
    points.push_back({policy.total.FilterBitsPerKey(), 1000 * policy.wasted_reads_per_lookup.Mean(),
                      1000 * policy.wasted_reads_per_lookup.StandardDeviation(), policy.requested,
                      i});
  }
  return "<h2>Wasted reads against filter memory</h2>\n<p>Further left is less memory, further "
         "down fewer reads for "
         "nothing. One step of the scale is a factor of ten.</p>\n" +
         ScatterChart(points, "filter bits per key", "wasted reads per 1000 lookups");
}

std::string LevelChart(const RunReport& report) {
  std::vector<BarGroup> groups;
  for (const auto& [level, unused] : report.policies.front().levels) {
    BarGroup group{fmt::format("L{}", level), {}};
    for (const PolicyReport& policy : report.policies) {
      const LevelCounts& counts = policy.levels.at(level).counts;
      group.bars.push_back(1000.0 * static_cast<double>(counts.wasted_data_block_reads) /
                           static_cast<double>(std::max<uint64_t>(policy.total.counts.lookups, 1)));
    }
    groups.push_back(std::move(group));
  }
  return "<h2>Where they are wasted</h2>\n<p>Colours as in the table above; a missing bar is "
         "zero.</p>\n" +
         BarChart(groups, "wasted reads per 1000 lookups");
}

std::string LatencyChart(const RunReport& report) {
  std::vector<ChartLine> lines;
  for (size_t i = 0; i < report.policies.size(); ++i) {
    ChartLine line{report.policies[i].requested, i, {}};
    uint64_t seen = 0;
    const LatencyHistogram& latency = report.policies[i].latency;
    for (const auto& [nanoseconds, count] : latency.Buckets()) {
      seen += count;
      line.points.emplace_back(
          static_cast<double>(nanoseconds) / 1e3,
          100.0 * static_cast<double>(seen) / static_cast<double>(latency.count()));
    }
    lines.push_back(std::move(line));
  }
  return "<h2>How long a lookup takes</h2>\n<p>Colours as in the table above. Times depend on this "
         "machine's disk; counts do not.</p>\n" +
         LineChart(lines, "microseconds", "percent of lookups that took no longer");
}

std::string LevelTables(const RunReport& report) {
  std::string html = "<h2>By level</h2>\n";
  for (const PolicyReport& policy : report.policies) {
    html +=
        fmt::format("<details><summary>{}</summary><div class=\"wide\"><table>\n",
                    EscapeHtml(policy.spec)) +
        Row("th", {"level", "files", "keys", "stored filter", "filter bytes", "checks", "avoided",
                   "false positives", "expected", "found", "data blocks", "bytes read"});
    for (const auto& [level, figures] : policy.levels) {
      const LevelCounts& counts = figures.counts;
      html +=
          Row("td",
              {fmt::format("L{}", level), fmt::format("{}", figures.files),
               fmt::format("{}", figures.entries), figures.stored,
               fmt::format("{}", figures.filter_bytes), fmt::format("{}", counts.filter_checks),
               fmt::format("{}", counts.filter_avoided), fmt::format("{}", counts.false_positives),
               figures.expected.known
                   ? fmt::format("{:.1f} +- {:.1f}", figures.expected.false_positives,
                                 figures.expected.HalfWidth())
                   : "-",
               fmt::format("{}", counts.found), fmt::format("{}", counts.data_block_reads),
               fmt::format("{}", counts.BytesRead())});
    }
    html += "</table></div></details>\n";
  }
  return html;
}

std::string Settings(const RunReport& report) {
  std::string html = "<h2>Settings</h2>\n<div class=\"wide\"><table>\n";
  html += Row("td", {"RocksDB", report.rocksdb_version});
  html += Row("td", {"tieredfilter", report.tool_version});
  html +=
      Row("td", {"compiler", report.compiler + (report.optimized_build ? "" : ", not optimized")});
  html += Row("td", {"CPU", fmt::format("{} ({} CPUs)", report.machine.cpu, report.machine.cpus)});
  html += Row("td", {"memory", fmt::format("{} bytes", report.machine.memory_bytes)});
  html += Row("td", {"kernel", report.machine.kernel});
  html += Row("td", {"tree", report.shape_fingerprint});
  for (const auto& [name, value] : report.flags) {
    html += Row("td", {"--" + name, value});
  }
  return html + "</table></div>\n";
}

std::string Verdict(const RunReport& report) {
  if (report.valid) {
    return fmt::format("<p class=\"lead\">{}</p>\n", EscapeHtml(ReportSentence(report)));
  }
  std::string html =
      "<div class=\"invalid\"><strong>This run is invalid; its figures prove "
      "nothing.</strong><ul>\n";
  for (const std::string& reason : report.reasons) {
    html += fmt::format("<li>{}</li>\n", EscapeHtml(reason));
  }
  return html + "</ul></div>\n";
}

}  // namespace

std::string ReportAsHtml(const RunReport& report) {
  std::string body =
      "<h1>What filters save on cold data</h1>\n" + Verdict(report) + Summary(report);
  if (!report.policies.empty()) {
    body += MemoryChart(report) + LevelChart(report) + LatencyChart(report) + LevelTables(report);
  }
  body += Settings(report);
  for (const std::string& note : report.notes) {
    body += fmt::format("<p>Note: {}.</p>\n", EscapeHtml(note));
  }
  return HtmlPage("Cold lookups", body);
}

}  // namespace tieredfilter::cold_lookup
