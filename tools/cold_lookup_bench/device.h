// Storage devices as a model: what a lookup would take on them, from the reads that were counted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rocksdb/status.h"
#include "tools/cold_lookup_bench/counting_file_system.h"

namespace tieredfilter::cold_lookup {

// A fast virtual disk under the benchmark hides what reads cost elsewhere. The model leaves out
// queues, caches of the device and everything else that varies; it is meant for comparisons.
struct Device {
  std::string name;
  double access_us = 0;        // until the first byte of a request
  double bytes_per_us = 0;     // afterwards (1 is 1 MB/s); 0: no cost
  bool one_at_a_time = false;  // requests that are made together are served one after the other
};

// Splits a list at commas: "nvme", "ssd", "hdd", "object-store", or microseconds per access.
// InvalidArgument names the part that is neither. An empty list or "none" gives no device.
ROCKSDB_NAMESPACE::Status ParseDevices(const std::string& list, std::vector<Device>* devices);

// What a call takes that spent so many nanoseconds on the CPU and made these reads.
uint64_t ModelledNanoseconds(const Device& device, uint64_t cpu_nanoseconds,
                             const std::vector<FileRead>& reads);

}  // namespace tieredfilter::cold_lookup
