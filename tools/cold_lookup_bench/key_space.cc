#include "tools/cold_lookup_bench/key_space.h"

#include <algorithm>
#include <cmath>

namespace tieredfilter::cold_lookup {

namespace {

constexpr int kPositionBits = 56;
constexpr uint64_t kPositions = uint64_t{1} << kPositionBits;

// Maps a uniform 64-bit number to [0, range) without the bias and the cost of a modulo.
uint64_t Scale(uint64_t number, uint64_t range) {
  return static_cast<uint64_t>((static_cast<unsigned __int128>(number) * range) >> 64);
}

// Separate streams of one seed, so that no lookup key follows from a stored key.
enum Stream : uint64_t { kPosition = 1, kAbsent = 2, kValue = 3, kMix = 5 };

uint64_t Random(uint64_t seed, Stream stream, uint64_t a, uint64_t b) {
  return Mix64(Mix64(Mix64(seed + stream) ^ a) ^ b);
}

}  // namespace

uint64_t Mix64(uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

KeySpace::KeySpace(const TreePlan& plan, uint64_t seed, size_t key_size, size_t value_size)
    : plan_(plan),
      seed_(seed),
      key_size_(key_size),
      value_size_(value_size),
      total_entries_(plan.TotalEntries()) {
  end_absent_ = kPositions;
  for (size_t run = 0; run < plan_.runs.size(); ++run) {
    first_absent_ = std::max(first_absent_, PositionOf(run, 0) + 1);
    end_absent_ = std::min(end_absent_, PositionOf(run, plan_.runs[run].entries - 1));
  }
}

uint64_t KeySpace::PositionOf(size_t run, uint64_t index) const {
  const uint64_t stretch = kPositions / plan_.runs[run].entries;
  return index * stretch + Scale(Random(seed_, kPosition, run, index), stretch);
}

void KeySpace::Encode(uint64_t position, uint64_t tag, std::string* key) const {
  const uint64_t number = (position << (64 - kPositionBits)) | tag;
  // The bytes after the first eight are '0', as db_bench pads its keys.
  key->assign(key_size_, '0');
  for (int byte = 0; byte < 8; ++byte) {
    (*key)[byte] = static_cast<char>(number >> (56 - 8 * byte));
  }
}

void KeySpace::PresentKey(size_t run, uint64_t index, std::string* key) const {
  Encode(PositionOf(run, index), run + 1, key);
}

void KeySpace::AbsentKey(uint64_t number, std::string* key) const {
  const uint64_t range = end_absent_ - first_absent_;
  Encode(first_absent_ + Scale(Random(seed_, kAbsent, 0, number), range), 0, key);
}

bool KeySpace::IsAbsentLookup(uint64_t number, double percent) const {
  const double uniform = std::ldexp(static_cast<double>(Random(seed_, kMix, 0, number) >> 11), -53);
  return uniform * 100 < percent;
}

void KeySpace::ValueOf(size_t run, uint64_t index, std::string* value) const {
  value->resize(value_size_);
  for (size_t at = 0; at < value_size_; at += 8) {
    const uint64_t word = Random(seed_, kValue, (uint64_t{run} << 56) ^ index, at);
    for (size_t byte = 0; byte < 8 && at + byte < value_size_; ++byte) {
      (*value)[at + byte] = static_cast<char>(word >> (8 * byte));
    }
  }
}

void KeySpace::PresentKey(uint64_t number, std::string* key) const {
  size_t run = 0;
  while (number >= plan_.runs[run].entries) {
    number -= plan_.runs[run++].entries;
  }
  PresentKey(run, number, key);
}

}  // namespace tieredfilter::cold_lookup
