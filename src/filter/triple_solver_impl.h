// The solver for triple lines: three and four planes, rows of three words.
//
// Plain elimination: a row's pivot is its lowest column, in whichever word that is. Narrow and wide
// lines have faster loops of their own (line_solver_impl.h), since theirs are the filters that are
// built all day.
#pragma once

#include "src/filter/line_solver.h"
#include "src/filter/line_solver_impl.h"

namespace tieredfilter {

template <int kBytes>
struct TripleSolverImpl {
  using Base = SolverImpl<kBytes>;
  using Vec = typename Base::Vec;
  using Lanes = typename Base::Lanes;
  static constexpr int kParts = Base::kParts;
  static constexpr uint64_t kTailMask = LowBits(kMaxTailColumns);

  // A row of every lane, or its pivot: one bit in one of the words, none for a row without one.
  struct Row {
    Lanes main, tail, far;
  };
  static TIEREDFILTER_INLINE Row LoadRow(const LineGroup* g, uint32_t p) {
    return {Base::Load(g->main[p]), Base::Load(g->tail[p]), Base::Load(g->far[p])};
  }
  static TIEREDFILTER_INLINE Row LoadPivot(const LineGroup* g, uint32_t p) {
    return {Base::Load(g->pivot[p]), Base::Load(g->tail_pivot[p]), Base::Load(g->far_pivot[p])};
  }

  // Nonzero in lanes where `row` has the column of `pivot`.
  static TIEREDFILTER_INLINE Lanes Common(const Row& row, const Row& pivot) {
    Lanes common;
    for (int i = 0; i < kParts; ++i) {
      common.v[i] = (row.main.v[i] & pivot.main.v[i]) | (row.tail.v[i] & pivot.tail.v[i]) |
                    (row.far.v[i] & pivot.far.v[i]);
    }
    return common;
  }

  static TIEREDFILTER_INLINE void FindPivot(LineGroup* g, uint32_t p) {
    Row row = LoadRow(g, p);
    for (int i = 0; i < kParts; ++i) {
      const Vec main = row.main.v[i], tail = row.tail.v[i] & kTailMask, far = row.far.v[i];
      const Vec no_main = (Vec)(main == 0), no_tail = no_main & (Vec)(tail == 0);
      row.main.v[i] = main & -main;
      row.tail.v[i] = tail & -tail & no_main;
      row.far.v[i] = far & -far & no_tail;
    }
    Base::Store(g->pivot[p], row.main);
    Base::Store(g->tail_pivot[p], row.tail);
    Base::Store(g->far_pivot[p], row.far);
  }

  static TIEREDFILTER_INLINE void Eliminate(LineGroup* g) {
    for (uint32_t p = 0; p < g->rows; ++p) {
      FindPivot(g, p);
      const Row row = LoadRow(g, p), pivot = LoadPivot(g, p);
      for (uint32_t r = p + 1; r < g->rows; ++r) {
        Row later = LoadRow(g, r);
        const Lanes common = Common(later, pivot);
        for (int i = 0; i < kParts; ++i) {
          Base::XorWhere(common.v[i], row.main.v[i], &later.main.v[i]);
          Base::XorWhere(common.v[i], row.tail.v[i], &later.tail.v[i]);
          Base::XorWhere(common.v[i], row.far.v[i], &later.far.v[i]);
        }
        Base::Store(g->main[r], later.main);
        Base::Store(g->tail[r], later.tail);
        Base::Store(g->far[r], later.far);
      }
    }
    // A row that found no column has at most its fingerprint left.
    for (uint32_t l = 0; l < kSolverLanes; ++l) g->first_bad[l] = g->rows;
    for (uint32_t p = g->rows; p-- > 0;) {
      for (uint32_t l = 0; l < kSolverLanes; ++l) {
        const uint64_t pivot = g->pivot[p][l] | g->tail_pivot[p][l] | g->far_pivot[p][l];
        if (pivot == 0 && g->tail[p][l] != 0) g->first_bad[l] = p;
      }
    }
  }

  static TIEREDFILTER_INLINE void Substitute(LineGroup* g) {
    // The fingerprint bits of `tail` become each row's solution, last row first.
    for (uint32_t p = g->rows; p-- > 0;) {
      const Row pivot = LoadPivot(g, p);
      Lanes solved = Base::Load(g->tail[p]);
      for (int i = 0; i < kParts; ++i) solved.v[i] &= ~kTailMask;
      for (uint32_t r = 0; r < p; ++r) {
        const Row row = LoadRow(g, r);
        const Lanes common = Common(row, pivot);
        Lanes tail = row.tail;
        for (int i = 0; i < kParts; ++i) Base::XorWhere(common.v[i], solved.v[i], &tail.v[i]);
        Base::Store(g->tail[r], tail);
      }
    }
    std::memset(g->words, 0, sizeof(g->words));
    // Lanes have no fingerprint bits beyond their planes, so this leaves their tail words alone.
    Base::CollectWords(g, kMaxTailColumns);
    for (uint32_t j = 0; j < kMinPlanes + 1; ++j) {
      alignas(64) uint64_t tail[kSolverLanes] = {}, far[kSolverLanes] = {};
      const uint32_t bit = kMaxTailColumns + kBitOfWord[j];
      Base::Collect(g->tail_pivot, g->tail, g->rows, bit, tail);
      Base::Collect(g->far_pivot, g->tail, g->rows, bit, far);
      for (uint32_t l = 0; l < kSolverLanes; ++l) {
        const uint32_t planes = g->planes[l];
        if (j >= planes) continue;
        const uint32_t far_columns = FarColumns(planes), at = j * (kMaxTailColumns + far_columns);
        Base::WritePacked(g, l, planes, 0, kWordColumns, at, tail[l], kMaxTailColumns);
        Base::WritePacked(g, l, planes, 0, kWordColumns, at + kMaxTailColumns, far[l], far_columns);
      }
    }
  }
};

}  // namespace tieredfilter
