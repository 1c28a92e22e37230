#include "src/policy/filter_setting.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "src/policy/spec_text.h"

namespace tieredfilter {
namespace {

struct KindEntry {
  FilterKind kind;
  const char* name;
  BitsLimits limits;
};

// The one list of kinds. A new kind is a line here and a line in plugin/filter_source.cc.
constexpr KindEntry kKinds[] = {
    {FilterKind::kBloom, "bloom", {1000, 64000}},
    {FilterKind::kRibbon, "ribbon", {1000, 32000}},
    {FilterKind::kCuckoo, "cuckoo", {4000, 24000}},
    {FilterKind::kNone, "none", {0, 0}},
};

constexpr char kFingerprintsName[] = "fingerprints";
constexpr char kEquationsName[] = "equations";

const KindEntry& EntryOf(FilterKind kind) {
  for (const KindEntry& entry : kKinds) {
    if (entry.kind == kind) {
      return entry;
    }
  }
  return kKinds[0];
}

bool Fail(size_t position, std::string message, SpecError* error) {
  error->position = position;
  error->message = std::move(message);
  return false;
}

bool ParseRate(const std::string& text, size_t offset, const KindEntry& entry,
               FilterSetting* setting, SpecError* error) {
  // Seven decimals of a percent are one in 10^9.
  const DecimalResult rate = ParseDecimal(text.substr(0, text.size() - 1), 7);
  if (!rate.ok) {
    return Fail(offset,
                Quoted(text) + " is no false-positive rate: " + rate.why +
                    "; write a percentage such as 1% or 0.05%",
                error);
  }
  if (rate.value < kMinRatePerBillion || rate.value > kMaxRatePerBillion) {
    return Fail(offset,
                "the false-positive rate " + Quoted(text) + " is out of range: " + entry.name +
                    " takes 0.0001% to 50%",
                error);
  }
  setting->rate_per_billion = rate.value;
  return true;
}

bool ParseBits(const std::string& text, size_t offset, const KindEntry& entry,
               FilterSetting* setting, SpecError* error) {
  const DecimalResult bits = ParseDecimal(text, 3);
  if (!bits.ok) {
    return Fail(offset,
                Quoted(text) + " is no number of bits per key: " + bits.why +
                    "; write a number such as 10 or 9.5, or a rate such as 1%",
                error);
  }
  if (bits.value < entry.limits.min_millibits || bits.value > entry.limits.max_millibits) {
    return Fail(offset,
                Quoted(text) + " bits per key is out of range: " + entry.name + " takes " +
                    FormatDecimal(entry.limits.min_millibits, 3) + " to " +
                    FormatDecimal(entry.limits.max_millibits, 3) +
                    " bits per key; for no filter write none",
                error);
  }
  setting->millibits_per_key = bits.value;
  return true;
}

bool ParseKind(const std::string& text, size_t offset, bool cuckoo_available, FilterKind* kind,
               SpecError* error) {
  if (!FindFilterKind(text, kind)) {
    std::vector<std::string> names;
    for (const KindEntry& entry : kKinds) {
      if (entry.kind != FilterKind::kCuckoo || cuckoo_available) {
        names.push_back(entry.name);
      }
    }
    return Fail(offset,
                (text.empty() ? std::string("a filter kind is missing here")
                              : "there is no filter kind " + Quoted(text)) +
                    DidYouMean(text, names) + "; the kinds are " + KindNames(cuckoo_available),
                error);
  }
  if (*kind == FilterKind::kCuckoo && !cuckoo_available) {
    return Fail(offset,
                "the filter kind \"cuckoo\" is not in this build; the kinds are " +
                    KindNames(cuckoo_available),
                error);
  }
  return true;
}

bool ParseCoding(const std::string& text, size_t offset, FilterSetting* setting, SpecError* error) {
  if (setting->kind != FilterKind::kCuckoo) {
    return Fail(offset,
                Quoted(text) + " is one part too many: " + NameOf(setting->kind) +
                    " takes one amount and nothing after it",
                error);
  }
  if (text == kFingerprintsName) {
    setting->coding = CuckooCoding::kFingerprints;
  } else if (text == kEquationsName) {
    setting->coding = CuckooCoding::kEquations;
  } else {
    return Fail(offset,
                "there is no cuckoo coding " + Quoted(text) +
                    DidYouMean(text, {kEquationsName, kFingerprintsName}) +
                    "; the codings are equations and fingerprints",
                error);
  }
  return true;
}

}  // namespace

FilterSetting FilterSetting::WithBits(FilterKind kind, double bits_per_key) {
  FilterSetting setting;
  setting.kind = kind;
  setting.millibits_per_key = std::llround(bits_per_key * 1e3);
  return setting;
}

std::string FilterSetting::ToString() const {
  std::string text = NameOf(kind);
  if (has_bits()) {
    text += ":" + FormatDecimal(millibits_per_key, 3);
  } else if (has_rate()) {
    text += ":" + FormatDecimal(rate_per_billion, 7) + "%";
  }
  if (kind == FilterKind::kCuckoo && coding == CuckooCoding::kFingerprints) {
    text += std::string(":") + kFingerprintsName;
  }
  return text;
}

bool operator==(const FilterSetting& a, const FilterSetting& b) {
  return a.kind == b.kind && a.millibits_per_key == b.millibits_per_key &&
         a.rate_per_billion == b.rate_per_billion && a.coding == b.coding;
}

BitsLimits LimitsOf(FilterKind kind) { return EntryOf(kind).limits; }

const char* NameOf(FilterKind kind) { return EntryOf(kind).name; }

bool FindFilterKind(const std::string& name, FilterKind* kind) {
  for (const KindEntry& entry : kKinds) {
    if (name == entry.name) {
      *kind = entry.kind;
      return true;
    }
  }
  return false;
}

std::string KindNames(bool cuckoo_available) {
  return cuckoo_available ? "bloom, ribbon, cuckoo, none" : "bloom, ribbon, none";
}

bool ParseFilterSetting(const std::string& text, size_t offset, bool cuckoo_available,
                        FilterSetting* setting, SpecError* error) {
  const std::vector<SpecPiece> parts = SplitSpec(text, offset, ':');
  FilterSetting result;
  if (!ParseKind(parts[0].text, parts[0].position, cuckoo_available, &result.kind, error)) {
    return false;
  }
  const KindEntry& entry = EntryOf(result.kind);
  if (result.kind == FilterKind::kNone) {
    if (parts.size() > 1) {
      return Fail(parts[1].position,
                  Quoted(parts[1].text) + " is one part too many: none takes no amount", error);
    }
    *setting = result;
    return true;
  }
  if (parts.size() == 1) {
    return Fail(offset + text.size(),
                std::string("an amount is missing after ") + Quoted(entry.name) +
                    "; write bits per key as in " + entry.name + ":10, or a rate as in " +
                    entry.name + ":1%",
                error);
  }
  const SpecPiece& amount = parts[1];
  const bool is_rate = !amount.text.empty() && amount.text.back() == '%';
  if (!(is_rate ? ParseRate(amount.text, amount.position, entry, &result, error)
                : ParseBits(amount.text, amount.position, entry, &result, error))) {
    return false;
  }
  if (parts.size() > 2 && !ParseCoding(parts[2].text, parts[2].position, &result, error)) {
    return false;
  }
  if (parts.size() > 3) {
    return Fail(parts[3].position,
                Quoted(parts[3].text) + " is one part too many: nothing may follow the coding",
                error);
  }
  *setting = result;
  return true;
}

}  // namespace tieredfilter
