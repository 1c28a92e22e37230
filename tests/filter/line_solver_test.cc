#include "src/filter/line_solver.h"

#include <algorithm>
#include <bitset>
#include <cstring>
#include <optional>
#include <vector>

#include "gtest/gtest.h"
#include "src/filter/line_solver_impl.h"
#include "src/filter/triple_solver_impl.h"
#include "tests/filter/reference_lookup.h"
#include "tests/filter/test_keys.h"

namespace tieredfilter {
namespace {

// The widest vectors, which any compiler can lower: the solver of CPUs this test may not have.
void EliminateWide64(LineGroup* group) { SolverImpl<64>::Eliminate(group); }
void SubstituteWide64(LineGroup* group) { SolverImpl<64>::Substitute(group); }
void EliminateTriple64(LineGroup* group) { TripleSolverImpl<64>::Eliminate(group); }
void SubstituteTriple64(LineGroup* group) { TripleSolverImpl<64>::Substitute(group); }

struct NamedSolver {
  const char* name;
  LineSolver solver;
};

std::vector<NamedSolver> Solvers(uint32_t lower) {
  std::vector<NamedSolver> solvers;
  for (CpuKernel kernel : SupportedCpuKernels()) {
    solvers.push_back({CpuKernelName(kernel).data(), SolverFor(kernel, lower)});
  }
  const bool triple = lower < kWidePlanes;
  solvers.push_back({"64-byte vectors",
                     {triple ? &EliminateTriple64 : &EliminateWide64,
                      triple ? &SubstituteTriple64 : &SubstituteWide64}});
  return solvers;
}

// One row, masked to the line's bits: as LineGroup has them.
struct Row {
  uint64_t main, tail, far;
};

// The systems of eight lines before solving.
struct Systems {
  uint32_t lower;
  uint32_t planes[kSolverLanes];
  std::vector<Row> rows[kSolverLanes];
};

uint32_t FingerprintShift(const Systems& systems) {
  return systems.lower < kNarrowPlanes ? 56 : 39;
}

Row Masked(const Systems& systems, uint32_t lane, Row row) {
  const uint32_t planes = systems.planes[lane];
  uint64_t tail = uint64_t{FingerprintMask(planes)} << FingerprintShift(systems), far = 0;
  if (systems.lower < kWidePlanes) {
    tail |= LowBits(kMaxTailColumns);
    far = LowBits(FarColumns(planes));
  } else if (systems.lower < kNarrowPlanes) {
    tail |= LowBits(TailColumns(planes));
  }
  return {row.main & kWordMask, row.tail & tail, row.far & far};
}

void Load(const Systems& systems, LineGroup* group) {
  // Whatever a group held before must not matter.
  for (LaneRow* array : {group->main, group->tail, group->pivot, group->far, group->tail_pivot,
                         group->far_pivot, group->late, group->late_pivot}) {
    if (array != nullptr) std::memset(array, 0x5a, group->max_rows * sizeof(*array));
  }
  std::memset(group->words, 0x5a, sizeof(group->words));
  group->rows = 0;
  for (uint32_t l = 0; l < kSolverLanes; ++l) {
    group->planes[l] = systems.planes[l];
    group->rows = std::max(group->rows, static_cast<uint32_t>(systems.rows[l].size()));
  }
  for (uint32_t p = 0; p < group->rows; ++p) {
    for (uint32_t l = 0; l < kSolverLanes; ++l) {
      const Row row = p < systems.rows[l].size() ? systems.rows[l][p] : Row{};
      group->main[p][l] = row.main;
      group->tail[p][l] = row.tail;
      if (systems.lower < kWidePlanes) group->far[p][l] = row.far;
    }
  }
}

// Textbook elimination of one system, row by row: the first row that earlier ones contradict.
// Columns of a narrow line beyond its own count as part of the right-hand side, since what they
// multiply is not known while the line is solved.
uint32_t FirstBadRow(const Systems& systems, uint32_t lane, uint32_t all_rows) {
  typedef std::bitset<192> Bits;  // main, tail, far, 64 bits each
  const auto bits_of = [](const Row& row) {
    return Bits(row.main) | Bits(row.tail) << 64 | Bits(row.far) << 128;
  };
  const uint32_t planes = systems.planes[lane];
  Row column_row{kWordMask, LowBits(kMaxTailColumns), ~uint64_t{0}};
  if (systems.lower >= kNarrowPlanes) column_row = {LowBits(LineColumns(planes)), 0, 0};
  const Bits columns = bits_of(column_row);
  std::vector<std::pair<size_t, Bits>> basis;  // a column, the row that has it
  const std::vector<Row>& rows = systems.rows[lane];
  for (uint32_t p = 0; p < rows.size(); ++p) {
    Bits row = bits_of(rows[p]);
    for (const auto& [column, earlier] : basis) {
      if (row[column]) row ^= earlier;
    }
    size_t column = 0;
    while (column < row.size() && !(row[column] && columns[column])) ++column;
    if (column < row.size()) {
      basis.emplace_back(column, row);
    } else if (row.any()) {
      return p;
    }
  }
  return all_rows;
}

// What a lane's words accept, once they have a tag.
bool LineAccepts(const LineGroup& group, uint32_t lane, uint32_t lower, const Row& row) {
  char line[kLineBytes];
  for (uint32_t j = 0; j < kLineWords; ++j) {
    uint64_t word = group.words[j][lane];
    if (j == 0 && group.planes[lane] > lower) word |= uint64_t{1} << 63;
    for (uint32_t b = 0; b < 8; ++b) line[8 * j + b] = static_cast<char>(word >> (8 * b));
  }
  return ReferenceLine(line, lower).Matches(KeyEquation{row.main, row.tail, 0}, row.far);
}

// Solves with one solver, checks it against the textbook, returns the words.
std::vector<uint64_t> SolveAndCheck(const Systems& systems, const NamedSolver& named) {
  LineGroup group(systems.lower);
  Load(systems, &group);
  named.solver.eliminate(&group);
  uint32_t kept[kSolverLanes];
  for (uint32_t l = 0; l < kSolverLanes; ++l) {
    if (systems.planes[l] == 0) continue;
    const auto rows = static_cast<uint32_t>(systems.rows[l].size());
    kept[l] = FirstBadRow(systems, l, group.rows);
    EXPECT_EQ(group.first_bad[l], kept[l]) << named.name << ", lane " << l;
    if (kept[l] < rows) ClearRows(&group, l, kept[l]);
    kept[l] = std::min(kept[l], rows);
  }
  named.solver.substitute(&group);
  std::vector<uint64_t> words;
  for (uint32_t l = 0; l < kSolverLanes; ++l) {
    for (uint32_t j = 0; j < kLineWords; ++j) {
      if (systems.planes[l] == 0) continue;
      words.push_back(group.words[j][l]);
      EXPECT_EQ(words.back() >> 63, 0u) << "the tag is the caller's";
    }
    for (uint32_t p = 0; systems.planes[l] != 0 && p < kept[l]; ++p) {
      EXPECT_TRUE(LineAccepts(group, l, systems.lower, systems.rows[l][p]))
          << named.name << ", " << systems.planes[l] << " planes, row " << p << " of " << kept[l];
    }
  }
  return words;
}

void CheckAll(const Systems& systems) {
  const std::vector<NamedSolver> solvers = Solvers(systems.lower);
  const std::vector<uint64_t> expected = SolveAndCheck(systems, solvers[0]);
  for (size_t s = 1; s < solvers.size(); ++s) {
    EXPECT_EQ(SolveAndCheck(systems, solvers[s]), expected) << solvers[s].name;
  }
}

// Lanes of `lower` and of one more plane, some unused, with `fill` of their columns as rows.
Systems MakeSystems(uint32_t lower, double fill, TestRandom* random) {
  Systems systems{};
  systems.lower = lower;
  for (uint32_t l = 0; l < kSolverLanes; ++l) {
    systems.planes[l] = lower + static_cast<uint32_t>(random->Below(2));
    if (random->Below(8) == 0) systems.planes[l] = 0;
    if (systems.planes[l] == 0) continue;
    const uint32_t columns = LineColumns(systems.planes[l], lower);
    const uint32_t rows = std::min(LineColumns(lower), static_cast<uint32_t>(fill * columns) +
                                                           static_cast<uint32_t>(random->Below(3)));
    for (uint32_t p = 0; p < rows; ++p) {
      systems.rows[l].push_back(
          Masked(systems, l, {random->Next(), random->Next(), random->Next()}));
    }
  }
  return systems;
}

class LineSolverTest : public ::testing::TestWithParam<uint32_t> {};

TEST_P(LineSolverTest, SolvesRandomSystems) {
  TestRandom random(GetParam());
  for (double fill : {0.0, 0.1, 0.5, 0.9, 0.95, 1.0}) {
    for (int round = 0; round < 3; ++round) CheckAll(MakeSystems(GetParam(), fill, &random));
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
      const Row a = rows[random.Below(rows.size())], b = rows[random.Below(rows.size())];
      const uint64_t fingerprint_bit = uint64_t{1} << FingerprintShift(systems);
      Row row{};
      switch (random.Below(6)) {
        case 0:  // a row twice
          row = a;
          break;
        case 1:  // the same coefficients, another fingerprint
          row = {a.main, a.tail ^ fingerprint_bit, a.far};
          break;
        case 2:  // a sum
          row = {a.main ^ b.main, a.tail ^ b.tail, a.far ^ b.far};
          break;
        case 3:  // a sum with a wrong fingerprint
          row = {a.main ^ b.main, a.tail ^ b.tail ^ fingerprint_bit, a.far ^ b.far};
          break;
        case 4:  // coefficients only where the line has no columns (narrow) or only in the tail
          row = {~LowBits(LineColumns(systems.planes[l])), random.Next(), random.Next()};
          break;
        case 5:  // no coefficients at all, but a fingerprint
          row = {0, fingerprint_bit, 0};
          break;
      }
      row = Masked(systems, l, row);
      rows.insert(rows.begin() + static_cast<std::ptrdiff_t>(random.Below(rows.size())), row);
      if (rows.size() > LineColumns(GetParam())) rows.pop_back();
    }
    CheckAll(systems);
  }
}

// All rows share their first word: a wide line then has to solve everything but one row by its tail
// columns, and a row that found no column in either place must be noticed.
TEST_P(LineSolverTest, RowsThatDifferInTheTailOnly) {
  TestRandom random(200 + GetParam());
  for (int round = 0; round < 10; ++round) {
    Systems systems = MakeSystems(GetParam(), 0.3, &random);
    for (uint32_t l = 0; l < kSolverLanes; ++l) {
      for (Row& row : systems.rows[l]) row.main = systems.rows[l][0].main;
      if (GetParam() >= kWidePlanes || round % 2 == 0) continue;
      // In the far columns only.
      for (Row& row : systems.rows[l]) {
        row.tail ^= (row.tail ^ systems.rows[l][0].tail) & LowBits(kMaxTailColumns);
      }
    }
    CheckAll(systems);
  }
}

INSTANTIATE_TEST_SUITE_P(Planes, LineSolverTest, ::testing::Range(kMinPlanes, kMaxPlanes + 1));

}  // namespace
}  // namespace tieredfilter
