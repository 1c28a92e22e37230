// The 128-bit product of two 64-bit numbers, which everything that is derived from a key hash comes
// from.
//
// A lookup takes three of them, and g++ keeps an __int128 in a pair of neighbouring registers: it
// runs out of pairs and pushes registers to the stack, a seventh more instructions for the whole
// lookup. Where filters exceed the cache that can cost a third of the time, since the misses of the
// next lookups overlap with this one's only as far as the processor's window of instructions
// reaches. So g++ gets the instruction itself; clang does well by itself.
#pragma once

#include <cstdint>

#include "src/filter/cpu_kernel.h"

namespace tieredfilter {

struct WideProduct {
  uint64_t low, high;
};

#if TIEREDFILTER_X86_KERNELS && !defined(__clang__)

struct BaselineMultiplier {
  static TIEREDFILTER_INLINE WideProduct Multiply(uint64_t a, uint64_t b) {
    WideProduct product;
    asm("mulq %3" : "=a"(product.low), "=d"(product.high) : "a"(a), "rm"(b) : "cc");
    return product;
  }
};

// For CPUs with BMI2: results go to any registers, which saves moving them there.
struct Bmi2Multiplier {
  static TIEREDFILTER_INLINE WideProduct Multiply(uint64_t a, uint64_t b) {
    WideProduct product;
    asm("mulx %3, %0, %1" : "=r"(product.low), "=r"(product.high) : "d"(a), "rm"(b));
    return product;
  }
};

#else

struct BaselineMultiplier {
  static TIEREDFILTER_INLINE WideProduct Multiply(uint64_t a, uint64_t b) {
    const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
    return {static_cast<uint64_t>(product), static_cast<uint64_t>(product >> 64)};
  }
};
using Bmi2Multiplier = BaselineMultiplier;

#endif

template <class Multiplier = BaselineMultiplier>
TIEREDFILTER_INLINE uint64_t MulHigh(uint64_t a, uint64_t b) {
  return Multiplier::Multiply(a, b).high;
}

}  // namespace tieredfilter
