#include "src/filter/line_solver.h"

#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "gtest/gtest.h"
#include "src/filter/line_solver_impl.h"
#include "tests/filter/reference_lookup.h"
#include "tests/filter/test_keys.h"

namespace tieredfilter {
namespace {

// The widest vectors, which any compiler can lower: the solver of CPUs this test may not have.
void EliminateWide64(LineGroup* group) { SolverImpl<64>::Eliminate(group); }
void SubstituteWide64(LineGroup* group) { SolverImpl<64>::Substitute(group); }

struct NamedSolver {
  const char* name;
  LineSolver solver;
};

std::vector<NamedSolver> Solvers() {
  std::vector<NamedSolver> solvers;
  for (CpuKernel kernel : SupportedCpuKernels()) {
    solvers.push_back({CpuKernelName(kernel).data(), SolverFor(kernel)});
  }
  solvers.push_back({"64-byte vectors", {&EliminateWide64, &SubstituteWide64}});
  return solvers;
}

// The systems of eight lines before solving.
struct Systems {
  bool wide;
  uint32_t planes[kSolverLanes];
  std::vector<KeyEquation> rows[kSolverLanes];  // `high` as a row's tail: masked to the line's bits
};

uint32_t FingerprintShift(bool wide) { return wide ? 56 : 39; }

uint64_t TailMask(bool wide, uint32_t planes) {
  return (uint64_t{FingerprintMask(planes)} << FingerprintShift(wide)) |
         (wide ? LowBits(TailColumns(planes)) : 0);
}

void AddRow(Systems* systems, uint32_t lane, uint64_t coefficients, uint64_t high) {
  systems->rows[lane].push_back(
      {coefficients & kWordMask, high & TailMask(systems->wide, systems->planes[lane]), 0});
}

void Load(const Systems& systems, LineGroup* group) {
  // Whatever a group held before must not matter.
  std::memset(static_cast<void*>(group), 0x5a, sizeof(*group));
  group->wide = systems.wide;
  group->rows = 0;
  for (uint32_t l = 0; l < kSolverLanes; ++l) {
    group->planes[l] = systems.planes[l];
    group->rows = std::max(group->rows, static_cast<uint32_t>(systems.rows[l].size()));
  }
  for (uint32_t p = 0; p < group->rows; ++p) {
    for (uint32_t l = 0; l < kSolverLanes; ++l) {
      const bool there = p < systems.rows[l].size();
      group->main[p][l] = there ? systems.rows[l][p].coefficients : 0;
      group->tail[p][l] = there ? systems.rows[l][p].high : 0;
    }
  }
}

// Textbook elimination of one system, row by row: the first row that earlier ones contradict.
// Columns of a narrow line beyond its own count as part of the right-hand side, since what they
// multiply is not known while the line is solved.
uint32_t FirstBadRow(const std::vector<KeyEquation>& rows, bool wide, uint32_t planes,
                     uint32_t all_rows) {
  typedef unsigned __int128 Row;  // columns 0..62, tail columns, fingerprint from bit 119 on
  const uint32_t columns = wide ? kWordColumns + TailColumns(planes) : LineColumns(planes);
  const Row column_mask = (Row{1} << columns) - 1;
  std::vector<std::pair<Row, Row>> basis;  // its lowest column, row
  for (uint32_t p = 0; p < rows.size(); ++p) {
    Row row = rows[p].coefficients;
    // Tails and fingerprints of a wide row take 56 + 8 bits from column 63 on; narrow: bits 39..63.
    row |= static_cast<Row>(rows[p].high) << kWordColumns;
    for (const auto& [bit, earlier] : basis) {
      if ((row & bit) != 0) row ^= earlier;
    }
    const Row left = row & column_mask;
    if (left != 0) {
      basis.emplace_back(left & -left, row);
    } else if (row != 0) {
      return p;
    }
  }
  return all_rows;
}

// What a lane's words accept, once they have a tag.
bool LineAccepts(const LineGroup& group, uint32_t lane, uint32_t lower, const KeyEquation& row) {
  char line[kLineBytes];
  for (uint32_t j = 0; j < kLineWords; ++j) {
    uint64_t word = group.words[j][lane];
    if (j == 7 && group.planes[lane] > lower) word |= uint64_t{1} << 63;
    for (uint32_t b = 0; b < 8; ++b) line[8 * j + b] = static_cast<char>(word >> (8 * b));
  }
  return ReferenceLine(line, lower).Matches(row);
}

// Solves with one solver, checks it against the textbook, returns the words.
std::vector<uint64_t> SolveAndCheck(const Systems& systems, uint32_t lower,
                                    const NamedSolver& named) {
  const auto group = std::make_unique<LineGroup>();
  Load(systems, group.get());
  named.solver.eliminate(group.get());
  uint32_t kept[kSolverLanes];
  for (uint32_t l = 0; l < kSolverLanes; ++l) {
    if (systems.planes[l] == 0) continue;
    const auto rows = static_cast<uint32_t>(systems.rows[l].size());
    kept[l] = FirstBadRow(systems.rows[l], systems.wide, systems.planes[l], group->rows);
    EXPECT_EQ(group->first_bad[l], kept[l]) << named.name << ", lane " << l;
    if (kept[l] < rows) ClearRows(group.get(), l, kept[l]);
    kept[l] = std::min(kept[l], rows);
  }
  named.solver.substitute(group.get());
  std::vector<uint64_t> words;
  for (uint32_t l = 0; l < kSolverLanes; ++l) {
    for (uint32_t j = 0; j < kLineWords; ++j) {
      if (systems.planes[l] == 0) continue;
      words.push_back(group->words[j][l]);
      EXPECT_EQ(words.back() >> 63, 0u) << "the tag is the caller's";
    }
    for (uint32_t p = 0; systems.planes[l] != 0 && p < kept[l]; ++p) {
      EXPECT_TRUE(LineAccepts(*group, l, lower, systems.rows[l][p]))
          << named.name << ", " << systems.planes[l] << " planes, row " << p << " of " << kept[l];
    }
  }
  return words;
}

void CheckAll(const Systems& systems, uint32_t lower) {
  const std::vector<NamedSolver> solvers = Solvers();
  const std::vector<uint64_t> expected = SolveAndCheck(systems, lower, solvers[0]);
  for (size_t s = 1; s < solvers.size(); ++s) {
    EXPECT_EQ(SolveAndCheck(systems, lower, solvers[s]), expected) << solvers[s].name;
  }
}

// Lanes of `lower` and of one more plane, some unused, with `fill` of their columns as rows.
Systems MakeSystems(uint32_t lower, double fill, TestRandom* random) {
  Systems systems{};
  systems.wide = lower < kNarrowPlanes;
  for (uint32_t l = 0; l < kSolverLanes; ++l) {
    systems.planes[l] = lower + static_cast<uint32_t>(random->Below(2));
    if (random->Below(8) == 0) systems.planes[l] = 0;
    if (systems.planes[l] == 0) continue;
    const uint32_t columns = LineColumns(systems.planes[l]);
    const uint32_t rows = std::min(
        kMaxRows, static_cast<uint32_t>(fill * columns) + static_cast<uint32_t>(random->Below(3)));
    for (uint32_t p = 0; p < rows; ++p) AddRow(&systems, l, random->Next(), random->Next());
  }
  return systems;
}

class LineSolverTest : public ::testing::TestWithParam<uint32_t> {};

TEST_P(LineSolverTest, SolvesRandomSystems) {
  TestRandom random(GetParam());
  for (double fill : {0.0, 0.1, 0.5, 0.9, 0.95, 1.0}) {
    for (int round = 0; round < 3; ++round)
      CheckAll(MakeSystems(GetParam(), fill, &random), GetParam());
  }
}

// Rows that say the same, contradict, or are sums of others: what hashes hardly ever do to a line
// and a crafted set of keys can.
TEST_P(LineSolverTest, FindsDependentRows) {
  TestRandom random(100 + GetParam());
  for (int round = 0; round < 10; ++round) {
    Systems systems = MakeSystems(GetParam(), 0.6, &random);
    for (uint32_t l = 0; l < kSolverLanes; ++l) {
      auto& rows = systems.rows[l];
      if (rows.size() < 4) continue;
      const KeyEquation a = rows[random.Below(rows.size())], b = rows[random.Below(rows.size())];
      const uint64_t fingerprint_bit = uint64_t{1} << FingerprintShift(systems.wide);
      KeyEquation row{};
      switch (random.Below(6)) {
        case 0:  // a row twice
          row = a;
          break;
        case 1:  // the same coefficients, another fingerprint
          row = {a.coefficients, a.high ^ fingerprint_bit, 0};
          break;
        case 2:  // a sum
          row = {a.coefficients ^ b.coefficients, a.high ^ b.high, 0};
          break;
        case 3:  // a sum with a wrong fingerprint
          row = {a.coefficients ^ b.coefficients, a.high ^ b.high ^ fingerprint_bit, 0};
          break;
        case 4:  // coefficients only where the line has no columns (narrow) or only in the tail
          row = {~LowBits(LineColumns(systems.planes[l])) & kWordMask, random.Next(), 0};
          break;
        case 5:  // no coefficients at all, but a fingerprint
          row = {0, fingerprint_bit, 0};
          break;
      }
      row.high &= TailMask(systems.wide, systems.planes[l]);
      rows.insert(rows.begin() + static_cast<std::ptrdiff_t>(random.Below(rows.size())), row);
      if (rows.size() > kMaxRows) rows.pop_back();
    }
    CheckAll(systems, GetParam());
  }
}

// All rows share their first word: a wide line then has to solve everything but one row by its tail
// columns, and a row that found no column in either place must be noticed.
TEST_P(LineSolverTest, RowsThatDifferInTheTailOnly) {
  TestRandom random(200 + GetParam());
  for (int round = 0; round < 10; ++round) {
    Systems systems = MakeSystems(GetParam(), 0.3, &random);
    for (uint32_t l = 0; l < kSolverLanes; ++l) {
      for (KeyEquation& row : systems.rows[l]) row.coefficients = systems.rows[l][0].coefficients;
    }
    CheckAll(systems, GetParam());
  }
}

INSTANTIATE_TEST_SUITE_P(Planes, LineSolverTest, ::testing::Range(kMinPlanes, kMaxPlanes + 1));

}  // namespace
}  // namespace tieredfilter
