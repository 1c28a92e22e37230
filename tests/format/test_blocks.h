// Blocks of every shape the format has, for tests that read, cut or damage them.
#pragma once

#include <string>
#include <vector>

#include "src/filter/key_hash.h"
#include "src/format/block.h"
#include "tests/filter/test_keys.h"

namespace tieredfilter {

enum class BlockForm { kWholeLines, kShort };

struct BlockCase {
  const char* name;
  BlockCoding coding;
  size_t keys;
  double bits;
  uint64_t seed;
  BlockForm form = BlockForm::kWholeLines;
};

// The smallest whole-line filters; triple lines of 3 and 4 planes; wide ones of 4 to 7; narrow ones
// from 8 to the most; short filters of one line (of fewer and of more columns than one word has)
// and of several, of 3 planes and of the most; several seeds where a placement fails often enough
// for a salt to be used.
inline constexpr BlockCase kBlockCases[] = {
    {"empty", BlockCoding::kEquations, 0, 10, 1},
    {"triple_3", BlockCoding::kEquations, 500, 4, 28},
    {"wide_4", BlockCoding::kEquations, 500, 4.6, 7},
    {"wide_5", BlockCoding::kEquations, 500, 5.7, 8},
    {"wide_6", BlockCoding::kEquations, 500, 6.7, 9},
    {"wide_7", BlockCoding::kEquations, 500, 7.8, 10},
    {"narrow_8", BlockCoding::kEquations, 500, 9, 11},
    {"narrow_9", BlockCoding::kEquations, 500, 10, 12},
    {"narrow_10", BlockCoding::kEquations, 500, 11.2, 17},
    {"narrow_11", BlockCoding::kEquations, 400, 12.4, 13},
    {"narrow_15", BlockCoding::kEquations, 300, 17, 14},
    {"narrow_19", BlockCoding::kEquations, 300, 21, 15},
    {"narrow_21", BlockCoding::kEquations, 300, 24, 16},
    {"one_line", BlockCoding::kEquations, 63, 6, 17},
    {"one_line_salted", BlockCoding::kEquations, 59, 8.6, 57},
    {"many_lines", BlockCoding::kEquations, 20000, 8.6, 18},
    {"short_empty", BlockCoding::kEquations, 0, 10, 29, BlockForm::kShort},
    {"short_1", BlockCoding::kEquations, 1, 10, 2, BlockForm::kShort},
    {"short_2_salted", BlockCoding::kEquations, 2, 12, 3, BlockForm::kShort},
    {"short_10", BlockCoding::kEquations, 10, 8.6, 4, BlockForm::kShort},
    {"short_20_of_3", BlockCoding::kEquations, 20, 4, 27, BlockForm::kShort},
    {"short_55", BlockCoding::kEquations, 55, 8.6, 6, BlockForm::kShort},
    {"short_90", BlockCoding::kEquations, 90, 16, 5, BlockForm::kShort},
    {"short_91", BlockCoding::kEquations, 91, 10, 30, BlockForm::kShort},
    {"short_153", BlockCoding::kEquations, 153, 9.464, 31, BlockForm::kShort},
    {"short_300_of_3", BlockCoding::kEquations, 300, 4, 32, BlockForm::kShort},
    {"short_420_of_24", BlockCoding::kEquations, 420, 24, 33, BlockForm::kShort},
    {"short_720", BlockCoding::kEquations, 720, 8.6, 34, BlockForm::kShort},
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

inline BlockRequest RequestOf(const BlockCase& test) {
  BlockRequest request;
  request.coding = test.coding;
  request.bits_per_key = test.bits;
  request.level = static_cast<uint8_t>(test.seed % 7);
  request.asked_millibits = static_cast<uint16_t>(test.bits * 1000);
  request.solution = static_cast<uint32_t>(test.seed * 0x01010101);
  request.may_be_short = test.form == BlockForm::kShort;
  return request;
}

inline BuiltBlock Build(const BlockCase& test, CpuKernel kernel) {
  std::vector<uint64_t> hashes = HashesOf(test);
  return BuildBlock(hashes.data(), hashes.size(), RequestOf(test), kernel);
}

inline std::string BytesOf(const BuiltBlock& block) { return {block.data.get(), block.size}; }

// Makes the checksum right again, so that what is tested is not the checksum. Offsets from
// FORMAT.md and not from block.cc: a moved field has to show. A block that ends in neither marker
// stays what it is.
inline void Reseal(std::string* block) {
  const auto seal = [&](size_t trailer_bytes, size_t checksum_at) {
    if (block->size() < trailer_bytes) return;
    char* trailer = &(*block)[block->size() - trailer_bytes];
    const auto checksum = static_cast<uint32_t>(
        XXH3_64bits_withSeed(trailer, checksum_at, block->size() - trailer_bytes));
    for (int i = 0; i < 4; ++i) trailer[checksum_at + i] = static_cast<char>(checksum >> (8 * i));
  };
  if (block->size() < 5) return;
  const auto marker = static_cast<unsigned char>((*block)[block->size() - 5]);
  if (marker == 0xa5) seal(28, 19);
  if (marker == 0xa4) seal(15, 11);
}

}  // namespace tieredfilter
