// Where the counts behind GetFilterCounters() (tieredfilter.h) are kept.
#pragma once

#include <atomic>
#include <cstdint>

namespace tieredfilter {

// Process-wide, since a filter reader is not told which database it belongs to.
extern std::atomic<uint64_t> g_unusable_blocks_read;
extern std::atomic<uint64_t> g_match_all_blocks_written;

}  // namespace tieredfilter
