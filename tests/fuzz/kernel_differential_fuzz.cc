// The input says what to build: coding, form, bits, and hashes, some spelled out and some derived,
// so that the fuzzer can make them collide as it likes. Every kernel must write the same bytes,
// lose no key, and give the same answers for hashes that are not in the filter.
#include <cstring>
#include <string>
#include <vector>

#include "src/format/block.h"
#include "tests/fuzz/fuzz_target.h"

namespace tieredfilter {
namespace {

constexpr size_t kMostHashes = 3000;

std::vector<uint64_t> TakeHashes(FuzzInput* input) {
  std::vector<uint64_t> hashes;
  while (input->left() > 0 && hashes.size() < kMostHashes) {
    // One record: a hash, how many more follow it, and what each of those adds.
    uint64_t hash = input->Take(8);
    const uint64_t step = input->Take(8);
    for (uint64_t more = input->Take(2) % 512 + 1; more > 0; --more) {
      hashes.push_back(hash);
      hash += step;
    }
  }
  if (hashes.size() > kMostHashes) hashes.resize(kMostHashes);
  return hashes;
}

void Check(const uint8_t* data, size_t size) {
  FuzzInput input(data, size);
  BlockRequest request;
  const uint64_t what = input.Take(1);
  request.coding = what % 2 == 0 ? BlockCoding::kEquations : BlockCoding::kFingerprints;
  request.may_be_short = what % 4 == 2;  // otherwise hardly an input would have whole lines
  request.bits_per_key = 4 + static_cast<double>(input.Take(2) % 2001) / 100;
  const std::vector<uint64_t> hashes = TakeHashes(&input);
  std::string first;
  for (CpuKernel kernel : SupportedCpuKernels()) {
    std::vector<uint64_t> copy = hashes;
    const BuiltBlock block = BuildBlock(copy.data(), copy.size(), request, kernel);
    const std::string bytes(block.data.get(), block.size);
    if (first.empty()) first = bytes;
    FuzzCheck(bytes == first, "kernels wrote different bytes");
    const BlockReader reader(bytes.data(), bytes.size(), kernel);
    const BlockReader portable(bytes.data(), bytes.size(), CpuKernel::kPortable);
    FuzzCheck(block.ok == reader.filters() || hashes.empty(), "built, but not accepted");
    for (uint64_t hash : hashes) {
      FuzzCheck(reader.HashMayMatch(hash), "lost a key");
      for (uint64_t other : {hash + 1, ~hash, hash * 3, hash << 32 | hash >> 32}) {
        FuzzCheck(reader.HashMayMatch(other) == portable.HashMayMatch(other), "kernels differ");
      }
    }
  }
}

}  // namespace
}  // namespace tieredfilter

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tieredfilter::Check(data, size);
  return 0;
}
