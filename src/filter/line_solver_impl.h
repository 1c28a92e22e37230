// The solver's loops over vectors of `kBytes` bytes (GNU vector extensions: the compiler picks the
// instructions of the function that all this is inlined into, and plain 64-bit code where there are
// none). Narrow and wide lines; triple ones in triple_solver_impl.h.
#pragma once

#include <cstring>

#include "src/filter/line_solver.h"

namespace tieredfilter {

template <int kBytes>
struct SolverImpl {
  typedef uint64_t Vec __attribute__((vector_size(kBytes)));
  static constexpr int kParts = 64 / kBytes;
  // One value per lane.
  struct Lanes {
    Vec v[kParts];
  };

  static TIEREDFILTER_INLINE Lanes Load(const uint64_t* p) {
    Lanes r;
    for (int i = 0; i < kParts; ++i) r.v[i] = *reinterpret_cast<const Vec*>(p + i * (kBytes / 8));
    return r;
  }
  static TIEREDFILTER_INLINE void Store(uint64_t* p, const Lanes& a) {
    for (int i = 0; i < kParts; ++i) *reinterpret_cast<Vec*>(p + i * (kBytes / 8)) = a.v[i];
  }
  static TIEREDFILTER_INLINE Vec* PartOf(uint64_t* p, int i) {
    return reinterpret_cast<Vec*>(p) + i;
  }
  // *y gets xor x in the elements where `hit` is not zero: one masked instruction of AVX-512, which
  // the compiler finds in the choice; for the others "andnot of an equality", which SSE and AVX2
  // have.
  static TIEREDFILTER_INLINE void XorWhere(const Vec& hit, const Vec& x, Vec* y) {
    if constexpr (kBytes == 64) {
      *y = hit != 0 ? *y ^ x : *y;
    } else {
      *y ^= ~(Vec)(hit == 0) & x;
    }
  }
  // The same where (row & bit) is not zero.
  static TIEREDFILTER_INLINE void XorIf(const Lanes& row, const Lanes& bit, const Lanes& x,
                                        Lanes* y) {
    for (int i = 0; i < kParts; ++i) XorWhere(row.v[i] & bit.v[i], x.v[i], &y->v[i]);
  }
  static TIEREDFILTER_INLINE void XorIf(const Lanes& row, const Lanes& bit, const Lanes& x1,
                                        Lanes* y1, const Lanes& x2, Lanes* y2) {
    for (int i = 0; i < kParts; ++i) {
      const Vec hit = row.v[i] & bit.v[i];
      XorWhere(hit, x1.v[i], &y1->v[i]);
      XorWhere(hit, x2.v[i], &y2->v[i]);
    }
  }

  // The lowest bit of main[p] among the lane's pivot columns.
  static TIEREDFILTER_INLINE void FindPivot(LineGroup* g, uint32_t p, const Lanes& columns) {
    Lanes row = Load(g->main[p]);
    for (int i = 0; i < kParts; ++i) {
      row.v[i] &= columns.v[i];
      row.v[i] &= -row.v[i];
    }
    Store(g->pivot[p], row);
  }

  // Row r minus row p.
  static TIEREDFILTER_INLINE void Reduce(LineGroup* g, uint32_t p, uint32_t r) {
    Lanes main = Load(g->main[r]), tail = Load(g->tail[r]);
    XorIf(Lanes(main), Load(g->pivot[p]), Load(g->main[p]), &main, Load(g->tail[p]), &tail);
    Store(g->main[r], main);
    Store(g->tail[r], tail);
  }

