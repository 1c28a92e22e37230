// filter_bench: filters alone, without a database, ours beside RocksDB's. See --legend.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "fmt/format.h"
#include "gflags/gflags.h"
#include "src/policy/filter_curves.h"
#include "tools/filter_bench/legend.h"
#include "tools/filter_bench/measure.h"
#include "tools/filter_bench/our_filters.h"
#include "tools/filter_bench/report.h"
#include "tools/filter_bench/run_info.h"
#include "tools/filter_bench/stock_filter.h"

DEFINE_string(
    filters, "default",
    "kind:bits,... with bits really stored per key for every kind, kind:rate% with the "
    "bits that this false-positive rate needs, or cuckoo-...:=bloom:bits with the bits that "
    "fit into the bytes of that stock filter (=bloom:bits*0.75: into three quarters of them)");
DEFINE_string(kernel, "best", "kernels of our kinds: best, all, or a list such as avx2,portable");
DEFINE_string(stock_isa, "best",
              "compilations of the stock kinds: best, all, or a list such as avx2,portable; ratios "
              "are to bloom:10 of the first");
DEFINE_string(keys, "", "numbers of keys per filter; empty: 5k,100k,1m,10m, or 5k,1m with --quick");
DEFINE_string(patterns, "cached,many,dependent,dependent_many,batch,batch_cold",
              "ways of lookup, or none");
DEFINE_int32(reps, 0, "interleaved repetitions; 0: 7, or 5 with --quick");
DEFINE_double(min_time_ms, 0, "timed per filter, pattern, outcome and repetition; 0: 20, or 6");
DEFINE_double(fpr_millions, 0, "millions of absent keys for the FPR; 0: 32, or 4 with --quick");
DEFINE_double(many_mb, 210, "least MB of all filters in the patterns many and batch_cold");
DEFINE_bool(build, true, "time builds");
DEFINE_uint32(key_size, 24, "bytes per key, from 16");
DEFINE_string(key_style, "db_bench", "db_bench or mixed");
DEFINE_uint32(block_offset, 16, "start of blocks behind a 64-byte boundary, 0 to 63");
DEFINE_uint64(seed, 301, "seed for the choice of keys and filters");
DEFINE_bool(quick, false, "a fair picture within 50 seconds");
DEFINE_string(json, "", "write the results to this file");
DEFINE_string(markdown, "", "replace the block 'filter_bench' of this document by the tables");
DEFINE_bool(legend, false, "explain the figures and exit");
DEFINE_bool(list, false, "list kernels and compilations that run here and exit");

