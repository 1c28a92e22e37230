#include "tools/cold_lookup_bench/config.h"

#include <fmt/format.h>
#include <gflags/gflags.h>

#include "rocksdb/version.h"

DEFINE_uint64(num, 1000000, "Number of keys in the tree");
DEFINE_uint64(seed, 1, "Seed of keys, values and lookups; the same seed gives the same run");
DEFINE_int32(seeds, 1,
             "Number of runs, with the seeds --seed, --seed + 1 and so on; the report gives mean "
             "and spread");
DEFINE_uint64(lookups, 50000, "Number of lookups per policy");
DEFINE_double(absent_percent, 100,
              "Percentage of the lookups that ask for a key that is not there");
DEFINE_int32(threads, 1, "Number of threads that look keys up");
DEFINE_string(
    policies, "bloomfilter:10 ribbonfilter:10",
    "Filter policies to compare, separated by ';' or blanks, or given by repeating the flag. Each "
    "is a string "
    "for RocksDB's filter_policy option, 'none', or 'per-level-KIND:<bits>' (KIND bloom, ribbon, "
    "cuckoo, or best for any of them): so many bits per key on average, divided among the levels. "
    "'ribbonfilter:10:2' is RocksDB's hybrid, Bloom above level 2 and Ribbon from there on. With "
    "'+optimize_filters_for_hits' behind a policy, as in "
    "'bloomfilter:10+optimize_filters_for_hits', "
    "RocksDB leaves the filters of the last level out. "
    "The run without filters is always made, as the baseline.");
DEFINE_bool(baseline, true,
            "Also run without filters, for how many reads each policy avoids; without it every run "
            "is only what --policies says");
DEFINE_string(equalize, "",
              "Tune the bits of the policies to the first one with filters before comparing: "
              "'bytes' for equal filter "
              "memory, 'reads' for equal expected wasted reads, both within 1%");
DEFINE_string(db, "",
              "Folder for the databases, on a file system with O_DIRECT; created if missing. "
              "Empty: a temporary folder "
              "under $TMPDIR or /var/tmp");
DEFINE_bool(keep_db, false, "Leave the databases in --db instead of removing them");
DEFINE_bool(reuse, false,
            "Keep loaded trees in --db, each with a description of all that it depends on, and use "
            "them again where a later run asks for the very same tree");
DEFINE_bool(verify_keys, true, "Look up every stored key once per policy");
DEFINE_bool(per_level, false, "Print tables by level, of times and of memory as well");
DEFINE_string(csv, "", "Write the result to this file as CSV, if the run is valid");
DEFINE_bool(
    verify, false,
    "Measure nothing; look every key of the existing database --db up and report missing ones");
DEFINE_string(html, "", "Write the result to this file as an HTML page");
DEFINE_string(json, "", "Write the result to this file as JSON");
DEFINE_int32(num_levels, 5, "Number of levels of the tree, level 0 included");
DEFINE_int32(sorted_levels, 4,
             "Number of levels that hold data, counted from the last one, level 0 not included");
DEFINE_int32(level0_files, 4, "Number of files on level 0");
DEFINE_double(max_bytes_for_level_multiplier, 10,
              "Keys of a level divided by keys of the level above it");
DEFINE_uint64(target_file_size_base, 16 << 20, "Size of the files below level 0 in bytes, about");
DEFINE_uint64(block_size, 4096, "Size of data blocks in bytes, as RocksDB's option");
DEFINE_string(compression_type, "none", "Compression of data blocks: none, snappy, lz4 or zstd");

