#include "src/filter/fingerprint_line.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "src/filter/fingerprint_builder.h"
#include "src/filter/fingerprint_lookup.h"
#include "src/filter/hash_sort.h"
#include "tests/filter/lookup_test_util.h"
#include "tests/filter/test_keys.h"

namespace tieredfilter {
namespace {

using Fingerprint = std::pair<uint32_t, uint32_t>;  // mini-bucket, remainder

// A line read bit by bit as FORMAT.md describes it; only for lines that a builder wrote.
class NaiveLine {
 public:
  NaiveLine(const char* bytes, uint32_t remainder_bits) : bytes_(bytes), r_(remainder_bits) {}

  uint32_t keys() const { return Number(497, 8); }
  uint32_t threshold() const { return Number(505, 7); }
  uint32_t mini_buckets() const {
    const uint32_t words = r_ >= 8 ? 2 : r_ >= 5 ? 3 : r_ >= 3 ? 4 : 5;
    return std::min(497 - keys() * (r_ + 1), words * 64 - keys());
  }
  std::vector<Fingerprint> Fingerprints() const {
    std::vector<Fingerprint> all;
    uint32_t at = 0;
    for (uint32_t q = 0; q < mini_buckets(); ++q) {
      EXPECT_EQ(Number(at++, 1), 1u);
      for (; all.size() < keys() && Number(at, 1) == 0; ++at) {
        const uint32_t index = static_cast<uint32_t>(all.size());
        all.emplace_back(q, Number(497 - (keys() - index) * r_, r_));
      }
    }
    for (; at < 497 - keys() * r_; ++at) EXPECT_EQ(Number(at, 1), 0u);
    return all;
  }
  Fingerprint FingerprintOf(uint64_t hash) const {
    const KeyEquation key = EquationOf(hash);
    const uint64_t low = key.coefficients & 0xffffffff;
    const auto q = static_cast<uint32_t>((low * mini_buckets()) >> 32);
    const auto remainder = static_cast<uint32_t>(key.high & ((uint64_t{1} << r_) - 1));
    return {q, remainder};
  }

 private:
  uint32_t Number(uint32_t at, uint32_t bits) const {
    uint32_t number = 0;
    for (uint32_t i = 0; i < bits; ++i) {
      const uint32_t bit = at + i;
      number |= ((static_cast<unsigned char>(bytes_[bit / 8]) >> (bit % 8)) & 1u) << i;
    }
    return number;
  }

  const char* const bytes_;
  const uint32_t r_;
};

LinesView ViewOf(const std::vector<char>& bytes, uint32_t remainder_bits, uint8_t salt = 0) {
  LinesView view;
  view.lines = bytes.data();
  view.count = static_cast<uint32_t>(bytes.size() / kLineBytes);
  view.planes = static_cast<uint8_t>(remainder_bits);
  view.salt = salt;
  return view;
}

struct TestFilter {
  std::vector<uint64_t> hashes;  // distinct, not salted
  std::vector<char> bytes;
  BuiltFingerprints built;

