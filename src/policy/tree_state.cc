#include "src/policy/tree_state.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tieredfilter {
namespace {

// A compaction is not expected to shrink its inputs to less than this: where it does, its later
// tables make up for the first.
constexpr double kLeastOfInputs = 0.05;

LevelSizes& LevelOf(int level, TreeSizes* sizes) {
  const auto index = static_cast<size_t>(std::max(level, 0));
  if (sizes->levels.size() <= index) {
    sizes->levels.resize(index + 1);
  }
  return sizes->levels[index];
}

}  // namespace

void TreeState::SetTables(std::vector<LiveTable> tables) {
  tables_ = std::move(tables);
  live_.clear();
  for (const LiveTable& table : tables_) {
    live_.insert(table.number);
  }
}

bool TreeState::IsLive(uint64_t table) const { return live_.count(table) != 0; }

void TreeState::ForgetJobsOfThread(uint64_t thread) {
  for (auto job = jobs_.begin(); job != jobs_.end();) {
    job = job->second.thread == thread ? jobs_.erase(job) : std::next(job);
  }
}

void TreeState::BeginFlush(uint64_t thread, int job) { jobs_[job] = Job{thread, true, 0, {}, {}}; }

void TreeState::BeginCompaction(uint64_t thread, int job, int output_level,
                                std::vector<uint64_t> inputs) {
  jobs_[job] = Job{thread, false, output_level, {inputs.begin(), inputs.end()}, {}};
}

void TreeState::AddOutput(int job, uint64_t table, double entries, double filter_bytes) {
  SetFilterBytes(table, filter_bytes);
  const auto found = jobs_.find(job);
  if (found != jobs_.end()) {
    found->second.outputs.push_back({table, entries, filter_bytes});
  }
}

void TreeState::EndFlush(int job, double flushed_entries) {
  jobs_.erase(job);
  flush_entries_ = flushed_entries;
}

// Keys that are written several times cannot be told from others before they are merged, nor whose
// keys the tombstones are for. Taken for those of the inputs as far as there are any; a tombstone
// itself goes only where nothing is below.
double TreeState::EntriesToCome(const Job& job) const {
  double entries = 0, tombstones = 0;
  bool is_last = true;
  for (const LiveTable& table : tables_) {
    if (job.inputs.count(table.number) != 0) {
      entries += table.entries;
      tombstones += table.deletions;
    } else if (table.level > job.output_level) {
      is_last = false;
    }
  }
  const double keys = entries - tombstones;
  const double left = is_last ? keys - tombstones : std::max(keys, tombstones);
  return std::max(left, entries * kLeastOfInputs);
}

void TreeState::AddJob(const Job& job, TreeSizes* sizes) const {
  double written = 0, filter_bytes = 0;
  for (const Output& output : job.outputs) {
    written += output.entries;
    filter_bytes += output.filter_bytes;
  }
  const auto tables = static_cast<double>(job.outputs.size());
  double coming = 0;
  if (job.is_flush) {
    coming = tables == 0 ? flush_entries_ : 0;
  } else {
    // Where the estimate was too low, there is one more table of the usual size to come.
    coming = EntriesToCome(job) - written;
    coming = coming > 0 ? coming : tables > 0 ? written / tables : 1;
  }
  if (written + coming <= 0) {
    return;
  }
  LevelSizes& size = LevelOf(job.output_level, sizes);
  size.entries += written + coming;
  size.tables += std::max<double>({tables, static_cast<double>(job.inputs.size()), 1});
  size.measured_entries += written;
  size.measured_filter_bytes += filter_bytes;
  size.coming_entries += coming;
  if (job.output_level == 0) {
    sizes->level0_entries.insert(sizes->level0_entries.begin(), written + coming);
  }
}

std::vector<const TreeState::Job*> TreeState::RunningJobs() const {
  std::vector<const Job*> running;
  for (const auto& [number, job] : jobs_) {
    const bool has_input =
        job.is_flush || std::any_of(job.inputs.begin(), job.inputs.end(),
                                    [this](uint64_t input) { return IsLive(input); });
    const bool is_done = std::any_of(job.outputs.begin(), job.outputs.end(),
                                     [this](const Output& output) { return IsLive(output.table); });
    if (has_input && !is_done) {
      running.push_back(&job);
    }
  }
  return running;
}

TreeSizes TreeState::After(const std::vector<const Job*>& jobs) const {
  TreeSizes sizes;
  for (const LiveTable& table : tables_) {
    const bool is_input = std::any_of(jobs.begin(), jobs.end(), [&table](const Job* job) {
      return job->inputs.count(table.number) != 0;
    });
    if (is_input) {
      continue;
    }
    LevelSizes& size = LevelOf(table.level, &sizes);
    size.entries += table.entries;
    size.tables += 1;
    const auto known = filter_bytes_.find(table.number);
    if (known != filter_bytes_.end()) {
      size.measured_entries += table.entries;
      size.measured_filter_bytes += known->second;
    }
    if (table.level == 0 && table.entries > 0) {
      sizes.level0_entries.push_back(table.entries);
    }
  }
  for (const Job* job : jobs) {
    AddJob(*job, &sizes);
  }
  return sizes;
}

TreeSizes TreeState::Sizes() const {
  const std::vector<const Job*> running = RunningJobs();
  TreeSizes sizes = After(running);
  sizes.flush_entries = flush_entries_;
  std::vector<const Job*> flushes;
  std::map<int, std::vector<const Job*>> compactions;
  for (const Job* job : running) {
    (job->is_flush ? flushes : compactions[job->output_level]).push_back(job);
  }
  sizes.after_flushes = After(flushes).AfterAll();
  sizes.after_compactions.resize(sizes.levels.size());
  for (const auto& [level, jobs] : compactions) {
    sizes.after_compactions[static_cast<size_t>(level)] = After(jobs).AfterAll();
  }
  return sizes;
}

}  // namespace tieredfilter
