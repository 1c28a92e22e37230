// Properties of the spec grammar over random texts.
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "src/policy/policy_spec.h"

namespace tieredfilter {
namespace {

PolicySpec MustParse(const std::string& text) {
  PolicySpec spec;
  SpecError error;
  ParseOptions options;
  options.cuckoo_available = true;
  EXPECT_TRUE(PolicySpec::Parse(text, options, &spec, &error)) << text << ": " << error.ToString();
  return spec;
}

FilterSetting SettingAt(const PolicySpec& spec, int level, bool is_bottommost) {
  TableContext table;
  table.level_at_creation = level;
  table.is_bottommost = is_bottommost;
  table.num_levels = 12;
  table.reason = TableReason::kCompaction;
  return spec.SettingFor(table);
}

// Random specs: every one that parses prints to a text that parses to an equal spec with an equal
// print.
class SpecGenerator {
 public:
  explicit SpecGenerator(uint32_t seed) : random_(seed) {}

  // A valid spec; rules whose levels overlap earlier ones are left out.
  std::string Spec() {
    std::string text = Below(2) == 0 ? "" : "tieredfilter:";
    std::vector<LevelSelector> used;
    const size_t rules = 1 + Below(6);
    for (size_t i = 0; i < rules; ++i) {
      const std::string levels = Levels();
      LevelSelector selector;
      SpecError error;
      EXPECT_TRUE(LevelSelector::Parse(levels, 0, &selector, &error)) << levels;
      bool overlaps = false;
      for (const LevelSelector& earlier : used) {
        overlaps = overlaps || earlier.Overlaps(selector);
      }
      if (!overlaps) {
        text += (used.empty() ? "" : ",") + levels + ":" + Setting();
        used.push_back(selector);
      }
    }
    return text;
  }

  // Any text of the grammar's alphabet, mostly nonsense.
  std::string Soup() {
    static const std::vector<std::string> kPieces = {"0",          "5",
                                                     "12",         "+",
                                                     "-",          ":",
                                                     ":",          ":",
                                                     ",",          ".",
                                                     "..",         "%",
                                                     "*",          "last",
                                                     "bloom",      "ribbon",
                                                     "cuckoo",     "none",
                                                     "flush",      "unknown",
                                                     "bottommost", "default",
                                                     "10",         "9.5",
                                                     "0.1%",       "tieredfilter",
                                                     "{",          "}",
                                                     "=",          ";",
                                                     " ",          "budget"};
    std::string text;
    const size_t pieces = Below(12);
    for (size_t i = 0; i < pieces; ++i) {
      text += kPieces[Below(kPieces.size())];
    }
    return text;
  }

 private:
  size_t Below(size_t limit) { return random_() % limit; }
  std::string Number(size_t limit) { return std::to_string(Below(limit)); }

  std::string Levels() {
    static const std::vector<std::string> kWords = {"flush", "unknown", "bottommost", "*",
                                                    "default"};
    const size_t a = Below(32);
    const size_t b = a + Below(32);
    switch (Below(7)) {
      case 0:
        return std::to_string(a);
      case 1:
        return std::to_string(a) + "-" + std::to_string(b);
      case 2:
        return std::to_string(a) + "+";
      case 3:
        return "last-" + std::to_string(a);
      case 4:
        return "last-" + std::to_string(b) + "..last-" + std::to_string(a);
      default:
        return kWords[Below(kWords.size())];
    }
  }

  std::string Setting() {
    static const std::vector<std::string> kKinds = {"bloom", "ribbon", "cuckoo"};
    const std::string kind = kKinds[Below(kKinds.size())];
    std::string amount = std::to_string(5 + Below(19)) + "." + Number(10) + Number(10) + Number(10);
    if (Below(3) == 0) {
      amount = Number(50) + ".0" + Number(10) + Number(10) + "1%";
    }
    const std::string coding =
        kind == "cuckoo" && Below(2) == 0 ? (Below(2) == 0 ? ":fingerprints" : ":equations") : "";
    return Below(5) == 0 ? "none" : kind + ":" + amount + coding;
  }

  std::mt19937 random_;
};

TEST(PolicySpecRandomTest, CanonicalTextParsesBackToItself) {
  SpecGenerator generator(20240607);
  for (int i = 0; i < 5000; ++i) {
    const std::string text = generator.Spec();
    const PolicySpec spec = MustParse(text);
    const std::string canonical = spec.ToString();
    const PolicySpec again = MustParse(canonical);
    ASSERT_EQ(again.ToString(), canonical) << text;
    ASSERT_EQ(again.rules().size(), spec.rules().size());
    for (size_t r = 0; r < spec.rules().size(); ++r) {
      ASSERT_EQ(again.rules()[r].setting, spec.rules()[r].setting) << text;
    }
    // Not only the text: the same choice for every table.
    for (int level = -1; level < 16; ++level) {
      ASSERT_EQ(SettingAt(again, level, false), SettingAt(spec, level, false)) << text;
      ASSERT_EQ(SettingAt(again, level, true), SettingAt(spec, level, true)) << text;
    }
    ASSERT_EQ(canonical.find_first_of("={};# "), std::string::npos) << canonical;
  }
}

TEST(PolicySpecRandomTest, AnyTextIsParsedOrRefusedInsideItself) {
  SpecGenerator generator(4711);
  int parsed = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::string text = generator.Soup();
    PolicySpec spec;
    SpecError error;
    ParseOptions options;
    options.cuckoo_available = true;
    if (PolicySpec::Parse(text, options, &spec, &error)) {
      ++parsed;
      ASSERT_EQ(MustParse(spec.ToString()).ToString(), spec.ToString());
    } else {
      ASSERT_LE(error.position, text.size()) << text;
      ASSERT_FALSE(error.message.empty()) << text;
    }
  }
  EXPECT_GT(parsed, 20) << "the generator has become useless";
}

}  // namespace
}  // namespace tieredfilter
