#include "tools/cold_lookup_bench/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace tieredfilter::cold_lookup {

namespace {

// Often enough to look alive, seldom enough to cost nothing.
constexpr std::chrono::milliseconds kRedraw{200};

}  // namespace

Progress::Progress(std::string what, uint64_t total)
    : what_(std::move(what)),
      total_(total),
      visible_(::isatty(STDERR_FILENO) == 1),
      start_(Clock::now()),
      last_draw_(start_) {}

Progress::~Progress() {
  if (visible_) {
    std::fputs("\r\033[K", stderr);
    std::fflush(stderr);
  }
}

void Progress::Add(uint64_t items) {
  const uint64_t done = done_.fetch_add(items) + items;
  if (!visible_) {
    return;
  }
  std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  const Clock::time_point now = Clock::now();
  if (!lock.owns_lock() || now - last_draw_ < kRedraw) {
    return;
  }
  last_draw_ = now;
  Draw(done, std::chrono::duration<double>(now - start_).count());
}

void Progress::Draw(uint64_t done, double seconds) const {
  const double rate = static_cast<double>(done) / std::max(seconds, 1e-3);
  const double left = static_cast<double>(total_ - std::min(done, total_)) / std::max(rate, 1e-3);
  const std::string line = fmt::format("\r\033[K{}: {}% ({:.0f}/s, {:.0f} s left)", what_,
                                       100 * done / std::max<uint64_t>(total_, 1), rate, left);
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace tieredfilter::cold_lookup
