// One line on stderr that shows how far a long step is; silent when stderr is no terminal.
#pragma once

#include <atomic>
#include <chrono>
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

  void Draw(uint64_t done, double seconds) const;

  const std::string what_;
  const uint64_t total_;
  const bool visible_;
  const Clock::time_point start_;
  std::atomic<uint64_t> done_{0};
  std::mutex mutex_;
  Clock::time_point last_draw_;
};

}  // namespace tieredfilter::cold_lookup
