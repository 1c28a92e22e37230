#include "src/filter/lookup.h"

#include <cstring>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/filter/lookup_test_util.h"
#include "tests/filter/reference_lookup.h"

namespace tieredfilter {
namespace {

class LookupTest : public ::testing::TestWithParam<CpuKernel> {};

TEST_P(LookupTest, AgreesWithTheFormatsDescription) {
  ExpectSameAnswers(
      [](const LinesView& view) -> const LookupKernel& { return LookupOf(GetParam(), view); },
      ReferenceHashMatches);
}

TEST_P(LookupTest, GivesTheSameAnswersWhateverTheShareOfLinesWithMorePlanes) {
  ExpectSameAnswers(
      [](const LinesView& view) -> const LookupKernel& {
        return LookupFor(GetParam(), view.planes, view.salt != 0, /*more_share=*/0);
      },
      ReferenceHashMatches);
}

TEST_P(LookupTest, LinesMayStartAnywhere) {
  for (uint32_t planes : {3u, 4u, 7u, 8u, 13u}) {
    const TestLines built = BuildTestLines(planes, 3);
    const LookupKernel& lookup = LookupOf(GetParam(), built.view);
    std::vector<char> buffer(built.bytes.size() + 64);
    for (size_t offset = 0; offset < 64; ++offset) {
      std::memcpy(buffer.data() + offset, built.bytes.data(), built.bytes.size());
      LinesView view = built.view;
      view.lines = buffer.data() + offset;
      for (const std::string& key : built.keys) {
        ASSERT_TRUE(lookup.match_key(view, key.data(), key.size())) << offset;
      }
    }
  }
}

TEST_P(LookupTest, TakesEmptyKeysAndKeysWithoutBytes) {
  const TestLines built = BuildTestLines(8, 3);
  const LookupKernel& lookup = LookupOf(GetParam(), built.view);
  const bool expected = ReferenceHashMatches(built.view, HashKey("", 0));
  EXPECT_EQ(lookup.match_key(built.view, "", 0), expected);
  EXPECT_EQ(lookup.match_key(built.view, nullptr, 0), expected);
}

INSTANTIATE_TEST_SUITE_P(Kernels, LookupTest, ::testing::ValuesIn(SupportedCpuKernels()),
                         [](const auto& test) { return std::string(CpuKernelName(test.param)); });

}  // namespace
}  // namespace tieredfilter
