// The benchmark itself: does it measure what it says, and does it fail when it must?
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tools/filter_bench/keys.h"
#include "tools/filter_bench/measure.h"
#include "tools/filter_bench/memory_meter.h"
#include "tools/filter_bench/our_filters.h"
#include "tools/filter_bench/report.h"
#include "tools/filter_bench/stock_filter.h"

namespace tieredfilter::bench {
namespace {

std::string TemporaryPath(const std::string& name) { return testing::TempDir() + name; }

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream buffer;
  buffer << file.rdbuf();
  return buffer.str();
}

MeasureOptions TinyOptions() {
  MeasureOptions options;
  options.repetitions = 1;
  options.min_time_ms = 1;
  options.fpr_keys = 100000;
  options.many_mb = 0.05;
  options.patterns = {&AllPatterns()[0]};
  return options;
}

// A filter that keeps every key, and can be told to forget some or to match too much.
class ExactFilter : public OurFilter {
 public:
  ExactFilter(size_t forget_every, bool match_all)
      : OurFilter("exact:64", "portable"), forget_every_(forget_every), match_all_(match_all) {}

 protected:
  class Builder : public BitsBuilder {
   public:
    Builder(std::set<std::string>* keys, size_t forget_every)
        : keys_(keys), forget_every_(forget_every) {}
    void AddKey(const KeySlice& key) override {
      if (forget_every_ == 0 || ++added_ % forget_every_ != 0) {
        keys_->emplace(key.data(), key.size());
      }
    }
    bool Finish(Block* block, std::string*) override {
      block->size = 64;
      block->data.reset(new char[64]());
      return true;
    }

   private:
    std::set<std::string>* keys_;
    const size_t forget_every_;
    size_t added_ = 0;
  };
  class Reader : public BitsReader {
   public:
    Reader(const std::set<std::string>* keys, bool match_all)
        : keys_(keys), match_all_(match_all) {}
    bool MayMatch(const KeySlice& key) override {
      return match_all_ || keys_->count(std::string(key.data(), key.size())) > 0;
    }
    void MayMatch(int count, KeySlice** keys, bool* may_match) override {
      for (int i = 0; i < count; ++i) {
        may_match[i] = MayMatch(*keys[i]);
      }
    }

   private:
    const std::set<std::string>* keys_;
    const bool match_all_;
  };

  std::unique_ptr<BitsBuilder> NewBuilder() override {
    return std::make_unique<Builder>(&keys_, forget_every_);
  }
  std::unique_ptr<BitsReader> NewReader(const char*, size_t, std::string*) override {
    return std::make_unique<Reader>(&keys_, match_all_);
  }

 private:
  std::set<std::string> keys_;
  const size_t forget_every_;
  const bool match_all_;
};

bool MeasureExact(size_t forget_every, bool match_all, std::vector<FilterResult>* results,
                  std::string* error) {
  std::vector<std::unique_ptr<BenchFilter>> filters;
  filters.push_back(std::make_unique<ExactFilter>(forget_every, match_all));
  return MeasureFilters(filters, 0, 1000, TinyOptions(), results, error);
}

TEST(FilterBenchTest, ExactFilterHasNoFalsePositives) {
  std::vector<FilterResult> results;
  std::string error;
  ASSERT_TRUE(MeasureExact(0, false, &results, &error)) << error;
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].fpr, 0);
  EXPECT_GT(results[0].fpr_sigma, 0);  // "none seen" is not "none"
  EXPECT_EQ(results[0].false_negatives, 0u);
  EXPECT_EQ(results[0].build.ratio, 1);
  ASSERT_EQ(results[0].lookups.size(), 1u);
  EXPECT_GT(results[0].lookups[0].negative.ns, 0);
  EXPECT_EQ(results[0].lookups[0].positive.ratio, 1);
}

TEST(FilterBenchTest, FilterThatMatchesEverythingHasRateOne) {
  std::vector<FilterResult> results;
  std::string error;
  ASSERT_TRUE(MeasureExact(0, true, &results, &error)) << error;
  EXPECT_EQ(results[0].fpr, 1);
}

