#include "src/filter/short_line.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "src/filter/line_layout.h"
#include "src/filter/line_match.h"
#include "tests/filter/test_keys.h"

namespace tieredfilter {
namespace {

uint32_t MaxColumns(uint32_t planes) { return std::min(LineColumns(planes), kWordColumns); }

TEST(ShortLineTest, EveryBitStringSurvivesTheRoundTrip) {
  TestRandom random(1);
  for (uint32_t planes = kMinPlanes; planes <= kMaxPlanes; ++planes) {
    for (uint32_t columns = 1; columns <= MaxColumns(planes); ++columns) {
      const uint32_t bits = planes * columns;
      std::vector<char> packed((bits + 7) / 8), again(packed.size(), 'x');
      for (char& byte : packed) byte = static_cast<char>(random.Next());
      if (bits % 8 != 0) packed.back() = static_cast<char>(packed.back() & ((1 << (bits % 8)) - 1));
      char line[kLineBytes];
      ExpandShortLine(packed.data(), planes, columns, line);
      EXPECT_EQ(PortableKernel::Tag(line), 0u);
      PackShortLine(line, planes, columns, again.data());
      ASSERT_EQ(packed, again) << planes << " planes, " << columns << " columns";
    }
  }
}

// Two bits of the string that meet in one bit of the line would make the round trip above pass for
// most strings only.
TEST(ShortLineTest, EveryBitHasAPlaceOfItsOwn) {
  for (uint32_t planes = kMinPlanes; planes <= kMaxPlanes; ++planes) {
    const uint32_t columns = MaxColumns(planes);
    std::set<std::vector<char>> lines;
    for (uint32_t bit = 0; bit < planes * columns; ++bit) {
      std::vector<char> packed((planes * columns + 7) / 8, 0), line(kLineBytes);
      packed[bit / 8] = static_cast<char>(1 << (bit % 8));
      ExpandShortLine(packed.data(), planes, columns, line.data());
      int set = 0;
      for (char byte : line) set += __builtin_popcount(static_cast<unsigned char>(byte));
      ASSERT_EQ(set, 1) << planes << " planes, bit " << bit;
      lines.insert(line);
    }
    EXPECT_EQ(lines.size(), planes * columns) << planes;
  }
}

// Bits after the last one of the string are not part of it.
TEST(ShortLineTest, ReadsAndWritesOnlyItsBytes) {
  for (uint32_t planes : {3u, 4u, 7u, 8u, 15u, 24u}) {
    for (uint32_t columns : {1u, 3u, MaxColumns(planes)}) {
      const uint32_t bytes = (planes * columns + 7) / 8;
      std::vector<char> exact(bytes, '\xff');  // a read beyond the end is ASan's to see
      char line[kLineBytes + 1];
      line[kLineBytes] = 'g';
      ExpandShortLine(exact.data(), planes, columns, line);
      EXPECT_EQ(line[kLineBytes], 'g');
      std::vector<char> packed(bytes + 1, 'g');
      PackShortLine(line, planes, columns, packed.data());
      EXPECT_EQ(packed[bytes], 'g');
    }
  }
}

}  // namespace
}  // namespace tieredfilter
