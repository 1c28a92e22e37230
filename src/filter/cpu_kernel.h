// Which instruction set the lookup and build kernels use. All of them give the same answers and the
// same bytes.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define TIEREDFILTER_X86_KERNELS 1
#else
#define TIEREDFILTER_X86_KERNELS 0
#endif

// Functions between PUSH and POP are compiled for more than the baseline CPU. Per region, never per
// file: a file compiled with -mavx2 also emits AVX2 copies of inline functions of the standard
// library, the linker may pick those for the whole program, and the program then dies on an older
// CPU. So include nothing inside a region but our own kernel bodies.
#define TIEREDFILTER_PRAGMA(tokens) _Pragma(#tokens)
#if defined(__clang__)
#define TIEREDFILTER_PUSH_TARGET(targets) \
  TIEREDFILTER_PRAGMA(clang attribute push(__attribute__((target(targets))), apply_to = function))
#define TIEREDFILTER_POP_TARGET TIEREDFILTER_PRAGMA(clang attribute pop)
#else
#define TIEREDFILTER_PUSH_TARGET(targets) \
  TIEREDFILTER_PRAGMA(GCC push_options) TIEREDFILTER_PRAGMA(GCC target(targets))
#define TIEREDFILTER_POP_TARGET TIEREDFILTER_PRAGMA(GCC pop_options)
#endif

#define TIEREDFILTER_SSE4_TARGETS "sse4.2,popcnt"
#define TIEREDFILTER_AVX2_TARGETS "avx2,bmi,bmi2,popcnt"
#define TIEREDFILTER_AVX512_TARGETS \
  "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,avx2,bmi,bmi2,popcnt"

#define TIEREDFILTER_INLINE inline __attribute__((always_inline))

// Inlines everything a kernel's entry point calls. Not under a sanitizer: what it adds to each
// access, times the copies, takes minutes to compile.
#ifdef TIEREDFILTER_SANITIZED
#define TIEREDFILTER_FLATTEN
#else
#define TIEREDFILTER_FLATTEN __attribute__((flatten))
#endif

namespace tieredfilter {

enum class CpuKernel { kPortable, kSse4, kAvx2, kAvx512 };

// "portable", "sse4", "avx2", "avx512".
std::string_view CpuKernelName(CpuKernel kernel);
std::optional<CpuKernel> CpuKernelFromName(std::string_view name);

// True if this CPU (and this build) can run `kernel`.
bool CpuKernelSupported(CpuKernel kernel);

// Every kernel this CPU can run, portable first.
std::vector<CpuKernel> SupportedCpuKernels();

// The widest supported kernel, or the one the environment variable TIEREDFILTER_KERNEL names (for
// tests and for comparing; an unknown or unsupported name is reported once on stderr and ignored).
// Decided once per process.
CpuKernel DefaultCpuKernel();

}  // namespace tieredfilter
