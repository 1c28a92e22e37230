// Measures what it costs to build filters, whatever policy builds them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "rocksdb/filter_policy.h"

namespace tieredfilter::cold_lookup {

// Sums over all filters that were built. Written by many threads.
struct FilterBuildCost {
  std::atomic<uint64_t> filters{0};
  std::atomic<uint64_t> keys{0};
  std::atomic<uint64_t> cpu_nanoseconds{0};
  // While set, tables get no filter: those that are only written to be compacted at once.
  std::atomic<bool> paused{false};
};

// A policy that does what `policy` does under the same names, and adds to *cost the CPU time each
// filter takes from key hashes to the finished, verified block. Hashing the keys is left out: it
// costs every kind the same, and a clock around every key would cost more than it. Null stays null.
std::shared_ptr<const ROCKSDB_NAMESPACE::FilterPolicy> NewTimedPolicy(
    std::shared_ptr<const ROCKSDB_NAMESPACE::FilterPolicy> policy,
    std::shared_ptr<FilterBuildCost> cost);

}  // namespace tieredfilter::cold_lookup
