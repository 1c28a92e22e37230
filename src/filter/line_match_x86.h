// SSE4.2, AVX2 and AVX-512 twins of the portable lookup in line_match.h: same answers, fewer
// instructions.
#pragma once

#include "src/filter/line_match.h"

#if TIEREDFILTER_X86_KERNELS

#include <immintrin.h>

namespace tieredfilter {

TIEREDFILTER_PUSH_TARGET(TIEREDFILTER_SSE4_TARGETS)
// Same code as portable; what counts is that POPCNT makes Parity() one instruction where the
// function that this is inlined into has the target attribute.
struct Sse4Kernel : PortableKernel {
  static TIEREDFILTER_INLINE uint32_t Tag(const char* line) {
    uint32_t tag = 0;
    for (uint32_t j = 0; j < kLineWords; j += 2) {
      tag |= static_cast<uint32_t>(
                 _mm_movemask_pd(_mm_loadu_pd(reinterpret_cast<const double*>(line + 8 * j))))
             << j;
    }
    return tag;
  }
};
TIEREDFILTER_POP_TARGET

// Where lane j of a wide line (plane j) finds its tail columns: they start in one of the four upper
// words and may go on in the next. Word numbers are pairs of 32-bit lane numbers, as vpermd wants
// them.
struct WideLanes {
  alignas(32) uint32_t first_word[2][8];
  alignas(32) uint32_t next_word[2][8];
  alignas(32) uint64_t first_shift[8];
  alignas(32) uint64_t
      next_shift[8];  // >= 64 where the tail does not cross: the shift then gives 0
  uint64_t tail_mask;
  uint32_t plane_mask;
};

constexpr WideLanes MakeWideLanes(uint32_t planes) {
  WideLanes lanes{};
  const uint32_t tail = TailColumns(planes);
  for (uint32_t j = 0; j < 8; ++j) {
    const uint32_t at = j < planes ? j * tail : 0;
    const uint32_t word = planes + at / kWordColumns;
    const uint32_t skip = at % kWordColumns;
    const bool crosses = skip + tail > kWordColumns;
    const uint32_t first = word < 8 ? word - 4 : 3;
    const uint32_t next = crosses && first < 3 ? first + 1 : first;
    for (uint32_t half = 0; half < 2; ++half) {
      lanes.first_word[j / 4][2 * (j % 4) + half] = 2 * first + half;
      lanes.next_word[j / 4][2 * (j % 4) + half] = 2 * next + half;
    }
    lanes.first_shift[j] = skip;
    lanes.next_shift[j] = crosses ? kWordColumns - skip : 64;
  }
  lanes.tail_mask = LowBits(tail);
  lanes.plane_mask = (1u << planes) - 1;
  return lanes;
}

// Indexed by planes - kMinPlanes.
inline constexpr WideLanes kWideLanes[] = {MakeWideLanes(4), MakeWideLanes(5), MakeWideLanes(6),
                                           MakeWideLanes(7), MakeWideLanes(8)};

TIEREDFILTER_PUSH_TARGET(TIEREDFILTER_AVX2_TARGETS)
struct Avx2Kernel {
  static TIEREDFILTER_INLINE uint32_t Tag(const char* line) {
    const __m256d low = _mm256_loadu_pd(reinterpret_cast<const double*>(line));
    const __m256d high = _mm256_loadu_pd(reinterpret_cast<const double*>(line + 32));
    return static_cast<uint32_t>(_mm256_movemask_pd(low) | (_mm256_movemask_pd(high) << 4));
  }

  static TIEREDFILTER_INLINE __m256i Load(const void* p) {
    return _mm256_loadu_si256(static_cast<const __m256i*>(p));
  }