TEST(FilterBenchTest, OneMissedKeyEndsTheRun) {
  std::vector<FilterResult> results;
  std::string error;
  EXPECT_FALSE(MeasureExact(1000, false, &results, &error));
  EXPECT_NE(error.find("misses"), std::string::npos) << error;
  EXPECT_TRUE(results.empty());
}

TEST(FilterBenchTest, MedianOfOddAndEven) {
  EXPECT_EQ(Median({3, 1, 2}), 2);
  EXPECT_EQ(Median({4, 1, 2, 3}), 2.5);
}

TEST(FilterBenchKeysTest, PresentAndAbsentKeysAreDistinct) {
  for (KeyStyle style : {KeyStyle::kDbBench, KeyStyle::kMixed}) {
    KeyChunk chunk({style, 24});
    std::set<std::string> keys;
    size_t written = 0;
    for (uint64_t filter_id : {0, 1}) {
      for (bool present : {false, true}) {
        for (uint64_t first = 0; first < 5000; first += 500) {
          chunk.FillConsecutive(filter_id, present, first, 500);
          for (size_t i = 0; i < chunk.count(); ++i) {
            keys.emplace(chunk.data(i), chunk.size(i));
          }
          written += 500;
        }
      }
    }
    EXPECT_EQ(keys.size(), written);
  }
}

TEST(FilterBenchKeysTest, MixedKeysDifferInLengthAndAlignment) {
  KeyChunk chunk({KeyStyle::kMixed, 24});
  chunk.FillConsecutive(0, true, 0, kChunkKeys);
  std::set<size_t> sizes;
  std::set<uintptr_t> alignments;
  for (size_t i = 0; i < chunk.count(); ++i) {
    sizes.insert(chunk.size(i));
    alignments.insert(reinterpret_cast<uintptr_t>(chunk.data(i)) % 4);
  }
  EXPECT_EQ(sizes, (std::set<size_t>{22, 23, 24, 25, 26}));
  EXPECT_GT(alignments.size(), 1u);
}

TEST(FilterBenchKeysTest, RandomPresentKeysBelongToTheChosenFilter) {
  const KeyModel model{KeyStyle::kDbBench, 24};
  KeyChunk chunk(model);
  std::set<std::string> held[2];
  for (uint64_t id : {0, 1}) {
    chunk.FillConsecutive(id, true, 0, 100);
    for (size_t i = 0; i < 100; ++i) {
      held[id].emplace(chunk.data(i), chunk.size(i));
    }
  }
  std::mt19937_64 random(1);
  KeyChunk::RandomSpec spec;
  spec.present = true;
  spec.keys_per_filter = 100;
  spec.readers = 6;
  spec.distinct_filters = 2;
  chunk.FillRandom(spec, &random);
  for (size_t i = 0; i < chunk.count(); ++i) {
    ASSERT_LT(chunk.readers()[i], 6u);
    EXPECT_EQ(held[chunk.readers()[i] % 2].count(std::string(chunk.data(i), chunk.size(i))), 1u);
  }
}

TEST(FilterBenchMemoryTest, PeakCountsWhatLivesAtOnce) {
  MemoryMeter::Start();
  for (int i = 0; i < 3; ++i) {
    std::vector<char> one(1 << 20);
    std::vector<char> two(1 << 20);
    one[0] = two[0] = 1;
  }
  const size_t peak = MemoryMeter::StopAndGetPeak();
  EXPECT_GE(peak, size_t{2} << 20);
  EXPECT_LT(peak, (size_t{2} << 20) + (1 << 16));
}

TEST(FilterBenchStockTest, EveryInstructionSetBuildsTheSameBlock) {
  for (const char* name : {"bloom:10", "ribbon:7"}) {
    std::string expected;
    for (const StockLevel& level : StockLevels()) {
      if (!level.runs_here()) {
        continue;
      }
      FilterRequest request{name, std::string(name).substr(0, std::string(name).find(':')),
                            name[0] == 'b' ? 10.0 : 7.0};
      std::string error;
      auto filter = level.make(request, &error);
      ASSERT_NE(filter, nullptr) << error;
      EXPECT_EQ(filter->kernel(), level.name);
      KeyChunk chunk({KeyStyle::kDbBench, 24});
      Stopwatch watch;
      Block block;
      ASSERT_TRUE(filter->Build(0, 5000, &chunk, &watch, &block, &error)) << error;
      const std::string bytes(block.data.get(), block.size);
      // The marker byte says that it really is that kind, not a fallback.
      EXPECT_EQ(bytes[bytes.size() - 5], name[0] == 'b' ? -1 : -2);
      if (expected.empty()) {
        expected = bytes;
      }
      EXPECT_EQ(bytes, expected) << level.name;
    }
  }
}

