// SSE4.2, AVX2 and AVX-512 twins of the portable line tests in line_match.h: same answers, fewer
// instructions.
#pragma once

#include "src/filter/line_match.h"
#include "src/filter/line_match_tables.h"

#if TIEREDFILTER_X86_KERNELS

#include <immintrin.h>

namespace tieredfilter {

TIEREDFILTER_PUSH_TARGET(TIEREDFILTER_SSE4_TARGETS)
// Portable code, in which POPCNT makes Parity() two instructions; only the tag wants SSE.
struct Sse4Kernel : PortableKernel {
  static TIEREDFILTER_INLINE uint32_t Tag(const char* line) {
    uint32_t tag = 0;
    for (uint32_t j = 0; j < kLineWords; j += 2) {
      const __m128d words = _mm_loadu_pd(reinterpret_cast<const double*>(line + 8 * j));
      tag |= static_cast<uint32_t>(_mm_movemask_pd(words)) << kBitOfWord[j];
    }
    return tag;
  }
};
TIEREDFILTER_POP_TARGET

TIEREDFILTER_PUSH_TARGET(TIEREDFILTER_AVX2_TARGETS)
struct Avx2Kernel {
  using Multiplier = Bmi2Multiplier;

  static TIEREDFILTER_INLINE __m256i Load(const void* p) {
    return _mm256_loadu_si256(static_cast<const __m256i*>(p));
  }
  static TIEREDFILTER_INLINE __m256i Fill(uint64_t x) {
    return _mm256_set1_epi64x(static_cast<long long>(x));
  }

  static TIEREDFILTER_INLINE uint32_t Tag(const char* line) {
    return static_cast<uint32_t>(_mm256_movemask_ps(_mm256_shuffle_ps(
        _mm256_castsi256_ps(Load(line)), _mm256_castsi256_ps(Load(line + 32)), 0xdd)));
  }