  // Parities of eight 64-bit lanes as eight bits. shuffle_ps pairs lanes as 0 1 4 5 2 3 6 7; kFold
  // undoes that at the end by asking for the fingerprint in the same order.
  static TIEREDFILTER_INLINE uint32_t Parities(__m256i low, __m256i high) {
    const __m256 a = _mm256_castsi256_ps(low);
    const __m256 b = _mm256_castsi256_ps(high);
    __m256i x = _mm256_xor_si256(_mm256_castps_si256(_mm256_shuffle_ps(a, b, 0x88)),
                                 _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0xdd)));
    x = _mm256_xor_si256(x, _mm256_srli_epi32(x, 16));
    x = _mm256_xor_si256(x, _mm256_srli_epi32(x, 8));
    // The parity of a nibble by table, straight into bit 7 of byte 0, which a shift by 24 makes the
    // sign.
    x = _mm256_xor_si256(x, _mm256_srli_epi32(x, 4));
    const __m256i odd =
        _mm256_setr_epi8(0, -128, -128, 0, -128, 0, 0, -128, -128, 0, 0, -128, 0, -128, -128, 0, 0,
                         -128, -128, 0, -128, 0, 0, -128, -128, 0, 0, -128, 0, -128, -128, 0);
    x = _mm256_shuffle_epi8(odd, _mm256_and_si256(x, _mm256_set1_epi32(0x0f)));
    return static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_slli_epi32(x, 24))));
  }
  // Bits 0..7 of a fingerprint in the lane order of Parities(): bits 2,3 and 4,5 change places.
  static TIEREDFILTER_INLINE uint32_t LaneOrder(uint32_t bits) {
    return (bits & 0xc3) | ((bits & 0x0c) << 2) | ((bits & 0x30) >> 2);
  }

  static TIEREDFILTER_INLINE bool Narrow(const char* line, uint32_t tag, uint32_t planes,
                                         const KeyEquation& key) {
    const __m256i coefficients = _mm256_set1_epi64x(static_cast<long long>(key.coefficients));
    const __m256i low = Load(line);
    const __m256i high = Load(line + 32);
    const uint32_t parities =
        Parities(_mm256_and_si256(low, coefficients), _mm256_and_si256(high, coefficients));
    const uint32_t fingerprint = NarrowFingerprint(key.high);
    if (parities != LaneOrder(fingerprint & 0xff)) return false;
    planes += tag >> 7;
    return planes == kNarrowPlanes || ExtraPlanesMatch(line, planes, key.coefficients, fingerprint);
  }

  static TIEREDFILTER_INLINE __m256i Tails(__m256i words, const WideLanes& lanes, int half,
                                           __m256i coefficients) {
    const __m256i first = _mm256_permutevar8x32_epi32(words, Load(lanes.first_word[half]));
    const __m256i next = _mm256_permutevar8x32_epi32(words, Load(lanes.next_word[half]));
    const __m256i bits =
        _mm256_or_si256(_mm256_srlv_epi64(first, Load(lanes.first_shift + 4 * half)),
                        _mm256_sllv_epi64(next, Load(lanes.next_shift + 4 * half)));
    return _mm256_and_si256(bits, coefficients);
  }

  static TIEREDFILTER_INLINE bool Wide(const char* line, uint32_t tag, uint32_t planes,
                                       const KeyEquation& key) {
    const WideLanes& lanes = kWideLanes[planes + (tag >> 7) - kMinPlanes];
    const __m256i coefficients = _mm256_set1_epi64x(static_cast<long long>(key.coefficients));
    const __m256i low = Load(line);
    const __m256i high = Load(line + 32);
    const __m256i untagged =
        _mm256_and_si256(high, _mm256_set1_epi64x(static_cast<long long>(kWordMask)));
    const __m256i tail = _mm256_set1_epi64x(static_cast<long long>(key.high & lanes.tail_mask));
    const __m256i sum_low =
        _mm256_xor_si256(_mm256_and_si256(low, coefficients), Tails(untagged, lanes, 0, tail));
    const __m256i sum_high =
        _mm256_xor_si256(_mm256_and_si256(high, coefficients), Tails(untagged, lanes, 1, tail));
    const uint32_t wrong = LaneOrder(Parities(sum_low, sum_high)) ^ WideFingerprint(key.high);
    return (wrong & lanes.plane_mask) == 0;
  }
};

TIEREDFILTER_POP_TARGET

TIEREDFILTER_PUSH_TARGET(TIEREDFILTER_AVX512_TARGETS)
struct Avx512Kernel {
  // The zero-masking forms with a full mask: the plain ones make g++ 12 warn of its own undefined
  // source operand.
  static constexpr __mmask8 kAll = 0xff;
  static constexpr __mmask16 kAll32 = 0xffff;

  static TIEREDFILTER_INLINE uint32_t Tag(const char* line) {
    return _mm512_movepi64_mask(_mm512_loadu_si512(line));
  }
  static TIEREDFILTER_INLINE uint32_t Parities(__m512i x) {
    return _mm512_test_epi64_mask(_mm512_popcnt_epi64(x), _mm512_set1_epi64(1));
  }

  static TIEREDFILTER_INLINE bool Narrow(const char* line, uint32_t tag, uint32_t planes,
                                         const KeyEquation& key) {
    const __m512i words = _mm512_loadu_si512(line);
    const __m512i coefficients = _mm512_set1_epi64(static_cast<long long>(key.coefficients));
    const uint32_t fingerprint = NarrowFingerprint(key.high);
    if (Parities(_mm512_and_si512(words, coefficients)) != (fingerprint & 0xff)) return false;
    planes += tag >> 7;
    return planes == kNarrowPlanes || ExtraPlanesMatch(line, planes, key.coefficients, fingerprint);
  }

  static TIEREDFILTER_INLINE bool Wide(const char* line, uint32_t tag, uint32_t planes,
                                       const KeyEquation& key) {
    const WideLanes& lanes = kWideLanes[planes + (tag >> 7) - kMinPlanes];
    const __m512i coefficients = _mm512_set1_epi64(static_cast<long long>(key.coefficients));
    const __m512i words = _mm512_loadu_si512(line);
    const __m512i untagged =
        _mm512_and_si512(words, _mm512_set1_epi64(static_cast<long long>(kWordMask)));
    const __m512i upper =
        _mm512_maskz_shuffle_i64x2(kAll, untagged, untagged, 0xee);  // words 4..7 twice
    const __m512i first =
        _mm512_maskz_permutexvar_epi32(kAll32, _mm512_loadu_si512(lanes.first_word), upper);
    const __m512i next =
        _mm512_maskz_permutexvar_epi32(kAll32, _mm512_loadu_si512(lanes.next_word), upper);
    const __m512i bits =
        _mm512_or_si512(_mm512_maskz_srlv_epi64(kAll, first, _mm512_loadu_si512(lanes.first_shift)),
                        _mm512_maskz_sllv_epi64(kAll, next, _mm512_loadu_si512(lanes.next_shift)));
    const __m512i tail = _mm512_set1_epi64(static_cast<long long>(key.high & lanes.tail_mask));
    const __m512i sum =
        _mm512_xor_si512(_mm512_and_si512(words, coefficients), _mm512_and_si512(bits, tail));
    return ((Parities(sum) ^ WideFingerprint(key.high)) & lanes.plane_mask) == 0;
  }
};
TIEREDFILTER_POP_TARGET

}  // namespace tieredfilter

#endif  // TIEREDFILTER_X86_KERNELS
