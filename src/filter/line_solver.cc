#include "src/filter/line_solver.h"

#include "src/filter/line_solver_impl.h"
#include "src/filter/triple_solver_impl.h"

namespace tieredfilter {

namespace {

// `flatten` inlines the generic loops into each of these, so that they are compiled for its
// instruction set.
#define TIEREDFILTER_SOLVER_OF(name, impl)                                                  \
  TIEREDFILTER_FLATTEN void Eliminate##name(LineGroup* group) { impl::Eliminate(group); }   \
  TIEREDFILTER_FLATTEN void Substitute##name(LineGroup* group) { impl::Substitute(group); } \
  constexpr LineSolver kSolver##name = {&Eliminate##name, &Substitute##name};
#define TIEREDFILTER_SOLVER(name, bytes)          \
  TIEREDFILTER_SOLVER_OF(name, SolverImpl<bytes>) \
  TIEREDFILTER_SOLVER_OF(Triple##name, TripleSolverImpl<bytes>)

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
#undef TIEREDFILTER_SOLVER_OF

}  // namespace

const LineSolver& SolverFor(CpuKernel kernel, uint32_t lower) {
  const bool triple = lower < kWidePlanes;
#if TIEREDFILTER_X86_KERNELS
  switch (kernel) {
    case CpuKernel::kSse4:
      return triple ? kSolverTripleSse4 : kSolverSse4;
    case CpuKernel::kAvx2:
      return triple ? kSolverTripleAvx2 : kSolverAvx2;
    case CpuKernel::kAvx512:
      return triple ? kSolverTripleAvx512 : kSolverAvx512;
    case CpuKernel::kPortable:
      break;
  }
#endif
  (void)kernel;
  return triple ? kSolverTriplePortable : kSolverPortable;
}

LineGroup::LineGroup(uint32_t lower_planes)
    : lower(lower_planes), max_rows(LineColumns(lower_planes)) {
  std::vector<LaneRow**> arrays = {&main, &tail, &pivot};
  if (lower < kWidePlanes) {
    arrays.insert(arrays.end(), {&far, &tail_pivot, &far_pivot});
  } else {
    arrays.push_back(&late);
    if (lower < kNarrowPlanes) arrays.push_back(&late_pivot);
  }
  storage_.resize(arrays.size() * max_rows);
  for (size_t i = 0; i < arrays.size(); ++i) *arrays[i] = &storage_[i * max_rows].row;
}

void ClearRows(LineGroup* group, uint32_t lane, uint32_t from) {
  const bool triple = group->lower < kWidePlanes;
  for (uint32_t p = from; p < group->rows; ++p) {
    group->main[p][lane] = 0;
    group->tail[p][lane] = 0;
    group->pivot[p][lane] = 0;
    if (!triple) continue;
    group->far[p][lane] = 0;
    group->tail_pivot[p][lane] = 0;
    group->far_pivot[p][lane] = 0;
  }
  if (triple || group->lower >= kNarrowPlanes) return;
  for (uint32_t k = 0; k < group->late_count[lane]; ++k) {
    if (group->late_of[k][lane] < from) continue;
    group->late[k][lane] = 0;
    group->late_pivot[k][lane] = 0;
  }
}

}  // namespace tieredfilter
