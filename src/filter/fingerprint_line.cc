#include "src/filter/fingerprint_line.h"

namespace tieredfilter {

namespace {

constexpr uint32_t kMostKeys = MaxLineKeys(kMinRemainderBits);

// A line under construction, as bits.
class LineBits {
 public:
  void Put(uint32_t at, uint64_t bits) {
    words_[at / 64] |= bits << (at % 64);
    const uint32_t next = at / 64 + 1;
    if (at % 64 != 0 && next < kLineWords) words_[next] |= bits >> (64 - at % 64);
  }
  void Store(char* line) const {
    for (uint32_t i = 0; i < kLineBytes; ++i) {
      line[i] = static_cast<char>(words_[i / 8] >> (8 * (i % 8)));
    }
  }

 private:
  uint64_t words_[kLineWords] = {};
};

}  // namespace

uint32_t EncodeFingerprintLine(const uint64_t* hashes, uint32_t count, uint32_t remainder_bits,
                               uint32_t threshold, char* line) {
  const uint32_t mini_buckets = MiniBuckets(count, remainder_bits);
  // A counting sort by mini-bucket: first[q] is where q's keys begin.
  uint8_t first[kMaxHeaderBits + 1] = {};
  uint16_t bucket_of[kMostKeys];
  uint32_t remainder_of[kMostKeys], sorted[kMostKeys];
  for (uint32_t i = 0; i < count; ++i) {
    const KeyEquation key = EquationOf(hashes[i]);
    bucket_of[i] = static_cast<uint16_t>(MiniBucketOf(key, mini_buckets));
    remainder_of[i] = static_cast<uint32_t>(RemainderOf(key, remainder_bits));
    ++first[bucket_of[i] + 1];
  }
  for (uint32_t q = 0; q < mini_buckets; ++q) {
    first[q + 1] = static_cast<uint8_t>(first[q] + first[q + 1]);
  }
  uint8_t next[kMaxHeaderBits];
  std::copy(first, first + mini_buckets, next);
  uint32_t different = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t q = bucket_of[i];
    uint32_t* const bucket = sorted + first[q];
    uint32_t* const end = sorted + next[q]++;
    different += std::find(bucket, end, remainder_of[i]) == end;
    *end = remainder_of[i];
  }

  LineBits bits;
  for (uint32_t q = 0; q < mini_buckets; ++q) bits.Put(q + first[q], 1);
  for (uint32_t i = 0; i < count; ++i) {
    bits.Put(kFingerprintBodyBits - (count - i) * remainder_bits, sorted[i]);
  }
  bits.Put(kFingerprintBodyBits, count | (threshold << 8));
  bits.Store(line);
  return different;
}

bool LongMiniBucketMatches(const char* line, uint32_t start, uint32_t skipped, uint32_t keys,
                           uint32_t remainder_bits, uint64_t remainder) {
  bool found = false;
  for (uint32_t i = skipped; i < keys; ++i, ++start) {
    if ((LineWindow(line, start) & 1) != 0) break;
    const uint32_t at = kFingerprintBodyBits - (keys - i) * remainder_bits;
    found |= (LineWindow(line, at) & LowBits(remainder_bits)) == remainder;
  }
  return found;
}

}  // namespace tieredfilter
