// Counts what a policy's own filters are asked and how often they say "no", by the level they were
// created for.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace tieredfilter {

// Levels that are told apart; deeper ones count as the last of them.
inline constexpr size_t kCountedLevels = 16;
// The index of filters that do not know their level.
inline constexpr size_t kUncountedLevel = kCountedLevels;

struct ActivityCount {
  uint64_t probes = 0;
  uint64_t negatives = 0;  // "no match"

  ActivityCount& operator+=(const ActivityCount& other) {
    probes += other.probes;
    negatives += other.negatives;
    return *this;
  }
};

// The number of this thread among those alive that have counted anything, or 0 if it has none yet.
// Given back when the thread ends. With the initial-exec model, since in a shared object (the
// preload one) access would otherwise be a function call.
inline thread_local uint32_t t_thread_slot __attribute__((tls_model("initial-exec"))) = 0;

// One per policy, shared with its readers, which can outlive it in a block cache. A lookup adds to
// a counter that no other live thread writes: a load and a store, no locked instruction and no
// cache line shared. Beyond kThreadSlots threads at once, the others share one set with atomic
// additions.
class FilterActivity {
 public:
  FilterActivity() = default;
  FilterActivity(const FilterActivity&) = delete;
  FilterActivity& operator=(const FilterActivity&) = delete;
  ~FilterActivity();

  // `level` is at most kUncountedLevel. Never throws: where there is no memory for the counters of
  // a thread, it uses the shared ones.
  void Count(size_t level, uint64_t probes, uint64_t negatives) {
    Counters* const counters = slots_[t_thread_slot].load(std::memory_order_acquire);
    if (counters == nullptr) {
      CountSlowly(level, probes, negatives);
      return;
    }
    Cell& cell = counters->levels[level];
    Add(&cell.answers[false], negatives);
    Add(&cell.answers[true], probes - negatives);
  }
  // One probe: one counter to add to, whatever the answer.
  void CountOne(size_t level, bool may_match) {
    Counters* const counters = slots_[t_thread_slot].load(std::memory_order_acquire);
    if (counters == nullptr) {
      CountSlowly(level, 1, may_match ? 0 : 1);
      return;
    }
    Add(&counters->levels[level].answers[may_match], 1);
  }

  // Sums by level, kUncountedLevel included. Safe while others count.
  std::vector<ActivityCount> Totals() const;

 private:
  static constexpr uint32_t kThreadSlots = 128;

  struct Cell {
    std::atomic<uint64_t> answers[2] = {};  // "no match", "may match"
  };
  struct alignas(64) Counters {
    Cell levels[kCountedLevels + 1];
  };

  // Not fetch_add: nobody else writes it.
  static void Add(std::atomic<uint64_t>* counter, uint64_t amount) {
    counter->store(counter->load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
  void CountSlowly(size_t level, uint64_t probes, uint64_t negatives);

  // [0] stays null, for threads without a number.
  std::atomic<Counters*> slots_[kThreadSlots] = {};
  Counters shared_;
  friend class ThreadSlots;
};

}  // namespace tieredfilter
