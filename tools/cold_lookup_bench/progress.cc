#include "tools/cold_lookup_bench/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace tieredfilter::cold_lookup {

namespace {

// Often enough to look alive, seldom enough to cost nothing.
constexpr std::chrono::milliseconds kRedraw{200};
constexpr size_t kBarWidth = 30;
// Of terminals that do not tell.
constexpr size_t kUsualColumns = 80;

size_t TerminalColumns() {
  struct winsize size = {};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col
                                                                           : kUsualColumns;
}

// "12", "3.4k", "1.2M"
std::string ShortNumber(double number) {
  return number >= 1e6   ? fmt::format("{:.1f}M", number / 1e6)
         : number >= 1e4 ? fmt::format("{:.0f}k", number / 1e3)
         : number >= 1e3 ? fmt::format("{:.1f}k", number / 1e3)
                         : fmt::format("{:.0f}", number);
}

// "0:42", "1:02:03"
std::string Duration(double seconds) {
  const auto whole = static_cast<uint64_t>(std::min(seconds, 1e9));
  return whole >= 3600 ? fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60)
                       : fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace

Progress::Progress(std::string what, uint64_t total)
    : what_(std::move(what)),
      total_(std::max<uint64_t>(total, 1)),
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
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const std::string line =
      "\r" + ProgressLine(what_, done, total_, seconds, TerminalColumns()) + "\033[K";
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
}

std::string ProgressLine(const std::string& what, uint64_t done, uint64_t total, double seconds,
                         size_t columns) {
  const double part = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  const double rate = static_cast<double>(done) / std::max(seconds, 1e-3);
  const double left = static_cast<double>(total - std::min(done, total)) / std::max(rate, 1e-3);
  const auto filled = static_cast<size_t>(part * kBarWidth);
  const std::string figures = fmt::format(
      "[{}{}] {:3.0f}%  {}/s  {} left", std::string(filled, '#'),
      std::string(kBarWidth - filled, '.'), part * 100, ShortNumber(rate), Duration(left));
  // The terminal would wrap a longer line, and a wrapped line cannot be drawn over. One column
  // stays free for the cursor.
  const size_t room = columns > figures.size() + 2 ? columns - figures.size() - 2 : 0;
  const std::string name = what.size() <= room ? what
                           : room > 3          ? what.substr(0, room - 3) + "..."
                                               : "";
  const std::string line = name.empty() ? figures : name + " " + figures;
  return line.size() < columns ? line : line.substr(0, columns > 0 ? columns - 1 : 0);
}

}  // namespace tieredfilter::cold_lookup
