#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "tools/cold_lookup_bench/report.h"
#include "tools/cold_lookup_bench/report_verdict.h"

namespace tieredfilter::cold_lookup {

namespace {

using Json = nlohmann::ordered_json;

Json ExpectationJson(const LevelReport& report) {
  const Expectation& expected = report.expected;
  if (!expected.known) {
    return Json();
  }
  const double half_width = expected.HalfWidth();
  return {{"mean", expected.false_positives},
          {"low", std::max(0.0, expected.false_positives - half_width)},
          {"high", expected.false_positives + half_width},
          {"confidence", 0.999},
          {"agrees", expected.Covers(report.counts.false_positives)}};
}

Json LatencyJson(const LatencyHistogram& latency) {
  Json json = {{"mean", latency.Mean() / 1e3}};
  for (const auto& [name, percent] : std::vector<std::pair<const char*, double>>{
           {"p50", 50}, {"p90", 90}, {"p99", 99}, {"p99.9", 99.9}}) {
    json[name] = latency.Percentile(percent) / 1e3;
  }
  json["max"] = static_cast<double>(latency.max()) / 1e3;
  return json;
}

Json SavedJson(const std::optional<SavedIo>& saved) {
  if (!saved) {
    return Json();
  }
  return {{"data_block_reads", saved->data_block_reads},
          {"data_bytes", saved->data_bytes},
          {"index_and_filter_block_reads", saved->other_block_reads},
          {"index_and_filter_bytes", saved->other_bytes},
          {"net_block_reads", saved->NetReads()},
          {"net_bytes", saved->NetBytes()},
          {"net_operations", saved->operations}};
}

Json ModelledJson(const RunReport& report, const PolicyReport& policy) {
  Json json = Json::object();
  for (size_t i = 0; i < policy.modelled.size(); ++i) {
    json[report.lookups.devices[i].name] = LatencyJson(policy.modelled[i]);
  }
  return json;
}

// Null where the tree was not built in this run.
Json BuildJson(const FilterBuild& build) {
  if (build.filters == 0) {
    return Json();
  }
  return {{"filters", build.filters},
          {"keys", build.keys},
          {"cpu_ms", static_cast<double>(build.cpu_nanoseconds) / 1e6},
          {"cpu_ns_per_key", build.NanosecondsPerKey()}};
}

// The fields that a policy and each of its levels share.
Json Figures(const LevelReport& report) {
  const LevelCounts& counts = report.counts;
  Json json;
  json["files"] = report.files;
  json["entries"] = report.entries;
  json["file_bytes"] = report.file_bytes;
  json["stored"] = report.stored;
  json["filter_bytes"] = report.filter_bytes;
  json["filter_bits_per_key"] = report.FilterBitsPerKey();
  json["lookups"] = counts.lookups;
  json["probes"] = counts.probes;
  json["filter_checks"] = counts.filter_checks;
  json["filter_avoided"] = counts.filter_avoided;
  json["false_positives"] = counts.false_positives;
  json["true_positives"] = counts.true_positives;
  json["found"] = counts.found;
  json["false_positive_rate"] = report.FalsePositiveRate();
  json["expected_false_positives"] = ExpectationJson(report);
  json["data_block_reads"] = counts.data_block_reads;
  json["wasted_data_block_reads"] = counts.wasted_data_block_reads;
  json["index_block_reads"] = counts.index_block_reads;
  json["filter_block_reads"] = counts.filter_block_reads;
  json["read_operations"] = counts.operations;
  json["bytes_read"] = counts.BytesRead();
  json["data_bytes_read"] = counts.data_bytes;
  json["index_bytes_read"] = counts.index_bytes;
  json["filter_bytes_read"] = counts.filter_bytes;
  json["reads_avoided"] = report.saved ? Json(report.saved->data_block_reads) : Json();
  json["io_avoided"] = SavedJson(report.saved);
  json["keys_lost"] = report.keys_lost;
  return json;
}

Json HostFigures(const HostCounts& host) {
  Json json;
  json["bloom_filter_useful"] = host.ticker_useful;
  json["bloom_filter_full_positive"] = host.ticker_positive;
  json["bloom_filter_full_true_positive"] = host.ticker_true_positive;
  json["block_read_count"] = host.block_reads;
  json["filter_block_read_count"] = host.filter_block_reads;
  json["index_block_read_count"] = host.index_block_reads;
  json["block_cache_filter_hit"] = host.filter_cache_hits;
  json["block_cache_index_hit"] = host.index_cache_hits;
  json["process_read_bytes"] = host.process_bytes_known ? Json(host.process_bytes) : Json();
  return json;
}

Json PolicyJson(const RunReport& report, const PolicyReport& policy) {
  Json json;
  json["spec"] = policy.spec;
  json["requested"] = policy.requested;
  json["policy_name"] = policy.policy_name;
  json["valid"] = policy.disagreements.empty();
  json.update(Figures(policy.total));
  json["wasted_data_block_reads_per_lookup"] = policy.WastedReadsPerLookup();
  json["seeds"] = {{"values", policy.wasted_reads_per_lookup.values},
                   {"mean", policy.wasted_reads_per_lookup.Mean()},
                   {"standard_deviation", policy.wasted_reads_per_lookup.StandardDeviation()}};
  json["latency_us"] = LatencyJson(policy.latency);
  json["modelled_latency_us"] = ModelledJson(report, policy);
  json["filter_build"] = BuildJson(policy.build);
  json["memory"] = {{"table_readers_bytes", policy.memory.table_readers},
                    {"block_cache_bytes", policy.memory.block_cache},
                    {"process_resident_bytes", policy.memory.process}};
  json["cpu_us_per_lookup"] = policy.cpu_microseconds_per_lookup;
  json["keys_checked"] = policy.keys_checked;
  json["load_seconds"] = policy.load_seconds;
  json["lookup_seconds"] = policy.lookup_seconds;
  json["rocksdb_counts"] = HostFigures(policy.host);
  json["levels"] = Json::array();
  for (const auto& [level, figures] : policy.levels) {
    Json entry;
    entry["level"] = level;
    entry.update(Figures(figures));
    json["levels"].push_back(std::move(entry));
  }
  return json;
}

Json RunJson(const RunReport& report) {
  Json json;
  json["tool"] = "cold_lookup_bench";
  json["tool_version"] = report.tool_version;
  json["rocksdb_version"] = report.rocksdb_version;
  json["compiler"] = report.compiler;
  json["optimized_build"] = report.optimized_build;
  json["cpu"] = report.machine.cpu;
  json["cpus"] = report.machine.cpus;
  json["memory_bytes"] = report.machine.memory_bytes;
  json["kernel"] = report.machine.kernel;
  json["seed"] = report.seed;
  json["seeds"] = report.seeds;
  json["absent_percent"] = report.absent_percent;
  json["batch_size"] = report.lookups.batch_size;
  json["cold"] = NameOf(report.lookups.cold);
  json["flags"] = report.flags;
  json["counters"] =
      "own counts from file key ranges and file system reads; checked against BLOOM_FILTER_USEFUL, "
      "BLOOM_FILTER_FULL_POSITIVE, BLOOM_FILTER_FULL_TRUE_POSITIVE, the per-level perf context and "
      "/proc/self/io";
  return json;
}

Json ShapeJson(const RunReport& report) {
  Json json;
  json["fingerprint"] = report.shape_fingerprint;
  json["levels"] = Json::array();
  if (!report.policies.empty()) {
    const PolicyReport& first = report.policies.front();  // all have the same shape
    json["files"] = first.total.files;
    json["entries"] = first.total.entries;
    for (const auto& [level, figures] : first.levels) {
      json["levels"].push_back(
          {{"level", level}, {"files", figures.files}, {"entries", figures.entries}});
    }
  }
  return json;
}

}  // namespace

std::string ReportAsJson(const RunReport& report) {
  Json json;
  json["valid"] = report.valid;
  json["reasons"] = report.reasons;
  json["notes"] = report.notes;
  json["verdicts"] = report.valid ? Verdicts(report) : std::vector<std::string>();
  json["run"] = RunJson(report);
  json["shape"] = ShapeJson(report);
  json["policies"] = Json::array();
  for (const PolicyReport& policy : report.policies) {
    json["policies"].push_back(PolicyJson(report, policy));
  }
  // Specs come from the user: bytes that are no UTF-8 are replaced rather than thrown over.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tieredfilter::cold_lookup
