// The part of a rule that says which tables it is for.
#pragma once

#include <cstddef>
#include <string>

#include "src/policy/spec_error.h"
#include "src/policy/table_context.h"

namespace tieredfilter {

// A selector is one of these, from the first to be asked to the last. Where two rules fit a table,
// the one whose class comes first decides; within a class no two rules can fit the same table,
// since overlaps are refused.
enum class SelectorClass {
  kFlush,       // "flush": a memtable written out, also while a database is opened or repaired
  kUnknown,     // "unknown": the level is not known (SstFileWriter, for ingestion)
  kBottommost,  // "bottommost": the lowest sorted run of its key range, whatever its level
  kFromBottom,  // "last", "last-2", "last-2..last-1": counted from the last level the column family
                // can have
  kFromTop,     // "0", "0-1", "5+": counted from level 0
  kAll,         // "*": every table without another rule
};

// A level number in a spec is at most this. RocksDB's default is 7 levels and it sets no limit of
// its own; this one keeps typing errors out ("55" for "5").
constexpr int kMaxLevelNumber = 63;

class LevelSelector {
 public:
  LevelSelector() = default;  // "*"

  // Parses the text of a selector that starts at `position` of the whole spec. On failure *selector
  // is untouched.
  static bool Parse(const std::string& text, size_t position, LevelSelector* selector,
                    SpecError* error);
  // True if `text` is one of the selector words or starts like a level. Tells "10:..." from
  // "bloom:...".
  static bool LooksLikeSelector(const std::string& text);

  bool Matches(const TableContext& table) const;
  // True if some table could match both and neither comes first.
  bool Overlaps(const LevelSelector& other) const;
  // True if every level it names is one that a column family of num_levels levels does not have.
  bool IsBeyond(int num_levels) const;
  bool is_open_ended() const { return class_ == SelectorClass::kFromTop && end_ == kOpenEnd; }

  SelectorClass selector_class() const { return class_; }
  // Canonical text.
  std::string ToString() const;

 private:
  static constexpr int kOpenEnd = 1 << 30;

  LevelSelector(SelectorClass selector_class, int begin, int end)
      : class_(selector_class), begin_(begin), end_(end) {}

  static bool ParseFromTop(const std::string& text, size_t position, LevelSelector* selector,
                           SpecError* error);
  static bool ParseFromBottom(const std::string& text, size_t position, LevelSelector* selector,
                              SpecError* error);

  SelectorClass class_ = SelectorClass::kAll;
  // Levels from the top, or levels above the last one; both ends included. Unused (0) for the other
  // classes.
  int begin_ = 0;
  int end_ = 0;
};

}  // namespace tieredfilter
