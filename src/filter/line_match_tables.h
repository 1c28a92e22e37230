// Where the vector kernels find bits that do not lie at the same place in every word: shifts and
// masks per number of planes, computed from line_layout.h at compile time.
#pragma once

#include <cstdint>

#include "src/filter/line_match.h"

namespace tieredfilter {

// Wide lines. Lane j (plane j) finds its tail columns in one of the four upper words, and may go on
// in the next. Word numbers are pairs of 32-bit lane numbers, as vpermd wants them.
struct WideLanes {
  alignas(64) uint32_t first_word[2][8];
  alignas(64) uint32_t next_word[2][8];
  alignas(64) uint64_t first_shift[8];
  alignas(64) uint64_t
      next_shift[8];  // >= 64 where the tail does not cross: the shift then gives 0
  uint64_t tail_mask;
  uint32_t bits;  // the fingerprint bits of such a line
};

constexpr WideLanes MakeWideLanes(uint32_t planes) {
  WideLanes lanes{};
  const uint32_t tail = TailColumns(planes);
  for (uint32_t j = 0; j < 8; ++j) {
    const uint32_t at = j < planes ? j * tail : 0;
    const uint32_t word = planes + at / kWordColumns;
    const uint32_t skip = at % kWordColumns;
    const bool crosses = skip + tail > kWordColumns;
    const uint32_t first = word < 8 ? word - 4 : 3;
    const uint32_t next = crosses && first < 3 ? first + 1 : first;
    for (uint32_t half = 0; half < 2; ++half) {
      lanes.first_word[j / 4][2 * (j % 4) + half] = 2 * first + half;
      lanes.next_word[j / 4][2 * (j % 4) + half] = 2 * next + half;
    }
    lanes.first_shift[j] = skip;
    lanes.next_shift[j] = crosses ? kWordColumns - skip : 64;
  }
  lanes.tail_mask = LowBits(tail);
  lanes.bits = WordBits(planes);
  return lanes;
}

// Indexed by planes - kMinPlanes.
inline constexpr WideLanes kWideLanes[] = {MakeWideLanes(4), MakeWideLanes(5), MakeWideLanes(6),
                                           MakeWideLanes(7), MakeWideLanes(8)};

// Narrow lines with extra planes. The bits above column C of word i hold a piece of the string of
// extra planes; a piece ends at most one plane and begins the next. So each word has two parities,
// `first` and `second`, and a plane's parity is that of some of the sixteen.
struct ExtraLanes {
  alignas(64) uint64_t
      right[8];  // the coefficients that meet word i's piece: the plane's coefficients rotated
  alignas(64) uint64_t left[8];
  alignas(64) uint64_t first_mask[8];
  alignas(64) uint64_t second_mask[8];
  uint64_t column_mask;
  int columns;
  uint16_t
      parts_of[8];  // per extra plane: bit kBitOfWord[i] for `first` of word i, 8 more for `second`

  TIEREDFILTER_INLINE bool Matches(uint32_t parities, uint32_t planes, uint32_t fingerprint) const {
    uint32_t wrong = 0;
    for (uint32_t k = 0; k + kNarrowPlanes < planes; ++k) {
      wrong |= Parity(parities & parts_of[k]) ^ ((fingerprint >> (kNarrowPlanes + k)) & 1);
    }
    return wrong == 0;
  }
};

// Beyond this a piece could touch three planes. Such filters (over 18 bits per key) check extra
// planes as portable code does.
inline constexpr uint32_t kMaxExtraLanesPlanes = 16;

constexpr ExtraLanes MakeExtraLanes(uint32_t planes) {
  ExtraLanes lanes{};
  const uint32_t columns = LineColumns(planes), width = kWordColumns - columns;
  for (uint32_t i = 0; i < kLineWords; ++i) {
    const uint32_t plane = i * width / columns, skip = i * width % columns;
    const uint32_t own = columns - skip < width ? columns - skip : width;
    lanes.right[i] = skip;
    lanes.left[i] = columns - skip;
    lanes.first_mask[i] = LowBits(own);
    lanes.second_mask[i] = LowBits(width) & ~LowBits(own);
    for (uint32_t part = 0; part < 2; ++part) {
      if (plane + part + kNarrowPlanes < planes) {
        lanes.parts_of[plane + part] |= static_cast<uint16_t>(1u << (kBitOfWord[i] + 8 * part));
      }
    }
  }
  lanes.column_mask = LowBits(columns);
  lanes.columns = static_cast<int>(columns);
  return lanes;
}

// Indexed by planes - kNarrowPlanes - 1.
inline constexpr ExtraLanes kExtraLanes[] = {
    MakeExtraLanes(9),  MakeExtraLanes(10), MakeExtraLanes(11), MakeExtraLanes(12),
    MakeExtraLanes(13), MakeExtraLanes(14), MakeExtraLanes(15), MakeExtraLanes(16)};

}  // namespace tieredfilter
