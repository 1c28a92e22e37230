#include "src/filter/short_builder.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "src/filter/hash_sort.h"
#include "src/filter/line_match.h"
#include "src/filter/placement.h"
#include "src/filter/placement_plan.h"
#include "src/filter/short_geometry.h"

namespace tieredfilter {

namespace {

// One salt more than there are in a byte would come round again. A lone line takes 1.0 to 1.7
// attempts on average, 3.5 for a handful of keys; more lines than one hardly ever a second.
constexpr uint32_t kMaxAttempts = 255;
// Where so many salts did not help, the lines are too full for so few of them.
constexpr uint32_t kAttemptsPerSlack = 16;
// Lines are planned with a column to spare: half of the systems with less have no solution.
constexpr uint32_t kPlannedSlack = 1;
// A line may be solved again when keys arrive late; 0.1 to 1.4 times on average. Only hashes with
// no entropy left get near this.
constexpr uint32_t kMaxSolvesPerLine = 16;

void PutBits(uint64_t bits, uint32_t count, uint32_t at, char* out) {
  for (uint32_t taken; count > 0; bits >>= taken, count -= taken, at += taken) {
    taken = std::min(8 - at % 8, count);
    out[at / 8] = static_cast<char>(out[at / 8] | (bits << (at % 8)));
  }
}

// One line's system over GF(2); rows come one by one. Each is kept under its lowest column, after
// what it shares with earlier ones is taken out.
class System {
 public:
  System(uint32_t columns, uint32_t planes)
      : columns_(columns),
        planes_(planes),
        low_mask_(LowBits(std::min(columns, kShortLowColumns))),
        high_mask_(LowBits(columns - std::min(columns, kShortLowColumns))) {}

  // False if the key's equation contradicts those before it; then nothing has changed.
  bool Add(const KeyEquation& key) {
    Row row = {key.coefficients & low_mask_, key.high & high_mask_, NarrowFingerprint(key.high)};
    while ((row.low | row.high) != 0) {
      Row* kept = &rows_[LowestColumn(row)];
      if ((kept->low | kept->high) == 0) {
        *kept = row;
        order_[count_++] = static_cast<uint8_t>(LowestColumn(row));
        return true;
      }
      row.low ^= kept->low;
      row.high ^= kept->high;
      row.value ^= kept->value;
    }
    return (row.value & LowBits(planes_)) == 0;
  }

  uint32_t rows() const { return count_; }
  void Shrink(uint32_t rows) {
    while (count_ > rows) rows_[order_[--count_]] = Row{};
  }

  // Writes the planes to `out`, which is zero. Columns that no row needs become zero, so the bytes
  // depend on nothing but the set of keys.
  void Solve(char* out) const {
    uint64_t low[kMaxPlanes + 1] = {}, high[kMaxPlanes + 1] = {};
    for (uint32_t column = columns_; column-- > 0;) {
      const Row& row = rows_[column];
      for (uint32_t plane = 0; plane < planes_; ++plane) {
        // The row's lowest column itself is still zero in the plane, the later ones are known.
        const uint64_t bit =
            ((row.value >> plane) & 1) ^ Parity((row.low & low[plane]) ^ (row.high & high[plane]));
        if (column < kShortLowColumns) {
          low[plane] |= bit << column;
        } else {
          high[plane] |= bit << (column - kShortLowColumns);
        }
      }
    }
    const uint32_t low_columns = std::min(columns_, kShortLowColumns);
    for (uint32_t plane = 0; plane < planes_; ++plane) {
      PutBits(low[plane], low_columns, plane * columns_, out);
      PutBits(high[plane], columns_ - low_columns, plane * columns_ + low_columns, out);
    }
  }

 private:
  struct Row {
    uint64_t low, high;  // coefficients of the low columns, and of the high ones
    uint32_t value;      // fingerprint
  };
  static uint32_t LowestColumn(const Row& row) {
    return static_cast<uint32_t>(row.low != 0 ? __builtin_ctzll(row.low)
                                              : kShortLowColumns + __builtin_ctzll(row.high));
  }

  uint32_t columns_;
  uint32_t planes_;
  uint64_t low_mask_;
  uint64_t high_mask_;
  Row rows_[kMaxShortColumns] = {};  // by lowest column
  uint32_t count_ = 0;
  uint8_t order_[kMaxShortColumns];
};

// One attempt: plan, then solve line after line, giving away further keys where a system has no
// solution.
class ShortAttempt {
 public:
  ShortAttempt(const uint64_t* hashes, size_t n, const ShortGeometry& geometry, char* out)
      : placement_(hashes, n, geometry.lines),
        geometry_(geometry),
        out_(out),
        more_(geometry.lines),
        solved_(geometry.lines),
        received_(n) {
    systems_.reserve(geometry.lines);
  }

