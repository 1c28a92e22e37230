// What a column family's tree will look like once the flushes and compactions that are running are
// done: the sizes that a memory budget has to reckon with when it chooses the next table's filter.
//
// A compaction into a level can make it many times as big as it is now, and takes away the filters
// of its inputs; a budget reckoned from the tables that are there now is over by as much. So jobs
// are followed from their start: their inputs count as gone, and what they will write as coming.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "src/policy/budget_plan.h"

namespace tieredfilter {

// A table that the column family consists of now.
struct LiveTable {
  uint64_t number = 0;
  int level = 0;
  double entries = 0;  // tombstones included: they are in the filter, too
  double deletions = 0;
};

// Of one column family. Not thread-safe.
class TreeState {
 public:
  void SetTables(std::vector<LiveTable> tables);

  // A filter's size in bytes, of a table that was written or read since.
  void SetFilterBytes(uint64_t table, double bytes) { filter_bytes_[table] = bytes; }
  void ForgetTable(uint64_t table) { filter_bytes_.erase(table); }

  // A job starts on this thread. A thread runs one job at a time, so any other of its jobs is over:
  // RocksDB does not report the end of every job that fails.
  void BeginFlush(uint64_t thread, int job);
  void BeginCompaction(uint64_t thread, int job, int output_level, std::vector<uint64_t> inputs);
  // A table that a job has finished; unknown jobs (recovery, repair) are left out until SetTables.
  void AddOutput(int job, uint64_t table, double entries, double filter_bytes);
  // `flushed_entries` is what the next flush is expected to have, too.
  void EndFlush(int job, double flushed_entries);
  void EndCompaction(int job) { jobs_.erase(job); }
  void ForgetJobsOfThread(uint64_t thread);

  TreeSizes Sizes() const;

 private:
  struct Output {
    uint64_t table;
    double entries;
    double filter_bytes;
  };
  struct Job {
    uint64_t thread = 0;
    bool is_flush = false;
    int output_level = 0;
    std::unordered_set<uint64_t> inputs;
    std::vector<Output> outputs;
  };

  // Jobs that are known to run, and still have what they started with.
  std::vector<const Job*> RunningJobs() const;
  bool IsLive(uint64_t table) const;
  TreeSizes After(const std::vector<const Job*>& jobs) const;
  void AddJob(const Job& job, TreeSizes* sizes) const;
  double EntriesToCome(const Job& job) const;

  std::vector<LiveTable> tables_;
  std::unordered_set<uint64_t> live_;  // their numbers
  std::unordered_map<uint64_t, double> filter_bytes_;
  std::map<int, Job> jobs_;  // by RocksDB's number
  double flush_entries_ = 0;
};

}  // namespace tieredfilter