namespace tieredfilter::cold_lookup {

using ROCKSDB_NAMESPACE::Status;

namespace {

constexpr char kUsage[] =
    "counts the reads that filter policies save on lookups of absent keys in cold data.\n"
    "Every policy gets the same tree; each lookup goes to the disk with direct I/O.\n"
    "Example: cold_lookup_bench --num=1000000 --policies='bloomfilter:10 per-level-bloom:10' "
    "--json=result.json";

bool IsPoliciesFlag(const std::string& argument) {
  return argument.rfind("--policies=", 0) == 0 || argument.rfind("-policies=", 0) == 0;
}

// gflags keeps the last value of a repeated flag; join them into one before it looks.
std::vector<std::string> JoinRepeatedPolicies(int argc, char** argv) {
  std::vector<std::string> arguments;
  std::string joined;
  bool given = false;
  for (int i = 0; i < argc; ++i) {
    std::string argument = argv[i];
    if (i > 0 && (argument == "--policies" || argument == "-policies") && i + 1 < argc) {
      argument += std::string("=") + argv[++i];
    }
    if (i > 0 && IsPoliciesFlag(argument)) {
      given = true;
      joined += (joined.empty() ? "" : ";") + argument.substr(argument.find('=') + 1);
    } else {
      arguments.push_back(std::move(argument));
    }
  }
  if (given) {
    arguments.insert(arguments.begin() + 1, "--policies=" + joined);
  }
  return arguments;
}

std::map<std::string, std::string> OwnFlags() {
  std::vector<gflags::CommandLineFlagInfo> all;
  gflags::GetAllFlags(&all);
  std::map<std::string, std::string> own;
  for (const auto& flag : all) {
    if (flag.filename.find("cold_lookup_bench") != std::string::npos) {
      own[flag.name] = flag.current_value;
    }
  }
  return own;
}

Status ParseEqualize(const std::string& text, Equalize* equalize) {
  if (text.empty() || text == "bytes" || text == "reads") {
    *equalize = text.empty()      ? Equalize::kNothing
                : text == "bytes" ? Equalize::kBytes
                                  : Equalize::kReads;
    return Status::OK();
  }
  return Status::InvalidArgument(
      fmt::format("--equalize={}: must be 'bytes' or 'reads', or left out", text));
}

Status Check(const Config& config) {
  const auto refuse = [](const std::string& what) { return Status::InvalidArgument(what); };
  if (config.num == 0) {
    return refuse("--num=0: the tree needs keys");
  }
  if (config.lookups == 0) {
    return refuse("--lookups=0: a run without lookups proves nothing");
  }
  if (config.seeds < 1 || config.seeds > 1000) {
    return refuse(fmt::format("--seeds={}: must lie between 1 and 1000", config.seeds));
  }
  if (!(config.absent_percent >= 0 && config.absent_percent <= 100)) {
    return refuse(
        fmt::format("--absent_percent={}: must lie between 0 and 100", config.absent_percent));
  }
  if (config.threads < 1 || config.threads > 1024) {
    return refuse(fmt::format("--threads={}: must lie between 1 and 1024", config.threads));
  }
  if (config.block_size < 256 || config.block_size > (1 << 26)) {
    return refuse(
        fmt::format("--block_size={}: must lie between 256 and {}", config.block_size, 1 << 26));
  }
  if (config.lookup.settings.batch_size > 1 && config.compression_type != "none") {
    return refuse(
        fmt::format("--batch_size={}: MultiGet reads neighbouring compressed blocks in one piece, "
                    "so they cannot be counted apart; use --compression_type=none",
                    config.lookup.settings.batch_size));
  }
  if (config.policies.empty()) {
    return refuse("--policies: the list is empty; name at least one, for example bloomfilter:10");
  }
  if (config.verify && config.db.empty()) {
    return refuse("--verify: name the database with --db");
  }
  if ((config.keep_db || config.reuse) && config.db.empty()) {
    return refuse(fmt::format("--{}: say where with --db", config.reuse ? "reuse" : "keep_db"));
  }
  return Status::OK();
}

}  // namespace

std::vector<std::string> SplitPolicies(const std::string& list) {
  std::vector<std::string> result;
  std::string piece;
  int depth = 0;
  const auto finish = [&] {
    if (!piece.empty()) {
      result.push_back(std::move(piece));
    }
    piece.clear();
  };
  for (const char c : list) {
    depth += c == '{' ? 1 : c == '}' ? -1 : 0;
    if (depth <= 0 && (c == ';' || c == ' ' || c == '\t' || c == '\n')) {
      finish();
    } else {
      piece += c;
    }
  }
  finish();
  return result;
}

Status ParseCommandLine(int argc, char** argv, Config* config) {
  gflags::SetUsageMessage(kUsage);
  gflags::SetVersionString(ROCKSDB_NAMESPACE::GetRocksVersionAsString(true));
  std::vector<std::string> arguments = JoinRepeatedPolicies(argc, argv);
  std::vector<char*> pointers;
  pointers.reserve(arguments.size());
  for (std::string& argument : arguments) {
    pointers.push_back(argument.data());
  }
  int count = static_cast<int>(pointers.size());
  char** begin = pointers.data();
  gflags::ParseCommandLineFlags(&count, &begin, /*remove_flags=*/true);
  if (count > 1) {
    return Status::InvalidArgument(fmt::format(
        "unexpected argument '{}': flags are written --name=value; a list of policies needs quotes",
        begin[1]));
  }
  config->num = FLAGS_num;
  config->seed = FLAGS_seed;
  config->seeds = FLAGS_seeds;
  config->absent_percent = FLAGS_absent_percent;
  config->lookups = FLAGS_lookups;
  config->threads = FLAGS_threads;
  config->block_size = FLAGS_block_size;
  config->compression_type = FLAGS_compression_type;
  config->shape.num_keys = FLAGS_num;
  config->shape.num_levels = FLAGS_num_levels;
  config->shape.sorted_levels = FLAGS_sorted_levels;
  config->shape.level0_files = FLAGS_level0_files;
  config->shape.size_ratio = FLAGS_max_bytes_for_level_multiplier;
  config->target_file_size = FLAGS_target_file_size_base;
  config->db = FLAGS_db;
  config->keep_db = FLAGS_keep_db;
  config->reuse = FLAGS_reuse;
  config->verify_keys = FLAGS_verify_keys;
  config->per_level = FLAGS_per_level;
  config->policies = SplitPolicies(FLAGS_policies);
  config->baseline = FLAGS_baseline;
  config->policies_given = !gflags::GetCommandLineFlagInfoOrDie("policies").is_default;
  config->json = FLAGS_json;
  config->html = FLAGS_html;
  config->csv = FLAGS_csv;
  config->verify = FLAGS_verify;
  config->flags = OwnFlags();
  Status s = ParseEqualize(FLAGS_equalize, &config->equalize);
  if (s.ok()) {
    s = ReadDataFlags(&config->data);
  }
  if (s.ok()) {
    s = ReadTreeFlags(&config->tree);
  }
  if (s.ok()) {
    s = ReadLookupFlags(&config->lookup);
    config->lookup.settings.count = FLAGS_lookups;
    config->lookup.settings.threads = FLAGS_threads;
  }
  return s.ok() ? Check(*config) : s;
}

}  // namespace tieredfilter::cold_lookup
