// Builds short filters, see short_layout.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/filter/equations_builder.h"

namespace tieredfilter {

// Fills `out` (ShortGeometryFor(n, bits_per_key).data_bytes bytes) so that every one of the n
// hashes matches, 1 <= n <= kMaxShortKeys. `hashes` and the result are as for BuildEquations. Some
// 5 us per line and attempt.
BuiltLines BuildShort(uint64_t* hashes, size_t n, double bits_per_key, char* out);

}  // namespace tieredfilter