  // Parities of eight 64-bit lanes as eight bits, lane j at kBitOfWord[j].
  static TIEREDFILTER_INLINE uint32_t Parities(__m256i low, __m256i high) {
    const __m256 a = _mm256_castsi256_ps(low);
    const __m256 b = _mm256_castsi256_ps(high);
    __m256i x = _mm256_xor_si256(_mm256_castps_si256(_mm256_shuffle_ps(a, b, 0x88)),
                                 _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0xdd)));
    // Upwards, so that each lane's parity ends as its sign.
    x = _mm256_xor_si256(x, _mm256_slli_epi32(x, 16));
    x = _mm256_xor_si256(x, _mm256_slli_epi32(x, 8));
    x = _mm256_xor_si256(x, _mm256_slli_epi32(x, 4));
    x = _mm256_xor_si256(x, _mm256_slli_epi32(x, 2));
    x = _mm256_xor_si256(x, _mm256_slli_epi32(x, 1));
    return static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(x)));
  }

  static TIEREDFILTER_INLINE bool FirstEight(const char* line, const KeyEquation& key) {
    const __m256i coefficients = Fill(key.coefficients);
    const uint32_t parities = Parities(_mm256_and_si256(Load(line), coefficients),
                                       _mm256_and_si256(Load(line + 32), coefficients));
    return static_cast<uint8_t>(parities) == static_cast<uint8_t>(NarrowFingerprint(key.high));
  }

  // Bits 56..62 of word i meet the key's columns 7 i and up, which each lane's shift brings there.
  static TIEREDFILTER_INLINE uint32_t NinthParity(const char* line, uint64_t coefficients) {
    constexpr int kBits = kExtraPieceBits9;
    const __m256i own = Fill(coefficients);
    const __m256i to_low = _mm256_setr_epi64x(56, 56 - kBits, 56 - 2 * kBits, 56 - 3 * kBits);
    const __m256i to_high =
        _mm256_setr_epi64x(56 - 4 * kBits, 56 - 5 * kBits, 56 - 6 * kBits, 56 - 7 * kBits);
    const __m256i sum =
        _mm256_xor_si256(_mm256_and_si256(Load(line), _mm256_sllv_epi64(own, to_low)),
                         _mm256_and_si256(Load(line + 32), _mm256_sllv_epi64(own, to_high)));
    const __m128i half =
        _mm_xor_si128(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
    const uint64_t all = static_cast<uint64_t>(
        _mm_cvtsi128_si64(_mm_xor_si128(half, _mm_unpackhi_epi64(half, half))));
    return Parity((all >> 56) & LowBits(kBits));
  }

  // Planes 8 and up of a filter whose lines have `kLower` or one more. No branch depends on the
  // line: a plane that it does not have has neither mask nor fingerprint.
  template <uint32_t kLower>
  static TIEREDFILTER_INLINE bool ExtraPlanes(const char* line, uint32_t tag,
                                              const KeyEquation& key) {
    if (kLower == 9) return ExtraPlanes9(line, tag, key);
    const ExtraLanes& extra = kExtraLanes[kLower + (tag & kTagMorePlanes) - kNarrowPlanes - 2];
    const __m256i own = Fill(key.coefficients & extra.column_mask);
    const __m256i low = _mm256_and_si256(Load(line), Rotated(own, extra, 0));
    const __m256i high = _mm256_and_si256(Load(line + 32), Rotated(own, extra, 4));
    const auto plane = [&](uint32_t k) {
      return _mm256_xor_si256(_mm256_and_si256(low, Load(extra.of_plane[k])),
                              _mm256_and_si256(high, Load(extra.of_plane[k] + 4)));
    };
    const uint32_t fingerprint =
        (NarrowFingerprint(key.high) & extra.fingerprint_mask) >> kNarrowPlanes;
    uint32_t wrong = 0;
    for (uint32_t k = 0; k + kNarrowPlanes <= kLower; k += 2) {
      // Two planes at a time. Where their number is odd, the last is taken with itself.
      const uint32_t other = k + 1 + kNarrowPlanes <= kLower ? k + 1 : k;
      const __m128i sums = SumsOf(plane(k), plane(other));
      // Bit 0 of a population count is the parity; only bit 0 counts in the end.
      wrong |=
          static_cast<uint32_t>(_mm_popcnt_u64(static_cast<uint64_t>(_mm_cvtsi128_si64(sums)))) ^
          (fingerprint >> k);
      wrong |=
          static_cast<uint32_t>(_mm_popcnt_u64(static_cast<uint64_t>(_mm_extract_epi64(sums, 1)))) ^
          (fingerprint >> other);
    }
    return (wrong & 1) == 0;
  }

  static TIEREDFILTER_INLINE bool ExtraPlanes9(const char* line, uint32_t tag,
                                               const KeyEquation& key) {
    const Extra9& extra = kExtra9[tag & kTagMorePlanes];
    const __m256i own = Fill(key.coefficients & extra.column_mask);
    const __m256i low = _mm256_and_si256(Load(line), _mm256_sllv_epi64(own, Load(extra.left)));
    const __m256i high =
        _mm256_and_si256(Load(line + 32), _mm256_sllv_epi64(own, Load(extra.left + 4)));
    const __m128i sums = SumsOf(low, high);
    const auto low_sum = static_cast<uint64_t>(_mm_cvtsi128_si64(sums));
    const auto high_sum = static_cast<uint64_t>(_mm_extract_epi64(sums, 1));
    return Extra9Matches(static_cast<uint32_t>(_mm_popcnt_u64(low_sum & extra.piece_mask)),
                         static_cast<uint32_t>(_mm_popcnt_u64(high_sum & extra.piece_mask)), tag,
                         key);
  }

  // The exclusive or of a's words, and that of b's.
  static TIEREDFILTER_INLINE __m128i SumsOf(__m256i a, __m256i b) {
    const __m256i pair = _mm256_xor_si256(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
    return _mm_xor_si128(_mm256_castsi256_si128(pair), _mm256_extracti128_si256(pair, 1));
  }

  static TIEREDFILTER_INLINE __m256i Rotated(__m256i x, const ExtraLanes& extra, uint32_t word) {
    return _mm256_or_si256(_mm256_sllv_epi64(x, Load(extra.left + word)),
                           _mm256_sllv_epi64(x, Load(extra.wrapped + word)));
  }

  static TIEREDFILTER_INLINE bool Wide7(const char* line, uint32_t tag, uint32_t,
                                        const KeyEquation& key) {
    // A line of eight planes has no tail: no branch on the kind.
    const __m256i coefficients = Fill(key.coefficients),
                  tail = Fill(PortableKernel::Tail7(tag, key));
    const uint32_t bits = (tag << 7) | WordBits(7);  // word 7's bit is bit 7
    const __m256i tails = Fill(LoadWord(line + 56));
    const __m256i low = _mm256_xor_si256(
        _mm256_and_si256(Load(line), coefficients),
        _mm256_and_si256(_mm256_srlv_epi64(tails, _mm256_setr_epi64x(0, 9, 18, 27)), tail));
    const __m256i high = _mm256_xor_si256(
        _mm256_and_si256(Load(line + 32), coefficients),
        _mm256_and_si256(_mm256_srlv_epi64(tails, _mm256_setr_epi64x(36, 45, 54, 64)), tail));
    return ((Parities(low, high) ^ WideFingerprint(key.high)) & bits) == 0;
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
    const WideLanes& lanes = kWideLanes[planes + (tag & kTagMorePlanes) - kWidePlanes];
    const __m256i coefficients = Fill(key.coefficients);
    const __m256i high = Load(line + 32);
    const __m256i untagged = _mm256_and_si256(high, Fill(kWordMask));
    const __m256i tail = Fill(key.high & lanes.tail_mask);
    const uint32_t parities = Parities(
        _mm256_xor_si256(_mm256_and_si256(Load(line), coefficients),
                         Tails(untagged, lanes, 0, tail)),
        _mm256_xor_si256(_mm256_and_si256(high, coefficients), Tails(untagged, lanes, 1, tail)));
    return ((parities ^ WideFingerprint(key.high)) & lanes.bits) == 0;
  }
};
TIEREDFILTER_POP_TARGET

TIEREDFILTER_PUSH_TARGET(TIEREDFILTER_AVX512_TARGETS)
struct Avx512Kernel {
  using Multiplier = Bmi2Multiplier;

  // The zero-masking forms with a full mask: the plain ones make g++ 12 warn of its own undefined
  // source operand.
  static constexpr __mmask8 kAll = 0xff;
  static constexpr __mmask16 kAll32 = 0xffff;

  static TIEREDFILTER_INLINE __m512i Fill(uint64_t x) {
    return _mm512_set1_epi64(static_cast<long long>(x));
  }
  static TIEREDFILTER_INLINE __m512i Shifted(__m512i right, const void* by_right, __m512i left,
                                             const void* by_left) {
    return _mm512_or_si512(_mm512_maskz_srlv_epi64(kAll, right, _mm512_loadu_si512(by_right)),
                           _mm512_maskz_sllv_epi64(kAll, left, _mm512_loadu_si512(by_left)));
  }

  static TIEREDFILTER_INLINE uint32_t Tag(const char* line) {
    return _mm512_movepi64_mask(InBitOrder(_mm512_loadu_si512(line)));
  }
  // Lane j at kBitOfWord[j]: quarters 1 and 2 change places.
  static TIEREDFILTER_INLINE __m512i InBitOrder(__m512i x) {
    return _mm512_maskz_shuffle_i64x2(kAll, x, x, 0xd8);
  }
  static TIEREDFILTER_INLINE uint32_t Parities(__m512i x) {
    return _mm512_test_epi64_mask(_mm512_popcnt_epi64(InBitOrder(x)), _mm512_set1_epi64(1));
  }

  static TIEREDFILTER_INLINE bool FirstEight(const char* line, const KeyEquation& key) {
    return Parities(_mm512_and_si512(_mm512_loadu_si512(line), Fill(key.coefficients))) ==
           (NarrowFingerprint(key.high) & 0xff);
  }

  // See Avx2Kernel.
  static TIEREDFILTER_INLINE uint32_t NinthParity(const char* line, uint64_t coefficients) {
    constexpr int kBits = kExtraPieceBits9;
    const __m512i pieces =
        _mm512_maskz_srlv_epi64(kAll, Fill(coefficients),
                                _mm512_setr_epi64(0, kBits, 2 * kBits, 3 * kBits, 4 * kBits,
                                                  5 * kBits, 6 * kBits, 7 * kBits));
    const __m512i words = _mm512_maskz_srli_epi64(kAll, _mm512_loadu_si512(line), 56);
    return Parity(
        Parities(_mm512_and_si512(words, _mm512_and_si512(pieces, Fill(LowBits(kBits))))));
  }

  template <uint32_t kLower>
  static TIEREDFILTER_INLINE bool ExtraPlanes(const char* line, uint32_t tag,
                                              const KeyEquation& key) {
    if (kLower == 9) return ExtraPlanes9(line, tag, key);
    const ExtraLanes& extra = kExtraLanes[kLower + (tag & kTagMorePlanes) - kNarrowPlanes - 2];
    const __m512i own = Fill(key.coefficients & extra.column_mask);
    const __m512i rotated =
        _mm512_or_si512(_mm512_maskz_sllv_epi64(kAll, own, _mm512_loadu_si512(extra.left)),
                        _mm512_maskz_sllv_epi64(kAll, own, _mm512_loadu_si512(extra.wrapped)));
    const __m512i bits = _mm512_and_si512(_mm512_loadu_si512(line), rotated);
    const uint32_t fingerprint =
        (NarrowFingerprint(key.high) & extra.fingerprint_mask) >> kNarrowPlanes;
    uint32_t wrong = 0;
    for (uint32_t k = 0; k + kNarrowPlanes <= kLower; ++k) {
      wrong |= Parity(Parities(_mm512_and_si512(bits, _mm512_loadu_si512(extra.of_plane[k])))) ^
               (fingerprint >> k);
    }
    return (wrong & 1) == 0;
  }

  static TIEREDFILTER_INLINE bool ExtraPlanes9(const char* line, uint32_t tag,
                                               const KeyEquation& key) {
    const Extra9& extra = kExtra9[tag & kTagMorePlanes];
    const __m512i own = _mm512_maskz_sllv_epi64(kAll, Fill(key.coefficients & extra.column_mask),
                                                _mm512_loadu_si512(extra.left));
    const uint32_t odd = Parities(
        _mm512_and_si512(_mm512_loadu_si512(line), _mm512_and_si512(own, Fill(extra.piece_mask))));
    // In the order of Parities, words 0 to 3 and 4 to 7.
    return Extra9Matches(Parity(odd & 0x33), Parity(odd & 0xcc), tag, key);
  }

  static TIEREDFILTER_INLINE bool Wide7(const char* line, uint32_t tag, uint32_t,
                                        const KeyEquation& key) {
    const uint32_t bits = (tag << 7) | WordBits(7);  // word 7's bit is bit 7
    const __m512i tails = _mm512_maskz_srlv_epi64(kAll, Fill(LoadWord(line + 56)),
                                                  _mm512_setr_epi64(0, 9, 18, 27, 36, 45, 54, 64));
    const __m512i sum =
        _mm512_xor_si512(_mm512_and_si512(_mm512_loadu_si512(line), Fill(key.coefficients)),
                         _mm512_and_si512(tails, Fill(PortableKernel::Tail7(tag, key))));
    return ((Parities(sum) ^ WideFingerprint(key.high)) & bits) == 0;
  }

  static TIEREDFILTER_INLINE bool Wide(const char* line, uint32_t tag, uint32_t planes,
                                       const KeyEquation& key) {
    const WideLanes& lanes = kWideLanes[planes + (tag & kTagMorePlanes) - kWidePlanes];
    const __m512i words = _mm512_loadu_si512(line);
    const __m512i untagged = _mm512_and_si512(words, Fill(kWordMask));
    const __m512i upper = _mm512_maskz_shuffle_i64x2(kAll, untagged, untagged, 0xee);  // 4..7 twice
    const __m512i first =
        _mm512_maskz_permutexvar_epi32(kAll32, _mm512_loadu_si512(lanes.first_word), upper);
    const __m512i next =
        _mm512_maskz_permutexvar_epi32(kAll32, _mm512_loadu_si512(lanes.next_word), upper);
    const __m512i tails = Shifted(first, lanes.first_shift, next, lanes.next_shift);
    const __m512i sum = _mm512_xor_si512(_mm512_and_si512(words, Fill(key.coefficients)),
                                         _mm512_and_si512(tails, Fill(key.high & lanes.tail_mask)));
    return ((Parities(sum) ^ WideFingerprint(key.high)) & lanes.bits) == 0;
  }
};
TIEREDFILTER_POP_TARGET

}  // namespace tieredfilter

#endif  // TIEREDFILTER_X86_KERNELS
