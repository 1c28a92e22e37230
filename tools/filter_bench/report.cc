#include "tools/filter_bench/report.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

#include "fmt/format.h"

namespace tieredfilter::bench {
namespace {

std::string KeyCount(uint64_t keys) {
  if (keys >= 1000000 && keys % 100000 == 0) {
    return fmt::format("{} million", static_cast<double>(keys) / 1e6);
  }
  if (keys >= 1000 && keys % 1000 == 0) {
    return fmt::format("{} thousand", keys / 1000);
  }
  return fmt::format("{}", keys);
}

// As many digits as the measurement is worth: two sigma beside the rate.
std::string Rate(const FilterResult& result) {
  return fmt::format("{:.3g}% ±{:.1g}", 100 * result.fpr, 200 * result.fpr_sigma);
}

std::string TimeAndRatio(const Timing& timing) {
  return fmt::format("{:.2f} ({:.2f})", timing.ns, timing.ratio);
}

using Table = std::vector<std::vector<std::string>>;

Table BasicsTable(const std::vector<FilterResult>& results) {
  Table table = {{"filter", "kernel", "bits/key", "FPR (2 sigma)", "build ns/key", "of Bloom 10",
                  "of Ribbon", "peak B/key", "temporary B/key"}};
  for (const FilterResult& r : results) {
    const bool ribbon = r.build_ribbon_ratio > 0;
    table.push_back({r.filter, r.kernel, fmt::format("{:.3f}", r.bits_per_key), Rate(r),
                     r.has_build ? fmt::format("{:.2f}", r.build.ns) : "-",
                     r.has_build ? fmt::format("{:.2f}", r.build.ratio) : "-",
                     ribbon ? fmt::format("{:.3f}", r.build_ribbon_ratio) : "-",
                     fmt::format("{:.2f}", r.build_peak_bytes_per_key),
                     fmt::format("{:.2f}", r.build_temporary_bytes_per_key)});
  }
  return table;
}

Table LookupTable(const std::vector<FilterResult>& results) {
  Table table = {{"filter", "kernel"}};
  if (results.empty() || results[0].lookups.empty()) {
    return table;
  }
  for (const LookupResult& lookup : results[0].lookups) {
    table[0].push_back(fmt::format("{} absent", lookup.pattern->name));
    table[0].push_back("present");
  }
  for (const FilterResult& r : results) {
    std::vector<std::string> row = {r.filter, r.kernel};
    for (const LookupResult& lookup : r.lookups) {
      row.push_back(TimeAndRatio(lookup.negative));
      row.push_back(TimeAndRatio(lookup.positive));
    }
    table.push_back(std::move(row));
  }
  return table;
}

// Columns a person reads: letters, of which only the plus-minus sign is more than one byte.
size_t Width(const std::string& cell) {
  size_t width = 0;
  for (char c : cell) {
    width += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
  }
  return width;
}

std::string Print(const Table& table, bool markdown) {
  std::vector<size_t> widths(table[0].size(), 3);
  for (const auto& row : table) {
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], Width(row[i]));
    }
  }
  std::string text;
  for (size_t r = 0; r < table.size(); ++r) {
    std::string line;
    for (size_t i = 0; i < table[r].size(); ++i) {
      const std::string padding(widths[i] - Width(table[r][i]), ' ');
      // Names left, figures right.
      const std::string cell = i < 2 ? table[r][i] + padding : padding + table[r][i];
      line += markdown ? "| " + cell + " " : (i > 0 ? "  " : "") + cell;
    }
    text += line + (markdown ? "|\n" : "\n");
    if (markdown && r == 0) {
      for (size_t i = 0; i < widths.size(); ++i) {
        text += "|" + std::string(widths[i] + 1, '-') + (i < 2 ? "-" : ":");
      }
      text += "|\n";
    }
  }
  return text;
}

std::string Tables(const std::vector<FilterResult>& results, bool markdown) {
  std::string text = Print(BasicsTable(results), markdown);
  const Table lookups = LookupTable(results);
  if (lookups[0].size() > 2) {
    text += markdown ? "\nLookup, ns per key (ratio to Bloom 10):\n\n"
                     : "\nlookup, ns per key (ratio to bloom:10)\n";
    text += Print(lookups, markdown);
  }
  return text;
}

std::string RunValue(const nlohmann::ordered_json& run, const char* name) {
  const auto found = run.find(name);
  if (found == run.end()) {
    return "";
  }
  return found->is_string() ? found->get<std::string>() : found->dump();
}

}  // namespace

std::string TextTables(const std::vector<FilterResult>& results) {
  if (results.empty()) {
    return "";
  }
  return fmt::format("--- {} keys ---\n{}", KeyCount(results[0].keys), Tables(results, false));
}

