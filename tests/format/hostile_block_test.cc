// Damaged blocks next to memory that must not be touched.
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "src/filter/line_layout.h"
#include "tests/format/test_blocks.h"

namespace tieredfilter {
namespace {

// Memory between two pages that cannot be read. A block put at the start or the end of it makes a
// read of one byte too many a crash, whatever instruction reads.
class GuardedMemory {
 public:
  explicit GuardedMemory(size_t size) : page_(static_cast<size_t>(::sysconf(_SC_PAGESIZE))) {
    room_ = (size + page_ - 1) / page_ * page_;
    if (room_ == 0) room_ = page_;
    base_ = static_cast<char*>(::mmap(nullptr, room_ + 2 * page_, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (base_ == MAP_FAILED) std::abort();
    if (::mprotect(base_, page_, PROT_NONE) != 0) std::abort();
    if (::mprotect(base_ + page_ + room_, page_, PROT_NONE) != 0) std::abort();
  }
  ~GuardedMemory() { ::munmap(base_, room_ + 2 * page_); }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  const char* AtStart(const std::string& bytes) {
    std::memcpy(base_ + page_, bytes.data(), bytes.size());
    return base_ + page_;
  }
  const char* AtEnd(const std::string& bytes) {
    char* start = base_ + page_ + room_ - bytes.size();
    std::memcpy(start, bytes.data(), bytes.size());
    return start;
  }

 private:
  const size_t page_;
  size_t room_;
  char* base_;
};

// Looks at everything a reader has; the answers are the caller's to judge.
size_t CountMatches(const char* data, size_t size, CpuKernel kernel, uint64_t seed, size_t count) {
  const BlockReader reader(data, size, kernel);
  size_t matches = 0;
  TestRandom random(seed);
  std::string keys[kMaxBatch];
  KeyView views[kMaxBatch];
  bool may_match[kMaxBatch];
  for (size_t i = 0; i < count; i += kMaxBatch) {
    for (size_t b = 0; b < kMaxBatch; ++b) {
      keys[b] = FamilyKey(KeyFamily::kBigEndian, random.Next() >> 32);
      views[b] = {keys[b].data(), keys[b].size()};
      matches += reader.MayMatch(views[b].data, views[b].size);
      matches += reader.HashMayMatch(random.Next());
    }
    reader.MayMatch(views, kMaxBatch, may_match);
    for (bool match : may_match) matches += match;
  }
  // The outermost lines, which random keys may miss.
  for (uint64_t hash : {uint64_t{0}, ~uint64_t{0}}) reader.HashMayMatch(hash);
  return matches;
}

constexpr size_t kLookups = 64;
constexpr size_t kAllMatch = 3 * kLookups;

class HostileBlockTest : public ::testing::TestWithParam<BlockCase> {
 protected:
  void SetUp() override {
    const BuiltBlock built = Build(GetParam(), DefaultCpuKernel());
    block_ = BytesOf(built);
    trailer_bytes_ = built.metadata.trailer_bytes();
    memory_ = std::make_unique<GuardedMemory>(block_.size() + 64);
  }

  // Both ends, all kernels; true if nothing was ever filtered.
  bool MatchesEverything(const std::string& block) {
    for (CpuKernel kernel : SupportedCpuKernels()) {
      for (bool at_end : {false, true}) {
        const char* data = at_end ? memory_->AtEnd(block) : memory_->AtStart(block);
        if (BlockReader(data, block.size(), kernel).filters()) return false;
        if (CountMatches(data, block.size(), kernel, 1, kLookups) != kAllMatch) return false;
      }
    }
    return true;
  }

  void ReadEverywhere(const std::string& block, size_t lookups) {
    for (CpuKernel kernel : SupportedCpuKernels()) {
      CountMatches(memory_->AtStart(block), block.size(), kernel, 2, lookups);
      CountMatches(memory_->AtEnd(block), block.size(), kernel, 3, lookups);
    }
  }

  std::string block_;
  size_t trailer_bytes_ = 0;
  std::unique_ptr<GuardedMemory> memory_;
};

TEST_P(HostileBlockTest, WholeBlocksAreReadInsideTheirBytes) { ReadEverywhere(block_, 4096); }

// Every shorter block, cut at either end, and some longer ones.
TEST_P(HostileBlockTest, TruncatedBlocksMatchEverything) {
  // All lengths near the ends and line boundaries; of large blocks not every one in between.
  const size_t step = 1 + block_.size() / 600;
  for (size_t cut = 1; cut <= block_.size(); cut += cut < 130 ? 1 : step) {
    ASSERT_TRUE(MatchesEverything(block_.substr(0, block_.size() - cut))) << "tail cut by " << cut;
    ASSERT_TRUE(MatchesEverything(block_.substr(cut))) << "head cut by " << cut;
  }
  for (size_t more = 1; more <= 64; ++more) {
    ASSERT_TRUE(MatchesEverything(block_ + std::string(more, '\0'))) << more;
    ASSERT_TRUE(MatchesEverything(std::string(more, '\0') + block_)) << more;
  }
}

TEST_P(HostileBlockTest, AnyFlippedBitOfTheTrailerMatchesEverything) {
  for (size_t bit = 0; bit < 8 * trailer_bytes_; ++bit) {
    std::string damaged = block_;
    char& byte = damaged[damaged.size() - trailer_bytes_ + bit / 8];
    byte = static_cast<char>(byte ^ (1 << (bit % 8)));
    ASSERT_TRUE(MatchesEverything(damaged)) << "bit " << bit;
  }
}

// The lines are not covered by the checksum: a flipped bit may change answers, nothing else.
TEST_P(HostileBlockTest, FlippedBitsOfTheDataAreHarmlessToRead) {
  TestRandom random(GetParam().seed);
  const size_t data_bytes = block_.size() - trailer_bytes_;
  for (int round = 0; round < 200 && data_bytes > 0; ++round) {
    std::string damaged = block_;
    for (uint64_t flips = 1 + random.Below(8); flips > 0; --flips) {
      char& byte = damaged[random.Below(data_bytes)];
      byte = static_cast<char>(byte ^ (1 << random.Below(8)));
    }
    ReadEverywhere(damaged, 32);
  }
}

TEST_P(HostileBlockTest, RandomDataUnderAWholeTrailer) {
  TestRandom random(GetParam().seed);
  const size_t data_bytes = block_.size() - trailer_bytes_;
  for (int round = 0; round < 20; ++round) {
    std::string noise = block_;
    for (size_t i = 0; i < data_bytes; ++i) {
      noise[i] = round == 0 ? '\xff' : round == 1 ? '\0' : static_cast<char>(random.Next());
    }
    ReadEverywhere(noise, 512);
  }
}

// Every value of every byte that decides how the data is read, its checksum made right: whatever is
// accepted must still be read inside the block.
TEST_P(HostileBlockTest, AnyMetadataWithARightChecksum) {
  const bool is_short = GetParam().form == BlockForm::kShort;
  for (size_t at = is_short ? 0 : 3; at <= (is_short ? 3 : 8); ++at) {
    for (int value = 0; value < 256; ++value) {
      std::string forged = block_;
      forged[forged.size() - trailer_bytes_ + at] = static_cast<char>(value);
      Reseal(&forged);
      ReadEverywhere(forged, 32);
    }
  }
}

// The shortest data that any shape in a short block's trailer can have been made for, and whatever
// lies around it: the lookups' loads reach furthest into the trailer there.
TEST(HostileShortBlockTest, EveryShapeOverEverySmallSize) {
  GuardedMemory memory(256);
  for (int shape = 0; shape < 256; ++shape) {
    for (size_t data_bytes = 0; data_bytes < 64; data_bytes += 1 + data_bytes / 16) {
      for (char fill : {'\0', '\xff'}) {  // of tags: no line or every line has a plane more
        std::string block(data_bytes + kShortTrailerBytes, fill);
        char* trailer = &block[data_bytes];
        trailer[1] = static_cast<char>(shape);
        trailer[2] = 1;  // keys
        trailer[10] = static_cast<char>(0xa4);
        Reseal(&block);
        for (CpuKernel kernel : SupportedCpuKernels()) {
          CountMatches(memory.AtStart(block), block.size(), kernel, 4, 32);
          CountMatches(memory.AtEnd(block), block.size(), kernel, 5, 32);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Blocks, HostileBlockTest, ::testing::ValuesIn(kBlockCases),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace tieredfilter
