// Stands in for RocksDB's header of this name: as much of it as the adapter names.
#pragma once

#include <cstddef>
#include <memory>

#include "rocksdb/cache.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {

template <CacheEntryRole R>
class CacheReservationManagerImpl {
 public:
  explicit CacheReservationManagerImpl(std::shared_ptr<Cache> cache, bool delayed_decrease = false);
  Status UpdateCacheReservation(std::size_t new_memory_used);
};

}  // namespace ROCKSDB_NAMESPACE
