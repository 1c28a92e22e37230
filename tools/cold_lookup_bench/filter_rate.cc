#include "tools/cold_lookup_bench/filter_rate.h"

#include <bitset>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "src/format/block.h"
#include "tools/cold_lookup_bench/table_filter.h"

namespace tieredfilter::cold_lookup {

namespace {

constexpr double kUnknown = -1;
constexpr size_t kStockTrailerBytes = 5;
constexpr size_t kBloomLineBytes = 64;
constexpr size_t kRibbonBlockBytes = 16;  // one column of a block of 128 slots

uint32_t ByteAt(const std::string& content, size_t from_end) {
  return static_cast<unsigned char>(content[content.size() - from_end]);
}

// Trailer: marker | sub-implementation (0) | line size and probes | 0 | 0. The third byte has the
// number of probes in its low five bits and log2 of the line size, less 6, in the others.
double BloomRate(const std::string& content) {
  const size_t bytes = content.size() - kStockTrailerBytes;
  const uint32_t probes = ByteAt(content, 3) & 31;
  if (ByteAt(content, 4) != 0 || ByteAt(content, 3) >> 5 != 0 || bytes % kBloomLineBytes != 0 ||
      bytes == 0) {
    return kUnknown;
  }
  double sum = 0;
  for (size_t line = 0; line < bytes; line += kBloomLineBytes) {
    size_t set = 0;
    for (size_t at = line; at < line + kBloomLineBytes; at += sizeof(uint64_t)) {
      uint64_t word = 0;
      std::memcpy(&word, content.data() + at, sizeof(word));
      set += std::bitset<64>(word).count();
    }
    sum += std::pow(static_cast<double>(set) / (8.0 * kBloomLineBytes), probes);
  }
  return sum / (static_cast<double>(bytes) / kBloomLineBytes);
}

// Trailer: marker | seed | number of blocks, three bytes little-endian. The last blocks have one
// column more than the first ones where the columns do not come out even; a column halves the rate.
double RibbonRate(const std::string& content) {
  const uint64_t blocks = ByteAt(content, 3) | ByteAt(content, 2) << 8 | ByteAt(content, 1) << 16;
  const uint64_t columns =
      (content.size() - kStockTrailerBytes) / kRibbonBlockBytes;  // summed over the blocks
  if (blocks == 0 || columns < blocks) {
    return kUnknown;
  }
  const uint64_t most = (columns + blocks - 1) / blocks;
  const auto shorter = static_cast<double>(most * blocks - columns) / static_cast<double>(blocks);
  return std::ldexp(1 + shorter, -static_cast<int>(most));
}

}  // namespace

double ExpectedRateOf(const std::string& content) {
  const std::string kind = FilterKindOf(content);
  if (kind == "bloom") {
    return BloomRate(content);
  }
  if (kind == "cuckoo") {
    BlockMetadata metadata;
    return ParseBlock(content.data(), content.size(), &metadata) ? metadata.fp_rate() : kUnknown;
  }
  return kind == "ribbon" ? RibbonRate(content) : kUnknown;
}

}  // namespace tieredfilter::cold_lookup
