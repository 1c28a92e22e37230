#include "src/filter/fingerprint_lookup.h"

#include <algorithm>

#include "src/filter/fingerprint_line.h"
#include "src/filter/key_hash.h"

#if TIEREDFILTER_X86_KERNELS
#include <immintrin.h>
#endif

namespace tieredfilter {

namespace {

constexpr uint64_t kEachByte = 0x0101010101010101ULL;

// Per byte, the number of ones of the bytes up to it.
TIEREDFILTER_INLINE uint64_t ByteSums(uint64_t word) {
  word -= (word >> 1) & 0x5555555555555555ULL;
  word = (word & 0x3333333333333333ULL) + ((word >> 2) & 0x3333333333333333ULL);
  return ((word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fULL) * kEachByte;
}

// Broadword select: compares all bytes at once, first to find the byte, then, with that byte's
// prefix counts spread over eight bytes, to find the bit. No table and no branch.
struct PortableBits {
  static TIEREDFILTER_INLINE uint32_t Count(uint64_t word) {
    return static_cast<uint32_t>(ByteSums(word) >> 56);
  }
  static TIEREDFILTER_INLINE uint32_t Select(uint64_t word, uint32_t i) {
    i &= 63;
    const uint32_t byte = CountUpTo(ByteSums(word), i);
    if (__builtin_expect(byte == 8, 0)) return 64;
    const uint64_t sums_before = ByteSums(word) << 8;
    const uint32_t left = i - (static_cast<uint32_t>(sums_before >> (8 * byte)) & 0xff);
    // Bit k of the byte into byte k, as 0 or 1.
    const uint64_t bits = (((word >> (8 * byte)) & 0xff) * kEachByte) & 0x8040201008040201ULL;
    const uint64_t spread = ((bits + 0x7f7f7f7f7f7f7f7fULL) >> 7) & kEachByte;
    return 8 * byte + CountUpTo(spread * kEachByte, left);
  }

 private:
  // How many of eight bytes (each at most 64) are at most `limit` (at most 63).
  static TIEREDFILTER_INLINE uint32_t CountUpTo(uint64_t bytes, uint32_t limit) {
    const uint64_t at_most = ((limit * kEachByte) | (kEachByte << 7)) - bytes;
    return static_cast<uint32_t>((((at_most >> 7) & kEachByte) * kEachByte) >> 56);
  }
};

namespace portable {
using Bits = PortableBits;
#include "src/filter/fingerprint_lookup_body.h"
}  // namespace portable

#if TIEREDFILTER_X86_KERNELS
TIEREDFILTER_PUSH_TARGET(TIEREDFILTER_SSE4_TARGETS)
namespace sse4 {
struct Bits : PortableBits {
  static TIEREDFILTER_INLINE uint32_t Count(uint64_t word) {
    return static_cast<uint32_t>(_mm_popcnt_u64(word));
  }
};
#include "src/filter/fingerprint_lookup_body.h"
}  // namespace sse4
TIEREDFILTER_POP_TARGET

TIEREDFILTER_PUSH_TARGET(TIEREDFILTER_AVX2_TARGETS)
namespace avx2 {
struct Bits {
  static TIEREDFILTER_INLINE uint32_t Count(uint64_t word) {
    return static_cast<uint32_t>(_mm_popcnt_u64(word));
  }
  static TIEREDFILTER_INLINE uint32_t Select(uint64_t word, uint32_t i) {
    return static_cast<uint32_t>(_tzcnt_u64(_pdep_u64(uint64_t{1} << (i & 63), word)));
  }
};
#include "src/filter/fingerprint_lookup_body.h"
}  // namespace avx2
TIEREDFILTER_POP_TARGET
#endif

}  // namespace

const LookupKernel& FingerprintLookupFor(CpuKernel kernel, uint32_t remainder_bits) {
  const uint32_t words = HeaderWords(remainder_bits);
#if TIEREDFILTER_X86_KERNELS
  switch (kernel) {
    case CpuKernel::kSse4:
      return sse4::kLookups[words];
    case CpuKernel::kAvx2:
    case CpuKernel::kAvx512:
      return avx2::kLookups[words];
    case CpuKernel::kPortable:
      break;
  }
#endif
  (void)kernel;
  return portable::kLookups[words];
}

}  // namespace tieredfilter
