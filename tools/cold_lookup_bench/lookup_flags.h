// The part of the command line that says how lookups are made.
#pragma once

#include <cstdint>

#include "rocksdb/status.h"
#include "tools/cold_lookup_bench/counts.h"
#include "tools/cold_lookup_bench/lookup_choice.h"

namespace tieredfilter::cold_lookup {

struct LookupFlags {
  Cold cold = Cold::kResident;
  uint64_t cache_bytes = 0;  // of the block cache, for Cold::kCache
  uint64_t batch_size = 1;   // keys per MultiGet; 1: Get
  bool async_io = false;
  Distribution distribution = Distribution::kUniform;
  double zipfian_theta = 0.99;
};

// Reads the flags after gflags has parsed them. InvalidArgument names the flag that makes no sense.
ROCKSDB_NAMESPACE::Status ReadLookupFlags(LookupFlags* flags);

}  // namespace tieredfilter::cold_lookup
