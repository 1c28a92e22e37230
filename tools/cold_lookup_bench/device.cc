#include "tools/cold_lookup_bench/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace tieredfilter::cold_lookup {

using ROCKSDB_NAMESPACE::Status;

namespace {

// Round figures for a single request in flight, as data sheets and vendors' guides give them:
//   nvme          80 us for a random read of 4 KB from TLC flash, 3 GB/s
//   ssd           the same flash behind SATA, 120 us, 500 MB/s
//   hdd           7200 revolutions a minute: half a revolution is 4.2 ms, an average seek 8.5 ms;
//                 200 MB/s; one arm
//   object-store  100 ms to the first byte and 90 MB/s per request, the lower end of what Amazon's
//                 performance guide for S3 says to expect
const std::vector<Device>& KnownDevices() {
  static const std::vector<Device> devices = {{"nvme", 80, 3000, false},
                                              {"ssd", 120, 500, false},
                                              {"hdd", 12700, 200, true},
                                              {"object-store", 100000, 90, false}};
  return devices;
}

// A year; more is a mistake.
constexpr double kMaxMicroseconds = 3.2e13;

Status ParseDevice(const std::string& name, Device* device) {
  for (const Device& known : KnownDevices()) {
    if (known.name == name) {
      *device = known;
      return Status::OK();
    }
  }
  char* end = nullptr;
  const double microseconds = std::strtod(name.c_str(), &end);
  if (name.empty() || *end != '\0' || !(microseconds >= 0 && microseconds <= kMaxMicroseconds)) {
    return Status::InvalidArgument(
        fmt::format("--device: '{}' is none of nvme, ssd, hdd, object-store, and no number of "
                    "microseconds per read",
                    name));
  }
  *device = {fmt::format("{:g} us", microseconds), microseconds, 0, false};
  return Status::OK();
}

}  // namespace

Status ParseDevices(const std::string& list, std::vector<Device>* devices) {
  devices->clear();
  if (list.empty() || list == "none") {
    return Status::OK();
  }
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    devices->emplace_back();
    if (Status s = ParseDevice(list.substr(begin, end - begin), &devices->back()); !s.ok()) {
      return s;
    }
    begin = end + 1;
  }
  return Status::OK();
}

uint64_t ModelledNanoseconds(const Device& device, uint64_t cpu_nanoseconds,
                             const std::vector<FileRead>& reads) {
  double accesses = 0;
  double bytes = 0;
  for (const FileRead& read : reads) {
    accesses += (device.one_at_a_time ? read.operation : read.wait) ? 1 : 0;
    bytes += static_cast<double>(read.device_bytes);
  }
  double microseconds = accesses * device.access_us;
  if (device.bytes_per_us > 0) {
    microseconds += bytes / device.bytes_per_us;
  }
  return cpu_nanoseconds + static_cast<uint64_t>(std::llround(1e3 * microseconds));
}

}  // namespace tieredfilter::cold_lookup
