// Everything a run is asked to do, as read from the command line.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "rocksdb/status.h"
#include "tools/cold_lookup_bench/data_flags.h"
#include "tools/cold_lookup_bench/lookup_flags.h"
#include "tools/cold_lookup_bench/tree_flags.h"
#include "tools/cold_lookup_bench/tree_plan.h"

namespace tieredfilter::cold_lookup {

// What the bits of all policies are tuned to have in common before they are compared.
enum class Equalize { kNothing, kBytes, kReads };

struct Config {
  uint64_t num = 0;
  DataFlags data;
  TreeFlags tree;
  uint64_t seed = 0;
  int seeds = 0;  // runs with seed, seed + 1, ...
  uint64_t lookups = 0;
  double absent_percent = 0;  // of the lookups
  int threads = 0;
  LookupFlags lookup;
  uint64_t block_size = 0;  // bytes
  std::string compression_type;
  TreeShape shape;                // num_keys and entries_per_file follow from the data
  uint64_t target_file_size = 0;  // bytes, below level 0
  std::string db;                 // folder that holds the databases; empty: a temporary one
  bool keep_db = false;
  bool reuse = false;  // loaded trees stay in `db` and are used again
  bool verify_keys = true;
  bool per_level = true;  // tables by level in the text
  std::vector<std::string> policies;
  bool baseline = true;         // run without filters as well
  bool policies_given = false;  // or the default list
  Equalize equalize = Equalize::kNothing;
  std::string json;     // result file; empty: none
  std::string csv;      // one row per policy and level; empty: none
  bool verify = false;  // verify mode: check the database in `db` instead of measuring
  std::string html;     // the same as a page; empty: none

  std::map<std::string, std::string>
      flags;  // every flag of the driver with its value, for the report
};

// Parses the command line. --policies may be given more than once. Exits the process for --help and
// --version and for flags that do not exist, as gflags does. InvalidArgument names the flag that
// makes no sense; nothing is clamped.
ROCKSDB_NAMESPACE::Status ParseCommandLine(int argc, char** argv, Config* config);

// Splits a list of policy specs at ';' and at blanks; specs hold ',' and ':' themselves. A part in
// braces, as in
// "{id=tieredfilter;spec=...}", stays whole.
std::vector<std::string> SplitPolicies(const std::string& list);

}  // namespace tieredfilter::cold_lookup
