// The parts of cold_lookup_bench that count and judge: reads to counts, cross-checks, shapes,
// filters in files.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tools/cold_lookup_bench/atomic_file.h"
#include "tools/cold_lookup_bench/counting_file_system.h"
#include "tools/cold_lookup_bench/counts.h"
#include "tools/cold_lookup_bench/lookup_counter.h"
#include "tools/cold_lookup_bench/storage.h"
#include "tools/cold_lookup_bench/table_filter.h"
#include "tools/cold_lookup_bench/tree_files.h"

namespace tieredfilter::cold_lookup {
namespace {

TreeFile File(uint64_t number, int level, const std::string& smallest, const std::string& largest,
              uint64_t sequence = 1, const std::string& filter = "bloom") {
  TreeFile file;
  file.number = number;
  file.level = level;
  file.smallest_key = smallest;
  file.largest_key = largest;
  file.newest_sequence = sequence;
  file.entries = 10;
  file.data_blocks = 4;
  file.data_bytes = 16000;
  file.filter.kind = filter;
  file.filter.offset = file.data_bytes;
  file.filter.bytes = 300;
  return file;
}

// Level 0: files 12 (newer) and 11; level 1: 21; level 2: 31 and 32 with a gap between them.
TreeFiles Tree() {
  return TreeFiles({File(31, 2, "a", "f"), File(32, 2, "h", "z"), File(11, 0, "a", "z", 5),
                    File(12, 0, "a", "z", 9), File(21, 1, "b", "y", 3, "none")});
}

std::vector<uint64_t> InRange(const TreeFiles& tree, const std::string& key) {
  std::vector<size_t> indices;
  tree.FindInRange(key, &indices);
  std::vector<uint64_t> numbers;
  for (const size_t i : indices) {
    numbers.push_back(tree.files()[i].number);
  }
  return numbers;
}

TEST(TreeFilesTest, FindsTheFilesInTheOrderOfALookup) {
  const TreeFiles tree = Tree();
  EXPECT_EQ(InRange(tree, "c"), (std::vector<uint64_t>{12, 11, 21, 31}));
  EXPECT_EQ(InRange(tree, "f"), (std::vector<uint64_t>{12, 11, 21, 31}));
  EXPECT_EQ(InRange(tree, "g"), (std::vector<uint64_t>{12, 11, 21}));
  EXPECT_EQ(InRange(tree, "h"), (std::vector<uint64_t>{12, 11, 21, 32}));
  EXPECT_EQ(InRange(tree, "a"), (std::vector<uint64_t>{12, 11, 31}));
  EXPECT_EQ(InRange(tree, "zz"), std::vector<uint64_t>());
}

TEST(TreeFilesTest, FingerprintSeesShapeButNotFilters) {
  const auto with = [](void (*change)(TreeFile*)) {
    TreeFile file = File(5, 1, "a", "b");
    change(&file);
    return TreeFiles({file});
  };
  const TreeFiles plain = with([](TreeFile*) {});
  EXPECT_EQ(plain.Fingerprint().size(), 16u);
  EXPECT_EQ(plain.Fingerprint(),
            with([](TreeFile* file) { file->filter.kind = "none"; }).Fingerprint());
  EXPECT_EQ(plain.Fingerprint(), with([](TreeFile* file) { file->number = 77; }).Fingerprint());
  EXPECT_EQ(DescribeDifference(plain, with([](TreeFile* file) { file->number = 77; })), "");
  const std::vector<void (*)(TreeFile*)> changes = {[](TreeFile* file) { file->level = 2; },
                                                    [](TreeFile* file) { file->entries = 11; },
                                                    [](TreeFile* file) { file->largest_key = "c"; },
                                                    [](TreeFile* file) { file->data_blocks = 5; }};
  for (const auto change : changes) {
    EXPECT_NE(plain.Fingerprint(), with(change).Fingerprint());
    EXPECT_NE(DescribeDifference(plain, with(change)), "");
  }
}

TEST(TreeFilesTest, ChecksLevelsAndKeysAgainstThePlan) {
  TreePlan plan;
  plan.runs = {{2, 20, 2}, {1, 10, 1}, {0, 10, 1}, {0, 10, 1}};
  EXPECT_TRUE(CheckAgainstPlan(plan, Tree()).ok());
  plan.runs[1].level = 2;
  EXPECT_TRUE(CheckAgainstPlan(plan, Tree()).IsCorruption());
  plan.runs[1] = {1, 11, 1};
  EXPECT_TRUE(CheckAgainstPlan(plan, Tree()).IsCorruption());
  plan.runs.pop_back();
  EXPECT_TRUE(CheckAgainstPlan(plan, Tree()).IsCorruption());
}

constexpr uint64_t kData = 4096;     // offset of a data block in the files of Tree()
constexpr uint64_t kFilter = 16000;  // follows the data, in the same page
constexpr uint64_t kIndex = 16384;

// A read of one page.
FileRead Read(uint64_t file, uint64_t offset) { return {file, offset, 4000, 4096, true, true}; }

TEST(LookupCounterTest, AnAbsentKeyWastesEveryDataRead) {
  const TreeFiles tree = Tree();
  LookupCounter counter(tree);
  // File 11 answers with two data blocks, file 21 has no filter, file 31's filter avoids the read.
  EXPECT_FALSE(counter.Count("c", {Read(11, 0), Read(11, kData), Read(21, kData)}, false).found());
  const LookupCounts& counts = counter.counts();
  EXPECT_EQ(counts.lookups, 1u);
  EXPECT_EQ(counts.found, 0u);
  const LevelCounts& level0 = counts.levels.at(0);
  EXPECT_EQ(level0.lookups, 1u);
  EXPECT_EQ(level0.probes, 2u);
  EXPECT_EQ(level0.filter_checks, 2u);
  EXPECT_EQ(level0.filter_avoided, 1u);
  EXPECT_EQ(level0.false_positives, 1u);
  EXPECT_EQ(level0.data_block_reads, 2u);
  EXPECT_EQ(level0.wasted_data_block_reads, 2u);
  EXPECT_EQ(level0.data_bytes, 8192u);
  const LevelCounts& level1 = counts.levels.at(1);
  EXPECT_EQ(level1.probes, 1u);
  EXPECT_EQ(level1.filter_checks, 0u);
  EXPECT_EQ(level1.wasted_data_block_reads, 1u);
  EXPECT_EQ(counts.levels.at(2).filter_avoided, 1u);
  EXPECT_EQ(counts.Total().wasted_data_block_reads, 3u);
  EXPECT_EQ(counts.Total().lookups, 1u);
}

TEST(LookupCounterTest, AFoundKeyEndsTheLookupAtTheFileThatHoldsIt) {
  const TreeFiles tree = Tree();
  LookupCounter counter(tree);
  const FoundAt place = counter.Count("c", {Read(12, 0), Read(21, kData)}, true);
  EXPECT_EQ(tree.files()[place.file].number, 21u);
  EXPECT_EQ(place.offset, kData);
  const LookupCounts& counts = counter.counts();
  EXPECT_EQ(counts.found, 1u);
  EXPECT_EQ(counts.levels.at(0).false_positives, 1u);
  EXPECT_EQ(counts.levels.at(0).filter_avoided, 1u);
  EXPECT_EQ(counts.levels.at(1).data_block_reads, 1u);
  EXPECT_EQ(counts.levels.at(1).wasted_data_block_reads, 0u);
  EXPECT_EQ(counts.levels.count(2), 0u);  // the lookup did not come that far
}

TEST(LookupCounterTest, TellsTheKindsOfBlocksApart) {
  const TreeFiles tree = Tree();
  LookupCounter counter(tree);
  counter.Count("c", {Read(12, kFilter), Read(12, kIndex), Read(11, kFilter)}, false);
  const LevelCounts& level = counter.counts().levels.at(0);
  EXPECT_EQ(level.filter_block_reads, 2u);
  EXPECT_EQ(level.filter_bytes, 8192u);
  EXPECT_EQ(level.index_block_reads, 1u);
  EXPECT_EQ(level.data_block_reads, 0u);
  EXPECT_EQ(level.false_positives, 0u);
  EXPECT_EQ(level.BytesRead(), 3 * 4096u);
}

TEST(LookupCounterTest, CountsKeysBesideAllRanges) {
  const TreeFiles tree = Tree();
  LookupCounter counter(tree);
  counter.Count("zz", {}, false);
  EXPECT_EQ(counter.counts().out_of_range, 1u);
  EXPECT_EQ(counter.counts().lookups, 1u);
}

TEST(LookupCounterTest, ABatchIsCountedByWhatTheFiltersSay) {
  const TreeFiles tree = Tree();
  LookupCounter counter(tree);
  const auto index_of = [&](uint64_t number) { return static_cast<size_t>(tree.IndexOf(number)); };
  // "c" and "d" are in one block of file 31, "e" is absent, and file 11's filter lets it through.
  const FoundAt place = {index_of(31), kData};
  std::vector<FileRead> reads = {Read(11, 0), Read(21, 0), Read(21, kData), Read(31, kData)};
  reads[2].operation = false;  // merged with the one before
  counter.CountBatch(
      {"c", "d", "e"}, {place, place, FoundAt()}, reads,
      [&](size_t file, const std::string& key) { return key == "e" && file == index_of(11); });
  const LookupCounts& counts = counter.counts();
  EXPECT_EQ(counts.lookups, 3u);
  EXPECT_EQ(counts.found, 2u);
  EXPECT_EQ(counts.levels.at(0).filter_checks, 6u);
  EXPECT_EQ(counts.levels.at(0).false_positives, 1u);
  EXPECT_EQ(counts.levels.at(0).filter_avoided, 5u);
  EXPECT_EQ(counts.levels.at(1).operations, 1u);
  EXPECT_EQ(counts.levels.at(1).wasted_data_block_reads, 2u);
  EXPECT_EQ(counts.levels.at(2).true_positives, 2u);
  EXPECT_EQ(counts.levels.at(2).found, 2u);
  EXPECT_EQ(counts.levels.at(2).data_block_reads, 1u);
  EXPECT_EQ(counts.levels.at(2).wasted_data_block_reads, 0u);
}

TEST(LookupCounterTest, FiltersOfTheLastLevelAreNotAskedWhenOptimizedForHits) {
  const TreeFiles tree = Tree();  // in order: 12, 11, 21 (no filter), 31, 32
  EXPECT_EQ(ConsultedFilters(tree, false), (std::vector<bool>{true, true, false, true, true}));
  EXPECT_EQ(ConsultedFilters(tree, true), (std::vector<bool>{true, true, false, false, false}));
  const TreeFiles flat({File(11, 0, "a", "z", 5), File(12, 0, "a", "z", 9)});
  EXPECT_EQ(ConsultedFilters(flat, true), (std::vector<bool>{true, false}));
}

// Counts of a run in which everything fits: 100 checks, 3 false positives, 4 data blocks of 4096
// bytes.
struct Agreeing {
  LookupCounts own;
  HostCounts host;
  Agreeing() {
    LevelCounts& level = own.levels[1];
    level.lookups = level.probes = level.filter_checks = 100;
    level.filter_avoided = 97;
    level.false_positives = 3;
    level.data_block_reads = level.wasted_data_block_reads = 4;
    level.data_bytes = 4 * 4096;
    own.lookups = 100;
    host.ticker_useful = host.levels[1].useful = 97;
    host.ticker_positive = host.levels[1].positive = 3;
    host.levels[1].cache_misses = host.block_reads = 4;
    host.process_bytes_known = true;
    host.process_bytes = 4 * 4096;
  }
};

TEST(CrossCheckTest, FindsNothingWhereAllCountsAgree) {
  const Agreeing run;
  EXPECT_EQ(CrossCheck(run.own, run.host, true), std::vector<std::string>());
}

TEST(CrossCheckTest, EveryCountThatIsOffByOneIsFound) {
  const std::vector<void (*)(Agreeing*)> faults = {
      [](Agreeing* run) { ++run->host.ticker_useful; },
      [](Agreeing* run) { ++run->host.ticker_positive; },
      [](Agreeing* run) { ++run->host.ticker_true_positive; },
      [](Agreeing* run) { ++run->host.levels[1].useful; },
      [](Agreeing* run) { ++run->host.levels[1].positive; },
      [](Agreeing* run) { ++run->host.levels[1].true_positive; },
      [](Agreeing* run) { ++run->host.levels[1].cache_misses; },
      [](Agreeing* run) { ++run->host.levels[2].useful; },
      [](Agreeing* run) { ++run->host.block_reads; },
      [](Agreeing* run) { ++run->host.filter_block_reads; },
      [](Agreeing* run) { ++run->host.data_cache_hits; },
      [](Agreeing* run) { ++run->host.filter_cache_hits; },
      [](Agreeing* run) { ++run->host.index_cache_hits; },
      [](Agreeing* run) { ++run->host.memtable_hits; },
      [](Agreeing* run) { run->own.out_of_range += 2; },
      [](Agreeing* run) { ++run->own.levels[1].filter_checks; },
      [](Agreeing* run) { ++run->own.levels[1].false_positives; },
      [](Agreeing* run) { ++run->own.levels[1].data_block_reads; },
      [](Agreeing* run) { ++run->own.levels[3].filter_avoided; }};
  for (size_t i = 0; i < faults.size(); ++i) {
    Agreeing run;
    faults[i](&run);
    EXPECT_FALSE(CrossCheck(run.own, run.host, true).empty()) << "fault " << i;
  }
}

bool Mentions(const std::vector<std::string>& sentences, const std::string& words) {
  for (const std::string& sentence : sentences) {
    if (sentence.find(words) != std::string::npos) {
      return true;
    }
  }
  return false;
}

TEST(CrossCheckTest, ReadsFromThePageCacheAreNotCold) {
  Agreeing run;
  run.host.process_bytes = 4 * 4096 / 2;
  EXPECT_TRUE(Mentions(CrossCheck(run.own, run.host, true), "not cold"));
  run.host.process_bytes_known = false;  // then direct I/O is the proof
  EXPECT_EQ(CrossCheck(run.own, run.host, true), std::vector<std::string>());
}

TEST(CrossCheckTest, AFilterThatWasNeverConsultedProvesNothing) {
  Agreeing run;
  run.own.levels[1].filter_checks = run.own.levels[1].filter_avoided =
      run.own.levels[1].false_positives = 0;
  run.host.ticker_useful = run.host.ticker_positive = 0;
  run.host.levels[1].useful = run.host.levels[1].positive = 0;
  EXPECT_TRUE(Mentions(CrossCheck(run.own, run.host, true), "never consulted"));
  EXPECT_EQ(CrossCheck(run.own, run.host, false), std::vector<std::string>());
}

TEST(CrossCheckTest, HitsInTheBlockCacheAreJudgedByTheDegree) {
  Agreeing run;
  run.host.filter_cache_hits = 10;
  EXPECT_TRUE(Mentions(CrossCheck(run.own, run.host, true, Cold::kResident), "not resident"));
  EXPECT_EQ(CrossCheck(run.own, run.host, true, Cold::kCache), std::vector<std::string>());
  EXPECT_TRUE(Mentions(CrossCheck(run.own, run.host, true, Cold::kAll), "not cold"));
}

TEST(CrossCheckTest, LookupsThatReachNoFileProveNothing) {
  LookupCounts own;
  own.lookups = 100;
  EXPECT_TRUE(Mentions(CrossCheck(own, HostCounts(), false), "key ranges"));
}

class FolderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(folder_.CreateIn(::testing::TempDir(), "cold_lookup_test.").ok());
  }
  std::string Path(const std::string& name) const { return folder_.path() + "/" + name; }
  static void Write(const std::string& path, const std::string& content) {
    std::ofstream(path, std::ios::binary) << content;
  }
  static std::string Read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  size_t FilesInFolder() const {
    return static_cast<size_t>(
        std::distance(std::filesystem::directory_iterator(folder_.path()), {}));
  }

