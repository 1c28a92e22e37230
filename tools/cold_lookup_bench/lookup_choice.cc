#include "tools/cold_lookup_bench/lookup_choice.h"

#include <algorithm>
#include <cmath>

#include "tools/cold_lookup_bench/key_space.h"

namespace tieredfilter::cold_lookup {

namespace {

// The sum of 1 / i^theta for i = 1 .. n: the first terms one by one, the rest by the
// Euler-Maclaurin formula, whose error with this many first terms is far below that of the
// arithmetic.
double Zeta(double n, double theta) {
  constexpr double kExactTerms = 1000;
  const double exact = std::min(n, kExactTerms);
  double sum = 0;
  for (double i = 1; i <= exact; ++i) {
    sum += std::pow(i, -theta);
  }
  if (n > exact) {
    sum += (std::pow(n, 1 - theta) - std::pow(exact, 1 - theta)) / (1 - theta) +
           (std::pow(n, -theta) - std::pow(exact, -theta)) / 2;
  }
  return sum;
}

// Evenly distributed 64 bits; `stream` keeps the choice of a key apart from other uses of the seed.
uint64_t Random(uint64_t seed, uint64_t number) {
  constexpr uint64_t kStream = 0x70696b63;
  return Mix64(Mix64(seed ^ kStream) ^ number);
}

}  // namespace

Zipf::Zipf(uint64_t n, double theta)
    : n_(static_cast<double>(n)), theta_(theta), zeta_n_(Zeta(n_, theta)) {
  eta_ = (1 - std::pow(2 / n_, 1 - theta_)) / (1 - Zeta(2, theta_) / zeta_n_);
}

uint64_t Zipf::Rank(double uniform) const {
  const double scaled = uniform * zeta_n_;
  if (scaled < 1) {
    return 0;
  }
  if (scaled < 1 + std::pow(0.5, theta_)) {
    return std::min<uint64_t>(1, static_cast<uint64_t>(n_) - 1);
  }
  const double rank = n_ * std::pow(eta_ * uniform - eta_ + 1, 1 / (1 - theta_));
  return static_cast<uint64_t>(std::min(rank, n_ - 1));
}

double Zipf::Share(uint64_t count) const {
  return Zeta(static_cast<double>(count), theta_) / zeta_n_;
}

KeyPicker::KeyPicker(Distribution distribution, double theta, uint64_t keys, uint64_t seed)
    : distribution_(distribution), keys_(keys), seed_(seed), zipf_(keys, theta) {}

uint64_t KeyPicker::Pick(uint64_t number) const {
  const uint64_t random = Random(seed_, number);
  const auto scale = [this](uint64_t bits) {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(bits) * keys_) >> 64);
  };
  if (distribution_ == Distribution::kUniform) {
    return scale(random);
  }
  const uint64_t rank = zipf_.Rank(std::ldexp(static_cast<double>(random >> 11), -53));
  // A popular key may be anywhere: its rank is hashed, so that two ranks can share a key, as in
  // YCSB's scrambled generator. Or the newest is the most popular.
  return distribution_ == Distribution::kRecent ? keys_ - 1 - rank : scale(Mix64(seed_ + rank));
}

}  // namespace tieredfilter::cold_lookup
