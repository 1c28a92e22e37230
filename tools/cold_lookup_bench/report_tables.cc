#include "tools/cold_lookup_bench/report_tables.h"

#include <fmt/format.h>

#include <functional>
#include <utility>
#include <vector>

#include "tools/cold_lookup_bench/report_format.h"
#include "tools/cold_lookup_bench/report_page.h"
#include "tools/cold_lookup_bench/svg_chart.h"

namespace tieredfilter::cold_lookup {

namespace {

std::string Number(uint64_t value) { return fmt::format("{}", value); }
std::string Bytes(uint64_t bytes) { return WithUnit(static_cast<int64_t>(bytes)); }

struct Column {
  std::string title;
  std::function<std::string(const PolicyReport&)> cell;
};

// One row per policy, which the first column names.
std::string PolicyTable(const RunReport& report, const std::vector<Column>& columns) {
  std::string html = "<div class=\"wide\"><table>\n<tr><th class=\"text\">policy</th>";
  for (const Column& column : columns) {
    html += "<th>" + EscapeHtml(column.title) + "</th>";
  }
  html += "</tr>\n";
  for (size_t i = 0; i < report.policies.size(); ++i) {
    const PolicyReport& policy = report.policies[i];
    html += "<tr><td class=\"text\">" + PolicyName(i, policy.requested) +
            (policy.disagreements.empty() ? "" : " <strong>(invalid)</strong>") + "</td>";
    for (const Column& column : columns) {
      html += "<td>" + EscapeHtml(column.cell(policy)) + "</td>";
    }
    html += "</tr>\n";
  }
  return html + "</table></div>\n";
}

std::string Row(const std::vector<std::string>& cells) {
  std::string row = "<tr>";
  for (const std::string& cell : cells) {
    row += "<td>" + EscapeHtml(cell) + "</td>";
  }
  return row + "</tr>\n";
}

std::string SavedOf(const PolicyReport& policy, int64_t (*figure)(const SavedIo&), bool bytes) {
  if (!policy.total.saved) {
    return "-";
  }
  const int64_t value = figure(*policy.total.saved);
  return bytes ? WithUnit(value) : fmt::format("{}", value);
}

std::string ExpectedCell(const LevelReport& level) {
  if (!level.expected.known || level.counts.filter_checks == 0) {
    return "-";
  }
  return fmt::format("{:.1f} +- {:.1f}{}", level.expected.false_positives,
                     level.expected.HalfWidth(),
                     level.expected.Covers(level.counts.false_positives) ? "" : " !");
}

}  // namespace

std::string PolicyBadge(size_t policy) {
  return fmt::format("<span class=\"badge c{}\">{}</span>", policy % kChartColors, policy);
}

std::string PolicyName(size_t policy, const std::string& name) {
  std::string text = PolicyBadge(policy);
  for (const char c : name) {
    text += c == '+' || c == ',' ? "<wbr>" : "";  // where a long name may be broken
    text += EscapeHtml(std::string(1, c));
  }
  return text;
}

std::string SummaryHtml(const RunReport& report) {
  return PolicyTable(
      report,
      {{"filter memory", [](const PolicyReport& p) { return Bytes(p.total.filter_bytes); }},
       {"bits per key",
        [](const PolicyReport& p) { return fmt::format("{:.2f}", p.total.FilterBitsPerKey()); }},
       {"wasted reads per 1000 lookups",
        [](const PolicyReport& p) {
          const Spread& spread = p.wasted_reads_per_lookup;
          return Short(1000 * spread.Mean()) +
                 (spread.values.size() > 1 ? " +- " + Short(1000 * spread.StandardDeviation())
                                           : "");
        }},
       {"data blocks read",
        [](const PolicyReport& p) { return Number(p.total.counts.data_block_reads); }},
       {"keys lost", [](const PolicyReport& p) { return Number(p.total.keys_lost); }}});
}

std::string IoHtml(const RunReport& report) {
  const auto saved = [](int64_t (*figure)(const SavedIo&), bool bytes) {
    return [=](const PolicyReport& p) { return SavedOf(p, figure, bytes); };
  };
  return "<h2>Reads avoided, net</h2>\n<p class=\"soft\">What each policy read less than the run "
         "without filters. Filters have to be read themselves where they are not in memory, so the "
         "part of indexes and filters, and the whole, can be negative.</p>\n" +
         PolicyTable(
             report,
             {{"blocks, net", saved([](const SavedIo& s) { return s.NetReads(); }, false)},
              {"bytes, net", saved([](const SavedIo& s) { return s.NetBytes(); }, true)},
              {"data blocks", saved([](const SavedIo& s) { return s.data_block_reads; }, false)},
              {"data bytes", saved([](const SavedIo& s) { return s.data_bytes; }, true)},
              {"index and filter blocks",
               saved([](const SavedIo& s) { return s.other_block_reads; }, false)},
              {"index and filter bytes",
               saved([](const SavedIo& s) { return s.other_bytes; }, true)},
              {"operations, net", saved([](const SavedIo& s) { return s.operations; }, false)}});
}

std::string DevicesHtml(const RunReport& report) {
  if (report.lookups.devices.empty()) {
    return "";
  }
  std::vector<Column> columns;
  for (size_t i = 0; i < report.lookups.devices.size(); ++i) {
    const auto cell = [i](double (*figure)(const LatencyHistogram&)) {
      return [=](const PolicyReport& p) {
        return i < p.modelled.size() ? Duration(figure(p.modelled[i])) : "-";
      };
    };
    const std::string& name = report.lookups.devices[i].name;
    columns.push_back({name + ", mean", cell([](const LatencyHistogram& h) { return h.Mean(); })});
    columns.push_back(
        {name + ", p99", cell([](const LatencyHistogram& h) { return h.Percentile(99); })});
  }
  return "<h2>On other devices</h2>\n<p class=\"soft\">Time of a call as a model has it: CPU time "
         "as "
         "measured, reads as counted, each at the device's usual cost.</p>\n" +
         PolicyTable(report, columns);
}

std::string CostHtml(const RunReport& report) {
  return "<h2>Time and memory</h2>\n<p class=\"soft\">Building: CPU time from key hashes to filter "
         "blocks. Resident memory: what RocksDB's table readers and block cache hold, and the "
         "whole "
         "process.</p>\n" +
         PolicyTable(
             report,
             {{"mean", [](const PolicyReport& p) { return Duration(p.latency.Mean()); }},
              {"p50", [](const PolicyReport& p) { return Duration(p.latency.Percentile(50)); }},
              {"p99", [](const PolicyReport& p) { return Duration(p.latency.Percentile(99)); }},
              {"CPU per lookup",
               [](const PolicyReport& p) { return Duration(1e3 * p.cpu_microseconds_per_lookup); }},
              {"building, per key",
               [](const PolicyReport& p) {
                 return p.build.filters == 0
                            ? std::string("-")
                            : fmt::format("{:.0f} ns", p.build.NanosecondsPerKey());
               }},
              {"table readers",
               [](const PolicyReport& p) { return Bytes(p.memory.table_readers); }},
              {"block cache", [](const PolicyReport& p) { return Bytes(p.memory.block_cache); }},
              {"process", [](const PolicyReport& p) { return Bytes(p.memory.process); }}});
}

std::string LevelsHtml(const RunReport& report) {
  std::string html = "<h2>By level</h2>\n";
  for (size_t i = 0; i < report.policies.size(); ++i) {
    const PolicyReport& policy = report.policies[i];
    html += "<details><summary>" + PolicyName(i, policy.spec) +
            "</summary><div class=\"wide\"><table>\n<tr>";
    for (const char* title : {"level", "files", "keys", "stored filter", "filter memory", "checks",
                              "reads avoided", "false positives", "expected", "keys found",
                              "data blocks", "index blocks", "filter blocks", "read"}) {
      html += fmt::format("<th>{}</th>", title);
    }
    html += "</tr>\n";
    for (const auto& [level, figures] : policy.levels) {
      const LevelCounts& counts = figures.counts;
      html += Row({fmt::format("L{}", level), Number(figures.files), Number(figures.entries),
                   figures.stored, Bytes(figures.filter_bytes), Number(counts.filter_checks),
                   Number(counts.filter_avoided), Number(counts.false_positives),
                   ExpectedCell(figures), Number(counts.found), Number(counts.data_block_reads),
                   Number(counts.index_block_reads), Number(counts.filter_block_reads),
                   Bytes(counts.BytesRead())});
    }
    html += "</table></div></details>\n";
  }
  return html;
}

std::string SettingsHtml(const RunReport& report) {
  const MachineInfo& machine = report.machine;
  std::string html = "<h2>Settings</h2>\n<table class=\"settings\">\n";
  html += Row({"RocksDB", report.rocksdb_version});
  html += Row({"tieredfilter", report.tool_version});
  html += Row({"compiler", report.compiler + (report.optimized_build ? "" : ", not optimized")});
  html += Row({"CPU", fmt::format("{} ({} CPUs)", machine.cpu, machine.cpus)});
  html += Row({"memory", Bytes(machine.memory_bytes)});
  html += Row({"kernel", machine.kernel});
  html += Row({"tree", report.shape_fingerprint});
  for (const auto& [name, value] : report.flags) {
    html += Row({"--" + name, value});
  }
  return html + "</table>\n";
}

}  // namespace tieredfilter::cold_lookup