  ScopedFolder folder_;
};

using TableFilterFileTest = FolderTest;

TEST_F(TableFilterFileTest, DamagedFilesAreCorruptionAndNothingElse) {
  TableFilter filter;
  EXPECT_TRUE(ReadTableFilter(Path("missing.sst"), &filter).IsCorruption());
  // A footer with the right magic whose handles point anywhere.
  const std::string magic = std::string("\xf7\xcf\xf4\x85\xb7\x41\xe2\x88", 8);
  for (int seed = 0; seed < 200; ++seed) {
    for (const char version : {'\5', '\6'}) {
      std::string content(100 + static_cast<size_t>(seed), '\0');
      for (size_t i = 0; i < content.size(); ++i) {
        content[i] = static_cast<char>(i * 31 + static_cast<size_t>(seed) * 17);
      }
      content += version + std::string(3, '\0') + magic;
      Write(Path("bad.sst"), content);
      EXPECT_FALSE(ReadTableFilter(Path("bad.sst"), &filter).ok());
    }
  }
  Write(Path("bad.sst"), magic);
  EXPECT_TRUE(ReadTableFilter(Path("bad.sst"), &filter).IsCorruption());
}

using AtomicFileTest = FolderTest;

TEST_F(AtomicFileTest, AppearsWholeOrNotAtAll) {
  {
    AtomicFile file;
    ASSERT_TRUE(file.Open(Path("result")).ok());
    EXPECT_FALSE(std::filesystem::exists(Path("result")));
  }
  EXPECT_EQ(FilesInFolder(), 0u);
  {
    AtomicFile file;
    ASSERT_TRUE(file.Open(Path("result")).ok());
    ASSERT_TRUE(file.Commit("whole\n").ok());
  }
  EXPECT_EQ(Read(Path("result")), "whole\n");
  EXPECT_EQ(FilesInFolder(), 1u);
}

