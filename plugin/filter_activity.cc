#include "plugin/filter_activity.h"

#include <new>

namespace tieredfilter {

// The numbers of threads. A thread that ends gives its number to the next one, together with the
// counters: the mutex orders what the two write.
class ThreadSlots {
 public:
  // 0 if there is none left.
  static uint32_t Take() {
    All& all = TheAll();
    const std::lock_guard<std::mutex> lock(all.mutex);
    if (!all.free.empty()) {
      const uint32_t slot = all.free.back();
      all.free.pop_back();
      return slot;
    }
    return all.next < FilterActivity::kThreadSlots ? all.next++ : 0;
  }
  static void GiveBack(uint32_t slot) {
    All& all = TheAll();
    const std::lock_guard<std::mutex> lock(all.mutex);
    all.free.push_back(slot);
  }

 private:
  struct All {
    All() { free.reserve(FilterActivity::kThreadSlots); }  // GiveBack must not throw
    std::mutex mutex;
    std::vector<uint32_t> free;
    uint32_t next = 1;
  };
  // Never destroyed: threads may end after static objects.
  static All& TheAll() {
    static All* const all = new All;
    return *all;
  }
};

namespace {

struct SlotOwner {
  uint32_t slot = 0;
  ~SlotOwner() {
    if (slot != 0) {
      t_thread_slot = 0;
      ThreadSlots::GiveBack(slot);
    }
  }
};

// Apart from t_thread_slot, since access to a thread_local with a destructor costs a check.
thread_local SlotOwner t_owner;

}  // namespace

FilterActivity::~FilterActivity() {
  for (const std::atomic<Counters*>& slot : slots_) {
    delete slot.load(std::memory_order_relaxed);
  }
}

void FilterActivity::CountSlowly(size_t level, uint64_t probes, uint64_t negatives) {
  try {
    if (t_thread_slot == 0) {
      t_owner.slot = ThreadSlots::Take();
      t_thread_slot = t_owner.slot;
    }
    if (t_thread_slot != 0) {
      // They may be there from a thread that had this number before.
      std::atomic<Counters*>& counters = slots_[t_thread_slot];
      if (counters.load(std::memory_order_acquire) == nullptr) {
        counters.store(new Counters, std::memory_order_release);
      }
      Count(level, probes, negatives);
      return;
    }
  } catch (const std::bad_alloc&) {
  }
  std::atomic<uint64_t>* const answers = shared_.levels[level].answers;
  answers[false].fetch_add(negatives, std::memory_order_relaxed);
  answers[true].fetch_add(probes - negatives, std::memory_order_relaxed);
}

std::vector<ActivityCount> FilterActivity::Totals() const {
  std::vector<ActivityCount> totals(kCountedLevels + 1);
  const auto add = [&totals](const Counters& counters) {
    for (size_t level = 0; level < totals.size(); ++level) {
      const std::atomic<uint64_t>* const answers = counters.levels[level].answers;
      const uint64_t negatives = answers[false].load(std::memory_order_relaxed);
      totals[level] += {negatives + answers[true].load(std::memory_order_relaxed), negatives};
    }
  };
  add(shared_);
  for (const std::atomic<Counters*>& slot : slots_) {
    const Counters* const counters = slot.load(std::memory_order_acquire);
    if (counters != nullptr) {
      add(*counters);
    }
  }
  return totals;
}

}  // namespace tieredfilter
