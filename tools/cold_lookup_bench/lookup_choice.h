// Which stored key a lookup asks for.
#pragma once

#include <cstdint>

namespace tieredfilter::cold_lookup {

enum class Distribution { kUniform, kZipfian, kRecent };

// Ranks 0 .. n - 1 such that rank r is drawn in proportion to 1 / (r + 1)^theta, 0 < theta < 1. The
// closed formula of Gray, Sundaresan, Englert, Baclawski and Weinberger, "Quickly Generating
// Billion-Record Synthetic Databases" (SIGMOD 1994), which YCSB made the usual one: exact for the
// first two ranks, an approximation within a few percent for the others. Needs no table.
class Zipf {
 public:
  Zipf(uint64_t n, double theta);

  // The rank for a number drawn evenly from [0, 1).
  uint64_t Rank(double uniform) const;

  // The share of draws that the formula's distribution gives the `count` lowest ranks.
  double Share(uint64_t count) const;

 private:
  const double n_;
  const double theta_;
  double zeta_n_ = 0;
  double eta_ = 0;
};

// Chooses among `keys` stored keys, numbered from the oldest to the newest. Immutable; safe to
// share between threads.
class KeyPicker {
 public:
  KeyPicker(Distribution distribution, double theta, uint64_t keys, uint64_t seed);

  // The number of the key that lookup `number` asks for; any number will do.
  uint64_t Pick(uint64_t number) const;

 private:
  const Distribution distribution_;
  const uint64_t keys_;
  const uint64_t seed_;
  const Zipf zipf_;
};

}  // namespace tieredfilter::cold_lookup
