#include "src/policy/policy_spec.h"

#include <utility>

#include "src/policy/spec_text.h"

namespace tieredfilter {
namespace {

// Level 0 and 1 are asked by every lookup, are small and are rewritten soon; most bytes are at the
// bottom, where each bit per key costs the most memory.
constexpr char kDefaultLadder[] = "0-1:bloom:14,2-4:bloom:10,5+:bloom:7,bottommost:bloom:7";

bool Fail(size_t position, std::string message, SpecError* error) {
  error->position = position;
  error->message = std::move(message);
  return false;
}

// Refuses bytes that can stand nowhere in a spec, with the reason people need for the likely ones.
bool CheckCharacters(const std::string& text, SpecError* error) {
  constexpr char kAllowed[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:,.-+%*_";
  const size_t bad = text.find_first_not_of(kAllowed);
  if (bad == std::string::npos) {
    return true;
  }
  const std::string piece(1, text[bad]);
  if (piece.find_first_of(" \t\r\n") == 0) {
    return Fail(bad, "white space (" + Quoted(piece) + ") is not allowed in a spec; leave it out",
                error);
  }
  if (piece.find_first_of("={};#") == 0) {
    return Fail(bad,
                Quoted(piece) +
                    " is not allowed in a spec: it has a meaning of its own in options strings; "
                    "rules are separated by ',' and their parts by ':'",
                error);
  }
  return Fail(bad, Quoted(piece) + " is not allowed in a spec", error);
}

// A budget stands for all tables (budget_spec.h); a policy looks for one before it looks for rules.
bool IsBudget(const std::string& word) { return word == "budget"; }

bool ParseRule(const SpecPiece& piece, bool alone, const ParseOptions& options, PolicyRule* rule,
               SpecError* error) {
  const size_t colon = piece.text.find(':');
  const std::string head = piece.text.substr(0, colon);
  if (piece.text.empty()) {
    return Fail(piece.position,
                "a rule is missing here; write levels:kind:amount as in 0-1:bloom:14", error);
  }
  if (IsBudget(head)) {
    return Fail(
        piece.position,
        Quoted(head) +
            " cannot stand among rules: a budget comes first and divides the memory among the "
            "levels itself",
        error);
  }
  FilterKind kind;
  if (FindFilterKind(head, &kind)) {
    if (!alone) {
      return Fail(piece.position,
                  "levels are missing before " + Quoted(piece.text) + "; write *:" + piece.text +
                      " for all other levels",
                  error);
    }
    rule->levels = LevelSelector();
    return ParseFilterSetting(piece.text, piece.position, options.cuckoo_available, &rule->setting,
                              error);
  }
  if (alone && !LevelSelector::LooksLikeSelector(head)) {
    // A lone word is more likely a kind than levels, and its error names the kinds.
    const bool has_level_after =
        colon != std::string::npos &&
        FindFilterKind(piece.text.substr(colon + 1, piece.text.find(':', colon + 1) - colon - 1),
                       &kind);
    if (!has_level_after) {
      return ParseFilterSetting(piece.text, piece.position, options.cuckoo_available,
                                &rule->setting, error);
    }
  }
  if (!LevelSelector::Parse(head, piece.position, &rule->levels, error)) {
    return false;
  }
  if (colon == std::string::npos) {
    return Fail(piece.position + piece.text.size(),
                "a filter kind is missing after " + Quoted(head) + "; write " + head +
                    ":bloom:10 or " + head + ":none",
                error);
  }
  return ParseFilterSetting(piece.text.substr(colon + 1), piece.position + colon + 1,
                            options.cuckoo_available, &rule->setting, error);
}

// Strips the policy id. Returns false if `text` is the bare id or empty, which stand for the
// default.
bool HasRules(const std::string& text, size_t* offset) {
  const std::string id(kPolicyId);
  *offset = 0;
  if (text.empty() || text == id) {
    return false;
  }
  if (text.compare(0, id.size() + 1, id + ":") == 0) {
    *offset = id.size() + 1;
  }
  return true;
}

}  // namespace

PolicySpec::PolicySpec() {
  SpecError error;
  Parse(std::string(kDefaultLadder), ParseOptions(), this, &error);
}

bool PolicySpec::Parse(const std::string& text, const ParseOptions& options, PolicySpec* spec,
                       SpecError* error) {
  size_t offset = 0;
  if (!HasRules(text, &offset)) {
    *spec = PolicySpec();
    return true;
  }
  if (text.size() > kMaxSpecBytes) {
    return Fail(kMaxSpecBytes,
                "the spec has " + std::to_string(text.size()) + " bytes; at most " +
                    std::to_string(kMaxSpecBytes) + " are read",
                error);
  }
  if (!CheckCharacters(text, error)) {
    return false;
  }
  if (offset == text.size()) {
    return Fail(offset,
                "rules are missing after ':'; write tieredfilter alone for the default ladder",
                error);
  }
  const std::vector<SpecPiece> pieces = SplitSpec(text.substr(offset), offset, ',');
  if (pieces.size() > kMaxRules) {
    return Fail(pieces[kMaxRules].position,
                "the spec has " + std::to_string(pieces.size()) + " rules; at most " +
                    std::to_string(kMaxRules) + " are read",
                error);
  }
  std::vector<PolicyRule> rules;
  for (const SpecPiece& piece : pieces) {
    PolicyRule rule;
    if (!ParseRule(piece, pieces.size() == 1, options, &rule, error)) {
      return false;
    }
    for (const PolicyRule& earlier : rules) {
      if (rule.levels.Overlaps(earlier.levels)) {
        return Fail(piece.position,
                    "the rule " + Quoted(piece.text) + " is for levels that " +
                        Quoted(earlier.ToString()) + " already covers; each level takes one rule",
                    error);
      }
    }
    rules.push_back(rule);
  }
  *spec = PolicySpec(std::move(rules));
  return true;
}

size_t PolicySpec::RuleFor(const TableContext& table) const {
  size_t best = rules_.size();
  for (size_t i = 0; i < rules_.size(); ++i) {
    if (rules_[i].levels.Matches(table) &&
        (best == rules_.size() ||
         rules_[i].levels.selector_class() < rules_[best].levels.selector_class())) {
      best = i;
    }
  }
  return best;
}

FilterSetting PolicySpec::SettingFor(const TableContext& table) const {
  const size_t rule = RuleFor(table);
  return rule < rules_.size() ? rules_[rule].setting : SettingWithoutRule();
}

bool PolicySpec::FitsNumLevels(int num_levels, SpecError* error) const {
  size_t position = 0;
  const PolicyRule* beyond = nullptr;
  size_t beyond_position = 0;
  for (const PolicyRule& rule : rules_) {
    if (rule.levels.is_open_ended()) {
      return true;
    }
    if (beyond == nullptr && rule.levels.IsBeyond(num_levels)) {
      beyond = &rule;
      beyond_position = position;
    }
    position += rule.ToString().size() + 1;
  }
  if (beyond == nullptr) {
    return true;
  }
  return Fail(beyond_position,
              "the rule " + Quoted(beyond->ToString()) +
                  " is for levels that do not exist: the column family has " +
                  std::to_string(num_levels) + " levels, 0 to " + std::to_string(num_levels - 1) +
                  "; name one of them, last, or end the ladder with an open rule such as " +
                  std::to_string(num_levels - 1) + "+",
              error);
}

std::string PolicySpec::ToString() const {
  std::string text;
  for (const PolicyRule& rule : rules_) {
    text += (text.empty() ? "" : ",") + rule.ToString();
  }
  return text;
}

bool operator==(const PolicySpec& a, const PolicySpec& b) { return a.ToString() == b.ToString(); }

}  // namespace tieredfilter
