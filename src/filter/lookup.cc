#include "src/filter/lookup.h"

#include "src/filter/key_hash.h"
#include "src/filter/line_match_x86.h"

namespace tieredfilter {

namespace {

// Which of a kernel's line tests a filter needs, so that no lookup branches on it.
enum class Shape { kRarely9, kNarrow8, kNarrow9, kNarrow, kWide7, kWide, kTriple };

// Up to this share of lines with nine planes, guessing "eight" and being wrong now and then (some
// 15 to 20 cycles) is cheaper than the ninth plane's vector sum (about 7) for every key that is
// there.
constexpr double kFewMorePlanes = 0.2;

// Both ends, since a block need not start at a cache line. Into the second level, as stock Bloom
// does: 32 lines at once would push other things out of the first.
TIEREDFILTER_INLINE void PrefetchLine(const char* line) {
  __builtin_prefetch(line, 0, 1);
  __builtin_prefetch(line + kLineBytes - 1, 0, 1);
}

namespace portable {
using Kernel = PortableKernel;
#include "src/filter/lookup_body.h"
}  // namespace portable

#if TIEREDFILTER_X86_KERNELS
TIEREDFILTER_PUSH_TARGET(TIEREDFILTER_SSE4_TARGETS)
namespace sse4 {
using Kernel = Sse4Kernel;
#include "src/filter/lookup_body.h"
}  // namespace sse4
TIEREDFILTER_POP_TARGET

TIEREDFILTER_PUSH_TARGET(TIEREDFILTER_AVX2_TARGETS)
namespace avx2 {
using Kernel = Avx2Kernel;
#include "src/filter/lookup_body.h"
}  // namespace avx2
TIEREDFILTER_POP_TARGET

TIEREDFILTER_PUSH_TARGET(TIEREDFILTER_AVX512_TARGETS)
namespace avx512 {
using Kernel = Avx512Kernel;
#include "src/filter/lookup_body.h"
}  // namespace avx512
TIEREDFILTER_POP_TARGET
#endif

Shape ShapeFor(CpuKernel kernel, uint32_t planes, double more_share) {
  if (planes < kWidePlanes) return Shape::kTriple;
  if (planes < kNarrowPlanes - 1) return Shape::kWide;
  if (planes < kNarrowPlanes) return Shape::kWide7;
  if (planes == kNarrowPlanes) {
    // Without vectors a ninth plane is always dearer than a wrong guess.
    const bool vectors = kernel == CpuKernel::kAvx2 || kernel == CpuKernel::kAvx512;
    return vectors && more_share > kFewMorePlanes ? Shape::kNarrow8 : Shape::kRarely9;
  }
  return planes == kNarrowPlanes + 1 ? Shape::kNarrow9 : Shape::kNarrow;
}

}  // namespace

const LookupKernel& LookupFor(CpuKernel kernel, uint32_t planes, bool salted, double more_share) {
  const int shape = static_cast<int>(ShapeFor(kernel, planes, more_share));
#if TIEREDFILTER_X86_KERNELS
  switch (kernel) {
    case CpuKernel::kSse4:
      return sse4::kLookups[shape][salted];
    case CpuKernel::kAvx2:
      return avx2::kLookups[shape][salted];
    case CpuKernel::kAvx512:
      return avx512::kLookups[shape][salted];
    case CpuKernel::kPortable:
      break;
  }
#endif
  (void)kernel;
  return portable::kLookups[shape][salted];
}

}  // namespace tieredfilter
