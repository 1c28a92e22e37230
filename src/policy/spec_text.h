// Small text helpers of the spec grammar. No locale, no exceptions: a spec means the same in every
// program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tieredfilter {

// `piece` in quotes, with control bytes shown as \xNN and long pieces cut, so that a hostile spec
// can neither garble a log nor fill it.
std::string Quoted(const std::string& piece);

// A piece of a spec and where it starts in the whole text.
struct SpecPiece {
  std::string text;
  size_t position = 0;
};

// Splits at every `separator`; empty pieces are kept, so the result has at least one element.
std::vector<SpecPiece> SplitSpec(const std::string& text, size_t offset, char separator);

// A decimal number as an integer of 10^-decimals units. `why` says what is wrong with the text if
// !ok.
struct DecimalResult {
  bool ok = false;
  int64_t value = 0;
  std::string why;
};

// Reads digits with at most `decimals` digits behind an optional point: no sign, exponent, hex, NaN
// or infinity. Values of ten or more digits before the point are refused as too large.
DecimalResult ParseDecimal(const std::string& text, int decimals);
// The inverse: shortest text, without trailing zeros.
std::string FormatDecimal(int64_t value, int decimals);

// "; did you mean \"bloom\"?" if one of `names` is close to `text` (case apart, at most two edits),
// else "".
std::string DidYouMean(const std::string& text, const std::vector<std::string>& names);

}  // namespace tieredfilter
