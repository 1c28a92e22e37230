// Solves the linear systems of eight lines at once, one line per SIMD lane.
//
// The systems are small (about 60 unknowns) and many, so the parallelism is across lines, not
// inside one. Always eight lanes, whatever the instruction set: which lines share a group decides
// in which order keys are given away, and the bytes must not depend on the CPU.
#pragma once

#include <cstdint>

#include "src/filter/cpu_kernel.h"
#include "src/filter/line_layout.h"

namespace tieredfilter {

inline constexpr uint32_t kSolverLanes = 8;
// No line ever takes more rows than columns (more could not be independent), so this holds every
// row there can be.
inline constexpr uint32_t kMaxRows = 120;

// Eight systems, one per lane. About 40 KiB: keep one per build, not on a stack per line.
//
// Row p of lane l: main[p][l] holds the coefficients of columns 0..62; tail[p][l] holds, for wide
// lines, the tail coefficients in its low bits, and the fingerprint on top (bits 56..63
// wide, 39..63 narrow: where EquationOf has them). Rows are in order of priority; rows beyond a
// lane's own are zero, which no step minds.
struct LineGroup {
  uint32_t rows = 0;                 // of the fullest lane
  uint32_t planes[kSolverLanes];     // 0: lane not in use
  bool wide = false;                 // the filter's family, the same for all lanes
  uint32_t first_bad[kSolverLanes];  // set by Eliminate
  alignas(64) uint64_t main[kMaxRows][kSolverLanes];
  alignas(64) uint64_t tail[kMaxRows][kSolverLanes];
  alignas(64) uint64_t
      pivot[kMaxRows][kSolverLanes];  // one bit, or 0 for a row that found no column in main
  // Wide lines: rows that found no column in `main`, as a second system over the tail columns. As
  // many as there are rows, since every one of them can end here (equal coefficients, for one).
  uint32_t late_rows = 0;
  uint32_t late_count[kSolverLanes];
  uint8_t late_of[kMaxRows][kSolverLanes];  // which row it was
  alignas(64) uint64_t late[kMaxRows][kSolverLanes];
  alignas(64) uint64_t late_pivot[kMaxRows][kSolverLanes];
  alignas(
      64) uint64_t words[kLineWords][kSolverLanes];  // result of Substitute: the lines, untagged
};

// The two halves of solving; between them the caller takes away the rows that have no solution.
struct LineSolver {
  // Brings every lane to echelon form. first_bad[l] becomes the first row, in order of priority,
  // that contradicts earlier ones (no column left and a nonzero fingerprint), or `rows` where there
  // is none. Rows before it do not depend on it, so zeroing it and all later rows (ClearRows) needs
  // no new elimination.
  void (*eliminate)(LineGroup* group);
  // Solves the echelon form, free columns being zero so that the bytes are determined, and packs
  // `words`.
  void (*substitute)(LineGroup* group);
};

const LineSolver& SolverFor(CpuKernel kernel);

// Takes rows `from` and later out of lane `lane` after Eliminate.
void ClearRows(LineGroup* group, uint32_t lane, uint32_t from);

}  // namespace tieredfilter
