// Reproducible keys and key hashes for the tests of filters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "src/filter/key_hash.h"

namespace tieredfilter {

// SplitMix64: every seed gives a full-period sequence, and no two small seeds give overlapping ones
// (unlike seeds that are added to the state).
class TestRandom {
 public:
  explicit TestRandom(uint64_t seed) : state_(Mix(seed ^ 0x5851f42d4c957f2dULL)) {}

  uint64_t Next() { return Mix(state_ += 0x9e3779b97f4a7c15ULL); }
  // Below `limit`; its bias of limit / 2^64 is far below what any test here could see.
  uint64_t Below(uint64_t limit) {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(Next()) * limit) >> 64);
  }

 private:
  static uint64_t Mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  uint64_t state_;
};

inline std::vector<uint64_t> RandomHashes(uint64_t seed, size_t n) {
  TestRandom random(seed);
  std::vector<uint64_t> hashes(n);
  for (uint64_t& hash : hashes) hash = random.Next();
  return hashes;
}

inline uint64_t HashOf(const std::string& key) { return HashKey(key.data(), key.size()); }

enum class KeyFamily {
  kBigEndian,     // eight bytes, counting
  kLittleEndian,  // the same, low byte first
  kZeroPadded,    // "user0000000000000042"
  kUrl,           // 60 common bytes, then a counter
  kOneBitApart,   // 64 bytes, all but a few bits zero
  kLongPrefix,    // 1,000 common bytes, then four of a counter
  kAddress,       // a repeated 20-byte address and a 2-byte suffix
};

inline constexpr KeyFamily kKeyFamilies[] = {
    KeyFamily::kBigEndian,   KeyFamily::kLittleEndian, KeyFamily::kZeroPadded, KeyFamily::kUrl,
    KeyFamily::kOneBitApart, KeyFamily::kLongPrefix,   KeyFamily::kAddress};

// Distinct keys for distinct i below 2^32.
inline std::string FamilyKey(KeyFamily family, uint64_t i) {
  const auto bytes = [](uint64_t value, int count, bool big) {
    std::string text(static_cast<size_t>(count), '\0');
    for (int b = 0; b < count; ++b) {
      text[static_cast<size_t>(big ? count - 1 - b : b)] = static_cast<char>(value >> (8 * b));
    }
    return text;
  };
  switch (family) {
    case KeyFamily::kBigEndian:
      return bytes(i, 8, true);
    case KeyFamily::kLittleEndian:
      return bytes(i, 8, false);
    case KeyFamily::kZeroPadded: {
      const std::string digits = std::to_string(i);
      return "user" + std::string(16 - digits.size(), '0') + digits;
    }
    case KeyFamily::kUrl:
      return "https://www.example.org/a/fairly/long/path/to/some/document/" + std::to_string(i);
    case KeyFamily::kOneBitApart: {
      // i in mixed base: one bit in each of the three thirds of the key, the last digit being free
      // to go beyond one bit once i runs out of those.
      std::string key(64, '\0');
      const uint64_t first = i % 168, second = i / 168 % 168, third = i / 168 / 168;
      key[first / 8] = static_cast<char>(1 << (first % 8));
      key[21 + second / 8] = static_cast<char>(1 << (second % 8));
      for (size_t b = 0; b < 8; ++b) key[42 + b] = static_cast<char>(third >> (8 * b));
      return key;
    }
    case KeyFamily::kLongPrefix:
      return std::string(1000, 'p') + bytes(i, 4, true);
    case KeyFamily::kAddress:
      return std::string(12, '\0') + bytes(i >> 16, 8, true) + bytes(i, 2, true);
  }
  return std::string();
}

}  // namespace tieredfilter