std::string MarkdownTables(const nlohmann::ordered_json& run,
                           const std::vector<FilterResult>& results) {
  std::string text = fmt::format(
      "Measured {} on {} ({} CPUs; {}) under {}; tieredfilter {}, filters of RocksDB {} compiled "
      "with the same flags; {}, build type {} (`{}`); medians of {} interleaved repetitions; keys "
      "of {} bytes ({}); seed {}.\n",
      RunValue(run, "time"), RunValue(run, "cpu"), RunValue(run, "cpus"), RunValue(run, "caches"),
      RunValue(run, "kernel"), RunValue(run, "tieredfilter_version"),
      RunValue(run, "rocksdb_version"), RunValue(run, "compiler"), RunValue(run, "build_type"),
      RunValue(run, "cxx_flags"), RunValue(run, "repetitions"), RunValue(run, "key_size"),
      RunValue(run, "key_style"), RunValue(run, "seed"));
  const auto warnings = run.find("warnings");
  if (warnings != run.end()) {
    for (const auto& warning : *warnings) {
      text += fmt::format("\n**Warning: {}.**\n", warning.get<std::string>());
    }
  }
  for (size_t begin = 0; begin < results.size();) {
    std::vector<FilterResult> same;
    const uint64_t keys = results[begin].keys;
    for (; begin < results.size() && results[begin].keys == keys; ++begin) {
      same.push_back(results[begin]);
    }
    text += fmt::format("\n**{} keys**\n\n{}", KeyCount(keys), Tables(same, true));
  }
  return text;
}

nlohmann::ordered_json ToJson(const nlohmann::ordered_json& run,
                              const std::vector<FilterResult>& results) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const FilterResult& r : results) {
    nlohmann::ordered_json item;
    item["filter"] = r.filter;
    item["kernel"] = r.kernel;
    item["keys"] = r.keys;
    item["bits_per_key"] = r.bits_per_key;
    item["fpr"] = r.fpr;
    item["fpr_sigma"] = r.fpr_sigma;
    item["false_negatives"] = r.false_negatives;
    if (r.has_build) {
      item["build_ns_per_key"] = r.build.ns;
      item["build_ratio"] = r.build.ratio;
      if (r.build_ribbon_ratio > 0) {
        item["build_ratio_to_ribbon"] = r.build_ribbon_ratio;
      }
    }
    item["build_peak_bytes_per_key"] = r.build_peak_bytes_per_key;
    item["build_temporary_bytes_per_key"] = r.build_temporary_bytes_per_key;
    for (const LookupResult& lookup : r.lookups) {
      item[lookup.pattern->name] = {
          {"negative", {{"ns", lookup.negative.ns}, {"ratio", lookup.negative.ratio}}},
          {"positive", {{"ns", lookup.positive.ns}, {"ratio", lookup.positive.ratio}}}};
    }
    list.push_back(std::move(item));
  }
  nlohmann::ordered_json report;
  report["run"] = run;
  report["results"] = std::move(list);
  return report;
}

namespace {

std::string TemporaryOf(const std::string& path) { return path + ".tmp"; }

}  // namespace

bool CanWriteFile(const std::string& path, std::string* error) {
  const std::string temporary = TemporaryOf(path);
  const bool can = std::ofstream(temporary, std::ios::binary | std::ios::app).good();
  if (!can) *error = fmt::format("cannot write {}: {}", path, std::strerror(errno));
  std::remove(temporary.c_str());
  return can;
}

bool WriteFileAtomically(const std::string& path, const std::string& content, std::string* error) {
  const std::string temporary = TemporaryOf(path);
  std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
  file << content;
  file.close();
  if (!file || std::rename(temporary.c_str(), path.c_str()) != 0) {
    *error = fmt::format("cannot write {}: {}", path, std::strerror(errno));
    std::remove(temporary.c_str());
    return false;
  }
  return true;
}

bool ReplaceGeneratedBlock(const std::string& path, const std::string& name,
                           const std::string& content, std::string* error) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    *error = fmt::format("cannot read {}: {}", path, std::strerror(errno));
    return false;
  }
  std::stringstream buffer;
  buffer << file.rdbuf();
  std::string text = buffer.str();
  const std::string begin = fmt::format("<!-- begin generated: {} -->", name);
  const size_t start = text.find(begin);
  const size_t end =
      start == std::string::npos ? start : text.find("<!-- end generated -->", start);
  if (end == std::string::npos) {
    *error = fmt::format("{} has no block from \"{}\" to \"<!-- end generated -->\"", path, begin);
    return false;
  }
  const size_t inside = start + begin.size();
  text.replace(inside, end - inside, "\n" + content + "\n");
  return WriteFileAtomically(path, text, error);
}

}  // namespace tieredfilter::bench
