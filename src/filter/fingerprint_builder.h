// Builds the lines of a cuckoo filter with the fingerprints coding, and says how many it takes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tieredfilter {

// Bits per key that this coding takes. Below, lines would have to hold more keys than fit.
inline constexpr double kMinFingerprintBits = 4;
inline constexpr double kMaxFingerprintBits = 24;

// Lines (of 64 bytes) for `keys` distinct keys in keys x bits_per_key bits: whole lines, rounded
// up, at least one.
uint32_t FingerprintLines(size_t keys, double bits_per_key);

// The false-positive rate to expect of a filter of so many bits per key, those that rounding up to
// lines adds included: to within a tenth below 18 bits, a fifth below 24. 1 if there are too few
// bits.
double FingerprintRateForBits(double bits_per_key);

// The bits per key for a false-positive rate (0 < rate < 1), for large filters. Limited to
// kMinFingerprintBits..kMaxFingerprintBits, where *rate_is_met says whether the limit cut it.
double FingerprintBitsForRate(double fp_rate, bool* rate_is_met = nullptr);

// What a build came to; goes into the block's metadata.
struct BuiltFingerprints {
  bool ok = false;
  uint8_t remainder_bits = 0;
  uint8_t salt = 0;
  // Different fingerprints per mini-bucket of the line that an absent key is looked up in, on
  // average, in 1/128 (255 also for more). Times 2^-remainder_bits this is the false-positive rate.
  uint8_t occupancy = 0;
  uint32_t attempts = 0;
  size_t keys_given = 0;  // keys living in their secondary line
};

// Fills `out` (lines x 64 bytes) so that every one of the n hashes matches. `hashes` are ascending
// and distinct, with salt 0; on return they are salted with BuiltFingerprints::salt, and ascending.
//
// Same hashes, same number of lines: same bytes, on every machine. The remainder's length is the
// one with the lowest rate for the placement that came out. If hashes crowd into few lines, other
// salts are tried, a bounded number of times; ok is false if that did not help, or if
// there are too many keys for so few lines. Memory: see Placement. May throw std::bad_alloc.
BuiltFingerprints BuildFingerprints(uint64_t* hashes, size_t n, uint32_t lines, char* out);

}  // namespace tieredfilter
