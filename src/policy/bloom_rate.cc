#include "src/policy/bloom_rate.h"

#include <algorithm>
#include <cmath>

namespace tieredfilter {
namespace {

constexpr double kBlockBits = 512;
// RocksDB probes at most 24 times.
constexpr int kMaxProbes = 24;
constexpr double kMinBits = 1;
constexpr double kMaxBits = 64;

// Probability that all probes of an absent key hit set bits, in a block that holds `keys` keys: the
// `probes`-th moment of the share of set bits, from its mean and variance (balls into bins).
double RateOfBlock(double keys, int probes) {
  const double throws = keys * probes;
  const double clear = std::pow(1 - 1 / kBlockBits, throws);
  const double both_clear = std::pow(1 - 2 / kBlockBits, throws);
  const double share = 1 - clear;
  const double variance = clear / kBlockBits + (1 - 1 / kBlockBits) * both_clear - clear * clear;
  const double second_order =
      probes > 1 ? 0.5 * probes * (probes - 1) * std::pow(share, probes - 2) * variance : 0;
  return std::pow(share, probes) + second_order;
}

double RateForProbes(double bits_per_key, int probes) {
  const double mean_keys = kBlockBits / bits_per_key;
  // Beyond this many keys a block's share of the sum is below 10^-12.
  const double most_keys = mean_keys + 10 * std::sqrt(mean_keys) + 30;
  double sum = 0;
  double probability = std::exp(-mean_keys);
  for (double keys = 1; keys <= most_keys; ++keys) {
    probability *= mean_keys / keys;
    sum += probability * RateOfBlock(keys, probes);
  }
  return sum;
}

}  // namespace

double BloomRateForBits(double bits_per_key) {
  // RocksDB's number of probes comes from measurements and costs at most 4% against the best one.
  double best = 1;
  for (int probes = 1; probes <= kMaxProbes; ++probes) {
    best = std::min(best, RateForProbes(bits_per_key, probes));
  }
  return best;
}

double BloomBitsForRate(double false_positive_rate) {
  double low = kMinBits;
  double high = kMaxBits;
  while (high - low > 0.0005) {  // RocksDB keeps thousandths of a bit
    const double middle = (low + high) / 2;
    (BloomRateForBits(middle) > false_positive_rate ? low : high) = middle;
  }
  return high;
}

}  // namespace tieredfilter
