// Keys computed from their number: nothing is kept in memory, whatever --num.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "rocksdb/status.h"
#include "tools/cold_lookup_bench/key_space.h"
#include "tools/cold_lookup_bench/tree_plan.h"

namespace tieredfilter::cold_lookup {

struct GeneratedData {
  SizeRange key_size;  // of the whole key, prefixes included
  SizeRange value_size;
  std::string key_prefix;     // begins every key
  uint64_t prefix_count = 1;  // different prefixes: with more than one, a number follows key_prefix
  double update_percent = 0;  // of the entries above the oldest run: keys that it holds already
  double delete_percent = 0;  // of the entries above the oldest run: deletions of such keys

  // Bytes of a key before its random part.
  size_t PrefixSize() const;
};

// The random part of a key is eight bytes, big-endian: 56 bits of position and 8 bits of tag. Tag 0
// marks absent keys, tag r + 1 a key that is new in run r, so that two runs never share a key by
// chance and an absent key is absent whatever its position. Zeros follow up to the key's size.
constexpr size_t kRandomKeyPart = 8;
constexpr size_t kMaxRuns = 254;

// InvalidArgument names the flag that makes no sense.
ROCKSDB_NAMESPACE::Status CheckGeneratedData(const GeneratedData& data);

// The keys of a run divide the key space into equal stretches and lie at random inside them, so
// every run spans the whole key range, as the levels of a database under uniform writes do. The
// stretches of all prefixes have the same length.
class GeneratedKeys : public KeySpace {
 public:
  // Requires CheckGeneratedData() to be OK and a plan of at most kMaxRuns runs.
  GeneratedKeys(const TreePlan& plan, uint64_t seed, const GeneratedData& data);
  // Keys and values of one size each.
  GeneratedKeys(const TreePlan& plan, uint64_t seed, size_t key_size, size_t value_size);

  void EntryKey(EntryPlace place, std::string* key) const override;
  EntryKind KindOf(EntryPlace place) const override;
  EntryPlace NewestOf(EntryPlace place) const override;
  void AbsentKey(uint64_t number, std::string* key) const override;

 private:
  // What an entry does: writes a key of its own, or the key `target` of the oldest run again.
  struct Role {
    bool own_key = true;
    EntryKind kind = EntryKind::kPut;
    uint64_t target = 0;
  };

  Role RoleOf(EntryPlace place) const;
  uint64_t StretchOf(size_t run) const;
  uint64_t OwnPosition(EntryPlace place) const;
  uint64_t PositionOf(EntryPlace place) const;
  void Encode(uint64_t position, uint64_t tag, std::string* key) const;

  const GeneratedData data_;
  const size_t digits_;        // of the number in a prefix
  uint64_t first_absent_ = 0;  // positions of absent keys: [first_absent_, end_absent_)
  uint64_t end_absent_ = 0;
};

}  // namespace tieredfilter::cold_lookup
