// Turns the reads of lookups into counts per level.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "tools/cold_lookup_bench/counting_file_system.h"
#include "tools/cold_lookup_bench/counts.h"
#include "tools/cold_lookup_bench/device.h"
#include "tools/cold_lookup_bench/tree_files.h"

namespace tieredfilter::cold_lookup {

// The data block in which a lookup found its key.
struct FoundAt {
  static constexpr size_t kNowhere = ~size_t{0};
  size_t file = kNowhere;  // index in TreeFiles
  uint64_t offset = 0;     // of the block in the file
  bool found() const { return file != kNowhere; }
};

// Whether the filter of a file (an index in TreeFiles) lets a key through.
using FilterAnswer = std::function<bool(size_t file, const std::string& key)>;

// By file: whether RocksDB asks its filter in a lookup. With optimize_filters_for_hits it does not
// in the last level that has files (and of level 0 only in its last file).
std::vector<bool> ConsultedFilters(const TreeFiles& files, bool optimize_filters_for_hits);

// One per thread. `files` must outlive it.
class LookupCounter {
 public:
  explicit LookupCounter(const TreeFiles& files, bool optimize_filters_for_hits = false);

  // Counts a Get of `key` that made `reads` and found the key or not, and returns where. A lookup
  // visits the files that have the key in their range, newest first, and ends at the file that
  // holds it, which it must have read: no data block is cached. So the last file read is the one
  // that held the key, if one did.
  FoundAt Count(const std::string& key, const std::vector<FileRead>& reads, bool found);

  // Counts a MultiGet. Its reads do not tell which key they were for, so it has to be known where
  // each key is, and what the filters say; the reads then are counted as they come.
  void CountBatch(const std::vector<std::string>& keys, const std::vector<FoundAt>& places,
                  const std::vector<FileRead>& reads, const FilterAnswer& filter_answer);

  // Notes how long the call took, how much of it on the CPU, in nanoseconds, and what it would take
  // on each of `devices`.
  void NoteTime(uint64_t elapsed, uint64_t cpu, const std::vector<Device>& devices,
                const std::vector<FileRead>& reads);

  LookupCounts& counts() { return counts_; }

 private:
  // Sets in_range_ to the files that a lookup of `key` comes to, in the order of visits.
  void FindVisited(const std::string& key, const FoundAt& place);
  void CountVisits(const FoundAt& place);
  void CountProbe(size_t file, bool holds_key, bool positive);
  void CountReads(const std::vector<FileRead>& reads);
  bool IsData(size_t file, const FileRead& read) const;

  const TreeFiles& files_;
  const std::vector<bool> consulted_;
  LookupCounts counts_;
  std::vector<size_t> in_range_;  // scratch
};

}  // namespace tieredfilter::cold_lookup
