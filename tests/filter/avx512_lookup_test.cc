// Runs the AVX-512 lookup on any x86-64 CPU: its source, compiled with SIMDe's portable versions of
// the intrinsics. What this cannot show is that the compiler's own AVX-512 code is right; but the
// kernel's logic (lane numbers, shifts, masks) is where the mistakes are.
#include <simde/x86/avx512.h>

#include "src/filter/cpu_kernel.h"
#include "src/filter/key_hash.h"
#include "src/filter/lookup.h"

#if TIEREDFILTER_X86_KERNELS

#include <immintrin.h>  // before its names become macros

// The kernel gets a name of its own and the baseline's instructions: the library keeps the real
// one.
#undef TIEREDFILTER_AVX512_TARGETS
#define TIEREDFILTER_AVX512_TARGETS "sse2"
#define Avx512Kernel SimulatedAvx512Kernel
#define LookupFor SimulatedLookupFor

// One line per intrinsic that the kernel uses; a new one fails to compile until it is added.
#define __m512i simde__m512i
#define _mm512_and_si512 simde_mm512_and_si512
#define _mm512_loadu_si512 simde_mm512_loadu_si512
#define _mm512_maskz_permutexvar_epi32 simde_mm512_maskz_permutexvar_epi32
#undef _mm512_maskz_shuffle_i64x2  // a macro in some compilers' headers
#define _mm512_maskz_shuffle_i64x2(k, a, b, imm) simde_mm512_maskz_shuffle_i64x2(k, a, b, imm)
// SIMDe 0.7.4 lacks the masked forms of these.
#define _mm512_maskz_sllv_epi64(k, a, b) \
  simde_mm512_maskz_mov_epi64(k, simde_mm512_sllv_epi64(a, b))
#define _mm512_maskz_srli_epi64(k, a, n) \
  simde_mm512_maskz_mov_epi64(k, simde_mm512_srli_epi64(a, n))
#define _mm512_maskz_srl_epi64(k, a, b) simde_mm512_maskz_mov_epi64(k, simde_mm512_srl_epi64(a, b))
#define _mm512_maskz_srlv_epi64(k, a, b) \
  simde_mm512_maskz_mov_epi64(k, simde_mm512_srlv_epi64(a, b))
#define _mm512_movepi64_mask simde_mm512_movepi64_mask
#define _mm512_or_si512 simde_mm512_or_si512
#define _mm512_popcnt_epi64 simde_mm512_popcnt_epi64
#define _mm512_set1_epi64 simde_mm512_set1_epi64
#undef _mm512_setr_epi64
#define _mm512_setr_epi64 simde_mm512_setr_epi64
#define _mm512_test_epi64_mask simde_mm512_test_epi64_mask
#define _mm512_xor_si512 simde_mm512_xor_si512

#include "src/filter/lookup.cc"

#undef LookupFor

#endif  // TIEREDFILTER_X86_KERNELS

#include "gtest/gtest.h"
#include "tests/filter/lookup_test_util.h"
#include "tests/filter/reference_lookup.h"

namespace tieredfilter {
namespace {

TEST(Avx512LookupTest, AgreesWithTheFormatsDescription) {
#if TIEREDFILTER_X86_KERNELS
  for (double more_share : {0.0, 1.0}) {
    ExpectSameAnswers(
        [more_share](const LinesView& view) -> const LookupKernel& {
          return SimulatedLookupFor(CpuKernel::kAvx512, view.planes, view.salt != 0, more_share);
        },
        ReferenceHashMatches);
  }
#else
  GTEST_SKIP() << "x86-64 only";
#endif
}

}  // namespace
}  // namespace tieredfilter
