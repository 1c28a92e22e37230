// Blocks of every shape the format has, for tests that read, cut or damage them.
#pragma once

#include <string>
#include <vector>

#include "src/format/block.h"
#include "tests/filter/test_keys.h"

namespace tieredfilter {

struct BlockCase {
  const char* name;
  BlockCoding coding;
  size_t keys;
  double bits;
  uint64_t seed;
};

// Short lines; the smallest whole-line filters; triple lines of 3 and 4 planes; wide ones of 4 to
// 7; narrow ones from 8 to the most; several seeds where a placement fails often enough for a salt
// to be used.
inline constexpr BlockCase kBlockCases[] = {
    {"empty", BlockCoding::kEquations, 0, 10, 1},
    {"short_1", BlockCoding::kEquations, 1, 10, 2},
    {"short_2_salted", BlockCoding::kEquations, 2, 12, 3},
    {"short_10", BlockCoding::kEquations, 10, 8.6, 4},
    {"short_30", BlockCoding::kEquations, 30, 16, 5},
    {"short_55", BlockCoding::kEquations, 55, 8.6, 6},
    {"short_20_of_3", BlockCoding::kEquations, 20, 4, 27},
    {"triple_3", BlockCoding::kEquations, 500, 4, 28},
    {"wide_4", BlockCoding::kEquations, 500, 4.6, 7},
    {"wide_5", BlockCoding::kEquations, 500, 5.7, 8},
    {"wide_6", BlockCoding::kEquations, 500, 6.7, 9},
    {"wide_7", BlockCoding::kEquations, 500, 7.8, 10},
    {"narrow_8", BlockCoding::kEquations, 500, 9, 11},
    {"narrow_9", BlockCoding::kEquations, 500, 10, 12},
    {"narrow_11", BlockCoding::kEquations, 400, 12.4, 13},
    {"narrow_15", BlockCoding::kEquations, 300, 17, 14},
    {"narrow_19", BlockCoding::kEquations, 300, 21, 15},
    {"narrow_21", BlockCoding::kEquations, 300, 24, 16},
    {"one_line", BlockCoding::kEquations, 63, 6, 17},
    {"many_lines", BlockCoding::kEquations, 20000, 8.6, 18},
    {"fingerprints_empty", BlockCoding::kFingerprints, 0, 10, 19},
    {"fingerprints_1", BlockCoding::kFingerprints, 1, 10, 20},
    {"fingerprints_5", BlockCoding::kFingerprints, 500, 5, 21},
    {"fingerprints_8", BlockCoding::kFingerprints, 500, 8, 22},
    {"fingerprints_10", BlockCoding::kFingerprints, 500, 10, 23},
    {"fingerprints_16", BlockCoding::kFingerprints, 300, 16, 24},
    {"fingerprints_24", BlockCoding::kFingerprints, 300, 24, 25},
    {"fingerprints_many", BlockCoding::kFingerprints, 20000, 9, 26},
};

inline std::vector<uint64_t> HashesOf(const BlockCase& test) {
  return RandomHashes(test.seed, test.keys);
}

inline BuiltBlock Build(const BlockCase& test, CpuKernel kernel) {
  std::vector<uint64_t> hashes = HashesOf(test);
  BlockRequest request;
  request.coding = test.coding;
  request.bits_per_key = test.bits;
  request.level = static_cast<uint8_t>(test.seed % 7);
  request.asked_millibits = static_cast<uint16_t>(test.bits * 1000);
  request.solution = static_cast<uint32_t>(test.seed * 0x01010101);
  return BuildBlock(hashes.data(), hashes.size(), request, kernel);
}

inline std::string BytesOf(const BuiltBlock& block) { return {block.data.get(), block.size}; }

}  // namespace tieredfilter
