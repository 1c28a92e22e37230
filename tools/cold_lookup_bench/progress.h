// A bar on stderr that shows how far a long step is; silent when stderr is no terminal.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

namespace tieredfilter::cold_lookup {

class Progress {
 public:
  // `what` names the step, `total` is the number of items it has.
  Progress(std::string what, uint64_t total);
  ~Progress();  // clears the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Safe to call from several threads; cheap when called for every thousand items or so.
  void Add(uint64_t items);

 private:
  using Clock = std::chrono::steady_clock;

  const std::string what_;
  const uint64_t total_;
  const bool visible_;
  const Clock::time_point start_;
  std::atomic<uint64_t> done_{0};
  std::mutex mutex_;
  Clock::time_point last_draw_;
};

// The line for `done` of `total` items after `seconds`: bar, percentage, rate and time left at that
// rate. Shorter than `columns`; the name of the step gives way.
std::string ProgressLine(const std::string& what, uint64_t done, uint64_t total, double seconds,
                         size_t columns);

}  // namespace tieredfilter::cold_lookup
