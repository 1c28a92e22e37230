// Sorting key hashes in place, also after another salt.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tieredfilter {

// Sorts `hashes[0, n)` ascending and drops equal ones; returns how many are left. In place but for
// 80 KiB at most, since a second array of hashes would double the memory a build needs.
// About 5 to 15 ns per hash when they are spread evenly, as hashes are; still n log n when they are
// not.
size_t SortUnique(uint64_t* hashes, size_t n);

// Takes one salt out of ascending distinct hashes and puts another in; they are ascending again
// afterwards, and still distinct, since salting is one to one. Costs nothing if the salt stays.
void ChangeSalt(uint64_t* hashes, size_t n, uint8_t* salt, uint8_t new_salt);

}  // namespace tieredfilter
