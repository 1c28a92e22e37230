// How a database is looked up in.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/cold_lookup_bench/counts.h"
#include "tools/cold_lookup_bench/device.h"

namespace tieredfilter::cold_lookup {

struct LookupSettings {
  Cold cold = Cold::kResident;
  uint64_t cache_bytes = 0;  // of the block cache, for Cold::kCache
  uint64_t count = 0;        // lookups
  int threads = 1;
  uint64_t batch_size = 1;      // keys per MultiGet; 1: Get
  bool async_io = false;        // ReadOptions::async_io
  std::vector<Device> devices;  // to model
};

}  // namespace tieredfilter::cold_lookup
