// The one hash of a key that everything in src/filter works on.
#pragma once

#include <cstddef>
#include <cstdint>

// Inlined: the call would cost as much as the probe itself for the short keys of an LSM tree, and
// an inlined hash cannot be replaced by another xxHash at link or load time.
#ifndef XXH_INLINE_ALL
#define XXH_INLINE_ALL
#endif
#include <xxhash.h>

#if XXH_VERSION_NUMBER < 800
#error "tieredfilter needs xxHash 0.8.0 or newer: XXH3's output is frozen only from there on"
#endif

namespace tieredfilter {

// XXH3 64-bit, seed 0, of the key's bytes. Part of the block format: key_hash_test freezes it with
// golden values for every length class, since a changed hash would turn every stored filter into
// false negatives.
//
// Bytes up to which that takes few instructions, and up to which it takes no call.
inline constexpr size_t kShortKey = 32;
inline constexpr size_t kMediumKey = 128;
inline uint64_t HashKey(const char* data, size_t size) { return XXH3_64bits(data, size); }

}  // namespace tieredfilter
