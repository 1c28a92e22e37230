// The short form of the equations coding, for filters of few keys: as many bytes as the bits per
// key come to, where whole 64-byte lines would round up and leave the last of them half empty.
//
//   data: `lines` lines of `stride` bytes, then less than `lines` zero bytes
//
//         byte 0            bytes 1 .. stride - 1
//        +-----------------+-------------------------------------------------------------+
//   line | tag, unless it  | plane 0: C bits | plane 1: C bits | ... | plane R-1 | unused |
//        | is the only one |                 |                 |     |           |        |
//        +-----------------+-------------------------------------------------------------+
//
// Key hash, candidate lines, rank group and threshold are those of line_layout.h; a lone line has
// no tag, since none of its keys is anywhere else. What differs is the matrix. Bit i of the planes
// is bit i % 8 of byte i / 8, plane j answers for bit j of the fingerprint, and a line has up to 95
// columns instead of 63 and less: a random system of any size leaves about two of its columns
// unused, and two of 95 is less to waste. Reading a plane takes two unaligned loads for that, and
// no SIMD; few keys are worth it, and a block of some hundred bytes is cached as a whole.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "src/filter/line_layout.h"

namespace tieredfilter {

// A key's coefficients for columns 0 to 55 are the low bits of KeyEquation::coefficients: wherever
// a plane starts, the eight bytes from its first one on have those columns, and the eight bytes
// that start seven bytes later the others, both shifted alike. Those for columns 56 to 94 are the
// low bits of KeyEquation::high, up to where the fingerprint (NarrowFingerprint) starts.
inline constexpr uint32_t kShortLowColumns = 56;
inline constexpr uint32_t kShortHighColumns = 39;
inline constexpr uint32_t kMaxShortColumns = kShortLowColumns + kShortHighColumns;

// Tag: bits 0 to 6 threshold, bit 7 set if the line has R + 1 planes.
inline constexpr uint32_t kShortTagMorePlanes = 0x80;

// The trailer has three bits for it.
inline constexpr uint32_t kMaxShortLines = 8;

// A lookup's loads end at most so many bytes behind the last line; the block's trailer is as long.
// A plane, or what would be one more, starts in the line or just behind it, and its second load
// covers the 7th to 14th byte from there.
inline constexpr uint32_t kShortReadAhead = 15;

// Columns of a line of `stride` bytes with `planes` planes, in a filter of `lines` lines.
constexpr uint32_t ShortColumns(uint32_t lines, size_t stride, uint32_t planes) {
  const size_t bits = 8 * (lines > 1 ? stride - 1 : stride);
  return static_cast<uint32_t>(std::min<size_t>(bits / planes, kMaxShortColumns));
}

}  // namespace tieredfilter