namespace tieredfilter::bench {
namespace {

constexpr char kBaseline[] = "bloom:10";

std::vector<std::string> Split(const std::string& list) {
  std::vector<std::string> parts;
  std::stringstream stream(list);
  for (std::string part; std::getline(stream, part, ',');) {
    parts.push_back(part);
  }
  return parts;
}

// "1000000", "100k", "1.5m".
bool ParseKeyCount(const std::string& text, uint64_t* keys) {
  char* end = nullptr;
  double value = std::strtod(text.c_str(), &end);
  const std::string suffix = end;
  value *= suffix == "k" ? 1e3 : suffix == "m" ? 1e6 : 1;
  if (end == text.c_str() || !(suffix.empty() || suffix == "k" || suffix == "m") ||
      !(value >= 1 && value <= 4e8)) {
    return false;
  }
  *keys = static_cast<uint64_t>(value);
  return true;
}

// Fewest bits per key for a rate in percent, or infinity where `kind` has no curve or does not
// reach it.
double BitsForPercent(const std::string& kind, double percent) {
  FilterKind curve = FilterKind::kNone;
  if (kind == "bloom" || kind == "ribbon") {
    curve = kind == "bloom" ? FilterKind::kBloom : FilterKind::kRibbon;
  } else if (kind == "cuckoo-equations" || kind == "cuckoo") {
    curve = FilterKind::kCuckoo;
  }
  if (curve == FilterKind::kNone || !(percent > 0 && percent < 100)) {
    return INFINITY;
  }
  return CurveOf(curve).BitsForHalvings(-std::log2(percent / 100));
}

// The part behind "=bloom:", "10" or "10*0.75".
bool ParseBloomBytes(const std::string& text, FilterRequest* request, std::string* error) {
  char* end = nullptr;
  request->bits_per_key = std::strtod(text.c_str(), &end);
  request->share_of_bloom = 1;
  if (end != text.c_str() && *end == '*') {
    request->share_of_bloom = std::strtod(end + 1, &end);
  }
  if (!text.empty() && *end == '\0' && request->bits_per_key >= 1 && request->bits_per_key <= 32 &&
      request->share_of_bloom > 0 && request->share_of_bloom <= 4 && IsOurKind(request->kind)) {
    return true;
  }
  *error = fmt::format("--filters: '{}' is not of the form cuckoo-equations:=bloom:10*0.75",
                       request->name);
  return false;
}

bool ParseFilter(const std::string& text, FilterRequest* request, std::string* error) {
  const size_t colon = text.find(':');
  char* end = nullptr;
  if (colon != std::string::npos) {
    request->bits_per_key = std::strtod(text.c_str() + colon + 1, &end);
  }
  request->name = text;
  request->kind = text.substr(0, colon);
  constexpr std::string_view kInBytesOf = "=bloom:";
  if (colon != std::string::npos && text.compare(colon + 1, kInBytesOf.size(), kInBytesOf) == 0) {
    return ParseBloomBytes(text.substr(colon + 1 + kInBytesOf.size()), request, error);
  }
  if (end != nullptr && end != text.c_str() + colon + 1 && std::string(end) == "%") {
    request->bits_per_key = BitsForPercent(request->kind, request->bits_per_key);
    if (std::isfinite(request->bits_per_key)) {
      return true;
    }
    *error = fmt::format("--filters: '{}': {} has no filter of this rate", text, request->kind);
    return false;
  }
  if (end == nullptr || *end != '\0' || end == text.c_str() + colon + 1) {
    *error =
        fmt::format("--filters: '{}' is not of the form kind:bits, such as {}", text, kBaseline);
    return false;
  }
  return true;
}

bool ChooseStockLevels(std::vector<const StockLevel*>* chosen, std::string* error) {
  std::vector<const StockLevel*> usable;
  for (const StockLevel& level : StockLevels()) {
    if (level.runs_here()) {
      usable.insert(usable.begin(), &level);
    }
  }
  if (FLAGS_stock_isa == "all") {
    *chosen = usable;
    return true;
  }
  if (FLAGS_stock_isa == "best") {
    *chosen = {usable.front()};
    return true;
  }
  for (const std::string& name : Split(FLAGS_stock_isa)) {
    const auto found = std::find_if(usable.begin(), usable.end(),
                                    [&](const StockLevel* level) { return level->name == name; });
    if (found == usable.end()) {
      *error = fmt::format("--stock_isa: '{}' is unknown or does not run here (see --list)", name);
      return false;
    }
    chosen->push_back(*found);
  }
  return true;
}

bool ChooseKernels(std::vector<std::string>* chosen, std::string* error) {
  const std::vector<std::string> usable = OurKernels();
  if (FLAGS_kernel == "all") {
    *chosen = usable;
    return true;
  }
  if (FLAGS_kernel == "best") {
    *chosen = {usable.front()};
    return true;
  }
  *chosen = Split(FLAGS_kernel);
  for (const std::string& name : *chosen) {
    if (std::find(usable.begin(), usable.end(), name) == usable.end()) {
      *error = fmt::format("--kernel: '{}' is unknown or does not run here (see --list)", name);
      return false;
    }
  }
  return true;
}

// All requested filters, the baseline first of its kind. `baseline` is its index.
bool MakeFilters(std::vector<std::unique_ptr<BenchFilter>>* filters, size_t* baseline,
                 std::string* error) {
  std::vector<const StockLevel*> levels;
  std::vector<std::string> kernels;
  if (!ChooseStockLevels(&levels, error) || !ChooseKernels(&kernels, error)) {
    return false;
  }
  std::vector<std::string> names = Split(FLAGS_filters);
  if (FLAGS_filters == "default") {
    names = {kBaseline, "bloom:16", "ribbon:7.1", "ribbon:8.4", "ribbon:10.5"};
    const std::vector<std::string> ours = DefaultOurFilters();
    names.insert(names.end(), ours.begin(), ours.end());
  }
  if (std::find(names.begin(), names.end(), kBaseline) == names.end()) {
    names.insert(names.begin(), kBaseline);
  }
  for (const std::string& name : names) {
    FilterRequest request;
    if (!ParseFilter(name, &request, error)) {
      return false;
    }
    const bool stock = IsStockKind(request.kind);
    if (!stock && !IsOurKind(request.kind)) {
      *error = fmt::format(
          "--filters: unknown kind '{}'; there are bloom, ribbon, cuckoo-equations (or cuckoo) and "
          "cuckoo-fingerprints",
          request.kind);
      return false;
    }
    if (name == kBaseline) {
      *baseline = filters->size();
    }
    for (size_t i = 0; i < (stock ? levels.size() : kernels.size()); ++i) {
      filters->push_back(stock ? levels[i]->make(request, error)
                               : MakeOurFilter(request, kernels[i], error));
      if (!filters->back()) {
        return false;
      }
    }
  }
  return true;
}

bool ReadOptions(MeasureOptions* options, std::string* error) {
  std::string keys = FLAGS_keys;
  if (keys.empty()) {
    keys = FLAGS_quick ? "5k,1m" : "5k,100k,1m,10m";
  }
  for (const std::string& text : Split(keys)) {
    options->key_counts.emplace_back();
    if (!ParseKeyCount(text, &options->key_counts.back())) {
      *error = fmt::format("--keys: '{}' is no number from 1 to 400m", text);
      return false;
    }
  }
  for (const std::string& name : Split(FLAGS_patterns == "none" ? "" : FLAGS_patterns)) {
    const auto& all = AllPatterns();
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const Pattern& pattern) { return pattern.name == name; });
    if (found == all.end()) {
      std::string names;
      for (const Pattern& pattern : all) names += " " + std::string(pattern.name);
      *error = fmt::format("--patterns: unknown pattern '{}'; there are none,{}", name, names);
      return false;
    }
    options->patterns.push_back(&*found);
  }
  if (FLAGS_key_style != "db_bench" && FLAGS_key_style != "mixed") {
    *error = fmt::format("--key_style: '{}' is neither db_bench nor mixed", FLAGS_key_style);
    return false;
  }
  if (FLAGS_key_size < kMinKeySize || FLAGS_key_size > 1024 || FLAGS_block_offset > 63 ||
      FLAGS_reps < 0 || FLAGS_reps > 1000 || !(FLAGS_many_mb > 0)) {
    *error = "--key_size, --block_offset, --reps or --many_mb is out of range";
    return false;
  }
  options->key_model.style = FLAGS_key_style == "mixed" ? KeyStyle::kMixed : KeyStyle::kDbBench;
  options->key_model.key_size = FLAGS_key_size;
  options->repetitions = FLAGS_reps > 0 ? FLAGS_reps : FLAGS_quick ? 5 : 7;
  options->min_time_ms = FLAGS_min_time_ms > 0 ? FLAGS_min_time_ms : FLAGS_quick ? 6 : 20;
  const double millions = FLAGS_fpr_millions > 0 ? FLAGS_fpr_millions : FLAGS_quick ? 4 : 32;
  options->fpr_keys = static_cast<uint64_t>(millions * 1e6);
  options->many_mb = FLAGS_many_mb;
  options->block_offset = FLAGS_block_offset;
  options->seed = FLAGS_seed;
  options->build_times = FLAGS_build;
  return true;
}