TEST(FilterBenchStockTest, RibbonBitsAreBitsReallyStored) {
  for (double bits : {5.5, 7.0, 8.4, 10.5}) {
    std::string error;
    auto filter = StockLevels()[0].make({"ribbon", "ribbon", bits}, &error);
    ASSERT_NE(filter, nullptr) << error;
    KeyChunk chunk({KeyStyle::kDbBench, 24});
    Stopwatch watch;
    Block block;
    ASSERT_TRUE(filter->Build(0, 50000, &chunk, &watch, &block, &error)) << error;
    const double stored = 8.0 * static_cast<double>(block.size) / 50000;
    EXPECT_LE(stored, bits);
    EXPECT_GT(stored, bits - 0.02);
  }
}

TEST(FilterBenchStockTest, RefusesWhatRocksdbDoesNotHave) {
  std::string error;
  EXPECT_EQ(StockLevels()[0].make({"bloom:0.5", "bloom", 0.5}, &error), nullptr);
  EXPECT_NE(error.find("bloom:0.5"), std::string::npos);
  EXPECT_EQ(StockLevels()[0].make({"xor:9", "xor", 9}, &error), nullptr);
}

TEST(FilterBenchReportTest, GeneratedBlockIsReplacedAndOnlyThat) {
  const std::string path = TemporaryPath("filter_bench_report.md");
  std::ofstream(path) << "a\n<!-- begin generated: filter_bench -->old<!-- end generated -->\nb\n";
  std::string error;
  ASSERT_TRUE(ReplaceGeneratedBlock(path, "filter_bench", "new", &error)) << error;
  EXPECT_EQ(ReadFile(path),
            "a\n<!-- begin generated: filter_bench -->\nnew\n<!-- end generated -->\nb\n");
  const std::string before = ReadFile(path);
  EXPECT_FALSE(ReplaceGeneratedBlock(path, "other", "new", &error));
  EXPECT_EQ(ReadFile(path), before);
  std::remove(path.c_str());
}

TEST(FilterBenchReportTest, SaysBeforehandWhereNothingCanBeWritten) {
  std::string error;
  const std::string path = TemporaryPath("filter_bench_writable.json");
  std::ofstream(path) << "kept";
  EXPECT_TRUE(CanWriteFile(path, &error)) << error;
  EXPECT_EQ(ReadFile(path), "kept");
  EXPECT_FALSE(std::ifstream(path + ".tmp").good());
  EXPECT_FALSE(CanWriteFile(TemporaryPath("no_such_folder") + "/x.json", &error));
  EXPECT_NE(error.find("no_such_folder/x.json: No such file"), std::string::npos) << error;
  std::remove(path.c_str());
}

int RunBench(const std::string& arguments) {
  return std::system(
      (std::string(FILTER_BENCH_PATH) + " " + arguments + " >/dev/null 2>&1").c_str());
}

TEST(FilterBenchProgramTest, WritesJsonWithEveryField) {
  const std::string path = TemporaryPath("filter_bench_report.json");
  ASSERT_EQ(RunBench("--filters=ribbon:7 --keys=3k --reps=1 --min_time_ms=1 --fpr_millions=0.1 "
                     "--many_mb=1 --json=" +
                     path),
            0);
  const auto report = nlohmann::json::parse(ReadFile(path));
  EXPECT_TRUE(report["run"].contains("cpu"));
  EXPECT_EQ(report["run"]["seed"], 301);
  ASSERT_EQ(report["results"].size(), 2u);  // bloom:10 joins as the baseline
  EXPECT_EQ(report["results"][0]["filter"], "bloom:10");
  for (const auto& result : report["results"]) {
    for (const char* field :
         {"kernel", "keys", "bits_per_key", "fpr", "fpr_sigma", "false_negatives",
          "build_ns_per_key", "build_ratio", "build_ratio_to_ribbon", "build_peak_bytes_per_key"}) {
      EXPECT_TRUE(result.contains(field)) << field;
    }
    for (const char* pattern : {"cached", "many", "dependent", "batch", "batch_cold"}) {
      for (const char* outcome : {"negative", "positive"}) {
        EXPECT_GT(result[pattern][outcome]["ns"], 0);
        EXPECT_GT(result[pattern][outcome]["ratio"], 0);
      }
    }
  }
  std::remove(path.c_str());
}