  LinesView view() const { return ViewOf(bytes, built.remainder_bits, built.salt); }
  double rate() const { return std::ldexp(built.occupancy / 128.0, -built.remainder_bits); }
};

TestFilter Build(std::vector<uint64_t> hashes, uint32_t lines) {
  TestFilter filter;
  hashes.resize(SortUnique(hashes.data(), hashes.size()));
  filter.hashes = hashes;
  filter.bytes.assign(size_t{lines} * kLineBytes, '\x5a');
  filter.built = BuildFingerprints(hashes.data(), hashes.size(), lines, filter.bytes.data());
  for (size_t i = 0; i < hashes.size(); ++i) {
    hashes[i] = UnsaltHash(hashes[i], filter.built.salt);
  }
  hashes.resize(SortUnique(hashes.data(), hashes.size()));
  EXPECT_EQ(hashes, filter.hashes) << "hashes come back salted, and only that";
  return filter;
}

TestFilter BuildWithBits(std::vector<uint64_t> hashes, double bits) {
  const uint32_t lines = FingerprintLines(hashes.size(), bits);
  return Build(std::move(hashes), lines);
}

size_t FalseNegatives(const TestFilter& filter, CpuKernel kernel) {
  const LookupKernel& lookup = FingerprintLookupFor(kernel, filter.built.remainder_bits);
  size_t missing = 0;
  for (uint64_t hash : filter.hashes) missing += !lookup.match_hash(filter.view(), hash);
  return missing;
}

// Hashes whose keys would all share one mini-bucket of a line of `count` keys.
std::vector<uint64_t> HashesOfMiniBucket(uint32_t count, uint32_t remainder_bits, uint32_t bucket) {
  std::vector<uint64_t> hashes;
  for (uint64_t i = 0; hashes.size() < count; ++i) {
    const uint64_t hash = HashKey(reinterpret_cast<const char*>(&i), sizeof(i));
    if (MiniBucketOf(EquationOf(hash), MiniBuckets(count, remainder_bits)) == bucket) {
      hashes.push_back(hash);
    }
  }
  return hashes;
}

void ExpectLineHolds(const std::vector<uint64_t>& hashes, uint32_t remainder_bits) {
  const auto count = static_cast<uint32_t>(hashes.size());
  std::vector<char> bytes(kLineBytes, '\x5a');
  const uint32_t threshold = count % 128;
  const uint32_t different =
      EncodeFingerprintLine(hashes.data(), count, remainder_bits, threshold, bytes.data());
  const NaiveLine line(bytes.data(), remainder_bits);
  ASSERT_EQ(line.keys(), count);
  ASSERT_EQ(line.threshold(), threshold);
  ASSERT_EQ(line.mini_buckets(), MiniBuckets(count, remainder_bits));
  const std::vector<Fingerprint> fingerprints = line.Fingerprints();
  ASSERT_EQ(fingerprints.size(), count);
  const std::set<Fingerprint> stored(fingerprints.begin(), fingerprints.end());
  EXPECT_EQ(stored.size(), different);
  for (CpuKernel kernel : SupportedCpuKernels()) {
    const LookupKernel& lookup = FingerprintLookupFor(kernel, remainder_bits);
    const LinesView view = ViewOf(bytes, remainder_bits);
    for (uint64_t hash : hashes) {
      ASSERT_TRUE(lookup.match_hash(view, hash)) << CpuKernelName(kernel);
    }
    for (uint64_t hash : RandomHashes(count, 200)) {
      const bool expected = stored.count(line.FingerprintOf(hash)) != 0;
      ASSERT_EQ(lookup.match_hash(view, hash), expected) << CpuKernelName(kernel);
    }
  }
}

TEST(FingerprintLineTest, EveryLoadOfEveryRemainder) {
  for (uint32_t r = kMinRemainderBits; r <= kMaxRemainderBits; ++r) {
    for (uint32_t count = 0; count <= MaxLineKeys(r); ++count) {
      SCOPED_TRACE(testing::Message() << "r = " << r << ", " << count << " keys");
      ASSERT_GE(MiniBuckets(count, r), 1u);
      ASSERT_LE(MiniBuckets(count, r) + count, HeaderWords(r) * 64);
      ASSERT_LE(MiniBuckets(count, r) + count + count * r, kFingerprintBodyBits);
      ExpectLineHolds(RandomHashes(1000 * r + count, count), r);
      if (HasFatalFailure()) return;
    }
  }
}

// More keys than one window of remainders shows, up to a run of zeros longer than a word.
TEST(FingerprintLineTest, AllKeysInOneMiniBucket) {
  for (uint32_t r = kMinRemainderBits; r <= kMaxRemainderBits; ++r) {
    const uint32_t most = std::min(MaxLineKeys(r), 110u);
    for (uint32_t count : {3u, most / 2, most - 3}) {
      const uint32_t last = MiniBuckets(count, r) - 1;
      for (uint32_t bucket : {0u, last / 2, last}) {
        SCOPED_TRACE(testing::Message() << "r = " << r << ", " << count << " in " << bucket);
        ExpectLineHolds(HashesOfMiniBucket(count, r, bucket), r);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(FingerprintLineTest, EqualFingerprintsAreStoredAndCountOnce) {
  // With two-bit remainders, 40 keys in one mini-bucket cannot differ in more than four ways.
  const std::vector<uint64_t> hashes = HashesOfMiniBucket(40, 2, 7);
  std::vector<char> bytes(kLineBytes);
  EXPECT_EQ(EncodeFingerprintLine(hashes.data(), 40, 2, 0, bytes.data()), 4u);
}

TEST(FingerprintLineTest, KernelsAgreeOnAnyBytes) {
  TestRandom random(1);
  std::vector<std::string> keys;
  for (uint64_t i = 0; i < 300; ++i) keys.push_back(FamilyKey(KeyFamily::kZeroPadded, i));
  const auto portable = [](const LinesView& view, uint64_t hash) {
    return FingerprintLookupFor(CpuKernel::kPortable, view.planes).match_hash(view, hash);
  };
  size_t matches = 0;
  for (int round = 0; round < 400; ++round) {
    const uint32_t lines = 1 + static_cast<uint32_t>(random.Below(4));
    // Exactly as long as it has to be, so that AddressSanitizer sees a read beyond.
    std::vector<char> bytes(lines * kLineBytes);
    const int kind = round % 4;
    for (char& byte : bytes) {
      // Noise, sparse and dense headers, all zeros, all ones.
      const uint64_t a = random.Next(), b = random.Next(), c = random.Next();
      const uint64_t value = kind == 0   ? a
                             : kind == 1 ? a & b & c
                             : kind == 2 ? a | b | c
                                         : (round / 4) % 2 * 0xff;
      byte = static_cast<char>(value);
    }
    for (uint32_t r = kMinRemainderBits; r <= kMaxRemainderBits; ++r) {
      const LinesView view = ViewOf(bytes, r, static_cast<uint8_t>(round % 2));
      for (CpuKernel kernel : SupportedCpuKernels()) {
        ASSERT_TRUE(LookupAgrees(FingerprintLookupFor(kernel, r), view, keys, portable, &matches))
            << CpuKernelName(kernel) << ", r = " << r << ", round " << round;
      }
    }
  }
  EXPECT_GT(matches, 0u);
}

TEST(FingerprintBuilderTest, NoFalseNegativesForAnySmallNumberOfKeys) {
  for (double bits : {kMinFingerprintBits, 8.0, 11.2, 16.3, kMaxFingerprintBits}) {
    for (size_t n = 1; n <= 2000; ++n) {
      const TestFilter filter = BuildWithBits(RandomHashes(n, n), bits);
      ASSERT_TRUE(filter.built.ok) << n << " keys, " << bits << " bits";
      const std::vector<CpuKernel> kernels = SupportedCpuKernels();
      ASSERT_EQ(FalseNegatives(filter, kernels[n % kernels.size()]), 0u) << n << ", " << bits;
    }
  }
}

TEST(FingerprintBuilderTest, NoFalseNegativesInAMillionKeys) {
  for (double bits : {kMinFingerprintBits, 11.0, kMaxFingerprintBits}) {
    const TestFilter filter = BuildWithBits(RandomHashes(7, 1000000), bits);
    ASSERT_TRUE(filter.built.ok);
    EXPECT_EQ(filter.built.attempts, 1u);
    for (CpuKernel kernel : SupportedCpuKernels()) EXPECT_EQ(FalseNegatives(filter, kernel), 0u);
  }
}

TEST(FingerprintBuilderTest, CrowdedHashesAreSalted) {
  // All in the last rank group of the last line, which never moves.
  std::vector<uint64_t> hashes(2000);
  for (size_t i = 0; i < hashes.size(); ++i) hashes[i] = ~uint64_t{i};
  const TestFilter filter = BuildWithBits(hashes, 10);
  ASSERT_TRUE(filter.built.ok);
  EXPECT_EQ(filter.built.attempts, 2u);
  EXPECT_EQ(filter.built.salt, 1);
  for (CpuKernel kernel : SupportedCpuKernels()) EXPECT_EQ(FalseNegatives(filter, kernel), 0u);

  // All in the first group of the first line, which all move.
  for (size_t i = 0; i < hashes.size(); ++i) hashes[i] = i;
  const TestFilter moved = BuildWithBits(hashes, 10);
  ASSERT_TRUE(moved.built.ok);
  EXPECT_EQ(moved.built.keys_given, hashes.size());
  for (CpuKernel kernel : SupportedCpuKernels()) EXPECT_EQ(FalseNegatives(moved, kernel), 0u);
}

TEST(FingerprintBuilderTest, OneCrowdedLineDoesNotShortenAllRemainders) {
  std::vector<uint64_t> hashes = RandomHashes(6, 100000);
  const double rate = BuildWithBits(hashes, 17).rate();
  // In the last rank group of the last line, which never moves.
  for (uint64_t i = 0; i < 40; ++i) hashes.push_back(~i);
  const TestFilter filter = BuildWithBits(hashes, 17);
  ASSERT_TRUE(filter.built.ok);
  EXPECT_LT(filter.rate(), 1.05 * rate);
}

TEST(FingerprintBuilderTest, TooManyKeysAreRefused) {
  EXPECT_TRUE(Build(RandomHashes(1, 165), 1).built.ok);
  EXPECT_FALSE(Build(RandomHashes(1, 166), 1).built.ok);
  EXPECT_FALSE(Build(RandomHashes(1, 10000), 3).built.ok);
}

// The rate of real keys is the one the block will state. Both ways: a rate that is too good would
// mean that probes are not what they should be.
TEST(FingerprintBuilderTest, RateIsAsStated) {
  constexpr size_t kKeys = 100000, kProbes = 2000000;
  std::vector<uint64_t> hashes, probes;
  for (size_t i = 0; i < kKeys; ++i) hashes.push_back(HashOf(FamilyKey(KeyFamily::kBigEndian, i)));
  for (size_t i = 0; i < kProbes; ++i) {
    probes.push_back(HashOf(FamilyKey(KeyFamily::kBigEndian, 10 * kKeys + i)));
  }
  for (double bits : {4.0, 5.0, 6.5, 8.0, 9.75, 11.0, 12.5, 14.0, 16.0}) {
    const TestFilter filter = BuildWithBits(hashes, bits);
    ASSERT_TRUE(filter.built.ok);
    const LinesView view = filter.view();
    const LookupKernel& lookup =
        FingerprintLookupFor(CpuKernel::kPortable, filter.built.remainder_bits);
    // Kept and moved keys apart: they read different lines for different reasons.
    size_t matches[2] = {}, count[2] = {};
    for (uint64_t probe : probes) {
      const PrimarySlot slot = PrimaryOf(SaltHash(probe, view.salt), view.count);
      const uint32_t tag = FingerprintTag(view.lines + size_t{slot.line} * kLineBytes);
      const bool moved = slot.group < TagThreshold(tag);
      ++count[moved];
      matches[moved] += lookup.match_hash(view, probe);
    }
    for (int moved = 0; moved < 2; ++moved) {
      const double expected = filter.rate() * static_cast<double>(count[moved]);
      // Stated in steps of 1/128; lines that keys are moved away from are the full ones.
      const double rounding = expected * (0.5 / filter.built.occupancy + 0.03);
      EXPECT_NEAR(static_cast<double>(matches[moved]), expected, 5 * std::sqrt(expected) + rounding)
          << bits << " bits, moved = " << moved;
    }
    const double expected = filter.rate() * kProbes;
    EXPECT_NEAR(static_cast<double>(matches[0] + matches[1]), expected,
                5 * std::sqrt(expected) + expected * 0.5 / filter.built.occupancy)
        << bits << " bits";
  }
}

TEST(FingerprintBuilderTest, RateFallsSmoothly) {
  const std::vector<uint64_t> hashes = RandomHashes(3, 200000);
  double previous = 0;
  for (double bits = 5.25; bits <= 18; bits += 0.25) {
    const TestFilter filter = BuildWithBits(hashes, bits);
    ASSERT_TRUE(filter.built.ok);
    if (previous != 0) {
      EXPECT_GT(previous / filter.rate(), 1.05) << bits;
      EXPECT_LT(previous / filter.rate(), 1.30) << bits;
    }
    previous = filter.rate();
    EXPECT_NEAR(FingerprintRateForBits(bits) / filter.rate(), 1, 0.12) << bits;
  }
}

TEST(FingerprintBuilderTest, BitsForRateInvertsRateForBits) {
  for (double bits : {5.0, 8.3, 11.2, 20.0}) {
    bool met = false;
    EXPECT_NEAR(FingerprintBitsForRate(FingerprintRateForBits(bits), &met), bits, 1e-6);
    EXPECT_TRUE(met);
  }
  bool met = true;
  EXPECT_EQ(FingerprintBitsForRate(1e-9, &met), kMaxFingerprintBits);
  EXPECT_FALSE(met);
  EXPECT_NEAR(FingerprintBitsForRate(0.5, &met), kMinFingerprintBits, 1e-6);
  EXPECT_TRUE(met);
}

// Whatever the order of keys and however often they come.
TEST(FingerprintBuilderTest, BytesFollowFromTheSetOfKeys) {
  std::vector<uint64_t> hashes = RandomHashes(9, 5000);
  const TestFilter once = BuildWithBits(hashes, 11.2);
  std::vector<uint64_t> again(hashes.rbegin(), hashes.rend());
  again.insert(again.end(), hashes.begin(), hashes.begin() + 3000);
  EXPECT_EQ(Build(again, once.view().count).bytes, once.bytes);
}

}  // namespace
}  // namespace tieredfilter
