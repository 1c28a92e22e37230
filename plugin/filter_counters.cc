#include "plugin/filter_counters.h"

#include "plugin/tieredfilter.h"

namespace tieredfilter {

std::atomic<uint64_t> g_unusable_blocks_read{0};
std::atomic<uint64_t> g_match_all_blocks_written{0};

FilterCounters GetFilterCounters() {
  FilterCounters counters;
  counters.unusable_blocks_read = g_unusable_blocks_read.load(std::memory_order_relaxed);
  counters.match_all_blocks_written = g_match_all_blocks_written.load(std::memory_order_relaxed);
  return counters;
}

}  // namespace tieredfilter
