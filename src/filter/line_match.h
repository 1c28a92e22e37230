// Testing a key against one line of the equations coding: portable code, and what all kernels
// share.
//
// Every function here is safe for any bytes: the only addresses derived from a key are the two
// candidate lines, both below `count`, and all loads stay inside a line. Hostile bytes can only
// make the answer wrong, never the access.
#pragma once

#include <cstdint>
#include <cstring>

#include "src/filter/cpu_kernel.h"
#include "src/filter/line_layout.h"

namespace tieredfilter {

// The lines of one filter, as read from a block that format/block.h has checked.
// Borrowed: the bytes must outlive the view. Immutable, so any number of threads may look up at
// once.
struct LinesView {
  const char* lines = nullptr;  // count x 64 bytes, any alignment
  uint64_t count = 0;           // >= 1 where anything is looked up
  uint8_t planes = 0;           // of the lower kind, kMinPlanes..kMaxPlanes
  uint8_t salt = 0;
  // Short filters only (short_layout.h): bytes of a line instead of 64, and the columns of both
  // kinds of line.
  uint16_t stride = 0;
  uint8_t columns[2] = {};
};

TIEREDFILTER_INLINE uint64_t LoadWord(const char* p) {
  uint64_t word;
  std::memcpy(&word, p, sizeof(word));
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  word = __builtin_bswap64(word);
#endif
  return word;
}

TIEREDFILTER_INLINE uint32_t Parity(uint64_t x) {
  return static_cast<uint32_t>(__builtin_parityll(x));
}

// A line holds packed strings of bits in the parts of words that no plane uses directly: word i
// contributes `width` bits from bit `shift` on. Returns `count` (<= 63) bits of that string from
// position `at` on.
TIEREDFILTER_INLINE uint64_t ReadPacked(const char* words, uint32_t shift, uint32_t width,
                                        uint32_t at, uint32_t count) {
  uint32_t i = at / width;
  const uint32_t skip = at % width;
  const uint64_t mask = LowBits(width);
  uint64_t bits = ((LoadWord(words + 8 * i) >> shift) & mask) >> skip;
  for (uint32_t have = width - skip; have < count; have += width) {
    bits |= ((LoadWord(words + 8 * ++i) >> shift) & mask) << have;
  }
  return bits & LowBits(count);
}

inline constexpr uint32_t kExtraPieceBits9 = kWordColumns - LineColumns(9);  // 7

// Planes 8 and up of a narrow line. Only about one absent key in 256 gets here.
TIEREDFILTER_INLINE bool ExtraPlanesMatch(const char* line, uint32_t planes, uint64_t coefficients,
                                          uint32_t fingerprint) {
  const uint32_t columns = LineColumns(planes);
  const uint32_t width = kWordColumns - columns;
  uint32_t wrong = 0;
  for (uint32_t k = 0; k + kNarrowPlanes < planes; ++k) {
    const uint64_t plane = ReadPacked(line, columns, width, ExtraPlaneStart(planes, k), columns);
    wrong |= Parity(plane & coefficients) ^ ((fingerprint >> (kNarrowPlanes + k)) & 1);
  }
  return wrong == 0;
}

// Where the extra planes of a line of 9 or 10 planes are: bits C and up of each word, up to bit 62,
// meet the key's columns from that word's first one on.
struct Extra9 {
  alignas(64) uint64_t left[kLineWords];  // brings a word's first column to bit C
  uint64_t column_mask;
  uint64_t piece_mask;
};
constexpr Extra9 MakeExtra9(uint32_t planes) {
  Extra9 extra{};
  const uint32_t columns = LineColumns(planes), width = kWordColumns - columns;
  for (uint32_t j = 0; j < kLineWords; ++j) {
    extra.left[j] = columns - (planes == 9 ? j : j % (kLineWords / 2)) * width;
  }
  extra.column_mask = LowBits(columns);
  extra.piece_mask = kWordMask & ~LowBits(columns);
  return extra;
}
inline constexpr Extra9 kExtra9[] = {MakeExtra9(9), MakeExtra9(10)};

// From the parities of both halves of the line (bit 0 of `low` and `high`): in a line of ten planes
// they are planes 8 and 9, in one of nine both are parts of plane 8.
TIEREDFILTER_INLINE bool Extra9Matches(uint32_t low, uint32_t high, uint32_t tag,
                                       const KeyEquation& key) {
  const uint32_t more = tag & kTagMorePlanes;
  const uint32_t fingerprint = NarrowFingerprint(key.high) >> kNarrowPlanes;
  low ^= fingerprint;
  high ^= (fingerprint >> 1) & more;
  return (((low ^ high) | (low & high & more)) & 1) == 0;
}

// Lines of filters whose lower kind has three planes, for all kernels. Plane and kind of line are
// constants, so that of ReadPacked only a few shifts are left; and all planes come before the
// answer, since leaving after each would mispredict every second branch.
template <uint32_t kPlanes, uint32_t kPlane>
TIEREDFILTER_INLINE uint32_t TripleParity(const char* line, const KeyEquation& key,
                                          uint64_t far_coefficients) {
  constexpr uint32_t kFar = FarColumns(kPlanes), kAt = kPlane * (kMaxTailColumns + kFar);
  const char* tails = line + 8 * kPlanes;
  const uint64_t tail = ReadPacked(tails, 0, kWordColumns, kAt, kMaxTailColumns);
  const uint64_t far = ReadPacked(tails, 0, kWordColumns, kAt + kMaxTailColumns, kFar);
  return Parity((LoadWord(line + 8 * kPlane) & key.coefficients) ^ (tail & key.high) ^
                (far & far_coefficients))
         << kBitOfWord[kPlane];
}

TIEREDFILTER_INLINE bool TripleLineMatches(const char* line, uint32_t tag, const KeyEquation& key) {
  const uint32_t fingerprint = WideFingerprint(key.high);
  const uint64_t far = FarCoefficients(key);
  if ((tag & kTagMorePlanes) == 0) {
    const uint32_t parities = TripleParity<3, 0>(line, key, far) |
                              TripleParity<3, 1>(line, key, far) |
                              TripleParity<3, 2>(line, key, far);
    return ((parities ^ fingerprint) & WordBits(3)) == 0;
  }
  const uint32_t parities = TripleParity<4, 0>(line, key, far) |
                            TripleParity<4, 1>(line, key, far) |
                            TripleParity<4, 2>(line, key, far) | TripleParity<4, 3>(line, key, far);
  return ((parities ^ fingerprint) & WordBits(4)) == 0;
}

struct PortableKernel {
  using Multiplier = BaselineMultiplier;

