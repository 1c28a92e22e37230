#include "src/filter/short_line.h"

#include <cstring>

#include "src/filter/line_layout.h"
#include "src/filter/line_match.h"

namespace tieredfilter {

namespace {

// Where bit `column` of `plane` sits in a line, as a bit number; see line_layout.h.
uint32_t BitOf(uint32_t planes, uint32_t plane, uint32_t column) {
  if (planes < kNarrowPlanes || plane < kNarrowPlanes) return 64 * plane + column;
  const uint32_t full = LineColumns(planes), width = kWordColumns - full;
  const uint32_t at = (plane - kNarrowPlanes) * full + column;
  return 64 * (at / width) + full + at % width;
}

bool GetBit(const char* p, uint32_t i) { return (p[i / 8] >> (i % 8)) & 1; }
void SetBit(char* p, uint32_t i) { p[i / 8] = static_cast<char>(p[i / 8] | (1 << (i % 8))); }

}  // namespace

void ExpandShortLine(const char* packed, uint32_t planes, uint32_t columns, char* line) {
  std::memset(line, 0, kLineBytes);
  for (uint32_t plane = 0; plane < planes; ++plane) {
    for (uint32_t column = 0; column < columns; ++column) {
      if (GetBit(packed, plane * columns + column)) SetBit(line, BitOf(planes, plane, column));
    }
  }
}

void PackShortLine(const char* line, uint32_t planes, uint32_t columns, char* packed) {
  std::memset(packed, 0, (planes * columns + 7) / 8);
  for (uint32_t plane = 0; plane < planes; ++plane) {
    for (uint32_t column = 0; column < columns; ++column) {
      if (GetBit(line, BitOf(planes, plane, column))) SetBit(packed, plane * columns + column);
    }
  }
}

}  // namespace tieredfilter
