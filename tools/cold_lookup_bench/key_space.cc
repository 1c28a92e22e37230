#include "tools/cold_lookup_bench/key_space.h"

#include <cmath>

namespace tieredfilter::cold_lookup {

uint64_t Mix64(uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

uint64_t ScaleTo(uint64_t number, uint64_t range) {
  return static_cast<uint64_t>((static_cast<unsigned __int128>(number) * range) >> 64);
}

KeySpace::KeySpace(const TreePlan& plan, uint64_t seed, SizeRange value_size)
    : LookupKeys(seed), plan_(plan), value_size_(value_size), total_entries_(plan.TotalEntries()) {}

uint64_t LookupKeys::Random(Stream stream, uint64_t a, uint64_t b) const {
  return Mix64(Mix64(Mix64(seed_ + stream) ^ a) ^ b);
}

void KeySpace::ValueOf(EntryPlace place, std::string* value) const {
  const uint64_t start = Random(kValue, place.run, place.index);
  value->resize(value_size_.Pick(start));
  for (size_t at = 0; at < value->size(); at += 8) {
    const uint64_t word = Mix64(start + at);
    for (size_t byte = 0; byte < 8 && at + byte < value->size(); ++byte) {
      (*value)[at + byte] = static_cast<char>(word >> (8 * byte));
    }
  }
}

bool LookupKeys::IsAbsentLookup(uint64_t number, double percent) const {
  const double uniform = std::ldexp(static_cast<double>(Random(kMix, 0, number) >> 11), -53);
  return uniform * 100 < percent;
}

EntryPlace KeySpace::PlaceOf(uint64_t number) const {
  EntryPlace place{0, number};
  while (place.index >= plan_.runs[place.run].entries) {
    place.index -= plan_.runs[place.run++].entries;
  }
  return place;
}

void KeySpace::PresentKey(uint64_t number, std::string* key) const {
  EntryPlace place = PlaceOf(number);
  while (KindOf(NewestOf(place)) == EntryKind::kDelete) {
    number = (number + 1) % total_entries_;
    place = PlaceOf(number);
  }
  EntryKey(place, key);
}

}  // namespace tieredfilter::cold_lookup
