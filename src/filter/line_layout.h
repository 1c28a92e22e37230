// The equations coding's line: 64 bytes that answer for about 60 keys, and how a key hash becomes
// equations.
//
// A line is eight little-endian 64-bit words. Bit 63 of each is a bit of the line's tag; the other
// 8 x 63 = 504 bits are a bit matrix of R planes by C = 504 / R columns. A key has a coefficient
// vector over the columns and an R-bit fingerprint; it matches if for every plane the parity of
// (coefficients AND plane) is that plane's fingerprint bit. So the false-positive rate of a line is
// exactly 2^-R, and the builder's work is one linear system over GF(2).
//
//   word j, bits 63 62 ............................. C C-1 ...................... 0
//                 |  |                                 |                          |
//     R >= 8    tag  '- extra planes 8..R-1, packed ---'--- plane j (C columns) ---'
//     R < 8     tag, then 63 columns of plane j (words 0..R-1); words R..7 hold columns 63..C-1 of
//     all planes, packed
//
// By the planes of a filter's lower kind of line there are three families, named for what an
// equation takes: one word of columns (narrow, 8 planes and up), two (wide, 4 to 7), three (triple,
// 3).
//
// Why this shape:
//  * With R >= 8 a lookup first tests planes 0 to 7 with the key's full 63 coefficient bits. The
//  extra planes' bits in
//    the same words take part in that parity, and the builder folds their effect into planes 0
//    to 7. So a negative lookup costs the same for every R, and lines of R and R + 1 planes in one
//    filter need no branch.
//  * One tag bit in every word keeps the eight words alike: one mask for all, and a sign-bit
//  movemask reads the tag.
//
// Tag, eight bits, word j having bit kBitOfWord[j]: bit 0 set if the line has R + 1 planes, bits 1
// to 7 threshold T. A key whose rank group is below T lives in its secondary line. See placement.h.
#pragma once

#include <cstdint>

#include "src/filter/wide_product.h"

namespace tieredfilter {

inline constexpr uint32_t kLineBytes = 64;
inline constexpr uint32_t kLineWords = 8;
inline constexpr uint32_t kWordColumns = 63;
inline constexpr uint32_t kMatrixBits = kLineWords * kWordColumns;  // 504
inline constexpr uint64_t kWordMask = (uint64_t{1} << kWordColumns) - 1;

inline constexpr uint32_t kMinPlanes = 3;
inline constexpr uint32_t kMaxPlanes =
    24;  // of the lower kind; the fingerprint has room for kMaxPlanes + 1 bits

// Below this the columns of a plane do not fit one word ("wide" lines), which asks for another
// kernel.
inline constexpr uint32_t kNarrowPlanes = 8;
// A wide row keeps its columns beyond the first word and its fingerprint in one word: 56 + 8 bits.
inline constexpr uint32_t kMaxTailColumns = 56;
// Below this a line has more columns than the two words above hold ("triple" lines): the "far" ones
// take a third. Only filters of less than 4.5 bits per key get here; they may be slower.
inline constexpr uint32_t kWidePlanes = 4;
inline constexpr uint32_t kNearColumns = kWordColumns + kMaxTailColumns;  // 119

inline constexpr uint32_t kTagMorePlanes = 1;
constexpr uint32_t MakeTag(uint32_t threshold, bool more_planes) {
  return 2 * threshold + (more_planes ? kTagMorePlanes : 0);
}
// Whether a rank group is below a tag's threshold; right whatever bit 0 is, so the tag stays whole.
constexpr bool GroupIsGivenAway(uint32_t group, uint32_t tag) { return 2 * group + 1 < tag; }

constexpr uint64_t LowBits(uint32_t n) { return n >= 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1; }

// Columns of a line with `planes` planes in a filter whose lower kind has `lower`. 504 / planes but
// for 4 planes in a wide filter, where the row format above caps it at 119.
constexpr uint32_t LineColumns(uint32_t planes, uint32_t lower) {
  const uint32_t columns = kMatrixBits / planes;
  return lower >= kWidePlanes && columns > kNearColumns ? kNearColumns : columns;
}
// The same for a line of the lower kind, and for both kinds of every filter but triple ones.
constexpr uint32_t LineColumns(uint32_t planes) { return LineColumns(planes, planes); }

// Columns of a wide filter's line beyond the first word; 0 for narrow lines.
constexpr uint32_t TailColumns(uint32_t planes) {
  return planes >= kNarrowPlanes ? 0 : LineColumns(planes) - kWordColumns;
}

// Columns of a triple filter's line (3 or 4 planes) beyond the first two words: 49 or 7.
constexpr uint32_t FarColumns(uint32_t planes) {
  return LineColumns(planes, kMinPlanes) - kNearColumns;
}

// Where plane 8 + k of a narrow line starts in the string of extra planes: right behind the one
// before; but of ten planes, which many filters have, each gets a half of the line as AVX2 reads
// it, with two of the four bits that are left over anyway behind each.
constexpr uint32_t ExtraPlaneStart(uint32_t planes, uint32_t k) {
  const uint32_t columns = LineColumns(planes);
  return k * (planes == 10 ? kLineWords / 2 * (kWordColumns - columns) : columns);
}

// A bijection of 64-bit values for each salt (MurmurHash3's finalizer over hash xor a
// salt-dependent constant). A build whose hashes crowd into few lines is tried again with the next
// salt; bijective, so distinct hashes stay distinct and only truly equal ones can stay together.
// Salt 0 is the identity, so that the usual filter pays nothing.
inline uint64_t SaltHash(uint64_t hash, uint8_t salt) {
  if (salt == 0) return hash;
  uint64_t x = hash ^ (salt * 0x9e3779b97f4a7c15ULL);
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdULL;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33);
}

