#include "src/filter/hash_sort.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include "src/filter/line_layout.h"

namespace tieredfilter {

namespace {

// A chunk fits the second-level cache together with its scratch copy.
constexpr size_t kChunkHashes = 8192;
// Beyond this many destinations an in-place permutation thrashes the TLB.
constexpr uint32_t kMaxDigitBits = 10;
constexpr uint32_t kMaxBucketBits = 13;

// Buckets hold one hash on average, so this is close to one pass; on clustered input it would be
// quadratic, hence the bound after which the caller's std::sort takes over.
bool InsertionSort(uint64_t* a, size_t n) {
  size_t budget = 8 * n + 64;
  for (size_t i = 1; i < n; ++i) {
    const uint64_t x = a[i];
    size_t j = i;
    for (; j > 0 && a[j - 1] > x; --j) a[j] = a[j - 1];
    a[j] = x;
    const size_t moved = i - j;
    if (moved > budget) return false;
    budget -= moved;
  }
  return true;
}

// Sized for the input: filters of a few thousand keys are built by the dozen, one per partition.
struct Scratch {
  explicit Scratch(size_t n)
      : copy(new uint64_t[std::min(n, kChunkHashes)]),
        ends(new uint16_t[size_t{1} << BucketBits(std::min(n, kChunkHashes))]) {}

  // About one hash per bucket.
  static uint32_t BucketBits(size_t n) {
    uint32_t bits = 1;
    while ((size_t{1} << bits) < n && bits < kMaxBucketBits) ++bits;
    return bits;
  }

  std::unique_ptr<uint64_t[]> copy;
  std::unique_ptr<uint16_t[]> ends;
};

// Sorts at most a chunk of hashes that agree in their top `used` bits, or any number by std::sort.
void SortChunk(uint64_t* a, size_t n, uint32_t used, Scratch* scratch) {
  if (n < 2) return;
  if (n <= 32 || n > kChunkHashes || used >= 64) {
    if (n > 32 || !InsertionSort(a, n)) std::sort(a, a + n);
    return;
  }
  const uint32_t bits = std::min(Scratch::BucketBits(n), 64 - used);
  const auto bucket = [=](uint64_t h) { return static_cast<uint32_t>((h << used) >> (64 - bits)); };
  uint64_t* const copy = scratch->copy.get();
  uint16_t* const ends = scratch->ends.get();
  std::copy(a, a + n, copy);
  std::fill(ends, ends + (size_t{1} << bits), 0);
  for (size_t i = 0; i < n; ++i) ++ends[bucket(copy[i])];
  uint16_t sum = 0;
  for (size_t b = 0; b < (size_t{1} << bits); ++b) {
    sum = static_cast<uint16_t>(sum + ends[b]);
    ends[b] = sum;
  }
  for (size_t i = n; i-- > 0;) a[--ends[bucket(copy[i])]] = copy[i];
  if (!InsertionSort(a, n)) std::sort(a, a + n);
}

// The bits of a digit that splits n hashes into parts of about half a chunk.
uint32_t DigitBits(size_t n) {
  uint32_t bits = 1;
  while ((n >> bits) > kChunkHashes / 2 && bits < kMaxDigitBits) ++bits;
  return bits;
}

// Moves every hash into its digit's part of the array; *next are the parts' starts, and become
// their ends. In place, by following cycles: each hash is put where another one has to leave. One
// step waits for the cache miss of the one before, so eight cycles are followed at a time, all of
// them begun in the same part, whose free places are theirs then and nobody else's.
template <class Digit>
void Permute(uint64_t* a, const Digit& digit, const std::vector<size_t>& ends,
             std::vector<size_t>* next) {
  constexpr size_t kCycles = 8;
  uint64_t held[kCycles];
  size_t hole[kCycles];
  for (size_t d = 0; d < ends.size(); ++d) {
    size_t open = 0;
    for (;;) {
      for (; open < kCycles && (*next)[d] < ends[d]; ++open) {
        hole[open] = (*next)[d]++;
        held[open] = a[hole[open]];
      }
      if (open == 0) break;
      for (size_t k = 0; k < open; ++k) {
        const size_t to = digit(held[k]);
        if (to != d) {
          std::swap(held[k], a[(*next)[to]++]);
          continue;
        }
        a[hole[k]] = held[k];
        --open;
        held[k] = held[open];
        hole[k] = hole[open];
      }
    }
  }
}

// American flag sort on the top bits, then chunk by chunk.
void SortRange(uint64_t* a, size_t n, uint32_t used, Scratch* scratch) {
  if (n <= kChunkHashes || used + kMaxDigitBits > 64) {
    SortChunk(a, n, used, scratch);
    return;
  }
  const uint32_t bits = DigitBits(n);
  const size_t digits = size_t{1} << bits;
  const auto digit = [=](uint64_t h) { return (h << used) >> (64 - bits); };
  std::vector<size_t> next(digits, 0), ends(digits);
  for (size_t i = 0; i < n; ++i) ++next[digit(a[i])];
  std::partial_sum(next.begin(), next.end(), ends.begin());
  for (size_t d = 0; d < digits; ++d) next[d] = ends[d] - next[d];
  Permute(a, digit, ends, &next);
  size_t start = 0;
  for (const size_t end : ends) {
    SortRange(a + start, end - start, used + bits, scratch);
    start = end;
  }
}

}  // namespace

size_t SortUnique(uint64_t* hashes, size_t n) {
  Scratch scratch(n);
  SortRange(hashes, n, 0, &scratch);
  return static_cast<size_t>(std::unique(hashes, hashes + n) - hashes);
}

void ChangeSalt(uint64_t* hashes, size_t n, uint8_t* salt, uint8_t new_salt) {
  if (*salt == new_salt) return;
  for (size_t i = 0; i < n; ++i) hashes[i] = SaltHash(UnsaltHash(hashes[i], *salt), new_salt);
  SortUnique(hashes, n);
  *salt = new_salt;
}

}  // namespace tieredfilter
