#include "tools/cold_lookup_bench/key_mutation.h"

#include "tools/cold_lookup_bench/key_space.h"

namespace tieredfilter::cold_lookup {

namespace {

struct CharacterClass {
  char first;
  int size;
};

constexpr CharacterClass kClasses[] = {{'0', 10}, {'a', 26}, {'A', 26}};

// Another character of the class: every one but `c` with the same probability.
char Another(char c, const CharacterClass& of, uint64_t random) {
  const int step = 1 + static_cast<int>(ScaleTo(random, static_cast<uint64_t>(of.size - 1)));
  return static_cast<char>(of.first + (c - of.first + step) % of.size);
}

}  // namespace

void MutateKey(uint64_t random, std::string* key) {
  const uint64_t start = ScaleTo(random, key->size());
  const uint64_t choice = Mix64(random);
  for (size_t i = 0; i < key->size(); ++i) {
    char& c = (*key)[(start + i) % key->size()];
    for (const CharacterClass& of : kClasses) {
      if (c >= of.first && c < of.first + of.size) {
        c = Another(c, of, choice);
        return;
      }
    }
  }
  (*key)[start] = static_cast<char>((*key)[start] + 1 + static_cast<int>(ScaleTo(choice, 255)));
}

}  // namespace tieredfilter::cold_lookup
