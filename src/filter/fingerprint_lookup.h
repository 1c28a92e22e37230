// Looking keys up in the lines of a cuckoo filter with the fingerprints coding.
#pragma once

#include <cstdint>

#include "src/filter/cpu_kernel.h"
#include "src/filter/lookup.h"

namespace tieredfilter {

// The functions for remainders of kMinRemainderBits..kMaxRemainderBits bits (LinesView::planes),
// with a kernel that CpuKernelSupported(). AVX-512 has nothing to add here: its table is AVX2's.
const LookupKernel& FingerprintLookupFor(CpuKernel kernel, uint32_t remainder_bits);

}  // namespace tieredfilter
