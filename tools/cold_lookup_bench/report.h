// The result of a run, as every output shows it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/cold_lookup_bench/counts.h"
#include "tools/cold_lookup_bench/latency_histogram.h"
#include "tools/cold_lookup_bench/lookup_settings.h"
#include "tools/cold_lookup_bench/tree_files.h"

namespace tieredfilter::cold_lookup {

struct MachineInfo {
  std::string cpu;
  int cpus = 0;
  uint64_t memory_bytes = 0;
  std::string kernel;
};

// What false positives the stored filters lead one to expect, by their own bits (see
// ExpectedRateOf), and how far chance alone takes a count from it. `known` is false where a
// filter's rate cannot be told.
struct Expectation {
  bool known = true;
  double false_positives = 0;
  double variance = 0;

  // Half the width of the interval that the count leaves once in a thousand runs by chance.
  double HalfWidth() const;
  bool Covers(uint64_t measured) const;
  void AddFile(uint64_t negative_checks, double rate);
};

// What a run read less than the run without filters, on the same lookups. Filters save reads of
// data (and of indexes), but have to be read themselves where they are not resident, so that a part
// can be negative, and the whole as well.
struct SavedIo {
  int64_t data_block_reads = 0;
  int64_t data_bytes = 0;
  int64_t other_block_reads = 0;  // indexes and filters
  int64_t other_bytes = 0;
  int64_t operations = 0;  // of every kind

  int64_t NetReads() const { return data_block_reads + other_block_reads; }
  int64_t NetBytes() const { return data_bytes + other_bytes; }
};

// What `counts` has less than `none`.
SavedIo Difference(const LevelCounts& none, const LevelCounts& counts);

struct LevelReport {
  uint64_t files = 0;
  uint64_t entries = 0;
  uint64_t file_bytes = 0;
  uint64_t filter_bytes = 0;
  std::string stored;  // what the files hold, e.g. "bloom:9.46", "none"; kinds joined by "+" where
                       // files differ
  LevelCounts counts;
  Expectation expected;
  std::optional<SavedIo> saved;  // empty if runs cannot be compared
  uint64_t keys_lost = 0;

  double FilterBitsPerKey() const;
  double FalsePositiveRate()
      const;  // measured: of the filter checks for a key that is not in the file
};

// The same figure over several seeds.
struct Spread {
  std::vector<double> values;  // one per seed

  double Mean() const;
  double StandardDeviation() const;  // of the sample; 0 for a single value
};

// What building the filters cost, see FilterBuildCost. No filters: the tree was not built in this
// run.
struct FilterBuild {
  uint64_t filters = 0;
  uint64_t keys = 0;
  uint64_t cpu_nanoseconds = 0;

  double NanosecondsPerKey() const;
};

struct PolicyReport {
  std::string requested;      // as the user wrote it, behind the column family if there are several
  bool reused = false;        // the tree was loaded by an earlier run
  std::string column_family;  // empty if there is only one
  std::string
      spec;  // as RocksDB wrote it into the database's OPTIONS file; "none" without a policy
  std::string policy_name;  // as the table files' properties have it
  std::map<int, LevelReport> levels;
  LevelReport total;
  HostCounts host;
  LatencyHistogram latency;
  std::vector<LatencyHistogram> modelled;  // by device of the run
  FilterBuild build;
  MemoryUse memory;  // after the lookups
  double cpu_microseconds_per_lookup = 0;
  Spread wasted_reads_per_lookup;
  double load_seconds = 0;
  double lookup_seconds = 0;
  uint64_t keys_checked = 0;
  std::string first_lost_key;  // hex
  std::vector<std::string>
      disagreements;  // why the figures of this policy prove nothing; empty if they do

  double WastedReadsPerLookup() const;
};

struct RunReport {
  bool valid = false;
  std::vector<std::string> reasons;  // why not
  std::vector<std::string> notes;    // what a reader should know beside the figures
  std::string rocksdb_version;
  std::string tool_version;
  std::string compiler;
  bool optimized_build = false;
  MachineInfo machine;
  std::map<std::string, std::string> flags;
  uint64_t seed = 0;
  int seeds = 1;
  double absent_percent = 100;
  LookupSettings lookups;  // the same for all policies
  std::string popularity;  // of the keys that are looked up, for people; empty if all alike
  std::string shape_fingerprint;
  std::vector<PolicyReport> policies;
};

// CPU, memory and kernel of this machine; fields stay empty where the system does not tell.
MachineInfo DescribeMachine();

// Sums up files and counts of one policy's run.
void FillLevels(const TreeFiles& files, const LookupCounts& counts, PolicyReport* report);

// The table, the sentence and the verdicts a newcomer reads; before them, if `details`, tables by
// level, of times and of memory.
std::string ReportAsText(const RunReport& report, bool details);

// The sentence alone: what every policy wastes per 1000 lookups.
std::string ReportSentence(const RunReport& report);

// One row per policy and level, and one with level "all". Only for valid runs: CSV has no place for
// a reason.
std::string ReportAsCsv(const RunReport& report);

// The same figures as one HTML page that needs nothing from elsewhere.
std::string ReportAsHtml(const RunReport& report);

// The same figures as JSON, with the fields README.md lists.
std::string ReportAsJson(const RunReport& report);

}  // namespace tieredfilter::cold_lookup
