// Turns the reads of one lookup into counts per level.
#pragma once

#include <string>
#include <vector>

#include "tools/cold_lookup_bench/counting_file_system.h"
#include "tools/cold_lookup_bench/counts.h"
#include "tools/cold_lookup_bench/tree_files.h"

namespace tieredfilter::cold_lookup {

// One per thread. `files` must outlive it.
class LookupCounter {
 public:
  explicit LookupCounter(const TreeFiles& files);

  // Counts a lookup of `key` that made `reads` and found the key or not. A lookup visits the files
  // that have the key in their range, newest first, and ends at the file that holds it, which it
  // must have read: no data block is cached. So the last file read is the one that held the key, if
  // one did.
  void Count(const std::string& key, const std::vector<FileRead>& reads, bool found);

  // Notes how long the lookup took, and how much of it on the CPU; in nanoseconds.
  void NoteTime(uint64_t elapsed, uint64_t cpu) {
    counts_.latency.Add(elapsed);
    counts_.cpu_nanoseconds += cpu;
  }

  const LookupCounts& counts() const { return counts_; }

 private:
  struct FileTally {
    uint64_t data_reads = 0;
    uint64_t other_reads = 0;
    uint64_t bytes = 0;
  };

  void TallyReads(const std::vector<FileRead>& reads);
  void CountProbe(size_t file, bool holds_key);

  const TreeFiles& files_;
  LookupCounts counts_;
  std::vector<FileTally> tally_;  // by file, all zero between two lookups
  std::vector<size_t> in_range_;  // scratch
};

}  // namespace tieredfilter::cold_lookup
