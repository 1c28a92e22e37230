// What the entries of a tree are, and which keys lookups ask for, each by its number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tools/cold_lookup_bench/lookup_keys.h"
#include "tools/cold_lookup_bench/tree_plan.h"

namespace tieredfilter::cold_lookup {

// Mixes 64 bits (the finalizer of SplitMix64): deterministic on every machine, and good enough that
// neighbouring indices give unrelated values.
uint64_t Mix64(uint64_t x);

// Maps a uniform 64-bit number to [0, range) without the bias and the cost of a modulo.
uint64_t ScaleTo(uint64_t number, uint64_t range);

// Bytes, both bounds included.
struct SizeRange {
  size_t smallest = 0;
  size_t largest = 0;

  // A size of the range, each with the same probability, by a uniform 64-bit number.
  size_t Pick(uint64_t number) const { return smallest + ScaleTo(number, largest - smallest + 1); }
};

enum class EntryKind { kPut, kDelete };

// One entry of a tree: number `index`, in key order, of sorted run `run` of the plan.
struct EntryPlace {
  size_t run = 0;
  uint64_t index = 0;
};

// Immutable after construction; safe to share between threads. What is stored and what is absent
// follows from the numbers alone, so the truth does not depend on the database that is measured.
class KeySpace : public LookupKeys {
 public:
  KeySpace(const TreePlan& plan, uint64_t seed, SizeRange value_size);

  // Sets *key to the key of an entry; keys of a run ascend with the index.
  virtual void EntryKey(EntryPlace place, std::string* key) const = 0;

  virtual EntryKind KindOf(EntryPlace) const { return EntryKind::kPut; }

  // The newest entry with the same key: what a lookup must find.
  virtual EntryPlace NewestOf(EntryPlace place) const { return place; }

  // Sets *value to the value an entry stores.
  void ValueOf(EntryPlace place, std::string* value) const;

  // The key of entry `number`, or of the next one behind it that is not deleted.
  void PresentKey(uint64_t number, std::string* key) const override;

 protected:
  const TreePlan& plan() const { return plan_; }

 private:
  EntryPlace PlaceOf(uint64_t number) const;

  const TreePlan plan_;
  const SizeRange value_size_;
  const uint64_t total_entries_;
};

}  // namespace tieredfilter::cold_lookup
