#include "tools/filter_bench/measure.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "fmt/format.h"
#include "tools/filter_bench/memory_meter.h"

namespace tieredfilter::bench {
namespace {

// Different filters behind the copies: enough that one unlucky seed does not decide a rate of small
// filters, few enough that building them does not dominate the run.
constexpr uint64_t kMaxDistinctFilters = 8;
constexpr uint64_t kDistinctFilterKeys = 1000000;

// A timed repetition builds at least this many keys, so that filters of a few thousand keys are
// built many times over.
constexpr uint64_t kBuildKeysPerRepetition = 200000;

// Filters take turns in slices this short, because the speed of a shared or throttled machine
// changes within tens of milliseconds. Before each slice a sweep over the block (unless the pattern
// is about cold filters) and untimed lookups bring filter and code back into the cache.
constexpr double kSliceNs = 1e6;
constexpr double kWarmUpNs = 0.4e6;

uint64_t DistinctFilters(uint64_t keys) {
  return std::clamp<uint64_t>(kDistinctFilterKeys / std::max<uint64_t>(keys, 1), 1,
                              kMaxDistinctFilters);
}

// Blocks of one filter, copied behind each other at the same offset from a cache-line boundary:
// where malloc happens to put a block must not decide who wins.
class BlockArena {
 public:
  void Fill(const std::vector<Block>& distinct, size_t copies, size_t offset) {
    size_t total = 128;
    for (size_t i = 0; i < copies; ++i) {
      total += Stride(distinct[i % distinct.size()].size);
    }
    memory_.reset(new char[total]);
    char* next = memory_.get() + (64 - reinterpret_cast<uintptr_t>(memory_.get()) % 64) + offset;
    blocks_.clear();
    for (size_t i = 0; i < copies; ++i) {
      const Block& block = distinct[i % distinct.size()];
      std::memcpy(next, block.data.get(), block.size);
      blocks_.emplace_back(next, block.size);
      next += Stride(block.size);
    }
  }
  const std::vector<std::pair<const char*, size_t>>& blocks() const { return blocks_; }

  // Reads the first block from end to end.
  void Touch() const {
    const auto& [data, size] = blocks_[0];
    for (size_t i = 0; i < size; i += 64) {
      *static_cast<const volatile char*>(data + i);
    }
  }

 private:
  static size_t Stride(size_t size) { return (size + 63) / 64 * 64 + 64; }

  std::unique_ptr<char[]> memory_;
  std::vector<std::pair<const char*, size_t>> blocks_;
};

// One filter while it is measured.
struct Contestant {
  BenchFilter* filter = nullptr;
  FilterResult result;
  std::vector<Block> distinct;
  BlockArena arena;
};

class Measurement {
 public:
  Measurement(const std::vector<std::unique_ptr<BenchFilter>>& filters, size_t baseline,
              uint64_t keys, const MeasureOptions& options)
      : baseline_(baseline),
        keys_(keys),
        options_(options),
        random_(options.seed + keys),
        chunk_(options.key_model) {
    contestants_.resize(filters.size());
    for (size_t i = 0; i < filters.size(); ++i) {
      contestants_[i].filter = filters[i].get();
      contestants_[i].result.filter = filters[i]->name();
      contestants_[i].result.kernel = filters[i]->kernel();
      contestants_[i].result.keys = keys;
    }
  }

  bool Run(std::vector<FilterResult>* results, std::string* error) {
    for (Contestant& contestant : contestants_) {
      if (!BuildAndVerify(&contestant, error)) {
        return false;
      }
    }
    if (options_.build_times && !TimeBuilds(error)) {
      return false;
    }
    if (!options_.patterns.empty() && (!OpenReaders(error) || !TimeLookups(error))) {
      return false;
    }
    for (Contestant& contestant : contestants_) {
      contestant.filter->Close();
      results->push_back(std::move(contestant.result));
    }
    return true;
  }

