#include "src/filter/hash_sort.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

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

// Up to here an input is distributed to a copy and back; beyond, eight bytes per key would be much.
constexpr size_t kMostCopiedHashes = 1 << 17;

// Sized for the input: filters of a few thousand keys are built by the dozen, one per partition.
struct Scratch {
  explicit Scratch(size_t n)
      : copy(new uint64_t[CopiedHashes(n)]), ends(new uint16_t[Buckets(n)]) {}

  static size_t CopiedHashes(size_t n) { return n <= kMostCopiedHashes ? n : kChunkHashes; }
  static size_t Buckets(size_t n) { return size_t{1} << BucketBits(std::min(n, kChunkHashes)); }

  // About one hash per bucket.
  static uint32_t BucketBits(size_t n) {
    uint32_t bits = 1;
    while ((size_t{1} << bits) < n && bits < kMaxBucketBits) ++bits;
    return bits;
  }

  std::unique_ptr<uint64_t[]> copy;
  std::unique_ptr<uint16_t[]> ends;
};

bool IsOneChunk(size_t n, uint32_t used) { return n > 32 && n <= kChunkHashes && used < 64; }

// Sorts a chunk of hashes that agree in their top `used` bits from one place to another.
void SortChunk(const uint64_t* from, uint64_t* to, size_t n, uint32_t used, uint16_t* ends) {
  const uint32_t bits = std::min(Scratch::BucketBits(n), 64 - used);
  const auto bucket = [=](uint64_t h) { return static_cast<uint32_t>((h << used) >> (64 - bits)); };
  std::fill(ends, ends + (size_t{1} << bits), 0);
  for (size_t i = 0; i < n; ++i) ++ends[bucket(from[i])];
  uint16_t sum = 0;
  for (size_t b = 0; b < (size_t{1} << bits); ++b) {
    sum = static_cast<uint16_t>(sum + ends[b]);
    ends[b] = sum;
  }
  for (size_t i = n; i-- > 0;) to[--ends[bucket(from[i])]] = from[i];
  if (!InsertionSort(to, n)) std::sort(to, to + n);
}

// The same in place, and for any number of hashes.
void SortInPlace(uint64_t* a, size_t n, uint32_t used, Scratch* scratch) {
  if (n < 2) return;
  if (IsOneChunk(n, used)) {
    std::copy(a, a + n, scratch->copy.get());
    SortChunk(scratch->copy.get(), a, n, used, scratch->ends.get());
  } else if (n > 32 || !InsertionSort(a, n)) {
    std::sort(a, a + n);
  }
}

// The bits of a digit that splits n hashes into parts of about half a chunk.
uint32_t DigitBits(size_t n) {
  uint32_t bits = 1;
  while ((n >> bits) > kChunkHashes / 2 && bits < kMaxDigitBits) ++bits;
  return bits;
}

// By the top bits to the copy, then chunk by chunk back: the first pass's stores wait for nothing,
// unlike those of a permutation in place.
void SortThroughCopy(uint64_t* a, size_t n, Scratch* scratch) {
  const uint32_t bits = DigitBits(n);
  const auto digit = [=](uint64_t h) { return h >> (64 - bits); };
  uint64_t* const copy = scratch->copy.get();
  std::vector<size_t> ends((size_t{1} << bits) + 1, 0);
  for (size_t i = 0; i < n; ++i) ++ends[digit(a[i]) + 1];
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  for (size_t i = 0; i < n; ++i) copy[ends[digit(a[i])]++] = a[i];
  size_t start = 0;  // each entry of `ends` is by now where the part ends
  for (size_t d = 0; d + 1 < ends.size(); ++d) {
    const size_t count = ends[d] - start;
    if (IsOneChunk(count, bits)) {
      SortChunk(copy + start, a + start, count, bits, scratch->ends.get());
    } else {
      std::copy(copy + start, copy + start + count, a + start);
      std::sort(a + start, a + start + count);
    }
    start = ends[d];
  }
}

// American flag sort on the top bits, then chunk by chunk.
void SortRange(uint64_t* a, size_t n, uint32_t used, Scratch* scratch) {
  if (n <= kChunkHashes || used + kMaxDigitBits > 64) {
    SortInPlace(a, n, used, scratch);
    return;
  }
  const uint32_t bits = DigitBits(n);
  const size_t digits = size_t{1} << bits;
  const auto digit = [=](uint64_t h) { return (h << used) >> (64 - bits); };
  std::vector<size_t> next(digits + 1, 0), ends(digits);
  for (size_t i = 0; i < n; ++i) ++next[digit(a[i]) + 1];
  for (size_t d = 0; d < digits; ++d) {
    next[d + 1] += next[d];
    ends[d] = next[d + 1];
  }
  const std::vector<size_t> starts(next.begin(), next.end());
  for (size_t d = 0; d < digits; ++d) {
    while (next[d] < ends[d]) {
      uint64_t h = a[next[d]];
      size_t to = digit(h);
      while (to != d) {
        std::swap(h, a[next[to]++]);
        to = digit(h);
      }
      a[next[d]++] = h;
    }
  }
  for (size_t d = 0; d < digits; ++d) {
    SortRange(a + starts[d], ends[d] - starts[d], used + bits, scratch);
  }
}

}  // namespace

size_t SortScratchBytes(size_t n) {
  return Scratch::CopiedHashes(n) * sizeof(uint64_t) + Scratch::Buckets(n) * sizeof(uint16_t);
}

size_t SortUnique(uint64_t* hashes, size_t n) {
  Scratch scratch(n);
  if (n > kChunkHashes && n <= kMostCopiedHashes) {
    SortThroughCopy(hashes, n, &scratch);
  } else {
    SortRange(hashes, n, 0, &scratch);
  }
  return static_cast<size_t>(std::unique(hashes, hashes + n) - hashes);
}

}  // namespace tieredfilter
