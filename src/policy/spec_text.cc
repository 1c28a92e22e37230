#include "src/policy/spec_text.h"

#include <algorithm>
#include <cstdio>

namespace tieredfilter {
namespace {

// Longer pieces are cut in messages.
constexpr size_t kMaxQuotedBytes = 40;
// Keeps value * 10^decimals far inside 64 bits; every limit of the grammar is far below.
constexpr size_t kMaxIntegerDigits = 9;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::string LowerCase(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') {
      c = static_cast<char>(c - 'A' + 'a');
    }
  }
  return text;
}

// Levenshtein distance. Both inputs are short: names of the grammar, and text cut by the caller.
size_t EditDistance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) {
    row[j] = j;
  }
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row[b.size()];
}

std::string WhyNotDecimal(const std::string& text, int decimals) {
  if (text.empty()) {
    return "it is empty";
  }
  if (text[0] == '-' || text[0] == '+') {
    return "a sign is not allowed";
  }
  size_t point = std::string::npos;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '.' && point == std::string::npos) {
      point = i;
    } else if (!IsDigit(text[i])) {
      return "it must be digits with an optional decimal point";
    }
  }
  const size_t integer_digits = std::min(point, text.size());
  if (integer_digits == 0 || point == text.size() - 1) {
    return "digits are missing beside the decimal point";
  }
  if (integer_digits > kMaxIntegerDigits) {
    return "it is too large";
  }
  if (point != std::string::npos && text.size() - point - 1 > static_cast<size_t>(decimals)) {
    return "at most " + std::to_string(decimals) + " decimals are kept";
  }
  return "";
}

}  // namespace

std::string Quoted(const std::string& piece) {
  std::string text = "\"";
  for (size_t i = 0; i < piece.size() && i < kMaxQuotedBytes; ++i) {
    const unsigned char c = static_cast<unsigned char>(piece[i]);
    if (c < 0x20 || c >= 0x7f) {
      char escaped[8];
      std::snprintf(escaped, sizeof(escaped), "\\x%02x", c);
      text += escaped;
    } else {
      text += piece[i];
    }
  }
  return text + (piece.size() > kMaxQuotedBytes ? "...\"" : "\"");
}

std::vector<SpecPiece> SplitSpec(const std::string& text, size_t offset, char separator) {
  std::vector<SpecPiece> pieces;
  size_t start = 0;
  while (true) {
    const size_t end = text.find(separator, start);
    pieces.push_back({text.substr(start, end - start), offset + start});
    if (end == std::string::npos) {
      return pieces;
    }
    start = end + 1;
  }
}

DecimalResult ParseDecimal(const std::string& text, int decimals) {
  DecimalResult result;
  result.why = WhyNotDecimal(text, decimals);
  if (!result.why.empty()) {
    return result;
  }
  int decimals_left = decimals;
  bool behind_point = false;
  for (char c : text) {
    if (c == '.') {
      behind_point = true;
    } else {
      result.value = result.value * 10 + (c - '0');
      decimals_left -= behind_point ? 1 : 0;
    }
  }
  for (; decimals_left > 0; --decimals_left) {
    result.value *= 10;
  }
  result.ok = true;
  return result;
}

std::string FormatDecimal(int64_t value, int decimals) {
  std::string digits = std::to_string(value);
  if (digits.size() <= static_cast<size_t>(decimals)) {
    digits.insert(0, static_cast<size_t>(decimals) + 1 - digits.size(), '0');
  }
  std::string fraction = digits.substr(digits.size() - static_cast<size_t>(decimals));
  digits.resize(digits.size() - static_cast<size_t>(decimals));
  while (!fraction.empty() && fraction.back() == '0') {
    fraction.pop_back();
  }
  return fraction.empty() ? digits : digits + "." + fraction;
}

std::string DidYouMean(const std::string& text, const std::vector<std::string>& names) {
  // Two edits turn any two-letter word into any other; a longer text is no misspelling.
  if (text.size() < 3 || text.size() > kMaxQuotedBytes) {
    return "";
  }
  const std::string* best = nullptr;
  size_t best_distance = 3;
  for (const std::string& name : names) {
    const size_t distance = EditDistance(LowerCase(text), name);
    if (distance < best_distance) {
      best_distance = distance;
      best = &name;
    }
  }
  return best == nullptr ? "" : "; did you mean " + Quoted(*best) + "?";
}

}  // namespace tieredfilter
