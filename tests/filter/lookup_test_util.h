// Lines and keys that tell kernels apart.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "src/filter/cuckoo_geometry.h"
#include "src/filter/equations_builder.h"
#include "src/filter/hash_sort.h"
#include "src/filter/lookup.h"
#include "tests/filter/test_keys.h"

namespace tieredfilter {

inline const LookupKernel& LookupOf(CpuKernel kernel, const LinesView& view) {
  return LookupFor(kernel, view.planes, view.salt != 0);
}

// A filter over real keys, so that true matches happen at every rate: on random bytes a key of 24
// planes would match once in 16 million.
struct TestLines {
  std::vector<std::string> keys;
  std::vector<char> bytes;
  LinesView view;
};

// Built with `planes` planes of the lower kind; about half of the lines have one more.
inline TestLines BuildTestLines(uint32_t planes, uint32_t lines) {
  CuckooGeometry geometry;
  geometry.lines = lines;
  geometry.planes = planes;
  geometry.more = planes < kMaxPlanes ? lines / 2 : 0;
  // Few enough that lines of both kinds solve without the builder's help.
  const double per_line = 0.9 * (LineColumns(planes + (geometry.more > 0 ? 1 : 0), planes) - 2);
  TestLines built;
  std::vector<uint64_t> hashes;
  for (uint64_t i = 0; i < static_cast<uint64_t>(per_line * lines); ++i) {
    built.keys.push_back(FamilyKey(KeyFamily::kZeroPadded, 1000000 * planes + i));
    hashes.push_back(HashOf(built.keys.back()));
  }
  hashes.resize(SortUnique(hashes.data(), hashes.size()));
  built.bytes.resize(geometry.data_bytes());
  // The bits only matter for later attempts.
  const BuiltLines result =
      BuildEquations(hashes.data(), hashes.size(), 512.0 * lines / hashes.size(), geometry,
                     CpuKernel::kPortable, built.bytes.data());
  if (!result.ok) return TestLines();
  built.view.lines = built.bytes.data();
  built.view.count = lines;
  built.view.planes = result.planes;
  built.view.salt = result.salt;
  return built;
}

// `lookup` gives the answers of `expected_of(view, hash)` for stored, absent and random-byte cases,
// one by one and in batches.
template <typename Expected>
::testing::AssertionResult LookupAgrees(const LookupKernel& lookup, const LinesView& view,
                                        const std::vector<std::string>& keys, Expected expected_of,
                                        size_t* matches) {
  std::vector<KeyView> batch;
  std::vector<char> expected;
  for (size_t i = 0; i < keys.size(); ++i) {
    const std::string& key = keys[i];
    const bool want = expected_of(view, HashOf(key));
    *matches += want;
    if (lookup.match_key(view, key.data(), key.size()) != want ||
        lookup.match_hash(view, HashOf(key)) != want) {
      return ::testing::AssertionFailure() << "key " << i << " should give " << want;
    }
    batch.push_back({key.data(), key.size()});
    expected.push_back(want);
    // Batches of 0, 1, 2 ... 32 keys, again and again.
    if (batch.size() < (i / kMaxBatch) % (kMaxBatch + 1) && i + 1 < keys.size()) continue;
    bool may_match[kMaxBatch + 1];
    may_match[batch.size()] = (i & 1) != 0;
    lookup.match_keys(view, batch.data(), batch.size(), may_match);
    for (size_t b = 0; b < batch.size(); ++b) {
      if (may_match[b] != static_cast<bool>(expected[b])) {
        return ::testing::AssertionFailure() << "key " << b << " of a batch of " << batch.size();
      }
    }
    if (may_match[batch.size()] != ((i & 1) != 0)) {
      return ::testing::AssertionFailure() << "wrote beyond a batch of " << batch.size();
    }
    batch.clear();
    expected.clear();
  }
  bool untouched = true;
  lookup.match_keys(view, nullptr, 0, &untouched);
  return untouched ? ::testing::AssertionSuccess()
                   : ::testing::AssertionFailure() << "an empty batch wrote";
}

// Compares `lookup_of(view)` with the reference: filters of every number of planes, and random
// bytes as lines.
template <typename LookupOf, typename Reference>
void ExpectSameAnswers(LookupOf lookup_of, Reference reference) {
  for (uint32_t planes = kMinPlanes; planes <= kMaxPlanes; ++planes) {
    const TestLines built = BuildTestLines(planes, 12);
    ASSERT_FALSE(built.bytes.empty()) << planes;
    std::vector<std::string> keys = built.keys;
    for (uint64_t i = 0; i < 1500; ++i) keys.push_back(FamilyKey(KeyFamily::kBigEndian, i));
    size_t matches = 0;
    EXPECT_TRUE(LookupAgrees(lookup_of(built.view), built.view, keys, reference, &matches))
        << planes;
    EXPECT_GE(matches, built.keys.size()) << planes;

    TestRandom random(planes);
    std::vector<char> noise(7 * kLineBytes);
    for (char& byte : noise) byte = static_cast<char>(random.Next());
    LinesView view = built.view;
    view.lines = noise.data();
    view.salt = static_cast<uint8_t>(planes % 3);
    for (uint32_t count : {1u, 2u, 7u}) {
      view.count = count;
      EXPECT_TRUE(LookupAgrees(lookup_of(view), view, keys, reference, &matches)) << planes;
    }
    // All ones: every tag says "one plane more" and the highest threshold.
    std::fill(noise.begin(), noise.end(), '\xff');
    EXPECT_TRUE(LookupAgrees(lookup_of(view), view, keys, reference, &matches)) << planes;
  }
}

}  // namespace tieredfilter
