// The cuckoo filter's codings as kinds for the conformance tests.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/filter/cuckoo_geometry.h"
#include "src/filter/fingerprint_builder.h"
#include "src/filter/key_hash.h"
#include "src/format/block.h"
#include "tests/format/filter_conformance.h"

namespace tieredfilter {

class CuckooUnderTest : public FilterUnderTest {
 public:
  CuckooUnderTest(BlockCoding coding, CpuKernel kernel, double bits) : kernel_(kernel) {
    request_.coding = coding;
    request_.bits_per_key = bits;
  }

  void Add(const std::string& key) override { AddHash(HashKey(key.data(), key.size())); }
  void AddHash(uint64_t hash) override { hashes_.push_back(hash); }
  void Finish() override {
    block_ = BuildBlock(hashes_.data(), hashes_.size(), request_, kernel_);
    hashes_ = std::vector<uint64_t>();
    reader_ = std::make_unique<BlockReader>(block_.data.get(), block_.size, kernel_);
  }

  bool MayMatch(const KeyView& key) const override { return reader_->MayMatch(key.data, key.size); }
  bool HashMayMatch(uint64_t hash) const override { return reader_->HashMayMatch(hash); }
  void MayMatchBatch(const KeyView* keys, size_t count, bool* may_match) const override {
    reader_->MayMatch(keys, count, may_match);
  }
  size_t bytes() const override { return block_.size; }
  double fp_rate() const override { return reader_->filters() ? block_.metadata.fp_rate() : 1; }

 private:
  BlockRequest request_;
  const CpuKernel kernel_;
  std::vector<uint64_t> hashes_;
  BuiltBlock block_;
  std::unique_ptr<BlockReader> reader_;
};

// A coding becomes part of all conformance tests by one line here.
struct CuckooCoding {
  BlockCoding coding;
  const char* name;
  double min_bits;
  double rate_tolerance;
};
inline constexpr CuckooCoding kCuckooCodings[] = {
    // The estimate takes the lines with one more plane for as often asked as the others; they have
    // the fewest keys, hence the lowest thresholds, and are asked for a little more often.
    {BlockCoding::kEquations, "equations", kMinEquationsBits, 1.02},
    {BlockCoding::kFingerprints, "fingerprints", kMinFingerprintBits, 1.05},
};

inline std::vector<FilterKind> CuckooKinds(const std::vector<CpuKernel>& kernels) {
  std::vector<FilterKind> kinds;
  for (const CuckooCoding& coding : kCuckooCodings) {
    for (CpuKernel kernel : kernels) {
      FilterKind kind;
      kind.name = std::string(coding.name) + "_" + std::string(CpuKernelName(kernel));
      kind.make = [coding, kernel](double bits) {
        return std::make_unique<CuckooUnderTest>(coding.coding, kernel, bits);
      };
      kind.min_bits = coding.min_bits;
      kind.rate_tolerance = coding.rate_tolerance;
      kinds.push_back(kind);
    }
  }
  return kinds;
}

}  // namespace tieredfilter
