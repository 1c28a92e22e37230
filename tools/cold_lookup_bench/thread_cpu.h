// CPU time of the calling thread.
#pragma once

#include <cstdint>
#include <ctime>

namespace tieredfilter::cold_lookup {

// Nanoseconds since the thread began; reading it costs about 0.2 microseconds.
inline uint64_t ThreadCpuNanoseconds() {
  struct timespec now = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace tieredfilter::cold_lookup