 private:
  bool BuildAndVerify(Contestant* contestant, std::string* error);
  bool VerifyPresentKeys(Contestant* contestant, uint64_t filter_id, std::string* error);
  uint64_t CountFalsePositives(BenchFilter* filter, uint64_t filter_id, uint64_t lookups);
  bool TimeBuilds(std::string* error);
  bool OpenReaders(std::string* error);
  bool TimeLookups(std::string* error);
  bool TimeRepetition(const Pattern& pattern, std::vector<std::vector<double>>* times,
                      std::string* error);
  bool TimeSlice(BenchFilter* filter, const Pattern& pattern, bool present,
                 std::vector<double>* chunk_ns);
  Timing Summarize(const std::vector<std::vector<double>>& times, size_t which, size_t base) const;
  // Rotates who goes first, so that no filter always follows the same neighbour.
  size_t Turn(int round, size_t i) const {
    return (i + static_cast<size_t>(round)) % contestants_.size();
  }

  const size_t baseline_;
  const uint64_t keys_;
  const MeasureOptions& options_;
  std::mt19937_64 random_;
  KeyChunk chunk_;
  Stopwatch watch_;
  size_t copies_ = 1;
  std::vector<Contestant> contestants_;
};

bool Measurement::BuildAndVerify(Contestant* contestant, std::string* error) {
  BenchFilter* filter = contestant->filter;
  FilterResult& result = contestant->result;
  const uint64_t distinct = DistinctFilters(keys_);
  const uint64_t lookups_per_filter = std::max<uint64_t>(options_.fpr_keys / distinct, 1);
  uint64_t false_positives = 0;
  size_t block_bytes = 0;
  for (uint64_t id = 0; id < distinct; ++id) {
    Block block;
    Stopwatch unused;
    MemoryMeter::Start();
    const bool built = filter->Build(id, keys_, &chunk_, &unused, &block, error);
    const size_t peak = MemoryMeter::StopAndGetPeak();
    if (!built) {
      return false;
    }
    block_bytes += block.size;
    if (id == 0) {
      const double keys = static_cast<double>(keys_);
      result.build_peak_bytes_per_key = static_cast<double>(peak) / keys;
      result.build_temporary_bytes_per_key =
          (static_cast<double>(peak) - static_cast<double>(block.size)) / keys - sizeof(uint64_t);
    }
    if (!filter->Open({{block.data.get(), block.size}}, error) ||
        !VerifyPresentKeys(contestant, id, error)) {
      return false;
    }
    false_positives += CountFalsePositives(filter, id, lookups_per_filter);
    contestant->distinct.push_back(std::move(block));
  }
  filter->Close();
  const double lookups = static_cast<double>(lookups_per_filter * distinct);
  result.bits_per_key =
      8.0 * static_cast<double>(block_bytes) / static_cast<double>(keys_ * distinct);
  result.fpr = static_cast<double>(false_positives) / lookups;
  // With no false positive seen, the rate of one is the honest width.
  const double p = std::max(result.fpr, 1 / lookups);
  result.fpr_sigma = std::sqrt(p * (1 - std::min(p, 1.0)) / lookups);
  return true;
}

bool Measurement::VerifyPresentKeys(Contestant* contestant, uint64_t filter_id,
                                    std::string* error) {
  for (uint64_t first = 0; first < keys_; first += kChunkKeys) {
    const size_t count = static_cast<size_t>(std::min<uint64_t>(kChunkKeys, keys_ - first));
    chunk_.FillConsecutive(filter_id, /*present=*/true, first, count);
    contestant->filter->Prepare(chunk_);
    for (CallShape shape : {CallShape::kSingle, CallShape::kBatch}) {
      contestant->result.false_negatives += count - contestant->filter->Lookup(shape);
    }
  }
  if (contestant->result.false_negatives > 0) {
    *error = fmt::format("{} (kernel {}) misses {} of the {} keys it holds: nothing was timed",
                         contestant->filter->name(), contestant->filter->kernel(),
                         contestant->result.false_negatives, keys_);
    return false;
  }
  return true;
}

uint64_t Measurement::CountFalsePositives(BenchFilter* filter, uint64_t filter_id,
                                          uint64_t lookups) {
  uint64_t matches = 0;
  for (uint64_t first = 0; first < lookups; first += kChunkKeys) {
    const size_t count = static_cast<size_t>(std::min<uint64_t>(kChunkKeys, lookups - first));
    chunk_.FillConsecutive(filter_id, /*present=*/false, first, count);
    filter->Prepare(chunk_);
    matches += filter->Lookup(CallShape::kBatch);
  }
  return matches;
}

bool Measurement::TimeBuilds(std::string* error) {
  std::vector<std::vector<double>> times(contestants_.size());
  const uint64_t builds = std::max<uint64_t>(1, kBuildKeysPerRepetition / keys_);
  for (int repetition = 0; repetition < options_.repetitions; ++repetition) {
    for (size_t i = 0; i < contestants_.size(); ++i) {
      const size_t which = Turn(repetition, i);
      std::vector<double> build_ns;
      for (uint64_t build = 0; build < builds; ++build) {
        Block block;
        watch_.Reset();
        if (!contestants_[which].filter->Build(build % kMaxDistinctFilters, keys_, &chunk_, &watch_,
                                               &block, error)) {
          return false;
        }
        build_ns.push_back(watch_.total_ns());
      }
      times[which].push_back(Median(std::move(build_ns)) / static_cast<double>(keys_));
    }
  }
  const auto ribbon =
      std::find_if(contestants_.begin(), contestants_.end(),
                   [](const Contestant& c) { return c.result.filter.rfind("ribbon:", 0) == 0; });
  for (size_t i = 0; i < contestants_.size(); ++i) {
    FilterResult& result = contestants_[i].result;
    result.has_build = true;
    result.build = Summarize(times, i, baseline_);
    if (ribbon != contestants_.end()) {
      const auto base = static_cast<size_t>(ribbon - contestants_.begin());
      result.build_ribbon_ratio = Summarize(times, i, base).ratio;
    }
  }
  return true;
}

bool Measurement::OpenReaders(std::string* error) {
  const bool many = std::any_of(options_.patterns.begin(), options_.patterns.end(),
                                [](const Pattern* pattern) { return pattern->many; });
  if (many) {
    // The same number of filters of the same keys for everybody, chosen so that the smallest kind
    // still exceeds the cache; larger kinds are larger here as they are in a database.
    double smallest_bits = contestants_[0].result.bits_per_key;
    for (const Contestant& contestant : contestants_) {
      smallest_bits = std::min(smallest_bits, contestant.result.bits_per_key);
    }
    const double block_bytes = smallest_bits * static_cast<double>(keys_) / 8;
    copies_ = static_cast<size_t>(std::ceil(options_.many_mb * 1e6 / block_bytes));
    copies_ = std::max<size_t>(copies_, 1);
  }
  for (Contestant& contestant : contestants_) {
    contestant.arena.Fill(contestant.distinct, copies_, options_.block_offset);
    if (!contestant.filter->Open(contestant.arena.blocks(), error)) {
      return false;
    }
  }
  return true;
}

bool Measurement::TimeLookups(std::string* error) {
  for (const Pattern* pattern : options_.patterns) {
    // [absent, present][filter][repetition]
    std::vector<std::vector<double>> times[2] = {
        std::vector<std::vector<double>>(contestants_.size()),
        std::vector<std::vector<double>>(contestants_.size())};
    for (int repetition = 0; repetition < options_.repetitions; ++repetition) {
      if (!TimeRepetition(*pattern, times, error)) {
        return false;
      }
    }
    for (size_t i = 0; i < contestants_.size(); ++i) {
      contestants_[i].result.lookups.push_back(
          {pattern, Summarize(times[0], i, baseline_), Summarize(times[1], i, baseline_)});
    }
  }
  return true;
}

bool Measurement::TimeRepetition(const Pattern& pattern, std::vector<std::vector<double>>* times,
                                 std::string* error) {
  std::vector<std::vector<double>> chunk_ns[2] = {
      std::vector<std::vector<double>>(contestants_.size()),
      std::vector<std::vector<double>>(contestants_.size())};
  const int slices = std::max(1, static_cast<int>(options_.min_time_ms * 1e6 / kSliceNs));
  for (int slice = 0; slice < slices; ++slice) {
    for (size_t i = 0; i < contestants_.size(); ++i) {
      const size_t which = Turn(slice, i);
      if (!pattern.many) {
        contestants_[which].arena.Touch();
      }
      for (int present : {0, 1}) {
        if (!TimeSlice(contestants_[which].filter, pattern, present != 0,
                       &chunk_ns[present][which])) {
          *error = fmt::format("{} (kernel {}) missed a present key while {} was timed",
                               contestants_[which].filter->name(),
                               contestants_[which].filter->kernel(), pattern.name);
          return false;
        }
      }
    }
  }
  for (int present : {0, 1}) {
    for (size_t i = 0; i < contestants_.size(); ++i) {
      // The median chunk and not the mean: whatever interrupts the program lengthens single chunks
      // a thousandfold, while the costs of the filter itself are averaged within each chunk.
      times[present][i].push_back(Median(std::move(chunk_ns[present][i])) / kChunkKeys);
    }
  }
  return true;
}

// Appends the time of each chunk. Returns false if a present key was missed.
bool Measurement::TimeSlice(BenchFilter* filter, const Pattern& pattern, bool present,
                            std::vector<double>* chunk_ns) {
  KeyChunk::RandomSpec spec;
  spec.present = present;
  spec.keys_per_filter = keys_;
  spec.readers = pattern.many ? copies_ : 1;
  spec.distinct_filters = static_cast<size_t>(DistinctFilters(keys_));
  spec.keys_per_choice = pattern.shape == CallShape::kBatch ? kBatchKeys : 1;
  uint64_t lookups = 0;
  uint64_t matches = 0;
  double warm_up_ns = 0;
  double timed_ns = 0;
  while (timed_ns < kSliceNs) {
    chunk_.FillRandom(spec, &random_);
    filter->Prepare(chunk_);
    watch_.Reset();
    watch_.Start();
    matches += filter->Lookup(pattern.shape);
    watch_.Stop();
    lookups += kChunkKeys;
    if (warm_up_ns < kWarmUpNs) {
      warm_up_ns += watch_.total_ns();
    } else {
      timed_ns += watch_.total_ns();
      chunk_ns->push_back(watch_.total_ns());
    }
  }
  return !present || matches == lookups;
}

Timing Measurement::Summarize(const std::vector<std::vector<double>>& times, size_t which,
                              size_t base) const {
  std::vector<double> ratios;
  for (size_t i = 0; i < times[which].size(); ++i) {
    ratios.push_back(times[which][i] / times[base][i]);
  }
  return {Median(times[which]), Median(std::move(ratios))};
}

}  // namespace

const std::vector<Pattern>& AllPatterns() {
  static const std::vector<Pattern> patterns = {
      {"cached", CallShape::kSingle, false},       {"many", CallShape::kSingle, true},
      {"dependent", CallShape::kDependent, false}, {"batch", CallShape::kBatch, false},
      {"batch_cold", CallShape::kBatch, true},     {"dependent_many", CallShape::kDependent, true},
  };
  return patterns;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 != 0 ? values[half] : (values[half - 1] + values[half]) / 2;
}

bool MeasureFilters(const std::vector<std::unique_ptr<BenchFilter>>& filters, size_t baseline,
                    uint64_t keys, const MeasureOptions& options,
                    std::vector<FilterResult>* results, std::string* error) {
  return Measurement(filters, baseline, keys, options).Run(results, error);
}

}  // namespace tieredfilter::bench