  // Forward elimination. Four pivots per pass over the later rows: loads and stores of rows are the
  // bottleneck.
  static TIEREDFILTER_INLINE void Forward(LineGroup* g) {
    alignas(64) uint64_t columns_of[kSolverLanes];
    for (uint32_t l = 0; l < kSolverLanes; ++l) {
      columns_of[l] = g->planes[l] < kNarrowPlanes ? kWordMask : LowBits(LineColumns(g->planes[l]));
    }
    const Lanes columns = Load(columns_of);
    uint32_t p = 0;
    for (; p + 4 <= g->rows; p += 4) {
      FindPivot(g, p, columns);
      for (uint32_t q = p + 1; q < p + 4; ++q) {
        for (uint32_t done = p; done < q; ++done) Reduce(g, done, q);
        FindPivot(g, q, columns);
      }
      const Lanes main0 = Load(g->main[p]), main1 = Load(g->main[p + 1]),
                  main2 = Load(g->main[p + 2]), main3 = Load(g->main[p + 3]);
      const Lanes bit0 = Load(g->pivot[p]), bit1 = Load(g->pivot[p + 1]),
                  bit2 = Load(g->pivot[p + 2]), bit3 = Load(g->pivot[p + 3]);
      for (uint32_t r = p + 4; r < g->rows; ++r) {
        Lanes main = Load(g->main[r]), tail = Load(g->tail[r]);
        XorIf(Lanes(main), bit0, main0, &main, Load(g->tail[p]), &tail);
        XorIf(Lanes(main), bit1, main1, &main, Load(g->tail[p + 1]), &tail);
        XorIf(Lanes(main), bit2, main2, &main, Load(g->tail[p + 2]), &tail);
        XorIf(Lanes(main), bit3, main3, &main, Load(g->tail[p + 3]), &tail);
        Store(g->main[r], main);
        Store(g->tail[r], tail);
      }
    }
    for (; p < g->rows; ++p) {
      FindPivot(g, p, columns);
      for (uint32_t r = p + 1; r < g->rows; ++r) Reduce(g, p, r);
    }
  }

  // Wide lines: the second system, over the tail columns, of the rows that found no pivot.
  static TIEREDFILTER_INLINE void EliminateLate(LineGroup* g) {
    for (uint32_t l = 0; l < kSolverLanes; ++l) g->late_count[l] = 0;
    g->late_rows = 0;
    for (uint32_t p = 0; p < g->rows; ++p) {
      for (uint32_t l = 0; l < kSolverLanes; ++l) {
        if (g->pivot[p][l] != 0 || g->tail[p][l] == 0) continue;
        const uint32_t k = g->late_count[l]++;
        g->late[k][l] = g->tail[p][l];
        g->late_of[k][l] = static_cast<uint8_t>(p);
        if (k >= g->late_rows) g->late_rows = k + 1;
      }
    }
    for (uint32_t l = 0; l < kSolverLanes; ++l) {
      for (uint32_t k = g->late_count[l]; k < g->late_rows; ++k) g->late[k][l] = 0;
    }
    alignas(64) uint64_t columns[kSolverLanes];
    for (uint32_t l = 0; l < kSolverLanes; ++l) {
      columns[l] = g->planes[l] == 0 ? 0 : LowBits(TailColumns(g->planes[l]));
    }
    for (uint32_t p = 0; p < g->late_rows; ++p) {
      Lanes pivot = Load(g->late[p]);
      const Lanes row = pivot, mask = Load(columns);
      for (int i = 0; i < kParts; ++i) {
        pivot.v[i] &= mask.v[i];
        pivot.v[i] &= -pivot.v[i];
      }
      Store(g->late_pivot[p], pivot);
      for (uint32_t r = p + 1; r < g->late_rows; ++r) {
        Lanes later = Load(g->late[r]);
        XorIf(Lanes(later), pivot, row, &later);
        Store(g->late[r], later);
      }
    }
  }

  static TIEREDFILTER_INLINE void Eliminate(LineGroup* g) {
    Forward(g);
    for (uint32_t l = 0; l < kSolverLanes; ++l) g->first_bad[l] = g->rows;
    if (g->lower < kNarrowPlanes) {
      EliminateLate(g);
      for (uint32_t l = 0; l < kSolverLanes; ++l) {
        for (uint32_t k = 0; k < g->late_count[l]; ++k) {
          if (g->late_pivot[k][l] == 0 && g->late[k][l] != 0) {
            g->first_bad[l] = g->late_of[k][l];
            break;
          }
        }
      }
      return;
    }
    // Narrow: a row without a pivot but with anything left in it. Coefficients left beyond the
    // line's columns count as bad too: what they would multiply is not known yet.
    for (uint32_t p = g->rows; p-- > 0;) {
      for (uint32_t l = 0; l < kSolverLanes; ++l) {
        if (g->pivot[p][l] == 0 && (g->main[p][l] | g->tail[p][l]) != 0) g->first_bad[l] = p;
      }
    }
  }

