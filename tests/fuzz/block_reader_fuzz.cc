// The input is a filter block as read from a file, whole or not. Reading it must stay inside its
// bytes (AddressSanitizer's to see: the block is copied to memory of exactly its size), and every
// kernel must give the same answers.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "src/format/block.h"
#include "tests/format/test_blocks.h"
#include "tests/fuzz/fuzz_target.h"

namespace tieredfilter {
namespace {

void LookUp(const char* block, size_t size) {
  BlockMetadata metadata;
  const bool whole = ParseBlock(block, size, &metadata);
  const std::vector<CpuKernel> kernels = SupportedCpuKernels();
  const BlockReader first(block, size, kernels[0]);
  FuzzCheck(!first.filters() || whole, "filters without being proven whole");
  FuzzCheck(metadata.fp_rate() >= 0 && metadata.fp_rate() <= 1, "rate out of range");
  char text[kMaxBatch][8];
  KeyView keys[kMaxBatch];
  for (size_t i = 0; i < kMaxBatch; ++i) {
    const uint64_t hash = i * 0x9e3779b97f4a7c15ULL;
    std::memcpy(text[i], &hash, sizeof(hash));
    keys[i] = {text[i], i % 9};
  }
  for (CpuKernel kernel : kernels) {
    const BlockReader reader(block, size, kernel);
    bool may_match[kMaxBatch];
    reader.MayMatch(keys, kMaxBatch, may_match);
    for (size_t i = 0; i < kMaxBatch; ++i) {
      const bool single = reader.MayMatch(keys[i].data, keys[i].size);
      FuzzCheck(single == may_match[i], "batch and single lookup differ");
      FuzzCheck(single == first.MayMatch(keys[i].data, keys[i].size), "kernels differ");
      FuzzCheck(single || reader.filters(), "no match from a block that filters nothing");
    }
    for (uint64_t hash : {uint64_t{0}, ~uint64_t{0}, uint64_t{1} << 63}) {
      FuzzCheck(reader.HashMayMatch(hash) == first.HashMayMatch(hash), "kernels differ");
    }
  }
}

}  // namespace
}  // namespace tieredfilter

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::unique_ptr<char[]> block(new char[size]);
  if (size > 0) std::memcpy(block.get(), data, size);
  tieredfilter::LookUp(block.get(), size);
  // With a right checksum more of the inputs get past it; otherwise the fuzzer would have to guess
  // 32 bits.
  std::string sealed(block.get(), size);
  tieredfilter::Reseal(&sealed);
  std::copy(sealed.begin(), sealed.end(), block.get());
  tieredfilter::LookUp(block.get(), size);
  return 0;
}