  static TIEREDFILTER_INLINE uint32_t Tag(const char* line) {
    uint32_t tag = 0;
    for (uint32_t j = 0; j < kLineWords; ++j) {
      tag |= static_cast<uint32_t>(static_cast<uint8_t>(line[8 * j + 7]) >> 7) << kBitOfWord[j];
    }
    return tag;
  }

  // Planes 0 to 7 of a narrow line: all that most absent keys ask for.
  static TIEREDFILTER_INLINE bool FirstEight(const char* line, const KeyEquation& key) {
    const uint32_t fingerprint = NarrowFingerprint(key.high);
    uint32_t parities = 0;
    // Four planes at a time: leaving after each would mispredict every second branch.
    for (uint32_t j = 0; j < 4; ++j) {
      parities |= Parity(LoadWord(line + 8 * j) & key.coefficients) << kBitOfWord[j];
    }
    if (((parities ^ fingerprint) & WordBits(4)) != 0) return false;
    for (uint32_t j = 4; j < kLineWords; ++j) {
      parities |= Parity(LoadWord(line + 8 * j) & key.coefficients) << kBitOfWord[j];
    }
    return ((parities ^ fingerprint) & WordBits(8)) == 0;
  }

  // Plane 8 of a line of nine.
  static TIEREDFILTER_INLINE uint32_t NinthParity(const char* line, uint64_t coefficients) {
    return Parity(ReadPacked(line, LineColumns(9), kExtraPieceBits9, 0, LineColumns(9)) &
                  coefficients);
  }

