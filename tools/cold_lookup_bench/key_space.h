// The keys of a run and the keys that are in none, computed from their index: nothing is kept in
// memory, whatever --num.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tools/cold_lookup_bench/tree_plan.h"

namespace tieredfilter::cold_lookup {

// A key begins with eight bytes, big-endian: 56 bits of position and 8 bits of tag. Tag 0 marks
// absent keys, tag r + 1 a key of run r, so that two runs never share a key and an absent key is
// absent whatever its position.
constexpr size_t kMinKeySize = 8;
constexpr size_t kMaxRuns = 254;

// Mixes 64 bits (the finalizer of SplitMix64): deterministic on every machine, and good enough that
// neighbouring indices give unrelated values.
uint64_t Mix64(uint64_t x);

// Immutable after construction; safe to share between threads.
class KeySpace {
 public:
  // Requires key_size >= kMinKeySize and a plan of at most kMaxRuns runs.
  KeySpace(const TreePlan& plan, uint64_t seed, size_t key_size, size_t value_size);

  // Sets *key to key `index` of run `run`; keys of a run ascend with the index. The keys of a run
  // divide the key space into equal stretches and lie at random inside them, so every run spans the
  // whole key range, as the levels of a database under uniform writes do.
  void PresentKey(size_t run, uint64_t index, std::string* key) const;

  // Sets *key to an absent key that lies between the first and the last key of every run. `number`
  // selects it.
  void AbsentKey(uint64_t number, std::string* key) const;

  // Whether lookup `number` asks for an absent key, where `percent` of all lookups (0 to 100) do.
  bool IsAbsentLookup(uint64_t number, double percent) const;

  // Sets *value to the value stored under key `index` of run `run`.
  void ValueOf(size_t run, uint64_t index, std::string* value) const;

  // Sets *key to stored key `number`, 0 .. number of entries - 1, from the oldest to the newest.
  void PresentKey(uint64_t number, std::string* key) const;

 private:
  uint64_t PositionOf(size_t run, uint64_t index) const;
  void Encode(uint64_t position, uint64_t tag, std::string* key) const;

  const TreePlan plan_;
  const uint64_t seed_;
  const size_t key_size_;
  const size_t value_size_;
  const uint64_t total_entries_;
  uint64_t first_absent_ = 0;  // positions of absent keys: [first_absent_, end_absent_)
  uint64_t end_absent_ = 0;
};

}  // namespace tieredfilter::cold_lookup
