#include "tools/cold_lookup_bench/equalize.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <utility>

#include "tools/cold_lookup_bench/storage.h"

namespace tieredfilter::cold_lookup {

using ROCKSDB_NAMESPACE::Status;

namespace {

constexpr int kMaxRounds = 8;
constexpr double kMinBits = 1;
constexpr double kMaxBits = 40;

// What is made equal. Negative if the filters do not tell.
double Measure(Equalize equalize, const TreeFiles& files) {
  double bytes = 0;
  // An absent key visits one file of each sorted run: every file of level 0, and one of the others
  // of a level, each in proportion to its keys.
  std::map<int, std::pair<double, double>> weighted;  // level -> sum of entries * rate, entries
  double reads = 0;
  for (const TreeFile& file : files.files()) {
    bytes += static_cast<double>(file.filter.bytes);
    const double rate = file.filter.kind == "none" ? 1.0 : file.filter.expected_rate;
    if (rate < 0 && equalize == Equalize::kReads) {
      return -1;
    }
    if (file.level == 0) {
      reads += rate;
    } else {
      weighted[file.level].first += rate * static_cast<double>(file.entries);
      weighted[file.level].second += static_cast<double>(file.entries);
    }
  }
  for (const auto& [level, sums] : weighted) {
    reads += sums.first / sums.second;
  }
  return equalize == Equalize::kBytes ? bytes : reads;
}

// Bits to add so that `value` becomes `target`, by the slope every filter has at large; the next
// round corrects it.
double Step(Equalize equalize, double value, double target, double entries) {
  if (equalize == Equalize::kBytes) {
    return 8 * (target - value) / entries;
  }
  constexpr double kBloomSlope =
      0.48;  // ln(2)^2 per bit; steeper for others, so a step never falls short by much
  return std::log(value / target) / kBloomSlope;
}

class Tuner {
 public:
  Tuner(const Setup& setup, Equalize equalize, const std::string& folder)
      : setup_(setup), equalize_(equalize), folder_(folder) {}

  Status Inspect(const PolicyChoice& choice, double* value) {
    ScopedFolder database;
    Status s = database.CreateIn(folder_, "equalize.");
    if (!s.ok()) {
      return s;
    }
    PolicyRun run(setup_, choice, database.path());
    if (s = run.LoadOnly(); !s.ok()) {
      return s;
    }
    *value = Measure(equalize_, run.files());
    if (*value <= 0) {
      return Status::InvalidArgument(
          fmt::format("--equalize: '{}' cannot be tuned: its filters do not tell what to expect",
                      choice.requested));
    }
    return Status::OK();
  }

  Status Tune(double target, PolicyChoice* choice) {
    const PolicyChoice original = *choice;
    double shift = 0;
    double last_shift = 0;
    double last_value = 0;
    for (int round = 0; round < kMaxRounds; ++round) {
      double value = 0;
      if (Status s = Inspect(*choice, &value); !s.ok()) {
        return s;
      }
      if (std::abs(value / target - 1) <= kEqualWithin / 2) {
        return Status::OK();
      }
      double step =
          Step(equalize_, value, target, static_cast<double>(setup_.source.plan().TotalEntries()));
      if (round > 0 && value != last_value) {
        // Secant on the logarithm, which is nearly linear in the bits for reads and close enough
        // for bytes.
        step = std::log(target / value) * (shift - last_shift) / std::log(value / last_value);
      }
      last_shift = std::exchange(shift, shift + step);
      last_value = value;
      PolicyChoice shifted = original;
      if (!ShiftBits(shift, &shifted.requested)) {
        break;
      }
      std::vector<PolicyChoice> chosen;
      if (Status s = ChoosePolicies({shifted.requested}, setup_.source.plan(), &chosen); !s.ok()) {
        return s;
      }
      *choice = chosen.back();
    }
    return Status::InvalidArgument(fmt::format(
        "--equalize: '{}' does not come within {}% of the first policy by changing its bits",
        original.requested, 100 * kEqualWithin));
  }

 private:
  const Setup& setup_;
  const Equalize equalize_;
  const std::string folder_;
};

bool EndsWithKind(const std::string& text, size_t end) {
  for (const std::string kind :
       {"bloom:", "ribbon:", "cuckoo:", "bloomfilter:", "ribbonfilter:", "cuckoofilter:"}) {
    if (end >= kind.size() && text.compare(end - kind.size(), kind.size(), kind) == 0) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool ShiftBits(double bits, std::string* spec) {
  std::string result;
  bool found = false;
  for (size_t at = 0; at < spec->size();) {
    char* end = nullptr;
    const bool digit = (*spec)[at] >= '0' && (*spec)[at] <= '9';
    const double value =
        digit && EndsWithKind(*spec, at) ? std::strtod(spec->c_str() + at, &end) : 0;
    if (end == nullptr || *end == '%') {
      result += (*spec)[at++];
      continue;
    }
    if (value + bits < kMinBits || value + bits > kMaxBits) {
      return false;
    }
    result += fmt::format("{:.3f}", value + bits);
    at = static_cast<size_t>(end - spec->c_str());
    found = true;
  }
  if (found) {
    *spec = result;
  }
  return found;
}

Status EqualizePolicies(const Setup& setup, Equalize equalize, const std::string& folder,
                        std::vector<PolicyChoice>* choices) {
  if (equalize == Equalize::kNothing) {
    return Status::OK();
  }
  Tuner tuner(setup, equalize, folder);
  double target = 0;
  for (PolicyChoice& choice : *choices) {
    if (choice.policy == nullptr) {
      continue;
    }
    const Status s = target == 0 ? tuner.Inspect(choice, &target) : tuner.Tune(target, &choice);
    if (!s.ok()) {
      return s;
    }
  }
  return Status::OK();
}

}  // namespace tieredfilter::cold_lookup
