// What is counted during the lookups.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/cold_lookup_bench/latency_histogram.h"

namespace tieredfilter::cold_lookup {

// How much of a database is cold while it is looked up in.
enum class Cold {
  kResident,  // indexes and filters in memory, every data block from the device
  kCache,     // indexes and filters through a block cache of a given size, data from the device
  kAll,       // every block from the device
};

const char* NameOf(Cold cold);  // as the flag has it

// The driver's own counts for one level: from the files' key ranges and the reads it saw in the
// file system, nothing of it from RocksDB's statistics.
struct LevelCounts {
  uint64_t lookups = 0;          // lookups for which a file of the level had the key in its range
  uint64_t probes = 0;           // files with the key in their range that a lookup came to
  uint64_t filter_checks = 0;    // probes of files that have a filter
  uint64_t filter_avoided = 0;   // filter checks after which no data block was read
  uint64_t false_positives = 0;  // filter checks after which data blocks were read in vain
  uint64_t true_positives = 0;   // filter checks of the file that held the key
  uint64_t found = 0;            // keys found in a file of the level
  uint64_t data_block_reads = 0;
  uint64_t wasted_data_block_reads = 0;  // that held no key which was found
  uint64_t index_block_reads = 0;
  uint64_t filter_block_reads = 0;
  uint64_t operations = 0;  // requests to the device; MultiGet merges reads of neighbouring blocks
  uint64_t data_bytes = 0;  // from the device, whole pages
  uint64_t index_bytes = 0;
  uint64_t filter_bytes = 0;

  uint64_t BlockReads() const { return data_block_reads + index_block_reads + filter_block_reads; }
  uint64_t BytesRead() const { return data_bytes + index_bytes + filter_bytes; }
  void Add(const LevelCounts& other);
};

struct LookupCounts {
  std::map<int, LevelCounts> levels;
  uint64_t lookups = 0;
  uint64_t found = 0;
  uint64_t out_of_range = 0;  // lookups that came to no file
  // By file, in the order of TreeFiles: filter checks for a key the file does not hold.
  std::vector<uint64_t> negative_checks;
  LatencyHistogram latency;                // of calls: Get, or MultiGet of a batch
  std::vector<LatencyHistogram> modelled;  // the same as it would be on each device
  uint64_t cpu_nanoseconds = 0;            // spent inside RocksDB by the looking-up threads
  double seconds = 0;                      // of wall-clock time, all threads together at work

  LevelCounts Total() const;  // sums over the levels; `lookups` is the number of lookups
  void Add(const LookupCounts& other);
};

// What RocksDB and the kernel counted during the same lookups.
struct HostCounts {
  uint64_t ticker_useful = 0;         // BLOOM_FILTER_USEFUL
  uint64_t ticker_positive = 0;       // BLOOM_FILTER_FULL_POSITIVE
  uint64_t ticker_true_positive = 0;  // BLOOM_FILTER_FULL_TRUE_POSITIVE
  struct Level {
    uint64_t useful = 0;
    uint64_t positive = 0;
    uint64_t true_positive = 0;
    uint64_t cache_misses = 0;  // blocks looked for in the block cache and not found there
    uint64_t cache_hits = 0;
  };
  std::map<int, Level> levels;  // from the per-level perf context of all threads
  uint64_t block_reads = 0;     // perf context: blocks fetched from files, of every kind
  uint64_t filter_block_reads = 0;
  uint64_t index_block_reads = 0;
  uint64_t data_cache_hits = 0;  // tickers of the block cache
  uint64_t index_cache_hits = 0;
  uint64_t filter_cache_hits = 0;
  uint64_t memtable_hits = 0;  // MEMTABLE_HIT
  bool process_bytes_known = false;
  uint64_t process_bytes = 0;  // read_bytes of /proc/self/io

  void Add(const HostCounts& other);  // leaves the process-wide figures alone
};

// Bytes that the open database keeps in memory for reading.
struct MemoryUse {
  uint64_t table_readers = 0;  // rocksdb.estimate-table-readers-mem
  uint64_t block_cache = 0;    // in use
  uint64_t process = 0;        // resident set of the whole process
};

// Every disagreement between the counts of one policy's run, as sentences for people; empty if the
// run proves something. `has_filters`: the policy is one that writes filters. `cold`: what must
// have come from the device.
std::vector<std::string> CrossCheck(const LookupCounts& own, const HostCounts& host,
                                    bool has_filters, Cold cold = Cold::kResident);

}  // namespace tieredfilter::cold_lookup
