#include "tools/filter_bench/run_info.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <fstream>
#include <thread>

#include "fmt/format.h"

namespace tieredfilter::bench {
namespace {

std::string FirstLine(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string ProcessorName() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  std::string name = "unknown";
  while (std::getline(file, line)) {
    const size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return name;
}

std::string CacheSizes() {
  std::string text;
  const std::pair<const char*, int> caches[] = {{"L1d", _SC_LEVEL1_DCACHE_SIZE},
                                                {"L2", _SC_LEVEL2_CACHE_SIZE},
                                                {"L3", _SC_LEVEL3_CACHE_SIZE}};
  for (const auto& [name, id] : caches) {
    const long bytes = sysconf(id);
    if (bytes > 0) {
      text += fmt::format("{}{} {} KiB", text.empty() ? "" : ", ", name, bytes / 1024);
    }
  }
  return text;
}

double LoadAverage() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? load : -1;
}

std::string UtcTime() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace

nlohmann::ordered_json DescribeMachineAndBuild() {
  utsname system{};
  uname(&system);
  nlohmann::ordered_json run;
  run["time"] = UtcTime();
  run["cpu"] = ProcessorName();
  run["cpus"] = std::thread::hardware_concurrency();
  run["caches"] = CacheSizes();
  run["load_average"] = LoadAverage();
  run["kernel"] = fmt::format("{} {} {}", system.sysname, system.release, system.machine);
  run["transparent_hugepages"] = FirstLine("/sys/kernel/mm/transparent_hugepage/enabled");
  run["tieredfilter_version"] = TIEREDFILTER_BENCH_VERSION;
  run["rocksdb_version"] = TIEREDFILTER_BENCH_ROCKSDB_VERSION;
  run["compiler"] = TIEREDFILTER_BENCH_COMPILER;
  run["build_type"] = TIEREDFILTER_BENCH_BUILD_TYPE;
  run["cxx_flags"] = TIEREDFILTER_BENCH_CXX_FLAGS;
  return run;
}

std::vector<std::string> BuildWarnings() {
  std::vector<std::string> warnings;
#ifndef __OPTIMIZE__
  warnings.push_back("optimization is off: no figure means anything");
#endif
  const std::string sanitizers = TIEREDFILTER_BENCH_SANITIZE;
  if (!sanitizers.empty()) {
    warnings.push_back("built with -fsanitize=" + sanitizers + ": no time means anything");
  }
  // This program's own files are always compiled with NDEBUG; our filters follow the build type.
  if (std::string(TIEREDFILTER_BENCH_CXX_FLAGS).find("-DNDEBUG") == std::string::npos) {
    warnings.push_back("assertions may be on in our filters (no -DNDEBUG in the build type '" +
                       std::string(TIEREDFILTER_BENCH_BUILD_TYPE) +
                       "') and are off in the stock ones");
  }
  if (LoadAverage() > 0.5 * std::thread::hardware_concurrency()) {
    warnings.push_back(fmt::format("the machine is busy (load average {:.1f})", LoadAverage()));
  }
  return warnings;
}

}  // namespace tieredfilter::bench
