#include "tools/cold_lookup_bench/report_format.h"

#include <fmt/format.h>

#include <cmath>

namespace tieredfilter::cold_lookup {

std::string WithUnit(int64_t bytes) {
  const double size = std::abs(static_cast<double>(bytes));
  const double value = static_cast<double>(bytes);
  if (size < 1e4) {
    return fmt::format("{} B", bytes);
  }
  return size < 1e7    ? fmt::format("{:.1f} kB", value / 1e3)
         : size < 1e10 ? fmt::format("{:.1f} MB", value / 1e6)
                       : fmt::format("{:.1f} GB", value / 1e9);
}

std::string Short(double value) {
  return value >= 100 || value == 0 ? fmt::format("{:.0f}", value)
         : value >= 1               ? fmt::format("{:.1f}", value)
                                    : fmt::format("{:.2f}", value);
}

std::string Duration(double nanoseconds) {
  return nanoseconds < 1e6   ? Short(nanoseconds / 1e3) + " us"
         : nanoseconds < 1e9 ? Short(nanoseconds / 1e6) + " ms"
                             : Short(nanoseconds / 1e9) + " s";
}

std::string Signed(std::int64_t value) {
  return value > 0 ? fmt::format("+{}", value) : fmt::format("{}", value);
}

std::string Plural(uint64_t n, const char* of) {
  return fmt::format("{} {}{}", n, of, n == 1 ? "" : "s");
}

std::string DescribeLookups(const RunReport& report) {
  const LookupSettings& lookups = report.lookups;
  std::string text = Plural(lookups.count, "lookup");
  text += report.absent_percent == 100
              ? " of absent keys"
              : fmt::format(", {:g}% of them of absent keys", report.absent_percent);
  if (!report.popularity.empty() && report.absent_percent < 100) {
    text += ", the others " + report.popularity + ",";
  }
  text +=
      lookups.batch_size == 1 ? " by Get" : fmt::format(" by MultiGet of {}", lookups.batch_size);
  text += lookups.threads == 1 ? "" : fmt::format(" in {} threads", lookups.threads);
  switch (lookups.cold) {
    case Cold::kResident:
      return text +
             ". Cold: data blocks, from the device with direct I/O; indexes and filters are "
             "in memory.";
    case Cold::kCache:
      return text + fmt::format(
                        ". Cold: data blocks, from the device with direct I/O; indexes and "
                        "filters come through a cache of {}.",
                        WithUnit(static_cast<int64_t>(lookups.cache_bytes)));
    case Cold::kAll:
      return text + ". Cold: every block, from the device with direct I/O.";
  }
  return text;
}

}  // namespace tieredfilter::cold_lookup
