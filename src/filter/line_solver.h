// Solves the linear systems of eight lines at once, one line per SIMD lane.
//
// The systems are small (about 60 unknowns) and many, so the parallelism is across lines, not
// inside one. Always eight lanes, whatever the instruction set: which lines share a group decides
// in which order keys are given away, and the bytes must not depend on the CPU.
#pragma once

#include <cstdint>
#include <vector>

#include "src/filter/cpu_kernel.h"
#include "src/filter/line_layout.h"

namespace tieredfilter {

inline constexpr uint32_t kSolverLanes = 8;
// No line ever takes more rows than columns (more could not be independent), so this holds every
// row there can be.
inline constexpr uint32_t kMaxRows = LineColumns(kMinPlanes);  // 168

// One value per lane.
typedef uint64_t LaneRow[kSolverLanes];

// Eight systems, one per lane. 16 KiB where the lower kind has eight planes, at most 65: keep one
// per build, not one per line.
//
// Row p of lane l: main[p][l] holds the coefficients of columns 0..62; tail[p][l] holds, for wide
// and triple lines, the tail coefficients in its low bits, and the fingerprint on top (bits 56..63
// wide and triple, 39..63 narrow: where EquationOf has them); far[p][l] those of a triple line's
// far columns. Rows are in order of priority; rows beyond a lane's own are zero, which no step
// minds.
struct LineGroup {
  // For a filter with so many planes in its lower kind, which says what rows look like.
  explicit LineGroup(uint32_t lower_planes);
  LineGroup(const LineGroup&) = delete;
  LineGroup& operator=(const LineGroup&) = delete;

  const uint32_t lower;
  const uint32_t max_rows;           // room in each of the arrays below: the most columns of a line
  uint32_t rows = 0;                 // of the fullest lane
  uint32_t planes[kSolverLanes];     // 0: lane not in use
  uint32_t first_bad[kSolverLanes];  // set by Eliminate
  LaneRow* main;
  LaneRow* tail;
  LaneRow* pivot;  // one bit, or 0 for a row that found no column in main
  // Triple lines, null for others. A row's one pivot bit may be here instead of in `pivot`.
  LaneRow* far = nullptr;
  LaneRow* tail_pivot = nullptr;
  LaneRow* far_pivot = nullptr;
  // Wide lines: rows that found no column in `main`, as a second system over the tail columns. As
  // many as there are rows, since every one of them can end here (equal coefficients, for one).
  uint32_t late_rows = 0;
  uint32_t late_count[kSolverLanes];
  uint8_t late_of[kMaxRows][kSolverLanes];  // which row it was
  LaneRow* late = nullptr;                  // narrow lines: for scratch
  LaneRow* late_pivot = nullptr;
  alignas(64) LaneRow words[kLineWords];  // result of Substitute: the lines, untagged

 private:
  struct alignas(64) AlignedRow {
    LaneRow row;
  };
  std::vector<AlignedRow> storage_;
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

// For filters with so many planes in their lower kind, LineGroup::lower.
const LineSolver& SolverFor(CpuKernel kernel, uint32_t lower);

// Takes rows `from` and later out of lane `lane` after Eliminate.
void ClearRows(LineGroup* group, uint32_t lane, uint32_t from);

}  // namespace tieredfilter
