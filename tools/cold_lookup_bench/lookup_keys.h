// The keys that lookups ask for, by number.
#pragma once

#include <cstdint>
#include <string>

namespace tieredfilter::cold_lookup {

// Immutable; safe to share between threads. The same number always gives the same key.
class LookupKeys {
 public:
  explicit LookupKeys(uint64_t seed) : seed_(seed) {}
  virtual ~LookupKeys() = default;
  LookupKeys(const LookupKeys&) = delete;
  LookupKeys& operator=(const LookupKeys&) = delete;

  // Sets *key to a key that a lookup finds. Numbers go from 0 to the number of entries of the tree
  // less 1, from the oldest to the newest where ages are known.
  virtual void PresentKey(uint64_t number, std::string* key) const = 0;

  // Sets *key to a key that is not there but lies inside key ranges of files. Any number selects
  // one.
  virtual void AbsentKey(uint64_t number, std::string* key) const = 0;

  // Whether lookup `number` asks for an absent key, where `percent` of all lookups (0 to 100) do.
  bool IsAbsentLookup(uint64_t number, double percent) const;

 protected:
  // Separate streams of one seed, so that no lookup key follows from a stored key.
  enum Stream : uint64_t {
    kPosition = 1,
    kAbsent = 2,
    kValue = 3,
    kMix = 5,
    kSize = 6,
    kKind = 7,
    kTarget = 8,
    kDeal = 9
  };

  uint64_t Random(Stream stream, uint64_t a, uint64_t b) const;

 private:
  const uint64_t seed_;
};

}  // namespace tieredfilter::cold_lookup
