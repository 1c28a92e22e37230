// The fingerprints coding's line: 64 bytes that store what a textbook cuckoo filter's bucket
// stores, a fingerprint for each key, only closer packed.
//
// A fingerprint is a mini-bucket number (quotient) and a remainder of r bits. A line of n keys has
// M mini-buckets; how many keys each holds is a unary header, found by select, and only the
// remainders are stored one by one:
//
//   bit   0                    M + n          497 - n*r                    497    505        512
//         +----------------------+--------------+----------------------------+------+----------+
//         | header: per mini-    | zeros        | n remainders of r bits, by | n, 8 | threshold|
//         | bucket a one, then a | (often none) | mini-bucket                | bits | T, 7 bits|
//         | zero for each key    |              |                            |      |          |
//         +----------------------+--------------+----------------------------+------+----------+
//   (bit i of the line is bit i % 8 of byte i / 8)
//
// Why this shape:
//  * M is not fixed: whatever n keys leave free of a line's bits becomes mini-buckets. A lookup
//    that finds nothing is wrong with probability n / (M * 2^r), so every bit of every line lowers
//    the rate, and the rate falls smoothly with bits per key although r is whole. It also means
//    that a line over the planned number of keys costs some precision and nothing else.
//  * The header is capped (HeaderWords), so that select looks at a fixed, small number of words.
//    The cap only binds in lines that are far from full.
//  * A key of rank group below T lives in its secondary line, as in the equations coding; see
//    placement.h.
//
// Every bit pattern is safe to look up in: counts and positions that a builder would not write are
// clamped, and all loads stay inside the line.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "src/filter/cpu_kernel.h"
#include "src/filter/line_layout.h"
#include "src/filter/line_match.h"

namespace tieredfilter {

inline constexpr uint32_t kFingerprintBodyBits = 497;  // all of a line but n and T

// Bits of a remainder. With 2, a line takes 165 keys, enough for 4 bits per key; above 24 the body
// is too short for the keys of 24 bits per key, the most one can ask for.
inline constexpr uint32_t kMinRemainderBits = 2;
inline constexpr uint32_t kMaxRemainderBits = 24;

// Words that the header lies in. The best r for K keys per line leaves between K and 2K
// mini-buckets, so headers are 2K to 3K bits long: these are the words for the average line of the
// sizes that choose r.
constexpr uint32_t HeaderWords(uint32_t remainder_bits) {
  return remainder_bits >= 8 ? 2 : remainder_bits >= 5 ? 3 : remainder_bits >= 3 ? 4 : 5;
}
inline constexpr uint32_t kMaxHeaderBits = 5 * 64;

// The most keys of a line, which leave it one mini-bucket; n counts further.
constexpr uint32_t MaxLineKeys(uint32_t remainder_bits) {
  return (kFingerprintBodyBits - 1) / (remainder_bits + 1);
}

// Mini-buckets of a line of `keys` <= MaxLineKeys(remainder_bits) keys: at least one.
constexpr uint32_t MiniBuckets(uint32_t keys, uint32_t remainder_bits) {
  const uint32_t free = kFingerprintBodyBits - keys * (remainder_bits + 1);
  const uint32_t capped = HeaderWords(remainder_bits) * 64 - keys;
  return free < capped ? free : capped;
}

// A key's fingerprint comes from bits of EquationOf() that do not depend on each other nor, beyond
// chance, on what chose the line: the low half of the first mix and the low bits of the high second
// product. (That product's high bits are close to a multiple of the first mix's high bits, so the
// two top ends together would be one fingerprint, stored twice.)
TIEREDFILTER_INLINE uint32_t MiniBucketOf(const KeyEquation& key, uint32_t mini_buckets) {
  const auto low = static_cast<uint32_t>(key.coefficients);
  return static_cast<uint32_t>((uint64_t{low} * mini_buckets) >> 32);
}
TIEREDFILTER_INLINE uint64_t RemainderOf(const KeyEquation& key, uint32_t remainder_bits) {
  return key.high & ((uint64_t{1} << remainder_bits) - 1);
}

// The last two bytes: one bit of the body, n, T.
TIEREDFILTER_INLINE uint32_t FingerprintTag(const char* line) {
  return static_cast<unsigned char>(line[62]) | uint32_t{static_cast<unsigned char>(line[63])} << 8;
}
TIEREDFILTER_INLINE uint32_t TagKeys(uint32_t tag) { return (tag >> 1) & 0xff; }
TIEREDFILTER_INLINE uint32_t TagThreshold(uint32_t tag) { return tag >> 9; }

// Writes a line of count <= MaxLineKeys(remainder_bits) keys (salted hashes, distinct; their order
// reaches the bytes) and a threshold of 0..127. Returns the number of different fingerprints in it:
// of all the M * 2^r fingerprints that an absent key may have, those match.
uint32_t EncodeFingerprintLine(const uint64_t* hashes, uint32_t count, uint32_t remainder_bits,
                               uint32_t threshold, char* line);

// What a lookup needs to compare several remainders in one 64-bit window.
struct RemainderFields {
  uint64_t ones;      // the lowest bit of every field
  uint64_t highs;     // the highest
  uint32_t fields;    // that a window surely holds whole, starting anywhere in its first byte
  uint32_t max_keys;  // MaxLineKeys
};

constexpr RemainderFields MakeRemainderFields(uint32_t remainder_bits) {
  RemainderFields f{};
  f.fields = 57 / remainder_bits;
  for (uint32_t i = 0; i < f.fields; ++i) f.ones |= uint64_t{1} << (i * remainder_bits);
  f.highs = f.ones << (remainder_bits - 1);
  f.max_keys = MaxLineKeys(remainder_bits);
  return f;
}

struct RemainderFieldsTable {
  RemainderFields of[kMaxRemainderBits + 1];
};
constexpr RemainderFieldsTable MakeRemainderFieldsTable() {
  RemainderFieldsTable table{};
  for (uint32_t r = kMinRemainderBits; r <= kMaxRemainderBits; ++r) {
    table.of[r] = MakeRemainderFields(r);
  }
  return table;
}
inline constexpr RemainderFieldsTable kRemainderFields = MakeRemainderFieldsTable();

// At least 57 bits from bit `at` of the line on; all that is left where the line ends earlier.
// at < 512.
TIEREDFILTER_INLINE uint64_t LineWindow(const char* line, uint32_t at) {
  const uint32_t byte = std::min(at >> 3, kLineBytes - 8);
  return LoadWord(line + byte) >> (at - 8 * byte);
}

// The rest of a lookup for a mini-bucket with more keys than one window holds. `start` is the bit
// behind the mini-bucket's one, `skipped` the number of keys before it, below `keys`.
bool LongMiniBucketMatches(const char* line, uint32_t start, uint32_t skipped, uint32_t keys,
                           uint32_t remainder_bits, uint64_t remainder);

}  // namespace tieredfilter