TEST(FilterBenchProgramTest, TakesRatesInPlaceOfBits) {
  const std::string path = TemporaryPath("filter_bench_rates.json");
  ASSERT_EQ(RunBench("--filters=bloom:10,bloom:1%,ribbon:1%,cuckoo:1% --keys=50k "
                     "--patterns=none --reps=1 --fpr_millions=1 --build=false --json=" +
                     path),
            0);
  const auto report = nlohmann::json::parse(ReadFile(path));
  ASSERT_EQ(report["results"].size(), 4u);
  for (size_t i = 1; i < 4; ++i) {
    // 1% of a million, to five sigmas; Ribbon's curve is on the safe side for large filters.
    EXPECT_LT(report["results"][i]["fpr"], 0.0105) << report["results"][i];
    EXPECT_GT(report["results"][i]["fpr"], 0.0085) << report["results"][i];
  }
  std::remove(path.c_str());
}

TEST(FilterBenchProgramTest, FillsTheBytesOfABloomFilter) {
  const std::string path = TemporaryPath("filter_bench_bytes.json");
  ASSERT_EQ(
      RunBench("'--filters=bloom:10,cuckoo-equations:=bloom:10,cuckoo-equations:=bloom:10*0.75' "
               "--keys=153,500,5k --patterns=none --reps=1 --fpr_millions=1 --build=false "
               "--json=" +
               path),
      0);
  const auto report = nlohmann::json::parse(ReadFile(path));
  ASSERT_EQ(report["results"].size(), 9u);
  for (size_t i = 0; i < 9; i += 3) {
    const auto& bloom = report["results"][i];
    const auto& same = report["results"][i + 1];
    const double keys = bloom["keys"];
    // Few keys: to the byte. More: to the line.
    const double unit = 8 * (keys > 720 ? 64.0 : 1.0) / keys;
    for (size_t other = 1; other < 3; ++other) {
      const double bits = report["results"][i + other]["bits_per_key"];
      const double wanted = bloom["bits_per_key"].get<double>() * (other == 1 ? 1 : 0.75);
      EXPECT_LE(bits, wanted + 1e-6);
      EXPECT_GT(bits, wanted - unit - 1e-6);
    }
    EXPECT_LT(same["fpr"], bloom["fpr"].get<double>() / 4);
  }
  std::remove(path.c_str());
}

TEST(FilterBenchProgramTest, WrongArgumentsFailAndLeaveNoFile) {
  const std::string path = TemporaryPath("filter_bench_none.json");
  for (const char* arguments :
       {"--filters=bloom", "--filters=bloom:x", "--filters=nothing:10", "--filters=bloom:0%",
        "--filters=cuckoo-fingerprints:1%", "--filters=cuckoo-equations:=bloom:",
        "--filters=cuckoo-equations:=bloom:10*0", "--filters=ribbon:=bloom:10",
        "--filters=cuckoo-equations:=bloom:1", "--filters=cuckoo-equations:25",
        "--filters=cuckoo-fingerprints:3.9", "--keys=0", "--keys=10q", "--patterns=hot",
        "--stock_isa=sse9", "--kernel=sse9", "--key_style=zip", "--key_size=8", "stray"}) {
    EXPECT_NE(RunBench(std::string(arguments) + " --reps=1 --json=" + path), 0) << arguments;
    EXPECT_FALSE(std::ifstream(path).good()) << arguments;
  }
}

}  // namespace
}  // namespace tieredfilter::bench
