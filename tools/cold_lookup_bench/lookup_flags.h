// The part of the command line that says how lookups are made.
#pragma once

#include "rocksdb/status.h"
#include "tools/cold_lookup_bench/lookup_choice.h"
#include "tools/cold_lookup_bench/lookup_settings.h"

namespace tieredfilter::cold_lookup {

struct LookupFlags {
  LookupSettings settings;  // all but count and threads
  Distribution distribution = Distribution::kUniform;
  double zipfian_theta = 0.99;
};

// Reads the flags after gflags has parsed them. InvalidArgument names the flag that makes no sense.
ROCKSDB_NAMESPACE::Status ReadLookupFlags(LookupFlags* flags);

}  // namespace tieredfilter::cold_lookup
