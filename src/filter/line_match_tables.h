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

// Indexed by planes - kWidePlanes.
inline constexpr WideLanes kWideLanes[] = {MakeWideLanes(4), MakeWideLanes(5), MakeWideLanes(6),
                                           MakeWideLanes(7), MakeWideLanes(8)};

// Narrow lines with extra planes. The bits above column C of word i hold a piece of the string of
// extra planes; the coefficients that meet it are the key's own C coefficients, rotated and moved
// up there.
struct ExtraLanes {
  alignas(64) uint64_t left[8];     // brings the first coefficient of the piece to bit C, and
  alignas(64) uint64_t wrapped[8];  // where a plane ends within the piece, the next plane's first
                                    // behind it; >= 64 is nowhere
  alignas(64) uint64_t of_plane[9][8];  // which bits of word i's piece belong to extra plane k; 0
                                        // where there is none
  uint64_t column_mask;
  uint32_t fingerprint_mask;
};

// Beyond this a piece could wrap around more than once. Such filters (over 18 bits per key) check
// extra planes as portable code does.
inline constexpr uint32_t kMaxExtraLanesPlanes = 16;

constexpr ExtraLanes MakeExtraLanes(uint32_t planes) {
  ExtraLanes lanes{};
  const uint32_t columns = LineColumns(planes), width = kWordColumns - columns;
  uint32_t plane = 0;  // that word i's piece begins with
  for (uint32_t i = 0; i < kLineWords; ++i) {
    while (i * width >= ExtraPlaneStart(planes, plane + 1)) ++plane;
    const uint32_t skip = i * width - ExtraPlaneStart(planes, plane);
    lanes.left[i] = columns - skip;
    lanes.wrapped[i] = 2 * columns - skip;
    for (uint32_t bit = 0; bit < width && plane + kNarrowPlanes < planes; ++bit) {
      const bool wraps = skip + bit >= columns;
      const uint32_t k = plane + wraps;
      // Between the planes of ten there are bits that belong to neither.
      if (k + kNarrowPlanes >= planes || i * width + bit < ExtraPlaneStart(planes, k)) continue;
      lanes.of_plane[k][i] |= uint64_t{1} << (columns + bit);
    }
  }
  lanes.column_mask = LowBits(columns);
  lanes.fingerprint_mask = FingerprintMask(planes);
  return lanes;
}

// Indexed by planes - kNarrowPlanes - 2.
inline constexpr ExtraLanes kExtraLanes[] = {
    MakeExtraLanes(10), MakeExtraLanes(11), MakeExtraLanes(12), MakeExtraLanes(13),
    MakeExtraLanes(14), MakeExtraLanes(15), MakeExtraLanes(16)};

}  // namespace tieredfilter
