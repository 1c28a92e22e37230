#include "src/filter/equations_builder.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "src/filter/hash_sort.h"
#include "src/filter/line_solver.h"
#include "src/filter/placement.h"
#include "src/filter/placement_plan.h"

namespace tieredfilter {

namespace {

// A line may be solved again when keys arrive late; about 0.4 times on average. Only hashes with no
// entropy left get near this.
constexpr uint64_t kMaxSolvesPerLine = 16;

void StoreWord(char* p, uint64_t word) {
  for (int i = 0; i < 8; ++i) p[i] = static_cast<char>(word >> (8 * i));
}

// One attempt: plan, then solve line after line, giving away further keys where a system has no
// solution.
class Attempt {
 public:
  Attempt(const uint64_t* hashes, size_t n, const CuckooGeometry& geometry, CpuKernel kernel,
          char* out)
      : placement_(hashes, n, geometry.lines),
        geometry_(geometry),
        solver_(SolverFor(kernel, geometry.planes)),
        group_(geometry.planes),
        out_(out),
        more_(geometry.lines),
        state_(geometry.lines) {}

  bool Run() {
    ChooseKinds();
    PlanPlacement(&placement_, [this](uint32_t line) { return Capacity(line); });
    placement_.Settle();
    Promote();
    return SolveAll();
  }

  uint32_t more() const { return static_cast<uint32_t>(std::count(more_.begin(), more_.end(), 1)); }
  size_t keys_given() const { return placement_.keys_given(); }

 private:
  enum State : uint8_t { kPending, kSolved, kQueued };

  uint32_t lines() const { return geometry_.lines; }
  bool triple() const { return geometry_.planes < kWidePlanes; }
  uint32_t planes(uint32_t line) const { return geometry_.planes + more_[line]; }
  uint32_t columns(uint32_t line) const { return LineColumns(planes(line), geometry_.planes); }

  // The lines with the fewest keys get the extra plane.
  void ChooseKinds() {
    if (geometry_.more == 0) return;
    std::vector<uint32_t> lines_with(256);
    const auto clipped_own = [&](uint32_t line) { return std::min(placement_.own(line), 255u); };
    for (uint32_t line = 0; line < lines(); ++line) ++lines_with[clipped_own(line)];
    uint32_t limit = 0, left = geometry_.more;
    while (limit < 255 && lines_with[limit] <= left) left -= lines_with[limit++];
    for (uint32_t line = 0; line < lines(); ++line) {
      const uint32_t own = clipped_own(line);
      if (own < limit || (own == limit && left > 0)) {
        more_[line] = 1;
        if (own == limit) --left;
      }
    }
  }

  // Two columns less than there are: see KeysPerLine. With one less, the bytes would shrink by a
  // percent and the build take a quarter longer, since far more systems fail.
  uint32_t Capacity(uint32_t line) const { return columns(line) - 2; }

  // Lines that came out empty enough take the extra plane for free.
  void Promote() {
    if (geometry_.planes >= kMaxPlanes) return;
    const uint32_t capacity = LineColumns(geometry_.planes + 1, geometry_.planes) - 2;
    for (uint32_t line = 0; line < lines(); ++line) {
      if (placement_.load(line) <= capacity) more_[line] = 1;
    }
  }

