// Sorting key hashes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tieredfilter {

// Sorts `hashes[0, n)` ascending and drops equal ones; returns how many are left. About 8 to 12 ns
// per hash when they are spread evenly, as hashes are; still n log n when they are not.
size_t SortUnique(uint64_t* hashes, size_t n);

// What that takes besides, given back when it returns. Up to 131,072 hashes a copy, which is
// faster; beyond in place but for some 80 KiB, since a second array would double the memory a build
// needs.
size_t SortScratchBytes(size_t n);

}  // namespace tieredfilter
