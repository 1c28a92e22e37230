#include "src/policy/policy_spec.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace tieredfilter {
namespace {

PolicySpec MustParse(const std::string& text, bool cuckoo_available = false) {
  PolicySpec spec;
  SpecError error;
  ParseOptions options;
  options.cuckoo_available = cuckoo_available;
  EXPECT_TRUE(PolicySpec::Parse(text, options, &spec, &error)) << text << ": " << error.ToString();
  return spec;
}

SpecError MustRefuse(const std::string& text, bool cuckoo_available = false) {
  PolicySpec spec = MustParse("9:bloom:9");
  const PolicySpec before = spec;
  SpecError error;
  ParseOptions options;
  options.cuckoo_available = cuckoo_available;
  EXPECT_FALSE(PolicySpec::Parse(text, options, &spec, &error))
      << text << " -> " << spec.ToString();
  EXPECT_TRUE(spec == before) << "a refused spec must leave the result alone";
  EXPECT_FALSE(error.message.empty());
  return error;
}

std::string SettingAt(const PolicySpec& spec, int level, bool is_bottommost = false,
                      TableReason reason = TableReason::kCompaction, int num_levels = 7) {
  TableContext table;
  table.level_at_creation = level;
  table.is_bottommost = is_bottommost;
  table.num_levels = num_levels;
  table.reason = reason;
  return spec.SettingFor(table).ToString();
}

TEST(PolicySpecTest, EmptySpecIsTheLadderForColdData) {
  for (const char* text : {"", "tieredfilter"}) {
    const PolicySpec spec = MustParse(text);
    EXPECT_EQ(spec.ToString(), "0-1:bloom:14,2-4:bloom:10,5+:bloom:7,bottommost:bloom:7");
    for (int level = 0; level < 12; ++level) {
      EXPECT_EQ(SettingAt(spec, level), level < 2   ? "bloom:14"
                                        : level < 5 ? "bloom:10"
                                                    : "bloom:7");
      EXPECT_EQ(SettingAt(spec, level, /*is_bottommost=*/true), "bloom:7");
    }
  }
}

TEST(PolicySpecTest, CanonicalText) {
  struct Case {
    const char* text;
    const char* canonical;
  };
  for (const Case& c : std::vector<Case>{
           {"bloom:10", "*:bloom:10"},
           {"tieredfilter:bloom:10", "*:bloom:10"},
           {"none", "*:none"},
           {"default:none", "*:none"},
           {"0-1:bloom:14,2-4:bloom:10,5+:bloom:7", "0-1:bloom:14,2-4:bloom:10,5+:bloom:7"},
           {"tieredfilter:last-2..last:ribbon:7.50", "last-2..last:ribbon:7.5"},
           {"3-3:bloom:010", "3:bloom:10"},
           {"last-0:bloom:9.005", "last:bloom:9.005"},
           {"last-1..last-1:none", "last-1:none"},
           {"flush:bloom:16,unknown:none,bottommost:ribbon:1%,*:bloom:0.05%",
            "flush:bloom:16,unknown:none,bottommost:ribbon:1%,*:bloom:0.05%"},
           {"0:bloom:0.0001%", "0:bloom:0.0001%"},
           {"0:ribbon:50%", "0:ribbon:50%"},
       }) {
    EXPECT_EQ(MustParse(c.text).ToString(), c.canonical) << c.text;
  }
}

TEST(PolicySpecTest, CuckooOnlyWhereAvailable) {
  EXPECT_EQ(MustParse("5+:cuckoo:9.5", true).ToString(), "5+:cuckoo:9.5");
  EXPECT_EQ(MustParse("cuckoo:0.1%:equations", true).ToString(), "*:cuckoo:0.1%");
  EXPECT_EQ(MustParse("cuckoo:12:fingerprints", true).ToString(), "*:cuckoo:12:fingerprints");
  EXPECT_NE(MustRefuse("5+:cuckoo:9.5").message.find("not in this build"), std::string::npos);
  EXPECT_NE(MustRefuse("0:cuckoo:9:fingerprint", true).message.find("did you mean"),
            std::string::npos);
  EXPECT_EQ(MustParse("cuckoo:4", true).ToString(), "*:cuckoo:4");
  EXPECT_EQ(MustParse("cuckoo:4:fingerprints", true).ToString(), "*:cuckoo:4:fingerprints");
  MustRefuse("cuckoo:3.999", true);
  MustRefuse("cuckoo:24.001", true);
}

// The offending piece, its position (from 0) and a hint of what would be right. "" for a piece: not
// quoted.
TEST(PolicySpecTest, RefusesWithPieceAndPosition) {
  struct Case {
    std::string text;
    size_t position;
    const char* message_part;
  };
  const std::vector<Case> cases = {
      {"tieredfilter:", 13, "tieredfilter alone for the default ladder"},
      {",", 0, "a rule is missing"},
      {"0:bloom:10,", 11, "a rule is missing"},
      {"0:bloom:10,,1:bloom:10", 11, "a rule is missing"},
      {":bloom:10", 0, "levels are missing"},
      {"0", 1, "kind is missing after \"0\""},
      {"0:", 2, "a filter kind is missing"},
      {"0::10", 2, "a filter kind is missing"},
      {"0:bloom", 7, "bits per key as in bloom:10"},
      {"0:bloom:", 8, "it is empty"},
      {"bloom", 5, "bits per key as in bloom:10"},
      {"0:blom:10", 2, "did you mean \"bloom\""},
      {"0:Bloom:10", 2, "did you mean \"bloom\""},
      {"BLOOM:10", 0, "did you mean \"bloom\""},
      {"0:ribon:10", 2, "did you mean \"ribbon\""},
      {"0:xor:10", 2, "the kinds are bloom, ribbon, none"},
      {"0:bloom:-1", 8, "a sign"},
      {"0:bloom:+1", 8, "a sign"},
      {"0:bloom:nan", 8, "\"nan\""},
      {"0:bloom:NaN", 8, "\"NaN\""},
      {"0:bloom:inf", 8, "\"inf\""},
      {"0:bloom:1e3", 8, "\"1e3\""},
      {"0:bloom:0x10", 8, "\"0x10\""},
      {"0:bloom:10.", 8, "digits are missing"},
      {"0:bloom:.5", 8, "digits are missing"},
      {"0:bloom:1.2.3", 8, "\"1.2.3\""},
      {"0:bloom:9.1234", 8, "at most 3 decimals"},
      {"0:bloom:0", 8, "bloom takes 1 to 64"},
      {"0:bloom:0.5", 8, "bloom takes 1 to 64"},
      {"0:bloom:0.999", 8, "for no filter write none"},
      {"0:bloom:65", 8, "bloom takes 1 to 64"},
      {"0:bloom:64.001", 8, "bloom takes 1 to 64"},
      {"0:ribbon:33", 9, "ribbon takes 1 to 32"},
      {"0:bloom:9999999999999999999999", 8, "too large"},
      {"0:bloom:%", 8, "\"%\""},
      {"0:bloom:0%", 8, "0.0001% to 50%"},
      {"0:bloom:51%", 8, "0.0001% to 50%"},
      {"0:bloom:100%", 8, "0.0001% to 50%"},
      {"0:bloom:0.00001%", 8, "0.0001% to 50%"},
      {"0:bloom:0.00000001%", 8, "at most 7 decimals"},
      {"0:bloom:-1%", 8, "a sign"},
      {"0:bloom:1%%", 8, "\"1%%\""},
      {"0:none:1", 7, "none takes no amount"},
      {"0:bloom:10:fast", 11, "one part too many"},
      {"0:bloom:10:", 11, "one part too many"},
      {"bloom:10:false", 9, "one part too many"},
      {"bloom:10,0:none", 0, "write *:bloom:10"},
      {"0:none,bloom:10", 7, "write *:bloom:10"},
      {"0:bloom:10,0:bloom:12", 11, "\"0:bloom:10\" already covers"},
      {"0-3:bloom:10,2-5:bloom:12", 13, "\"0-3:bloom:10\" already covers"},
      {"0-3:bloom:10,3+:bloom:12", 13, "already covers"},
      {"5+:bloom:10,6:bloom:12", 12, "already covers"},
      {"last-3..last-1:none,last-2:none", 20, "already covers"},
      {"flush:none,flush:none", 11, "already covers"},
      {"*:none,default:bloom:10", 7, "already covers"},
      {"4-2:bloom:10", 0, "write 2-4"},
      {"last..last-2:bloom:10", 0, "write last-2..last"},
      {"64:bloom:10", 0, "levels go from 0 to 63"},
      {"0-64:bloom:10", 2, "levels go from 0 to 63"},
      {"last-64:bloom:10", 5, "levels go from 0 to 63"},
      {"99999999999:bloom:10", 0, "too large"},
      {"-1:bloom:10", 0, "names no levels"},
      {"1.5:bloom:10", 0, "\"1.5\""},
      {"0-:bloom:10", 2, "is no level number"},
      {"0-1-2:bloom:10", 2, "\"1-2\""},
      {"0..2:bloom:10", 0, "levels are written"},
      {"+:bloom:10", 0, "names no levels"},
      {"last-:bloom:10", 5, "is no level number"},
      {"last2:bloom:10", 0, "write last or last-1"},
      {"last..:bloom:10", 6, "no level from the bottom"},
      {"last..3:bloom:10", 6, "no level from the bottom"},
      {"Last:bloom:10", 0, "did you mean \"last\""},
      {"botommost:bloom:10", 0, "did you mean \"bottommost\""},
      {"FLUSH:bloom:10", 0, "did you mean \"flush\""},
      {"0:bloom:10 ", 10, "white space"},
      {" 0:bloom:10", 0, "white space"},
      {"0: bloom:10", 2, "white space"},
      {"0:bloom:10,\n1:none", 11, "white space"},
      {"{0:bloom:10}", 0, "options strings"},
      {"0:{bloom:{10}}", 2, "options strings"},
      {"0:bloom=10", 7, "options strings"},
      {"0:bloom:10;1:none", 10, "options strings"},
      {"0:bloom:10#c", 10, "options strings"},
      {"budget:10", 0, "cannot stand among rules"},
      {"0:bloom:10,budget:512", 11, "cannot stand among rules"},
      {"tieredfilter:0:blom:1", 15, "did you mean \"bloom\""},
      {"tieredfilter:tieredfilter:bloom:1", 13, "\"tieredfilter\""},
      {"bloomfilter:10", 0, "no filter kind \"bloomfilter\""},
      {std::string("0:bloom:1\0", 10), 9, "\"\\x00\""},
      {"0:bloom:1\xc3\xa9", 9, "\"\\xc3\""},
  };
  for (const Case& c : cases) {
    const SpecError error = MustRefuse(c.text);
    EXPECT_EQ(error.position, c.position) << c.text << ": " << error.message;
    EXPECT_NE(error.message.find(c.message_part), std::string::npos)
        << c.text << ": " << error.message;
    EXPECT_EQ(error.ToString(),
              "character " + std::to_string(c.position + 1) + ": " + error.message);
  }
}

TEST(PolicySpecTest, RefusesHugeTextsWithShortMessages) {
  const SpecError long_text = MustRefuse(std::string(kMaxSpecBytes + 1, '0'));
  EXPECT_LT(long_text.message.size(), 200u);
  EXPECT_LT(MustRefuse(std::string(kMaxSpecBytes, 'b')).message.size(), 300u);
  std::string many = "0:none";
  for (size_t i = 1; i <= kMaxRules; ++i) {
    many += "," + std::to_string(i) + ":none";
  }
  EXPECT_NE(MustRefuse(many).message.find("65 rules"), std::string::npos);
  many.resize(many.rfind(','));
  EXPECT_EQ(MustParse(many).rules().size(), kMaxRules);
}

TEST(PolicySpecTest, LimitsAreInclusive) {
  for (const char* text : {"bloom:1", "bloom:64", "ribbon:1", "ribbon:32", "63:bloom:1",
                           "last-63:bloom:1", "bloom:50%", "ribbon:0.0001%"}) {
    MustParse(text);
  }
}

TEST(PolicySpecTest, ContextRulesComeFirstThenBottomThenTop) {
  const PolicySpec spec = MustParse(
      "*:bloom:1,0+:bloom:2,last:bloom:3,bottommost:bloom:4,unknown:bloom:5,flush:bloom:6");
  EXPECT_EQ(SettingAt(spec, 0, false, TableReason::kFlush), "bloom:6");
  EXPECT_EQ(SettingAt(spec, 0, true, TableReason::kFlush), "bloom:6");
  EXPECT_EQ(SettingAt(spec, -1, false, TableReason::kMisc), "bloom:5");
  EXPECT_EQ(SettingAt(spec, 6, true), "bloom:4");
  EXPECT_EQ(SettingAt(spec, 3, true), "bloom:4");
  EXPECT_EQ(SettingAt(spec, 6, false), "bloom:3");
  EXPECT_EQ(SettingAt(spec, 5, false), "bloom:2");
  EXPECT_EQ(SettingAt(MustParse("1:none,*:bloom:3"), 2), "bloom:3");
}

TEST(PolicySpecTest, WithoutAnyRuleATableGetsTheUsualBloomFilter) {
  const PolicySpec spec = MustParse("5:ribbon:7");
  EXPECT_EQ(SettingAt(spec, 4), "bloom:10");
  EXPECT_EQ(SettingAt(spec, -1), "bloom:10");
  EXPECT_EQ(spec.RuleFor(TableContext()), spec.rules().size());
}

TEST(PolicySpecTest, RecoveryIsAFlushIntoLevelZero) {
  const PolicySpec levels = MustParse("0:bloom:9,unknown:none");
  EXPECT_EQ(SettingAt(levels, -1, false, TableReason::kRecovery), "bloom:9");  // repair says -1
  EXPECT_EQ(SettingAt(levels, 0, false, TableReason::kRecovery), "bloom:9");
  const PolicySpec flush = MustParse("0:bloom:9,unknown:none,flush:bloom:16");
  EXPECT_EQ(SettingAt(flush, -1, false, TableReason::kRecovery), "bloom:16");
  EXPECT_EQ(SettingAt(flush, 0, false, TableReason::kRecovery), "bloom:16");
  EXPECT_EQ(SettingAt(flush, 0, false, TableReason::kCompaction), "bloom:9");
}

TEST(PolicySpecTest, FromBottomNeedsTheNumberOfLevels) {
  const PolicySpec spec = MustParse("last-1..last:ribbon:7,*:none");
  EXPECT_EQ(SettingAt(spec, 6), "ribbon:7");
  EXPECT_EQ(SettingAt(spec, 5), "ribbon:7");
  EXPECT_EQ(SettingAt(spec, 4), "none");
  EXPECT_EQ(SettingAt(spec, 4, false, TableReason::kCompaction, 5), "ribbon:7");
  EXPECT_EQ(SettingAt(spec, 0, false, TableReason::kCompaction, 1), "ribbon:7");
  EXPECT_EQ(SettingAt(spec, 6, false, TableReason::kCompaction, -1), "none");
  EXPECT_EQ(SettingAt(spec, -1), "none");
}

TEST(PolicySpecTest, RulesForLevelsThatDoNotExist) {
  SpecError error;
  EXPECT_TRUE(MustParse("0-6:bloom:10").FitsNumLevels(7, &error));
  EXPECT_TRUE(MustParse("5-9:bloom:10").FitsNumLevels(7, &error));  // part of it exists
  EXPECT_TRUE(MustParse("last-6:bloom:10").FitsNumLevels(7, &error));
  EXPECT_FALSE(MustParse("0:none,9:bloom:10").FitsNumLevels(7, &error));
  EXPECT_EQ(error.position, 7u);
  EXPECT_NE(error.message.find("\"9:bloom:10\""), std::string::npos);
  EXPECT_NE(error.message.find("7 levels, 0 to 6"), std::string::npos);
  EXPECT_FALSE(MustParse("7-8:bloom:10").FitsNumLevels(7, &error));
  EXPECT_FALSE(MustParse("last-7:bloom:10").FitsNumLevels(7, &error));
  // A ladder with an open end is for any depth; so is the default.
  EXPECT_TRUE(MustParse("0:none,9+:bloom:10").FitsNumLevels(7, &error));
  EXPECT_TRUE(PolicySpec().FitsNumLevels(2, &error));
}

}  // namespace
}  // namespace tieredfilter
