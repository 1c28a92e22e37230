// A database as it comes about under writes in random order.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "rocksdb/filter_policy.h"
#include "rocksdb/status.h"
#include "tools/cold_lookup_bench/config.h"
#include "tools/cold_lookup_bench/key_space.h"

namespace tieredfilter::cold_lookup {

// The numbers 0 .. count - 1 in an order that looks random, each computed from its place.
class Permutation {
 public:
  Permutation(uint64_t count, uint64_t seed);
  uint64_t operator()(uint64_t place) const;

 private:
  const uint64_t count_;
  const uint64_t seed_;
  int half_bits_ = 1;
};

// Creates the database `path` and writes the `count` entries of run 0 of `keys` in random order,
// with further writes to keys already there as the flags of the data say; flushes, and waits until
// RocksDB has compacted all it wants to. Aborted on Ctrl-C.
ROCKSDB_NAMESPACE::Status LoadNaturally(
    const Config& config, const std::shared_ptr<const ROCKSDB_NAMESPACE::FilterPolicy>& policy,
    const std::string& path, const KeySpace& keys, uint64_t count);

}  // namespace tieredfilter::cold_lookup