  // Planes 8 and up of a line in a filter whose lines have kLower or one more.
  template <uint32_t kLower>
  static TIEREDFILTER_INLINE bool ExtraPlanes(const char* line, uint32_t tag,
                                              const KeyEquation& key) {
    if (kLower == 9) return ExtraPlanes9(line, tag, key);
    return ExtraPlanesMatch(line, kLower + (tag & kTagMorePlanes), key.coefficients,
                            NarrowFingerprint(key.high));
  }

  static TIEREDFILTER_INLINE bool ExtraPlanes9(const char* line, uint32_t tag,
                                               const KeyEquation& key) {
    const Extra9& extra = kExtra9[tag & kTagMorePlanes];
    const uint64_t own = key.coefficients & extra.column_mask;
    uint64_t half[2] = {};
    for (uint32_t j = 0; j < kLineWords; ++j) {
      half[j / 4] ^= LoadWord(line + 8 * j) & (own << extra.left[j]);
    }
    return Extra9Matches(Parity(half[0] & extra.piece_mask), Parity(half[1] & extra.piece_mask),
                         tag, key);
  }

  // Filters whose lower kind has 4 to 6 planes, and 7.
  static TIEREDFILTER_INLINE bool Wide(const char* line, uint32_t tag, uint32_t planes,
                                       const KeyEquation& key) {
    planes += tag & kTagMorePlanes;
    const uint32_t tail = TailColumns(planes);
    const uint64_t tail_coefficients = key.high & LowBits(tail);
    const auto bit = [&](uint32_t j) {
      uint64_t sum = LoadWord(line + 8 * j) & key.coefficients;
      if (tail != 0) {
        sum ^= ReadPacked(line + 8 * planes, 0, kWordColumns, j * tail, tail) & tail_coefficients;
      }
      return Parity(sum) << kBitOfWord[j];
    };
    // As in FirstEight.
    uint32_t wrong = WideFingerprint(key.high) & WordBits(planes);
    for (uint32_t j = 0; j < 4; ++j) wrong ^= bit(j);
    if ((wrong & WordBits(4)) != 0) return false;
    for (uint32_t j = 4; j < planes; ++j) wrong ^= bit(j);
    return wrong == 0;
  }

  static TIEREDFILTER_INLINE bool Wide7(const char* line, uint32_t tag, uint32_t,
                                        const KeyEquation& key) {
    const uint64_t tail = Tail7(tag, key), tails = LoadWord(line + 56);
    const auto bit = [&](uint32_t j) {
      const uint64_t sum = (LoadWord(line + 8 * j) & key.coefficients) ^ ((tails >> 9 * j) & tail);
      return Parity(sum) << kBitOfWord[j];
    };
    uint32_t wrong = WideFingerprint(key.high);
    for (uint32_t j = 0; j < 4; ++j) wrong ^= bit(j);
    if ((wrong & WordBits(4)) != 0) return false;
    for (uint32_t j = 4; j < 7; ++j) wrong ^= bit(j);
    if ((wrong & WordBits(7)) != 0) return false;
    return (tag & kTagMorePlanes) == 0 || Parity(tails & key.coefficients) == wrong >> 7;
  }

  // The tail coefficients in a line of seven planes, 0 in one of eight. The count of a shift is
  // taken modulo 64, so that the tag needs no mask.
  static TIEREDFILTER_INLINE uint64_t Tail7(uint32_t tag, const KeyEquation& key) {
    return (key.high & LowBits(TailColumns(7))) >> ((tag << 5) & 63);
  }
};

}  // namespace tieredfilter