  // *value gets the solutions of rows p of which `main` has the pivot.
  static TIEREDFILTER_INLINE void Replace(LineGroup* g, uint64_t (*value)[kSolverLanes], uint32_t p,
                                          uint32_t r) {
    Lanes v = Load(value[r]);
    XorIf(Load(g->main[r]), Load(g->pivot[p]), Load(value[p]), &v);
    Store(value[r], v);
  }

  // Back-substitution: value[] (of which only the fingerprint bits matter by now) becomes each
  // row's solution, last row first. Four rows per pass over the earlier ones, as in Forward.
  static TIEREDFILTER_INLINE void Backward(LineGroup* g, uint64_t (*value)[kSolverLanes]) {
    uint32_t end = g->rows;
    for (; end >= 4; end -= 4) {
      for (uint32_t p = end - 1; p > end - 4; --p) {
        for (uint32_t r = end - 4; r < p; ++r) Replace(g, value, p, r);
      }
      const uint32_t p = end - 4;
      const Lanes bit0 = Load(g->pivot[p]), bit1 = Load(g->pivot[p + 1]),
                  bit2 = Load(g->pivot[p + 2]), bit3 = Load(g->pivot[p + 3]);
      const Lanes value0 = Load(value[p]), value1 = Load(value[p + 1]), value2 = Load(value[p + 2]),
                  value3 = Load(value[p + 3]);
      for (uint32_t r = 0; r < p; ++r) {
        const Lanes row = Load(g->main[r]);
        Lanes v = Load(value[r]);
        XorIf(row, bit0, value0, &v);
        XorIf(row, bit1, value1, &v);
        XorIf(row, bit2, value2, &v);
        XorIf(row, bit3, value3, &v);
        Store(value[r], v);
      }
    }
    while (end-- > 1) {
      for (uint32_t r = 0; r < end; ++r) Replace(g, value, end, r);
    }
  }

  // Adds bits[p] of every row to *plane where bit `which` of its value is set.
  static TIEREDFILTER_INLINE void Collect(const uint64_t (*bits)[kSolverLanes],
                                          const uint64_t (*value)[kSolverLanes], uint32_t rows,
                                          uint32_t which, uint64_t* plane) {
    Lanes sum = Load(plane);
    for (uint32_t p = 0; p < rows; ++p) CollectRow(Load(bits[p]), Load(value[p]), which, &sum);
    Store(plane, sum);
  }
  static TIEREDFILTER_INLINE void CollectRow(const Lanes& bit, const Lanes& value, uint32_t which,
                                             Lanes* sum) {
    for (int i = 0; i < kParts; ++i) CollectPart(bit.v[i], value.v[i], which, &sum->v[i]);
  }
  static TIEREDFILTER_INLINE void CollectPart(const Vec& bit, const Vec& value, uint32_t which,
                                              Vec* sum) {
    if constexpr (kBytes >= 32) {
      XorWhere(value & (uint64_t{1} << which), bit, sum);
    } else {
      *sum ^= bit & -((value >> which) & 1);
    }
  }
  // All words' planes from the fingerprint bits that start at `shift`. Part by part, since that
  // keeps all eight sums in registers.
  static TIEREDFILTER_INLINE void CollectWords(LineGroup* g, uint32_t shift) {
    for (int i = 0; i < kParts; ++i) {
      Vec sum[kLineWords];
      for (uint32_t j = 0; j < kLineWords; ++j) sum[j] = *PartOf(g->words[j], i);
      for (uint32_t p = 0; p < g->rows; ++p) {
        const Vec bit = *PartOf(g->pivot[p], i), value = *PartOf(g->tail[p], i);
        for (uint32_t j = 0; j < kLineWords; ++j) {
          CollectPart(bit, value, shift + kBitOfWord[j], &sum[j]);
        }
      }
      for (uint32_t j = 0; j < kLineWords; ++j) *PartOf(g->words[j], i) = sum[j];
    }
  }

