// Builds the lines of a cuckoo filter with the equations coding.
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/filter/cpu_kernel.h"
#include "src/filter/cuckoo_geometry.h"

namespace tieredfilter {

// What a build came to; goes into the block's metadata.
struct BuiltLines {
  bool ok = false;
  uint8_t planes = 0;  // of the lower kind
  uint8_t salt = 0;
  uint32_t lines = 0;
  uint32_t more = 0;  // of them, those that have one plane more
  uint32_t attempts = 0;
  size_t keys_given = 0;  // keys living in their secondary line
};

// Fills `out` (geometry.lines x 64 bytes) so that every one of the n hashes matches. `hashes` are
// ascending and distinct, with salt 0; on return they are salted with BuiltLines::salt, and
// ascending.
//
// Same hashes, same geometry: same bytes, on every machine and kernel. Where a plan does not work
// out it is tried with fewer planes, then with another salt, a bounded number of times; ok is false
// only if all of that failed, which for distinct hashes takes astronomically bad luck. Memory: see
// Placement and LineGroup. May throw std::bad_alloc.
BuiltLines BuildEquations(uint64_t* hashes, size_t n, double bits_per_key,
                          const CuckooGeometry& geometry, CpuKernel kernel, char* out);

}  // namespace tieredfilter
