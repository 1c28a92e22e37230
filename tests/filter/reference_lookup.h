// A lookup written from FORMAT.md alone, bit by bit and slow, to compare the kernels with. Shares
// with them only how a hash becomes candidate lines and an equation (line_layout.h).
#pragma once

#include <algorithm>
#include <cstdint>

#include "src/filter/line_layout.h"
#include "src/filter/line_match.h"

namespace tieredfilter {

class ReferenceLine {
  static constexpr uint32_t kBitOfWord[8] = {0, 1, 4, 5, 2, 3, 6, 7};

 public:
  ReferenceLine(const char* bytes, uint32_t lower_planes) : bytes_(bytes), lower_(lower_planes) {}

  uint32_t threshold() const { return tag() >> 1; }
  uint32_t planes() const { return lower_ + (tag() & 1); }

  bool Matches(const KeyEquation& key) const { return Matches(key, FarCoefficients(key)); }
  bool Matches(const KeyEquation& key, uint64_t far) const {
    const uint32_t fingerprint =
        static_cast<uint32_t>(lower_ >= 8 ? key.high >> 39 : key.high >> 56);
    // The first eight planes answer for bits in that order, too; the others come in theirs.
    for (uint32_t plane = 0; plane < planes(); ++plane) {
      const uint32_t bit = plane < 8 ? kBitOfWord[plane] : plane;
      if (Sum(plane, key, far) != ((fingerprint >> bit) & 1)) return false;
    }
    return true;
  }

 private:
  uint32_t Bit(uint32_t word, uint32_t bit) const {
    return (static_cast<unsigned char>(bytes_[8 * word + bit / 8]) >> (bit % 8)) & 1;
  }
  uint32_t tag() const {
    uint32_t tag = 0;
    for (uint32_t word = 0; word < 8; ++word) tag |= Bit(word, 63) << kBitOfWord[word];
    return tag;
  }

  // The parity of the key's coefficients and one plane.
  uint32_t Sum(uint32_t plane, const KeyEquation& key, uint64_t far) const {
    uint32_t sum = 0;
    if (lower_ >= 8 && plane >= 8) {
      // "The bits C to 62 of word 0, then of word 1, ...", plane after plane; of ten planes, "the
      // second begins with word 4".
      const uint32_t columns = 504 / planes(), width = 63 - columns;
      const uint32_t start = planes() == 10 && plane == 9 ? 4 * width : (plane - 8) * columns;
      for (uint32_t column = 0; column < columns; ++column) {
        const uint32_t at = start + column;
        sum ^= Bit(at / width, columns + at % width) & (key.coefficients >> column) & 1;
      }
      return sum;
    }
    for (uint32_t column = 0; column < 63; ++column) {
      sum ^= Bit(plane, column) & (key.coefficients >> column) & 1;
    }
    if (lower_ >= 8) return sum;
    const uint32_t columns = planes() == 4 && lower_ == 4 ? 119 : 504 / planes();
    for (uint32_t column = 63; column < columns; ++column) {
      const uint32_t at = plane * (columns - 63) + column - 63;
      const uint64_t coefficient = column < 119 ? key.high >> (column - 63) : far >> (column - 119);
      sum ^= Bit(planes() + at / 63, at % 63) & coefficient & 1;
    }
    return sum;
  }

  const char* bytes_;
  uint32_t lower_;
};

inline bool ReferenceHashMatches(const LinesView& view, uint64_t hash) {
  hash = SaltHash(hash, view.salt);
  const PrimarySlot slot = PrimaryOf(hash, view.count);
  const KeyEquation key = EquationOf(hash);
  const ReferenceLine primary(view.lines + uint64_t{slot.line} * 64, view.planes);
  if (slot.group >= primary.threshold()) return primary.Matches(key);
  const uint32_t secondary = SecondaryOf(slot.line, key.spread, view.count);
  return ReferenceLine(view.lines + uint64_t{secondary} * 64, view.planes).Matches(key);
}

// The same for a short filter of `count` lines of `stride` bytes.
inline bool ReferenceShortMatches(const char* data, uint32_t count, uint32_t stride,
                                  uint32_t lower_planes, uint8_t salt, uint64_t hash) {
  hash = SaltHash(hash, salt);
  const KeyEquation key = EquationOf(hash);
  const auto byte = [&](uint32_t at) { return static_cast<unsigned char>(data[at]); };
  const bool tagged = count > 1;
  uint32_t line = 0, planes = lower_planes;
  if (tagged) {
    const PrimarySlot slot = PrimaryOf(hash, count);
    line = slot.line;
    if (slot.group < (byte(line * stride) & 0x7fu)) line = SecondaryOf(line, key.spread, count);
    planes += byte(line * stride) >> 7;
  }
  const uint32_t columns = std::min(95u, 8 * (tagged ? stride - 1 : stride) / planes);
  for (uint32_t plane = 0; plane < planes; ++plane) {
    uint32_t sum = 0;
    for (uint32_t column = 0; column < columns; ++column) {
      const uint32_t at = plane * columns + column;
      const uint32_t bit = byte(line * stride + (tagged ? 1 : 0) + at / 8) >> (at % 8);
      const uint64_t coefficient =
          column < 56 ? key.coefficients >> column : key.high >> (column - 56);
      sum ^= bit & static_cast<uint32_t>(coefficient) & 1;
    }
    if (sum != ((key.high >> (39 + plane)) & 1)) return false;
  }
  return true;
}

}  // namespace tieredfilter