  static TIEREDFILTER_INLINE uint32_t MaxPlanes(const LineGroup* g) {
    uint32_t most = 0;
    for (uint32_t l = 0; l < kSolverLanes; ++l) most = g->planes[l] > most ? g->planes[l] : most;
    return most;
  }

  // Puts `bits` (count of them) at position `at` of the string that word i holds `width` bits of,
  // from bit `shift` on.
  static void WritePacked(LineGroup* g, uint32_t lane, uint32_t first_word, uint32_t shift,
                          uint32_t width, uint32_t at, uint64_t bits, uint32_t count) {
    uint32_t i = first_word + at / width;
    uint32_t skip = at % width;
    while (count > 0) {
      const uint32_t room = width - skip < count ? width - skip : count;
      g->words[i++][lane] |= (bits & LowBits(room)) << (shift + skip);
      bits = room < 64 ? bits >> room : 0;
      count -= room;
      skip = 0;
    }
  }

  static TIEREDFILTER_INLINE void SubstituteWide(LineGroup* g) {
    // The tail system first; its solution then is known where the main rows use it.
    for (uint32_t p = g->late_rows; p-- > 0;) {
      const Lanes bit = Load(g->late_pivot[p]);
      Lanes solved = Load(g->late[p]);
      for (int i = 0; i < kParts; ++i) solved.v[i] &= ~LowBits(kMaxTailColumns);
      for (uint32_t r = 0; r < p; ++r) {
        Lanes v = Load(g->late[r]);
        XorIf(Lanes(v), bit, solved, &v);
        Store(g->late[r], v);
      }
      for (uint32_t r = 0; r < g->rows; ++r) {
        Lanes v = Load(g->tail[r]);
        XorIf(Lanes(v), bit, solved, &v);
        Store(g->tail[r], v);
      }
    }
    Backward(g, g->tail);
    const uint32_t most = MaxPlanes(g);
    // Lanes with fewer than eight planes have no fingerprint bits there, so this leaves their tail
    // words alone.
    CollectWords(g, kMaxTailColumns);
    for (uint32_t j = 0; j < most; ++j) {
      alignas(64) uint64_t plane[kSolverLanes] = {};
      Collect(g->late_pivot, g->late, g->late_rows, kMaxTailColumns + kBitOfWord[j], plane);
      for (uint32_t l = 0; l < kSolverLanes; ++l) {
        if (j >= g->planes[l]) continue;
        const uint32_t tail = TailColumns(g->planes[l]);
        if (tail != 0) WritePacked(g, l, g->planes[l], 0, kWordColumns, j * tail, plane[l], tail);
      }
    }
  }

  // Narrow rows keep their fingerprint from this bit of the tail on, and nothing below it.
  static constexpr uint32_t kNarrowShift = 39;
  // Up to so many planes the bits above a line's columns fit below it.
  static constexpr uint32_t kMostPlanesInTail = 21;
  static_assert(kWordColumns - LineColumns(kMostPlanesInTail) <= kNarrowShift, "");

  // Planes 8 and up share words with planes 0 to 7, whose parities they take part in. They depend
  // on nothing else, so they are known after the one back-substitution that all planes share; it
  // also carries each row's coefficients above the line's columns along, which then say what the
  // extra planes' bits add to that row's solution.
  static TIEREDFILTER_INLINE void SubstituteNarrow(LineGroup* g) {
    const uint32_t most = MaxPlanes(g);
    if (most <= kNarrowPlanes) {
      Backward(g, g->tail);
      CollectWords(g, kNarrowShift);
      return;
    }
    const bool in_tail = most <= kMostPlanesInTail;
    LaneRow* const above = in_tail ? g->tail : g->late;
    alignas(64) uint64_t columns_of[kSolverLanes];
    for (uint32_t l = 0; l < kSolverLanes; ++l) {
      columns_of[l] = g->planes[l] == 0 ? kWordColumns : LineColumns(g->planes[l]);
    }
    const Lanes columns = Load(columns_of);
    for (uint32_t r = 0; r < g->rows; ++r) {
      const Lanes main = Load(g->main[r]), tail = Load(g->tail[r]);
      Lanes v;
      for (int i = 0; i < kParts; ++i) {
        v.v[i] = main.v[i] >> columns.v[i];
        if (in_tail) v.v[i] |= tail.v[i];
      }
      Store(above[r], v);
    }
    Backward(g, g->tail);
    if (!in_tail) Backward(g, above);
    for (uint32_t k = 0; k + kNarrowPlanes < most; ++k) {
      alignas(64) uint64_t plane[kSolverLanes] = {};
      Collect(g->pivot, g->tail, g->rows, kNarrowShift + kNarrowPlanes + k, plane);
      for (uint32_t l = 0; l < kSolverLanes; ++l) {
        if (k + kNarrowPlanes >= g->planes[l]) continue;
        const uint32_t count = LineColumns(g->planes[l]);
        WritePacked(g, l, 0, count, kWordColumns - count, ExtraPlaneStart(g->planes[l], k),
                    plane[l], count);
      }
    }
    FoldExtraPlanes(g, above, kWordColumns - LineColumns(most));
    CollectWords(g, kNarrowShift);
  }

