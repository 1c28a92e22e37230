#include "src/policy/budget_spec.h"

#include <algorithm>

#include "src/policy/policy_spec.h"
#include "src/policy/spec_text.h"

namespace tieredfilter {
namespace {

constexpr int64_t kMaxShareDivisor = 10000;
constexpr int kShareDecimals = 4;
constexpr char kAuto[] = "auto";
constexpr int kBitsDecimals = 3;
constexpr int64_t kMinBudgetMillibits = 100;
constexpr int64_t kMaxMillibits = 24000;
constexpr int64_t kMaxShapeFiles = 1000;
constexpr int64_t kMaxEntries = int64_t{1000} * 1000 * 1000 * 1000;
constexpr int64_t kMinBytes = 1024;

bool Fail(size_t position, std::string message, SpecError* error) {
  error->position = position;
  error->message = std::move(message);
  return false;
}

struct Unit {
  const char* name;
  int64_t factor;
};
// The first name of a factor is the one that is printed.
constexpr Unit kByteUnits[] = {{"GB", int64_t{1} << 30},
                               {"MB", int64_t{1} << 20},
                               {"kB", int64_t{1} << 10},
                               {"KB", int64_t{1} << 10}};
constexpr Unit kKeyUnits[] = {{"G", 1000 * 1000 * 1000}, {"M", 1000 * 1000}, {"k", 1000}};

bool EndsWith(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// Reads "512MB" or "2.5k" as a whole number. False if it has no unit of the list.
template <size_t kCount>
bool ParseWithUnit(const std::string& text, const Unit (&units)[kCount], int64_t* value) {
  for (const Unit& unit : units) {
    if (EndsWith(text, unit.name)) {
      const DecimalResult number =
          ParseDecimal(text.substr(0, text.size() - std::string(unit.name).size()), 3);
      *value = number.ok && number.value <= kMaxEntries * 1000 / unit.factor
                   ? number.value * unit.factor / 1000
                   : -1;
      return true;
    }
  }
  return false;
}

template <size_t kCount>
std::string FormatWithUnit(int64_t value, const Unit (&units)[kCount]) {
  for (const Unit& unit : units) {
    if (value >= unit.factor && value % unit.factor == 0) {
      return std::to_string(value / unit.factor) + unit.name;
    }
  }
  return std::to_string(value);
}

// Bytes that no unit divides are printed with "B", so that they are not taken for bits.
std::string FormatBytes(int64_t bytes) {
  const std::string text = FormatWithUnit(bytes, kByteUnits);
  return EndsWith(text, "B") ? text : text + "B";
}

// True if `text` is meant as a number of bytes; -1 if it is none.
bool ParseBytes(const std::string& text, int64_t* bytes) {
  if (ParseWithUnit(text, kByteUnits, bytes)) {
    return true;
  }
  if (!EndsWith(text, "B")) {
    return false;
  }
  const DecimalResult number = ParseDecimal(text.substr(0, text.size() - 1), 0);
  *bytes = number.ok ? number.value : -1;
  return true;
}

// An amount of memory: bits per key, or bytes.
bool ParseLimit(const SpecPiece& value, const std::string& name, int64_t least_millibits,
                int64_t* millibits, int64_t* bytes, SpecError* error) {
  int64_t amount = 0;
  if (ParseBytes(value.text, &amount)) {
    if (amount < kMinBytes) {
      return Fail(value.position,
                  Quoted(value.text) + " is no " + name +
                      ": write a number and kB, MB or GB, at least 1kB, as in 512MB",
                  error);
    }
    *bytes = amount;
    return true;
  }
  const DecimalResult bits = ParseDecimal(value.text, kBitsDecimals);
  if (!bits.ok) {
    return Fail(value.position,
                Quoted(value.text) + " is no " + name + ": " + bits.why +
                    "; write bits per key such as 10, or bytes such as 512MB",
                error);
  }
  if (bits.value < least_millibits || bits.value > kMaxMillibits) {
    return Fail(value.position,
                Quoted(value.text) + " bits per key is out of range: " + name + " takes " +
                    FormatDecimal(least_millibits, kBitsDecimals) + " to " +
                    FormatDecimal(kMaxMillibits, kBitsDecimals) +
                    "; for bytes write a unit as in 512MB",
                error);
  }
  *millibits = bits.value;
  return true;
}

bool ParseBudget(const SpecPiece& value, BudgetSpec* spec, SpecError* error) {
  return ParseLimit(value, "budget", kMinBudgetMillibits, &spec->millibits_per_key, &spec->bytes,
                    error);
}

bool ParseAbsent(const SpecPiece& value, BudgetSpec* spec, SpecError* error) {
  if (value.text == kAuto) {
    spec->absent_is_measured = true;
    return true;
  }
  const DecimalResult share = ParseDecimal(value.text, kShareDecimals);
  if (!share.ok || share.value > kMaxShareDivisor) {
    return Fail(value.position,
                Quoted(value.text) + " is no share of lookups that find nothing" +
                    (share.ok ? "" : ": " + share.why) +
                    "; write a number from 0 to 1, as in 0.8, or auto",
                error);
  }
  spec->absent_per_myriad = share.value;
  return true;
}

bool ParseKinds(const SpecPiece& value, BudgetSpec* spec, SpecError* error) {
  std::vector<FilterKind> found;
  for (const SpecPiece& piece : SplitSpec(value.text, value.position, '+')) {
    FilterKind kind;
    if (!FindFilterKind(piece.text, &kind) || kind == FilterKind::kNone) {
      return Fail(piece.position,
                  Quoted(piece.text) + " is no filter kind to choose from" +
                      DidYouMean(piece.text, {"bloom", "ribbon", "cuckoo"}) +
                      "; write bloom, ribbon and cuckoo with + between them",
                  error);
    }
    if (std::find(found.begin(), found.end(), kind) != found.end()) {
      return Fail(piece.position, Quoted(piece.text) + " is named twice", error);
    }
    found.push_back(kind);
  }
  // In one order, so that equal choices print alike.
  std::sort(found.begin(), found.end());
  spec->kinds = found;
  return true;
}

bool ParseCap(const SpecPiece& value, BudgetSpec* spec, SpecError* error) {
  int64_t millibits = 0, bytes = 0;
  for (const SpecPiece& piece : SplitSpec(value.text, value.position, '+')) {
    const int64_t had_millibits = millibits, had_bytes = bytes;
    if (!ParseLimit(piece, "cap", 1000, &millibits, &bytes, error)) {
      return false;
    }
    const bool is_bytes = bytes != had_bytes || (had_bytes != 0 && millibits == had_millibits);
    if (is_bytes ? had_bytes != 0 : had_millibits != 0) {
      return Fail(piece.position,
                  Quoted(piece.text) +
                      " is one limit too many: a cap is at most one number of bits "
                      "per key and one of bytes per table, as in 16+2MB",
                  error);
    }
  }
  spec->cap_millibits = millibits != 0 ? millibits : BudgetSpec().cap_millibits;
  spec->cap_bytes = bytes;
  return true;
}

bool ParseEntries(const std::string& text, int64_t* entries) {
  if (ParseWithUnit(text, kKeyUnits, entries)) {
    return *entries >= 0 && *entries <= kMaxEntries;
  }
  const DecimalResult number = ParseDecimal(text, 0);
  *entries = number.value;
  return number.ok && *entries <= kMaxEntries;
}

bool ParseShape(const SpecPiece& value, BudgetSpec* spec, SpecError* error) {
  std::vector<int64_t> entries;
  int64_t files = 1, total = 0;
  for (SpecPiece piece : SplitSpec(value.text, value.position, '+')) {
    const size_t times = piece.text.find('x');
    if (entries.empty() && times != std::string::npos) {
      const DecimalResult number = ParseDecimal(piece.text.substr(0, times), 0);
      if (!number.ok || number.value < 1 || number.value > kMaxShapeFiles) {
        return Fail(piece.position,
                    Quoted(piece.text) + " is no number of level-0 files times keys; write 4x25k",
                    error);
      }
      files = number.value;
      piece = {piece.text.substr(times + 1), piece.position + times + 1};
    }
    int64_t count = 0;
    if (!ParseEntries(piece.text, &count)) {
      return Fail(piece.position,
                  Quoted(piece.text) +
                      " is no number of keys; write 4x25k+100k+1M for four level-0 "
                      "files, level 1 and level 2",
                  error);
    }
    entries.push_back(count);
    total += count;
  }
  if (total == 0 || entries.size() > kMaxLevelNumber) {
    return Fail(value.position,
                Quoted(value.text) + " is no shape: it needs keys, in at most " +
                    std::to_string(kMaxLevelNumber) + " levels",
                error);
  }
  spec->shape_files = files;
  spec->shape_entries = entries;
  return true;
}

using ParseFunction = bool (*)(const SpecPiece&, BudgetSpec*, SpecError*);
// In the order of kBudgetNames.
constexpr ParseFunction kParseFunctions[] = {ParseBudget, ParseAbsent, ParseKinds, ParseCap,
                                             ParseShape};
constexpr size_t kNameCount = sizeof(kBudgetNames) / sizeof(kBudgetNames[0]);

size_t OffsetOfBudget(const std::string& text) {
  const std::string id = std::string(kPolicyId) + ":";
  return text.compare(0, id.size(), id) == 0 ? id.size() : 0;
}

bool ParsePiece(const SpecPiece& piece, bool (&seen)[kNameCount], BudgetSpec* spec,
                SpecError* error) {
  const size_t end = piece.text.find_first_of(":=");
  const std::string name = piece.text.substr(0, end);
  for (size_t i = 0; i < kNameCount; ++i) {
    if (name != kBudgetNames[i]) {
      continue;
    }
    if (seen[i]) {
      return Fail(piece.position, Quoted(name) + " is given twice", error);
    }
    seen[i] = true;
    const SpecPiece value = end == std::string::npos
                                ? SpecPiece{"", piece.position + piece.text.size()}
                                : SpecPiece{piece.text.substr(end + 1), piece.position + end + 1};
    return kParseFunctions[i](value, spec, error);
  }
  return Fail(piece.position,
              Quoted(piece.text) + " is no property of a budget" +
                  DidYouMean(name, {kBudgetNames, kBudgetNames + kNameCount}) +
                  "; the properties are absent, kinds, cap and shape, and rules for levels cannot "
                  "stand beside a budget",
              error);
}

}  // namespace

bool IsBudgetSpec(const std::string& text) {
  const size_t offset = OffsetOfBudget(text);
  const size_t end = text.find_first_of(":=,", offset);
  return text.compare(offset, end == std::string::npos ? end : end - offset, "budget") == 0;
}

bool BudgetSpec::Parse(const std::string& text, BudgetSpec* spec, SpecError* error) {
  if (text.size() > kMaxSpecBytes) {
    return Fail(kMaxSpecBytes,
                "the spec has " + std::to_string(text.size()) + " bytes; at most " +
                    std::to_string(kMaxSpecBytes) + " are read",
                error);
  }
  const size_t offset = OffsetOfBudget(text);
  BudgetSpec result;
  bool seen[kNameCount] = {};
  for (const SpecPiece& piece : SplitSpec(text.substr(offset), offset, ',')) {
    if (!ParsePiece(piece, seen, &result, error)) {
      return false;
    }
  }
  if (!seen[0]) {
    return Fail(offset, "the budget is missing; write budget:10 or budget:512MB", error);
  }
  *spec = result;
  return true;
}

std::string BudgetSpec::ToString() const {
  const BudgetSpec unset;
  std::string text = "budget:" + (bytes != 0 ? FormatBytes(bytes)
                                             : FormatDecimal(millibits_per_key, kBitsDecimals));
  if (absent_is_measured) {
    text += std::string(",absent:") + kAuto;
  } else if (absent_per_myriad != unset.absent_per_myriad) {
    text += ",absent:" + FormatDecimal(absent_per_myriad, kShareDecimals);
  }
  if (kinds != unset.kinds) {
    std::string names;
    for (FilterKind kind : kinds) {
      names += std::string(names.empty() ? "" : "+") + NameOf(kind);
    }
    text += ",kinds:" + names;
  }
  if (cap_millibits != unset.cap_millibits || cap_bytes != 0) {
    text += ",cap:" + FormatDecimal(cap_millibits, kBitsDecimals) +
            (cap_bytes != 0 ? "+" + FormatBytes(cap_bytes) : "");
  }
  for (size_t i = 0; i < shape_entries.size(); ++i) {
    text += i == 0 ? ",shape:" + std::to_string(shape_files) + "x" : "+";
    text += FormatWithUnit(shape_entries[i], kKeyUnits);
  }
  return text;
}

}  // namespace tieredfilter
