// Sorting key hashes in place.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tieredfilter {

// Sorts `hashes[0, n)` ascending and drops equal ones; returns how many are left. In place but for
// 80 KiB at most, since a second array of hashes would double the memory a build needs.
// About 5 to 15 ns per hash when they are spread evenly, as hashes are; still n log n when they are
// not.
size_t SortUnique(uint64_t* hashes, size_t n);

}  // namespace tieredfilter
