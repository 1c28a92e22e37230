#include "src/filter/short_lookup.h"

#include <algorithm>

#include "src/filter/key_hash.h"
#include "src/filter/short_layout.h"

namespace tieredfilter {

namespace {

namespace portable {
#include "src/filter/short_lookup_body.h"
}  // namespace portable

#if TIEREDFILTER_X86_KERNELS
TIEREDFILTER_PUSH_TARGET(TIEREDFILTER_SSE4_TARGETS)
namespace sse4 {
#include "src/filter/short_lookup_body.h"
}  // namespace sse4
TIEREDFILTER_POP_TARGET

TIEREDFILTER_PUSH_TARGET(TIEREDFILTER_AVX2_TARGETS)
namespace avx2 {
#include "src/filter/short_lookup_body.h"
}  // namespace avx2
TIEREDFILTER_POP_TARGET
#endif

}  // namespace

const LookupKernel& ShortLookupFor(CpuKernel kernel, const LinesView& view) {
  const bool lone = view.count == 1;
#if TIEREDFILTER_X86_KERNELS
  switch (kernel) {
    case CpuKernel::kSse4:
      return sse4::kLookups[lone];
    case CpuKernel::kAvx2:
    case CpuKernel::kAvx512:  // has nothing more to offer here
      return avx2::kLookups[lone];
    case CpuKernel::kPortable:
      break;
  }
#endif
  (void)kernel;
  return portable::kLookups[lone];
}

}  // namespace tieredfilter