  // Fullest first: those fail most often, and what they then give away mostly goes to lines that
  // are still to come. It also puts lines of as many rows into one group, where no lane waits for a
  // longer one.
  std::vector<uint32_t> FullestFirst(const std::vector<uint32_t>& some) const {
    const auto place = [this](uint32_t line) {
      return kMaxRows - std::min(placement_.load(line), kMaxRows);
    };
    std::vector<uint32_t> next(kMaxRows + 2), sorted(some.size());
    for (const uint32_t line : some) ++next[place(line) + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    for (const uint32_t line : some) sorted[next[place(line)]++] = line;
    return sorted;
  }

  bool SolveAll() {
    std::vector<uint32_t> todo(lines());
    std::iota(todo.begin(), todo.end(), 0);
    uint64_t solves = 0;
    while (!todo.empty()) {
      todo = FullestFirst(todo);
      for (size_t first = 0; first < todo.size(); first += kSolverLanes) {
        if (!SolveGroup(todo, first)) return false;
      }
      solves += todo.size();
      if (solves > kMaxSolvesPerLine * lines() + 64) return false;
      todo.swap(queue_);
      queue_.clear();
    }
    return true;
  }

  // The lines todo[first] and up, as many as there are lanes.
  bool SolveGroup(const std::vector<uint32_t>& todo, size_t first) {
    const uint32_t* const line_of = &todo[first];
    const size_t left = todo.size() - first;
    const auto count = static_cast<uint32_t>(std::min<size_t>(left, kSolverLanes));
    LineGroup& g = group_;
    g.rows = 0;
    for (uint32_t l = 0; l < kSolverLanes; ++l) {
      g.planes[l] = 0;
      filled_[l] = 0;
    }
    bool writable[kSolverLanes] = {};
    for (uint32_t l = 0; l < count; ++l) {
      state_[line_of[l]] = kSolved;
      if (!Gather(line_of[l], l)) return false;
      writable[l] = true;
      // Lines come in an order that no CPU can guess.
      if (l + kSolverLanes < left) placement_.Prefetch(line_of[l + kSolverLanes]);
    }
    for (uint32_t l = 0; l < kSolverLanes; ++l) {
      for (uint32_t p = filled_[l]; p < g.rows; ++p) {
        g.main[p][l] = g.tail[p][l] = 0;
        if (triple()) g.far[p][l] = 0;
      }
    }
    solver_.eliminate(&g);
    for (uint32_t l = 0; l < count; ++l) {
      if (g.first_bad[l] < filled_[l] && !DropUnsolvable(line_of[l], l, &writable[l])) return false;
    }
    solver_.substitute(&g);
    for (uint32_t l = 0; l < count; ++l) {
      if (writable[l]) Write(line_of[l], l);
    }
    RequeueReceivers();
    return true;
  }

  // What a line's rows take of a key's equation.
  struct RowMask {
    uint64_t main, tail, far;
  };
  RowMask MaskOf(uint32_t line) const {
    const uint32_t fingerprint_shift = geometry_.planes < kNarrowPlanes ? 56 : 39;
    const uint64_t fingerprint = uint64_t{FingerprintMask(planes(line))} << fingerprint_shift;
    if (triple()) {
      return {kWordMask, LowBits(kMaxTailColumns) | fingerprint, LowBits(FarColumns(planes(line)))};
    }
    return {kWordMask, LowBits(TailColumns(planes(line))) | fingerprint, 0};
  }

  // Puts a line's keys into a lane: received ones first, since they have nowhere else to go.
  bool Gather(uint32_t line, uint32_t lane) {
    uint32_t most = columns(line);
    if (placement_.received(line) > most && more_[line]) {
      more_[line] = 0;
      most = columns(line);
    }
    const uint32_t received = placement_.received(line);
    if (received > most) return false;
    if (placement_.load(line) > most &&
        (lines() < 2 || !placement_.GiveAway(line, most - received))) {
      return false;
    }
    LineGroup& g = group_;
    g.planes[lane] = planes(line);
    const RowMask mask = MaskOf(line);
    uint64_t arrived[kMaxRows];
    placement_.ReceivedHashes(line, arrived);
    uint32_t row = 0;
    const auto add = [&](uint64_t hash) {
      const KeyEquation key = EquationOf(hash);
      g.main[row][lane] = key.coefficients & mask.main;
      g.tail[row][lane] = key.high & mask.tail;
      if (triple()) g.far[row][lane] = FarCoefficients(key) & mask.far;
      ++row;
    };
    while (row < received) add(arrived[row]);
    const uint64_t* own = placement_.kept_hashes(line);
    for (uint32_t i = placement_.kept(line); i-- > 0;) add(own[i]);
    filled_[lane] = row;
    gathered_received_[lane] = received;
    g.rows = std::max(g.rows, row);
    return true;
  }

  // The first row that contradicts the others goes, with all of its rank group and below.
  bool DropUnsolvable(uint32_t line, uint32_t lane, bool* writable) {
    const uint32_t bad = group_.first_bad[lane], received = gathered_received_[lane];
    bool dropped = false;
    if (bad >= received && lines() > 1) {
      const uint64_t* own = placement_.kept_hashes(line);
      const uint64_t hash = own[placement_.kept(line) - 1 - (bad - received)];
      const uint32_t group = placement_.group_of(hash);
      if (group < Placement::kLastGroup) {
        placement_.GiveAwayThrough(line, group);
        ClearRows(&group_, lane, received + placement_.kept(line));
        dropped = true;
      }
    }
    if (dropped) return true;
    if (!more_[line]) return false;
    more_[line] = 0;  // more columns, one plane less
    *writable = false;
    state_[line] = kQueued;
    queue_.push_back(line);
    return true;
  }

  void Write(uint32_t line, uint32_t lane) {
    const uint32_t tag = MakeTag(placement_.threshold(line), more_[line] != 0);
    char* p = out_ + size_t{line} * kLineBytes;
    for (uint32_t j = 0; j < kLineWords; ++j) {
      StoreWord(p + 8 * j,
                group_.words[j][lane] | (uint64_t{(tag >> kBitOfWord[j]) & 1} << kWordColumns));
    }
  }

  // A line that is still to come reads its late keys when its turn comes; one that is done has to
  // be solved again.
  void RequeueReceivers() {
    for (; late_seen_ < placement_.late_keys(); ++late_seen_) {
      const uint32_t to = placement_.late_receiver(late_seen_);
      if (state_[to] != kSolved) continue;
      state_[to] = kQueued;
      queue_.push_back(to);
    }
  }

  Placement placement_;
  const CuckooGeometry geometry_;
  const LineSolver& solver_;
  LineGroup group_;
  char* const out_;
  std::vector<uint8_t> more_;  // 1: the line has geometry_.planes + 1 planes
  std::vector<uint8_t> state_;
  std::vector<uint32_t> queue_;
  size_t late_seen_ = 0;                      // of Placement::late_keys
  uint32_t filled_[kSolverLanes];             // rows of each lane
  uint32_t gathered_received_[kSolverLanes];  // the first of them: more keys may arrive while the
                                              // group is solved
};

}  // namespace

BuiltLines BuildEquations(uint64_t* hashes, size_t n, double bits_per_key,
                          const CuckooGeometry& geometry, CpuKernel kernel, char* out) {
  // The second attempt is rare, the third unheard of.
  constexpr uint32_t kMaxAttempts = 24;
  BuiltLines built;
  CuckooGeometry wanted = geometry;
  for (; built.attempts < kMaxAttempts; ++built.attempts) {
    const uint8_t salt = static_cast<uint8_t>(built.attempts);
    ChangeSalt(hashes, n, &built.salt, salt);
    // Another salt first; if that does not help, the lines are too full for so few of them.
    if (salt > 1) {
      wanted = GeometryForBits(n, bits_per_key, kDefaultFill - 0.02 * (salt - 1));
    }
    Attempt attempt(hashes, n, wanted, kernel, out);
    if (!attempt.Run()) continue;
    built.ok = true;
    ++built.attempts;
    built.planes = static_cast<uint8_t>(wanted.planes);
    built.lines = wanted.lines;
    built.more = attempt.more();
    built.keys_given = attempt.keys_given();
    break;
  }
  return built;
}

}  // namespace tieredfilter