TEST_F(AtomicFileTest, AFailedRunLeavesTheOlderResultAlone) {
  Write(Path("result"), "older\n");
  {
    AtomicFile file;
    ASSERT_TRUE(file.Open(Path("result")).ok());
  }
  EXPECT_EQ(Read(Path("result")), "older\n");
}

TEST_F(AtomicFileTest, RefusesPathsItCannotReplace) {
  AtomicFile file;
  EXPECT_TRUE(file.Open(folder_.path()).IsIOError());
  EXPECT_TRUE(file.Open("/dev/null").IsIOError());
  EXPECT_TRUE(file.Open(Path("missing/result")).IsIOError());
}

TEST(ScopedFolderTest, RemovesWhatItCreatedAndNothingElse) {
  const std::string parent = ::testing::TempDir() + "/cold_lookup_parent/with a space";
  {
    ScopedFolder folder;
    ASSERT_TRUE(folder.CreateIn(parent, "x.").ok());
    std::ofstream(folder.path() + "/file") << "content";
  }
  EXPECT_FALSE(std::filesystem::exists(::testing::TempDir() + "/cold_lookup_parent"));
  std::filesystem::create_directories(parent);
  std::ofstream(parent + "/mine") << "content";
  {
    ScopedFolder folder;
    ASSERT_TRUE(folder.CreateIn(parent, "x.").ok());
  }
  EXPECT_TRUE(std::filesystem::exists(parent + "/mine"));
  std::filesystem::remove_all(::testing::TempDir() + "/cold_lookup_parent");
}

TEST(ReadLogTest, KnowsTableFilesByName) {
  EXPECT_EQ(TableFileNumber("/a/b/000123.sst"), 123u);
  EXPECT_EQ(TableFileNumber("000007.sst"), 7u);
  EXPECT_EQ(TableFileNumber("/a/b/000123.log"), 0u);
  EXPECT_EQ(TableFileNumber("/a/12.sst/MANIFEST-000004"), 0u);
  EXPECT_EQ(TableFileNumber(""), 0u);
}

}  // namespace
}  // namespace tieredfilter::cold_lookup
