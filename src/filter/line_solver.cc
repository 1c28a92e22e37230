#include "src/filter/line_solver.h"

#include "src/filter/line_solver_impl.h"

namespace tieredfilter {

namespace {

// `flatten` inlines the generic loops into each of these, so that they are compiled for its
// instruction set.
#define TIEREDFILTER_SOLVER(name, bytes)                             \
  __attribute__((flatten)) void Eliminate##name(LineGroup* group) {  \
    SolverImpl<bytes>::Eliminate(group);                             \
  }                                                                  \
  __attribute__((flatten)) void Substitute##name(LineGroup* group) { \
    SolverImpl<bytes>::Substitute(group);                            \
  }                                                                  \
  constexpr LineSolver kSolver##name = {&Eliminate##name, &Substitute##name};

TIEREDFILTER_SOLVER(Portable, 16)
#if TIEREDFILTER_X86_KERNELS
TIEREDFILTER_PUSH_TARGET(TIEREDFILTER_SSE4_TARGETS)
TIEREDFILTER_SOLVER(Sse4, 16)
TIEREDFILTER_POP_TARGET
TIEREDFILTER_PUSH_TARGET(TIEREDFILTER_AVX2_TARGETS)
TIEREDFILTER_SOLVER(Avx2, 32)
TIEREDFILTER_POP_TARGET
TIEREDFILTER_PUSH_TARGET(TIEREDFILTER_AVX512_TARGETS)
TIEREDFILTER_SOLVER(Avx512, 64)
TIEREDFILTER_POP_TARGET
#endif

#undef TIEREDFILTER_SOLVER

}  // namespace

const LineSolver& SolverFor(CpuKernel kernel) {
#if TIEREDFILTER_X86_KERNELS
  switch (kernel) {
    case CpuKernel::kSse4:
      return kSolverSse4;
    case CpuKernel::kAvx2:
      return kSolverAvx2;
    case CpuKernel::kAvx512:
      return kSolverAvx512;
    case CpuKernel::kPortable:
      break;
  }
#endif
  (void)kernel;
  return kSolverPortable;
}

void ClearRows(LineGroup* group, uint32_t lane, uint32_t from) {
  for (uint32_t p = from; p < group->rows; ++p) {
    group->main[p][lane] = 0;
    group->tail[p][lane] = 0;
    group->pivot[p][lane] = 0;
  }
  if (!group->wide) return;
  for (uint32_t k = 0; k < group->late_count[lane]; ++k) {
    if (group->late_of[k][lane] < from) continue;
    group->late[k][lane] = 0;
    group->late_pivot[k][lane] = 0;
  }
}

}  // namespace tieredfilter