// The inverse of SaltHash, so that a build can go from one salt to the next without keeping the
// original hashes.
inline uint64_t UnsaltHash(uint64_t salted, uint8_t salt) {
  if (salt == 0) return salted;
  uint64_t x = salted ^ (salted >> 33);
  x *= 0x9cb4b2f8129337dbULL;  // inverse of 0xc4ceb9fe1a85ec53 modulo 2^64
  x ^= x >> 33;
  x *= 0x4f74430c22a54005ULL;  // inverse of 0xff51afd7ed558ccd
  x ^= x >> 33;
  return x ^ (salt * 0x9e3779b97f4a7c15ULL);
}

// Where a (salted) hash lives first: line = high half of hash x lines, so sorting hashes sorts by
// (line, rank group).
struct PrimarySlot {
  uint64_t line;
  uint32_t group;  // 0..127; the keys a line gives away are those of lowest group
};
template <class Multiplier = BaselineMultiplier>
inline PrimarySlot PrimaryOf(uint64_t hash, uint64_t lines) {
  const WideProduct product = Multiplier::Multiply(hash, lines);
  return {product.high, static_cast<uint32_t>(product.low >> 57)};
}

// What a key asks of its line. Two multiplications; which product bits feed what is not free to
// choose: low product bits are linear in the low factor bits over GF(2), so a fingerprint or tail
// taken from them would be predictable from the coefficients, the solver would find that out, and
// the line would accept everything. line_layout_test measures the rate with real hashes to catch
// exactly that.
struct KeyEquation {
  uint64_t coefficients;  // 63 bits, columns 0..62
  uint64_t
      high;  // top 24 bits or 8 bits: fingerprint; low 56 bits: tail coefficients of wide lines
  uint64_t spread;  // picks the secondary line
};
template <class Multiplier = BaselineMultiplier>
inline KeyEquation EquationOf(uint64_t hash) {
  const WideProduct first = Multiplier::Multiply(hash, 0x9fb21c651e98df25ULL);
  const uint64_t mixed = first.low ^ first.high;
  const WideProduct second = Multiplier::Multiply(mixed, 0xd6e8feb86659fd93ULL);
  return {mixed >> 1, second.high, second.low};
}
// Coefficients of a triple line's far columns, in the low bits. Not part of EquationOf because
// hardly any filter asks for them.
inline uint64_t FarCoefficients(const KeyEquation& key) {
  return MulHigh(key.spread, 0xa0761d6478bd642fULL);
}

// Which fingerprint bit is the parity of word j, for planes 0 to 7, and which bit of the tag is in
// word j. Not simply j because AVX2 folds two vectors of words into one in this order, and sorting
// the bits of every lookup would cost more than naming them here.
inline constexpr uint32_t kBitOfWord[kLineWords] = {0, 1, 4, 5, 2, 3, 6, 7};

// The fingerprint bits that words 0 to min(planes, 8) - 1 answer for.
constexpr uint32_t WordBits(uint32_t planes) {
  uint32_t bits = 0;
  for (uint32_t j = 0; j < kLineWords && j < planes; ++j) bits |= 1u << kBitOfWord[j];
  return bits;
}
// All fingerprint bits of a line.
constexpr uint32_t FingerprintMask(uint32_t planes) {
  return planes <= kLineWords ? WordBits(planes) : (1u << planes) - 1;
}

inline uint32_t NarrowFingerprint(uint64_t high) { return static_cast<uint32_t>(high >> 39); }
inline uint32_t WideFingerprint(uint64_t high) { return static_cast<uint32_t>(high >> 56); }

// The other candidate line: never the primary one where there is more than one line.
template <class Multiplier = BaselineMultiplier>
inline uint32_t SecondaryOf(uint32_t primary, uint64_t spread, uint32_t lines) {
  if (lines < 2) return primary;
  const uint64_t line = primary + 1 + MulHigh<Multiplier>(spread, lines - 1);
  return static_cast<uint32_t>(line >= lines ? line - lines : line);
}

}  // namespace tieredfilter