nlohmann::ordered_json DescribeRun(const MeasureOptions& options, const BenchFilter& baseline) {
  nlohmann::ordered_json run = DescribeMachineAndBuild();
  for (const StockLevel& level : StockLevels()) {
    run["stock_flags"][level.name] = level.flags;
  }
  run["baseline"] = {{"filter", baseline.name()}, {"kernel", baseline.kernel()}};
  run["repetitions"] = options.repetitions;
  run["min_time_ms"] = options.min_time_ms;
  run["fpr_keys"] = options.fpr_keys;
  run["many_mb"] = options.many_mb;
  run["key_size"] = options.key_model.key_size;
  run["key_style"] = FLAGS_key_style;
  run["block_offset"] = options.block_offset;
  run["seed"] = options.seed;
  run["warnings"] = BuildWarnings();
  return run;
}

int List() {
  std::string stock;
  for (const StockLevel& level : StockLevels()) {
    stock += level.runs_here() ? std::string(" ") + level.name : "";
  }
  fmt::print("--stock_isa:{}\n--kernel: {}\n", stock, fmt::join(OurKernels(), " "));
  return 0;
}

int Fail(const std::string& error) {
  fmt::print(stderr, "filter_bench: {}\n", error);
  return 1;
}

int Run() {
  MeasureOptions options;
  std::vector<std::unique_ptr<BenchFilter>> filters;
  size_t baseline = 0;
  std::string error;
  if (!ReadOptions(&options, &error) || !MakeFilters(&filters, &baseline, &error)) {
    return Fail(error);
  }
  // Better now than after minutes of measuring.
  for (const std::string& path : {FLAGS_json, FLAGS_markdown}) {
    if (!path.empty() && !CanWriteFile(path, &error)) return Fail(error);
  }
  const nlohmann::ordered_json run = DescribeRun(options, *filters[baseline]);
  fmt::print("{}, RocksDB {}'s filters beside ours, {} {} ({})\n", run["cpu"].get<std::string>(),
             run["rocksdb_version"].get<std::string>(), run["compiler"].get<std::string>(),
             run["build_type"].get<std::string>(), run["cxx_flags"].get<std::string>());
  for (const auto& warning : run["warnings"]) {
    fmt::print("WARNING: {}\n", warning.get<std::string>());
  }
  std::vector<FilterResult> results;
  for (uint64_t keys : options.key_counts) {
    std::vector<FilterResult> same;
    if (!MeasureFilters(filters, baseline, keys, options, &same, &error)) {
      return Fail(error);
    }
    fmt::print("\n{}", TextTables(same));
    std::fflush(stdout);
    results.insert(results.end(), same.begin(), same.end());
  }
  if (!FLAGS_json.empty() &&
      !WriteFileAtomically(FLAGS_json, ToJson(run, results).dump(2) + "\n", &error)) {
    return Fail(error);
  }
  if (!FLAGS_markdown.empty() && !ReplaceGeneratedBlock(FLAGS_markdown, "filter_bench",
                                                        MarkdownTables(run, results), &error)) {
    return Fail(error);
  }
  return 0;
}

}  // namespace
}  // namespace tieredfilter::bench

// What is thrown here ends the program with a message and no result.
// NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char** argv) {
  gflags::SetUsageMessage("benchmark of filters alone; --legend explains the figures");
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  if (argc > 1) {
    return tieredfilter::bench::Fail(fmt::format("unexpected argument '{}'", argv[1]));
  }
  if (FLAGS_legend) {
    fmt::print("{}", tieredfilter::bench::kLegend);
    return 0;
  }
  return FLAGS_list ? tieredfilter::bench::List() : tieredfilter::bench::Run();
}
