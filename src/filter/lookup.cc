#include "src/filter/lookup.h"

#include "src/filter/key_hash.h"
#include "src/filter/line_match_x86.h"

namespace tieredfilter {

namespace {

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

}  // namespace

const LookupKernel& LookupFor(CpuKernel kernel, uint32_t planes) {
  const bool narrow = planes >= kNarrowPlanes;
#if TIEREDFILTER_X86_KERNELS
  switch (kernel) {
    case CpuKernel::kSse4:
      return narrow ? sse4::kNarrowLookup : sse4::kWideLookup;
    case CpuKernel::kAvx2:
      return narrow ? avx2::kNarrowLookup : avx2::kWideLookup;
    case CpuKernel::kAvx512:
      return narrow ? avx512::kNarrowLookup : avx512::kWideLookup;
    case CpuKernel::kPortable:
      break;
  }
#endif
  (void)kernel;
  return narrow ? portable::kNarrowLookup : portable::kWideLookup;
}

}  // namespace tieredfilter
