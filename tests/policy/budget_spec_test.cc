#include "src/policy/budget_spec.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace tieredfilter {
namespace {

TEST(BudgetSpecTest, CanonicalText) {
  const std::pair<const char*, const char*> cases[] = {
      {"budget:10", "budget:10"},
      {"budget=10", "budget:10"},
      {"tieredfilter:budget:9.50", "budget:9.5"},
      {"budget:512MB", "budget:512MB"},
      {"budget:0.5GB", "budget:512MB"},
      {"budget:1025B", "budget:1025B"},
      {"budget:10,absent:0.80", "budget:10,absent:0.8"},
      {"absent:1,budget:10", "budget:10"},
      {"budget:10,absent:auto", "budget:10,absent:auto"},
      {"budget:10,kinds:cuckoo+bloom", "budget:10"},
      {"budget:10,kinds:cuckoo+ribbon+bloom", "budget:10,kinds:bloom+ribbon+cuckoo"},
      {"budget:10,kinds:ribbon", "budget:10,kinds:ribbon"},
      {"budget:10,cap:16", "budget:10,cap:16"},
      {"budget:10,cap:2MB", "budget:10,cap:20+2MB"},
      {"budget:10,cap:2MB+16", "budget:10,cap:16+2MB"},
      {"budget:10,shape:4x2.5k+100k+1M+10M", "budget:10,shape:4x2500+100k+1M+10M"},
      {"budget=512MB,absent=0.1,shape=1M", "budget:512MB,absent:0.1,shape:1x1M"},
  };
  for (const auto& [text, canonical] : cases) {
    BudgetSpec spec;
    SpecError error;
    ASSERT_TRUE(BudgetSpec::Parse(text, &spec, &error)) << text << ": " << error.ToString();
    EXPECT_EQ(canonical, spec.ToString()) << text;
    BudgetSpec again;
    ASSERT_TRUE(BudgetSpec::Parse(spec.ToString(), &again, &error)) << canonical;
    EXPECT_EQ(spec.ToString(), again.ToString());
  }
}

TEST(BudgetSpecTest, RefusedWithPositionAndReason) {
  struct Case {
    const char* text;
    size_t position;
    const char* reason;
  };
  const Case cases[] = {
      {"budget", 6, "is no budget"},
      {"budget:", 7, "is no budget"},
      {"budget:-3", 7, "a sign is not allowed"},
      {"budget:nan", 7, "is no budget"},
      {"budget:0", 7, "out of range"},
      {"budget:100", 7, "for bytes write a unit"},
      {"budget:1B", 7, "at least 1kB"},
      {"budget:99999999999999GB", 7, "is no budget"},
      {"budget:10,", 10, "no property"},
      {"budget:10,absent:1.1", 17, "from 0 to 1"},
      {"budget:10,absnt:1", 10, "did you mean \"absent\"?"},
      {"budget:10,absent:0.5,absent:0.5", 21, "given twice"},
      {"budget:10,kinds:", 16, "no filter kind"},
      {"budget:10,kinds:bloom+none", 22, "no filter kind"},
      {"budget:10,kinds:bloom+bloom", 22, "named twice"},
      {"budget:10,cap:0.5", 14, "out of range"},
      {"budget:10,cap:16+12", 17, "one limit too many"},
      {"budget:10,cap:1MB+1MB", 18, "one limit too many"},
      {"budget:10,shape:0", 16, "needs keys"},
      {"budget:10,shape:4x", 18, "no number of keys"},
      {"budget:10,shape:0x1k", 16, "level-0 files"},
      {"budget:10,shape:1k+4x1k", 19, "no number of keys"},
      {"tieredfilter:budget:10,0-1:bloom:14", 23, "cannot stand beside a budget"},
      {"absent:0.5", 0, "the budget is missing"},
  };
  for (const Case& c : cases) {
    BudgetSpec spec;
    SpecError error;
    EXPECT_FALSE(BudgetSpec::Parse(c.text, &spec, &error)) << c.text;
    EXPECT_EQ(c.position, error.position) << c.text << ": " << error.message;
    EXPECT_NE(std::string::npos, error.message.find(c.reason)) << c.text << ": " << error.message;
  }
}

TEST(BudgetSpecTest, BudgetsAreToldFromRules) {
  for (const char* text :
       {"budget", "budget:10", "budget=10", "tieredfilter:budget:10", "budget,x"}) {
    EXPECT_TRUE(IsBudgetSpec(text)) << text;
  }
  for (const char* text : {"", "tieredfilter", "bloom:10", "budgets:10", "0:bloom:1,budget:10"}) {
    EXPECT_FALSE(IsBudgetSpec(text)) << text;
  }
}

}  // namespace
}  // namespace tieredfilter
