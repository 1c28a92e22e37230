#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tools/cold_lookup_bench/report.h"
#include "tools/cold_lookup_bench/report_format.h"
#include "tools/cold_lookup_bench/report_page.h"
#include "tools/cold_lookup_bench/report_tables.h"
#include "tools/cold_lookup_bench/report_verdict.h"
#include "tools/cold_lookup_bench/svg_chart.h"

namespace tieredfilter::cold_lookup {

namespace {

std::string Figure(const RunReport& report, const std::string& title, const std::string& text,
                   const std::string& chart) {
  std::string legend;
  for (size_t i = 0; i < report.policies.size(); ++i) {
    legend += "<span>" + PolicyName(i, report.policies[i].requested) + "</span>\n";
  }
  return fmt::format(
      "<h2>{}</h2>\n<p class=\"soft\">{}</p>\n<figure>\n{}<figcaption class=\"legend\">\n{}"
      "</figcaption></figure>\n",
      EscapeHtml(title), EscapeHtml(text), chart, legend);
}

std::string MemoryChart(const RunReport& report) {
  std::vector<ChartPoint> points;
  for (size_t i = 0; i < report.policies.size(); ++i) {
    const PolicyReport& policy = report.policies[i];
    const double wasted = 1000 * policy.wasted_reads_per_lookup.Mean();
    points.push_back({policy.total.FilterBitsPerKey(), wasted,
                      1000 * policy.wasted_reads_per_lookup.StandardDeviation(),
                      fmt::format("{}", i),
                      fmt::format("{}: {:.2f} bits per key, {:.2f} wasted reads per 1000 lookups",
                                  policy.requested, policy.total.FilterBitsPerKey(), wasted),
                      i});
  }
  return Figure(
      report, "Wasted reads against filter memory",
      "Further left is less memory, further down fewer reads for nothing. One step of the "
      "scale is a factor of ten.",
      ScatterChart(points, "filter bits per key", "wasted reads per 1000 lookups"));
}

std::string LevelChart(const RunReport& report) {
  std::vector<BarGroup> groups;
  for (const auto& [level, unused] : report.policies.front().levels) {
    BarGroup group{fmt::format("L{}", level), {}};
    for (const PolicyReport& policy : report.policies) {
      const auto found = policy.levels.find(level);
      const uint64_t wasted =
          found == policy.levels.end() ? 0 : found->second.counts.wasted_data_block_reads;
      group.bars.push_back(1000.0 * static_cast<double>(wasted) /
                           static_cast<double>(std::max<uint64_t>(policy.total.counts.lookups, 1)));
    }
    groups.push_back(std::move(group));
  }
  return Figure(report, "Where they are wasted",
                "By level of the tree; a missing bar is zero. Bars in the order of the policies.",
                BarChart(groups, "wasted reads per 1000 lookups"));
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
  return Figure(report, "How long a lookup takes here",
                "Times depend on this machine's disk; counts do not.",
                LineChart(lines, "time of a call", "percent of calls that took no longer"));
}

std::string Verdict(const RunReport& report) {
  if (!report.valid) {
    std::string html =
        "<div class=\"invalid\"><strong>This run is invalid; its figures prove "
        "nothing.</strong><ul>\n";
    for (const std::string& reason : report.reasons) {
      html += fmt::format("<li>{}</li>\n", EscapeHtml(reason));
    }
    return html + "</ul></div>\n";
  }
  std::string html =
      fmt::format("<p class=\"lead\">{}</p>\n<ul>\n", EscapeHtml(ReportSentence(report)));
  for (const std::string& verdict : Verdicts(report)) {
    html += fmt::format("<li>{}</li>\n", EscapeHtml(verdict));
  }
  return html + "</ul>\n";
}

std::string Notes(const RunReport& report) {
  std::string html;
  for (const std::string& note : report.notes) {
    html += fmt::format("<p class=\"soft\">Note: {}.</p>\n", EscapeHtml(note));
  }
  return html;
}

}  // namespace

std::string ReportAsHtml(const RunReport& report) {
  std::string body = "<h1>What filters save on cold data</h1>\n" + Verdict(report);
  if (!report.policies.empty()) {
    body +=
        fmt::format("<p class=\"soft\">Each policy: {}</p>\n", EscapeHtml(DescribeLookups(report)));
    body += SummaryHtml(report) + Notes(report) + MemoryChart(report) + LevelChart(report) +
            IoHtml(report) + DevicesHtml(report) + LatencyChart(report) + CostHtml(report) +
            LevelsHtml(report);
  }
  return HtmlPage("Cold lookups", body + SettingsHtml(report));
}

}  // namespace tieredfilter::cold_lookup