  // Adds to the rows' solutions what the bits above a line's columns, now final, add to the
  // parities of planes 0 to 7; at most `width` of them in a word.
  static TIEREDFILTER_INLINE void FoldExtraPlanes(LineGroup* g, const LaneRow* above,
                                                  uint32_t width) {
    for (uint32_t first = 0; first < width; first += 8) {
      alignas(64) uint64_t symbols[8][kSolverLanes] = {};
      for (uint32_t l = 0; l < kSolverLanes; ++l) {
        if (g->planes[l] <= kNarrowPlanes) continue;
        const uint32_t shift = LineColumns(g->planes[l]) + first;
        if (shift >= kWordColumns) continue;
        uint64_t bits = 0;  // byte k: of the word that answers for bit k
        for (uint32_t j = 0; j < kLineWords; ++j) {
          bits |= ((g->words[j][l] >> shift) & 0xff) << (8 * kBitOfWord[j]);
        }
        bits = Transposed(bits);
        for (uint32_t c = 0; c < 8; ++c) symbols[c][l] = ((bits >> (8 * c)) & 0xff) << kNarrowShift;
      }
      // Columns beyond the last have no symbol: bit 63 of the words is still clear.
      for (uint32_t c = 0; c < 8 && first + c < width; c += 4) {
        FoldColumns(g, above, first + c, symbols + c);
      }
    }
  }

  // Four columns per pass over the rows.
  static TIEREDFILTER_INLINE void FoldColumns(LineGroup* g, const LaneRow* above, uint32_t column,
                                              const LaneRow* symbols) {
    const Lanes symbol0 = Load(symbols[0]), symbol1 = Load(symbols[1]), symbol2 = Load(symbols[2]),
                symbol3 = Load(symbols[3]);
    for (uint32_t r = 0; r < g->rows; ++r) {
      const Lanes coefficients = Load(above[r]);
      Lanes v = Load(g->tail[r]);
      CollectRow(symbol0, coefficients, column, &v);
      CollectRow(symbol1, coefficients, column + 1, &v);
      CollectRow(symbol2, coefficients, column + 2, &v);
      CollectRow(symbol3, coefficients, column + 3, &v);
      Store(g->tail[r], v);
    }
  }

  // An 8 x 8 bit matrix, a row in each byte, with rows and columns exchanged (Hacker's Delight,
  // 7-3).
  static TIEREDFILTER_INLINE uint64_t Transposed(uint64_t x) {
    uint64_t t = (x ^ (x >> 7)) & 0x00aa00aa00aa00aaULL;
    x ^= t ^ (t << 7);
    t = (x ^ (x >> 14)) & 0x0000cccc0000ccccULL;
    x ^= t ^ (t << 14);
    t = (x ^ (x >> 28)) & 0x00000000f0f0f0f0ULL;
    return x ^ t ^ (t << 28);
  }

  static TIEREDFILTER_INLINE void Substitute(LineGroup* g) {
    std::memset(g->words, 0, sizeof(g->words));
    if (g->lower < kNarrowPlanes) {
      SubstituteWide(g);
    } else {
      SubstituteNarrow(g);
    }
  }
};

}  // namespace tieredfilter
