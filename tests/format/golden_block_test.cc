// Freezes the bytes. A block once written is read by every later release, and two machines that
// compact the same keys have to write the same file; so a changed byte means a new format version:
// a new folder golden/v<N>, written with
//   TIEREDFILTER_WRITE_GOLDEN=tests/format/golden golden_block_test
// (it writes what is missing and overwrites nothing), while the older folders stay and must stay
// readable.
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "gtest/gtest.h"
#include "src/filter/short_layout.h"
#include "tests/format/test_blocks.h"

namespace tieredfilter {
namespace {

std::string FolderOf(int version) {
  return std::string(TIEREDFILTER_GOLDEN_DIR) + "/v" + std::to_string(version);
}

// The two forms have versions of their own; both are written.
int VersionOf(const BlockCase& test) {
  return test.form == BlockForm::kShort ? kShortFormatVersion : kFormatVersion;
}
constexpr int kNewestVersion = std::max(kFormatVersion, kShortFormatVersion);

bool Exists(const std::string& path) {
  struct stat status;
  return ::stat(path.c_str(), &status) == 0;
}

// 32 bytes a line: a changed byte shows as one line of a diff.
std::string ToHex(const std::string& bytes) {
  std::string text;
  for (size_t i = 0; i < bytes.size(); ++i) {
    char digits[3];
    std::snprintf(digits, sizeof(digits), "%02x", static_cast<unsigned char>(bytes[i]));
    text += digits;
    if (i % 32 == 31 || i + 1 == bytes.size()) text += '\n';
  }
  return text;
}

std::string FromHex(const std::string& text) {
  std::string bytes;
  for (size_t i = 0; i + 1 < text.size(); i += text[i] == '\n' ? 1 : 2) {
    if (text[i] != '\n') {
      bytes += static_cast<char>(std::strtoul(text.substr(i, 2).c_str(), nullptr, 16));
    }
  }
  return bytes;
}

// Large blocks as a hash: what they add is lines that are solved again and again.
std::string GoldenText(const std::string& block) {
  if (block.size() <= 4096) return ToHex(block);
  std::ostringstream text;
  text << "XXH3-64 of " << block.size() << " bytes: " << std::hex
       << HashKey(block.data(), block.size()) << "\n";
  return text.str();
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class GoldenBlockTest : public ::testing::TestWithParam<BlockCase> {};

TEST_P(GoldenBlockTest, EveryKernelWritesTheFrozenBytes) {
  const std::string name =
      "/v" + std::to_string(VersionOf(GetParam())) + "/" + GetParam().name + ".hex";
  const std::string path = TIEREDFILTER_GOLDEN_DIR + name;
  const char* write_to = std::getenv("TIEREDFILTER_WRITE_GOLDEN");
  if (write_to != nullptr) {
    const std::string target = write_to + name;
    if (!Exists(target)) {
      std::ofstream(target) << GoldenText(BytesOf(Build(GetParam(), CpuKernel::kPortable)));
    }
  }
  ASSERT_TRUE(Exists(path)) << path << " is missing: a new format version needs its own bytes";
  const std::string frozen = ReadFile(path);
  for (CpuKernel kernel : SupportedCpuKernels()) {
    const BuiltBlock built = Build(GetParam(), kernel);
    EXPECT_TRUE(built.ok);
    EXPECT_EQ(GoldenText(BytesOf(built)), frozen)
        << "The bytes of a block changed, with kernel " << CpuKernelName(kernel)
        << ". Blocks are stored for years: raise the form's version, or undo the change.";
  }
}

// Of every version: those that are no longer read answer "may match".
TEST_P(GoldenBlockTest, FrozenBlocksLoseNoKey) {
  for (int version = 1; version <= kNewestVersion; ++version) {
    const std::string path = FolderOf(version) + "/" + GetParam().name + ".hex";
    if (!Exists(path)) continue;  // a case that was added later
    const std::string text = ReadFile(path);
    if (text.compare(0, 4, "XXH3") == 0) continue;
    const std::string block = FromHex(text);
    for (CpuKernel kernel : SupportedCpuKernels()) {
      const BlockReader reader(block.data(), block.size(), kernel);
      const bool is_read = version == kFormatVersion || version == kShortFormatVersion;
      EXPECT_EQ(reader.filters(), is_read && GetParam().keys > 0) << path;
      for (uint64_t hash : HashesOf(GetParam())) ASSERT_TRUE(reader.HashMayMatch(hash)) << path;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Blocks, GoldenBlockTest, ::testing::ValuesIn(kBlockCases),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(GoldenBlocksTest, EveryVersionHasItsBytes) {
  for (int version = 1; version <= kNewestVersion; ++version) {
    EXPECT_TRUE(Exists(FolderOf(version))) << FolderOf(version);
  }
  EXPECT_FALSE(Exists(FolderOf(kNewestVersion + 1)))
      << "bytes of a later version than this code writes";
}

TEST(GoldenBlocksTest, TheCasesCoverWhatTheFormatHas) {
  bool salted[2] = {}, unsalted[2] = {}, lone = false, eight_lines = false, mixed = false;
  uint64_t planes[2] = {};
  for (const BlockCase& test : kBlockCases) {
    const BlockMetadata m = Build(test, CpuKernel::kPortable).metadata;
    EXPECT_EQ(m.is_short(), test.form == BlockForm::kShort) << test.name;
    if (m.keys == 0 || test.coding != BlockCoding::kEquations) continue;
    (m.salt != 0 ? salted : unsalted)[m.is_short()] = true;
    lone |= m.short_lines == 1;
    eight_lines |= m.short_lines == kMaxShortLines;
    mixed |= m.is_short() && m.more_share > 0 && m.more_share < 255;
    planes[m.is_short()] |= uint64_t{1} << m.planes;
  }
  EXPECT_TRUE(salted[0] && unsalted[0] && salted[1] && unsalted[1]);
  EXPECT_TRUE(lone && eight_lines && mixed);
  for (uint32_t wanted : {3u, 4u, 5u, 6u, 7u, 8u, 9u, 10u, 15u, 21u}) {
    EXPECT_TRUE((planes[0] >> wanted) & 1) << "no case of " << wanted << " planes";
  }
  for (uint32_t wanted : {3u, 8u, 9u, 23u}) {
    EXPECT_TRUE((planes[1] >> wanted) & 1) << "no short case of " << wanted << " planes";
  }
}

}  // namespace
}  // namespace tieredfilter
