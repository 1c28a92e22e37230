// Looks up every stored key once: a filter that loses a key is worth nothing, whatever it saves.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "rocksdb/options.h"
#include "rocksdb/slice.h"
#include "rocksdb/status.h"
#include "tools/cold_lookup_bench/key_space.h"
#include "tools/cold_lookup_bench/tree_plan.h"

namespace tieredfilter::cold_lookup {

struct VerifyResult {
  uint64_t keys = 0;  // looked up
  uint64_t lost = 0;  // not found, found with another value, or found although deleted
  std::map<int, uint64_t> lost_by_level;  // by the level the key was written to
  std::string first_lost;                 // in hex, for a search by hand; empty if none
};

void NoteLost(const ROCKSDB_NAMESPACE::Slice& key, int level, VerifyResult* result);

// Opens the database at `path` and looks the key of every entry of the plan up, in key order and
// through a block cache: this part is about keys, not about reads. Aborted on Ctrl-C.
ROCKSDB_NAMESPACE::Status VerifyKeys(ROCKSDB_NAMESPACE::Options options, const std::string& path,
                                     const TreePlan& plan, const KeySpace& keys, int threads,
                                     const std::string& label, VerifyResult* result);

}  // namespace tieredfilter::cold_lookup
