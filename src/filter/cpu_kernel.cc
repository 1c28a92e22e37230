#include "src/filter/cpu_kernel.h"

#include <cstdio>
#include <cstdlib>

namespace tieredfilter {

namespace {

constexpr CpuKernel kAllKernels[] = {CpuKernel::kPortable, CpuKernel::kSse4, CpuKernel::kAvx2,
                                     CpuKernel::kAvx512};

CpuKernel ChooseDefault() {
  CpuKernel widest = CpuKernel::kPortable;
  for (CpuKernel kernel : kAllKernels) {
    if (CpuKernelSupported(kernel)) widest = kernel;
  }
  const char* forced = std::getenv("TIEREDFILTER_KERNEL");
  if (forced == nullptr || *forced == '\0') return widest;
  const std::optional<CpuKernel> kernel = CpuKernelFromName(forced);
  if (kernel && CpuKernelSupported(*kernel)) return *kernel;
  std::fprintf(stderr,
               "tieredfilter: TIEREDFILTER_KERNEL=%s is %s; using %s (one of portable, sse4, avx2, "
               "avx512)\n",
               forced, kernel ? "not supported by this CPU" : "unknown",
               CpuKernelName(widest).data());
  return widest;
}

}  // namespace

std::string_view CpuKernelName(CpuKernel kernel) {
  switch (kernel) {
    case CpuKernel::kPortable:
      return "portable";
    case CpuKernel::kSse4:
      return "sse4";
    case CpuKernel::kAvx2:
      return "avx2";
    case CpuKernel::kAvx512:
      return "avx512";
  }
  return "portable";
}

std::optional<CpuKernel> CpuKernelFromName(std::string_view name) {
  for (CpuKernel kernel : kAllKernels) {
    if (name == CpuKernelName(kernel)) return kernel;
  }
  return std::nullopt;
}

bool CpuKernelSupported(CpuKernel kernel) {
  if (kernel == CpuKernel::kPortable) return true;
#if TIEREDFILTER_X86_KERNELS
  __builtin_cpu_init();
  const bool sse4 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
  const bool avx2 = sse4 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                    __builtin_cpu_supports("bmi2");
  switch (kernel) {
    case CpuKernel::kSse4:
      return sse4;
    case CpuKernel::kAvx2:
      return avx2;
    case CpuKernel::kAvx512:
      return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
             __builtin_cpu_supports("avx512vpopcntdq");
    case CpuKernel::kPortable:
      return true;
  }
#endif
  return false;
}

std::vector<CpuKernel> SupportedCpuKernels() {
  std::vector<CpuKernel> kernels;
  for (CpuKernel kernel : kAllKernels) {
    if (CpuKernelSupported(kernel)) kernels.push_back(kernel);
  }
  return kernels;
}

CpuKernel DefaultCpuKernel() {
  static const CpuKernel kernel = ChooseDefault();
  return kernel;
}

}  // namespace tieredfilter
