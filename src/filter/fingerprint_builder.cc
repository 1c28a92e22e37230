#include "src/filter/fingerprint_builder.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "src/filter/cuckoo_geometry.h"
#include "src/filter/fingerprint_line.h"
#include "src/filter/hash_sort.h"
#include "src/filter/placement.h"
#include "src/filter/placement_plan.h"

namespace tieredfilter {

namespace {

constexpr uint32_t kMaxAttempts = 8;
// The first of them do not put up with a few lines so full that all others would have to take
// shorter remainders; another salt mostly spreads those keys.
constexpr uint32_t kInsistingAttempts = 3;
constexpr uint32_t kMostKeys = MaxLineKeys(kMinRemainderBits);

// Average over planned keys per line. Higher gives a lower rate and moves more keys to their
// secondary line: 0.96 to 0.98 move 8 to 13% at 10 bits per key, 14 to 22% at 18, for a tenth
// fewer false positives.
constexpr double kFill = 0.97;

// Keys that lines are planned to hold: a fraction is dithered over the lines. Without it, filters
// of few keys per line would fall in steps, and waste up to one key's place in every line.
class PlannedKeys {
 public:
  PlannedKeys(size_t n, uint32_t lines)
      : per_line_(static_cast<uint64_t>(static_cast<double>(n) / lines / kFill * kUnit)) {}
  uint32_t operator()(uint32_t line) const {
    return static_cast<uint32_t>(per_line_ * (line + 1) / kUnit - per_line_ * line / kUnit);
  }

 private:
  static constexpr uint64_t kUnit = 1 << 16;
  const uint64_t per_line_;
};

// Occupancy of a line, n / M, in 1/65536.
uint64_t Occupancy(uint32_t keys, uint32_t mini_buckets) {
  return (uint64_t{keys} << 16) / mini_buckets;
}

// The remainder's length for lines of so many keys (lines_with[keys] of them): the longer, the
// fewer mini-buckets. 0 if none takes the fullest line; also if up to `tolerable` lines that are
// too full keep all others from the best one.
uint32_t BestRemainderBits(const std::vector<uint32_t>& lines_with, uint32_t tolerable) {
  uint32_t best_bits = 0;
  bool best_fits = false;
  unsigned __int128 best = 0;
  for (uint32_t bits = kMinRemainderBits; bits <= kMaxRemainderBits; ++bits) {
    const uint32_t most = MaxLineKeys(bits);
    uint32_t too_full = 0;
    uint64_t sum = 0;
    for (uint32_t keys = 0; keys <= kMostKeys; ++keys) {
      if (keys > most) too_full += lines_with[keys];
      const uint32_t stored = std::min(keys, most);
      sum += lines_with[keys] * Occupancy(stored, MiniBuckets(stored, bits));
    }
    if (too_full > tolerable) break;
    const unsigned __int128 rate = static_cast<unsigned __int128>(sum)
                                   << (kMaxRemainderBits - bits);
    if (best_bits == 0 || rate < best) {
      best_bits = bits;
      best_fits = too_full == 0;
      best = rate;
    }
  }
  return best_fits ? best_bits : 0;
}

bool Attempt(const uint64_t* hashes, size_t n, uint32_t lines, uint32_t tolerable, char* out,
             BuiltFingerprints* built) {
  Placement placement(hashes, n, lines);
  PlanPlacement(&placement, PlannedKeys(n, lines));
  placement.Settle();
  std::vector<uint32_t> lines_with(kMostKeys + 1);
  for (uint32_t line = 0; line < lines; ++line) {
    if (placement.load(line) > kMostKeys) return false;
    ++lines_with[placement.load(line)];
  }
  const uint32_t bits = BestRemainderBits(lines_with, tolerable);
  if (bits == 0) return false;

  uint64_t thresholds = 0, all = 0, primary = 0;
  uint64_t in_line[kMostKeys];
  for (uint32_t line = 0; line < lines; ++line) {
    const uint32_t received = placement.received(line), keys = placement.load(line);
    placement.ReceivedHashes(line, in_line);
    std::copy_n(placement.kept_hashes(line), placement.kept(line), in_line + received);
    const uint32_t threshold = placement.threshold(line);
    const uint32_t different =
        EncodeFingerprintLine(in_line, keys, bits, threshold, out + size_t{line} * kLineBytes);
    const uint64_t occupancy = Occupancy(different, MiniBuckets(keys, bits));
    all += occupancy;
    primary += occupancy * (128 - threshold);
    thresholds += threshold;
  }
  // An absent key's rank group is one of 128: it looks in its primary line if that line kept the
  // group, otherwise in any line. All in 1/65536 of 1/128, then to the byte.
  const uint64_t elsewhere =
      static_cast<uint64_t>(static_cast<unsigned __int128>(all) * thresholds / lines);
  const uint64_t occupancy = (((primary + elsewhere) / lines) + (1 << 15)) >> 16;
  built->occupancy = static_cast<uint8_t>(std::min<uint64_t>(occupancy, 255));
  built->remainder_bits = static_cast<uint8_t>(bits);
  built->keys_given = placement.keys_given();
  return true;
}

}  // namespace

uint32_t FingerprintLines(size_t keys, double bits_per_key) {
  const double lines = std::ceil(static_cast<double>(keys) * bits_per_key / (kLineBytes * 8));
  return static_cast<uint32_t>(std::clamp(lines, 1.0, static_cast<double>(kMaxLines)));
}

double FingerprintRateForBits(double bits_per_key) {
  const double average = kLineBytes * 8 / bits_per_key;
  const auto occupancy = [](double keys, uint32_t bits) {
    return keys / std::min(kFingerprintBodyBits - keys * (bits + 1), HeaderWords(bits) * 64 - keys);
  };
  double best = 1;
  for (uint32_t bits = kMinRemainderBits; bits <= kMaxRemainderBits; ++bits) {
    if (average / kFill > MaxLineKeys(bits)) break;
    // Some 4 in 10 lines are as full as planned (measured for 5 to 24 bits).
    const double per_mini_bucket =
        0.6 * occupancy(average, bits) + 0.4 * occupancy(average / kFill, bits);
    best = std::min(best, 1 - std::exp(-std::ldexp(per_mini_bucket, -static_cast<int>(bits))));
  }
  return best;
}

double FingerprintBitsForRate(double fp_rate, bool* rate_is_met) {
  double low = kMinFingerprintBits, high = kMaxFingerprintBits;
  if (rate_is_met != nullptr) *rate_is_met = FingerprintRateForBits(high) <= fp_rate;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (FingerprintRateForBits(middle) > fp_rate ? low : high) = middle;
  }
  return high;
}

BuiltFingerprints BuildFingerprints(uint64_t* hashes, size_t n, uint32_t lines, char* out) {
  BuiltFingerprints built;
  if (n / lines > kMostKeys) return built;
  while (!built.ok && built.attempts < kMaxAttempts) {
    const auto salt = static_cast<uint8_t>(built.attempts++);
    ChangeSalt(hashes, n, &built.salt, salt);
    const uint32_t tolerable = built.attempts <= kInsistingAttempts ? lines / 32 : 0;
    built.ok = Attempt(hashes, n, lines, tolerable, out, &built);
  }
  return built;
}

}  // namespace tieredfilter