  bool Run() {
    ChooseKinds();
    PlanPlacement(&placement_, [this](uint32_t line) { return columns(line) - kPlannedSlack; });
    placement_.Settle();
    for (uint32_t line = 0; line < geometry_.lines; ++line) {
      systems_.emplace_back(columns(line), geometry_.planes + more_[line]);
      todo_.push_back(line);
    }
    for (size_t i = 0; i < todo_.size(); ++i) {
      if (i == kMaxSolvesPerLine * geometry_.lines || !SolveLine(todo_[i])) return false;
    }
    std::memset(out_, 0, geometry_.data_bytes);
    for (uint32_t line = 0; line < geometry_.lines; ++line) Write(line);
    return true;
  }

  uint32_t more() const {
    return static_cast<uint32_t>(std::accumulate(more_.begin(), more_.end(), 0));
  }
  size_t keys_given() const { return placement_.keys_given(); }

 private:
  uint32_t columns(uint32_t line) const { return geometry_.columns(more_[line]); }

  // The lines with the fewest keys get the extra plane.
  void ChooseKinds() {
    std::vector<uint32_t> lines(geometry_.lines);
    std::iota(lines.begin(), lines.end(), 0);
    std::stable_sort(lines.begin(), lines.end(), [this](uint32_t a, uint32_t b) {
      return placement_.own(a) < placement_.own(b);
    });
    for (uint32_t i = 0; i < geometry_.more; ++i) more_[lines[i]] = 1;
  }

  // Fills the line's system. Received keys first, since they have nowhere else to go.
  bool SolveLine(uint32_t line) {
    System* system = &systems_[line];
    *system = System(columns(line), geometry_.planes + more_[line]);
    placement_.ReceivedHashes(line, received_.data());
    for (uint32_t i = 0; i < placement_.received(line); ++i) {
      if (!system->Add(EquationOf(received_[i]))) return false;
    }
    solved_[line] = 1;
    const uint64_t* own = placement_.kept_hashes(line);
    uint32_t group = Placement::kLastGroup + 1, rows_before_group = 0;
    for (uint32_t i = placement_.kept(line); i-- > 0;) {
      if (placement_.group_of(own[i]) != group) {
        group = placement_.group_of(own[i]);
        rows_before_group = system->rows();
      }
      if (system->Add(EquationOf(own[i]))) continue;
      system->Shrink(rows_before_group);
      return geometry_.lines > 1 && GiveAwayThrough(line, group);
    }
    return true;
  }

  bool GiveAwayThrough(uint32_t line, uint32_t group) {
    const uint64_t* given = placement_.kept_hashes(line);
    const size_t before = placement_.late_keys();
    if (!placement_.GiveAwayThrough(line, group)) return false;
    for (size_t i = before; i < placement_.late_keys(); ++i) {
      const uint32_t to = placement_.late_receiver(i);
      // A line that is still to come reads its late keys when its turn comes. One that is done can
      // take most of them as they are.
      if (!solved_[to] || systems_[to].Add(EquationOf(given[i - before]))) continue;
      solved_[to] = 0;
      todo_.push_back(to);
    }
    return true;
  }

  void Write(uint32_t line) {
    char* p = out_ + line * geometry_.stride();
    if (geometry_.lines > 1) {
      *p++ =
          static_cast<char>(placement_.threshold(line) | (more_[line] ? kShortTagMorePlanes : 0));
    }
    systems_[line].Solve(p);
  }

  Placement placement_;
  const ShortGeometry geometry_;
  char* const out_;
  std::vector<uint8_t> more_;    // 1: the line has a plane more
  std::vector<uint8_t> solved_;  // 1: the line's system has all its keys
  std::vector<System> systems_;
  std::vector<uint32_t> todo_;
  std::vector<uint64_t> received_;  // scratch
};

}  // namespace

BuiltLines BuildShort(uint64_t* hashes, size_t n, double bits_per_key, char* out) {
  BuiltLines built;
  while (!built.ok && built.attempts < kMaxAttempts) {
    const auto salt = static_cast<uint8_t>(built.attempts++);
    ChangeSalt(hashes, n, &built.salt, salt);
    const ShortGeometry geometry = ShortGeometryFor(n, bits_per_key, salt / kAttemptsPerSlack);
    ShortAttempt attempt(hashes, n, geometry, out);
    built.ok = attempt.Run();
    built.planes = static_cast<uint8_t>(geometry.planes);
    built.lines = geometry.lines;
    built.more = attempt.more();
    built.keys_given = attempt.keys_given();
  }
  return built;
}

}  // namespace tieredfilter
