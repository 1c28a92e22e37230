#include "src/policy/level_selector.h"

#include <algorithm>
#include <utility>

#include "src/policy/spec_text.h"

namespace tieredfilter {
namespace {

struct SelectorWord {
  const char* text;
  SelectorClass selector_class;
};

constexpr SelectorWord kWords[] = {
    {"flush", SelectorClass::kFlush},           {"unknown", SelectorClass::kUnknown},
    {"bottommost", SelectorClass::kBottommost}, {"*", SelectorClass::kAll},
    {"default", SelectorClass::kAll},
};

constexpr char kLast[] = "last";
constexpr size_t kLastLength = sizeof(kLast) - 1;
constexpr char kSelectorHelp[] =
    "levels are written 0, 0-1 or 5+ from the top, last, last-1 or last-2..last from the bottom, "
    "and flush, bottommost, unknown or *";

bool Fail(size_t position, std::string message, SpecError* error) {
  error->position = position;
  error->message = std::move(message);
  return false;
}

bool StartsWithDigit(const std::string& text) {
  return !text.empty() && text[0] >= '0' && text[0] <= '9';
}

bool ParseLevelNumber(const std::string& text, size_t position, int* level, SpecError* error) {
  const DecimalResult number = ParseDecimal(text, 0);
  if (!number.ok) {
    return Fail(position,
                Quoted(text) + " is no level number: " + number.why + "; " + kSelectorHelp, error);
  }
  if (number.value > kMaxLevelNumber) {
    return Fail(position,
                "level " + Quoted(text) + " is too large: levels go from 0 to " +
                    std::to_string(kMaxLevelNumber),
                error);
  }
  *level = static_cast<int>(number.value);
  return true;
}

// "last" or "last-K", as K levels above the last one.
bool ParseLast(const std::string& text, size_t position, int* above_last, SpecError* error) {
  if (text == kLast) {
    *above_last = 0;
    return true;
  }
  if (text.compare(0, kLastLength + 1, "last-") != 0) {
    return Fail(position, Quoted(text) + " is no level from the bottom; write last or last-1",
                error);
  }
  return ParseLevelNumber(text.substr(kLastLength + 1), position + kLastLength + 1, above_last,
                          error);
}

std::string LastToString(int above_last) {
  return above_last == 0 ? kLast : "last-" + std::to_string(above_last);
}

}  // namespace

bool LevelSelector::LooksLikeSelector(const std::string& text) {
  for (const SelectorWord& word : kWords) {
    if (text == word.text) {
      return true;
    }
  }
  return StartsWithDigit(text) || text.compare(0, kLastLength, kLast) == 0;
}

bool LevelSelector::Parse(const std::string& text, size_t position, LevelSelector* selector,
                          SpecError* error) {
  for (const SelectorWord& word : kWords) {
    if (text == word.text) {
      *selector = LevelSelector(word.selector_class, 0, 0);
      return true;
    }
  }
  if (text.empty()) {
    return Fail(position, std::string("levels are missing here; ") + kSelectorHelp, error);
  }
  if (text.compare(0, kLastLength, kLast) == 0) {
    return ParseFromBottom(text, position, selector, error);
  }
  if (StartsWithDigit(text)) {
    return ParseFromTop(text, position, selector, error);
  }
  return Fail(position,
              Quoted(text) + " names no levels" +
                  DidYouMean(text, {"flush", "unknown", "bottommost", "default", "last"}) + "; " +
                  kSelectorHelp,
              error);
}

bool LevelSelector::ParseFromTop(const std::string& text, size_t position, LevelSelector* selector,
                                 SpecError* error) {
  int begin = 0;
  int end = 0;
  const size_t dash = text.find('-');
  if (text.back() == '+') {
    if (!ParseLevelNumber(text.substr(0, text.size() - 1), position, &begin, error)) {
      return false;
    }
    end = kOpenEnd;
  } else if (dash != std::string::npos) {
    if (!ParseLevelNumber(text.substr(0, dash), position, &begin, error) ||
        !ParseLevelNumber(text.substr(dash + 1), position + dash + 1, &end, error)) {
      return false;
    }
    if (begin > end) {
      return Fail(position,
                  "the range " + Quoted(text) + " runs backwards; write " + std::to_string(end) +
                      "-" + std::to_string(begin),
                  error);
    }
  } else {
    if (!ParseLevelNumber(text, position, &begin, error)) {
      return false;
    }
    end = begin;
  }
  *selector = LevelSelector(SelectorClass::kFromTop, begin, end);
  return true;
}

bool LevelSelector::ParseFromBottom(const std::string& text, size_t position,
                                    LevelSelector* selector, SpecError* error) {
  const size_t dots = text.find("..");
  int upper = 0;  // how far above the last level the range starts
  int lower = 0;
  if (!ParseLast(text.substr(0, dots), position, &upper, error)) {
    return false;
  }
  if (dots == std::string::npos) {
    lower = upper;
  } else if (!ParseLast(text.substr(dots + 2), position + dots + 2, &lower, error)) {
    return false;
  }
  if (upper < lower) {
    return Fail(position,
                "the range " + Quoted(text) + " runs backwards; write " + LastToString(lower) +
                    ".." + LastToString(upper),
                error);
  }
  *selector = LevelSelector(SelectorClass::kFromBottom, lower, upper);
  return true;
}

bool LevelSelector::Matches(const TableContext& table) const {
  const bool is_flush =
      table.reason == TableReason::kFlush || table.reason == TableReason::kRecovery;
  // RepairDB does not say so, but what it writes out always becomes a table of level 0, as every
  // flush.
  const int level = is_flush && table.level_at_creation < 0 ? 0 : table.level_at_creation;
  switch (class_) {
    case SelectorClass::kFlush:
      return is_flush;
    case SelectorClass::kUnknown:
      return level < 0;
    case SelectorClass::kBottommost:
      return table.is_bottommost;
    case SelectorClass::kFromBottom: {
      const int above_last = table.num_levels - 1 - level;
      return level >= 0 && table.num_levels > 0 && above_last >= begin_ && above_last <= end_;
    }
    case SelectorClass::kFromTop:
      return level >= begin_ && level <= end_;
    case SelectorClass::kAll:
      return true;
  }
  return false;
}

bool LevelSelector::Overlaps(const LevelSelector& other) const {
  return class_ == other.class_ && begin_ <= other.end_ && other.begin_ <= end_;
}

bool LevelSelector::IsBeyond(int num_levels) const {
  return (class_ == SelectorClass::kFromTop || class_ == SelectorClass::kFromBottom) &&
         begin_ >= num_levels;
}

std::string LevelSelector::ToString() const {
  switch (class_) {
    case SelectorClass::kFromBottom:
      return begin_ == end_ ? LastToString(begin_)
                            : LastToString(end_) + ".." + LastToString(begin_);
    case SelectorClass::kFromTop:
      if (end_ == kOpenEnd) {
        return std::to_string(begin_) + "+";
      }
      return begin_ == end_ ? std::to_string(begin_)
                            : std::to_string(begin_) + "-" + std::to_string(end_);
    default:
      break;
  }
  for (const SelectorWord& word : kWords) {
    if (word.selector_class == class_) {
      return word.text;
    }
  }
  return "*";
}

}  // namespace tieredfilter
