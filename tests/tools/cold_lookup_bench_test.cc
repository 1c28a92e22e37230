// Runs cold_lookup_bench as a user would: exit codes, the JSON, and what is left behind when it
// cannot do its work.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "tools/cold_lookup_bench/storage.h"

namespace tieredfilter::cold_lookup {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct Outcome {
  int exit_code = -1;
  std::string output;  // stdout and stderr
};

// Runs `command` in a shell.
Outcome Shell(const std::string& command) {
  Outcome outcome;
  FILE* pipe = ::popen(("( " + command + " ) 2>&1").c_str(), "r");
  if (pipe == nullptr) {
    return outcome;
  }
  char buffer[4096];
  for (size_t n = 0; (n = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0;) {
    outcome.output.append(buffer, n);
  }
  const int status = ::pclose(pipe);
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

class ColdLookupBenchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    // Beside the test binary: the build folder is on a disk more often than the system's temporary
    // folder is.
    ASSERT_TRUE(folder_.CreateIn(fs::current_path().string(), "cold lookup test.").ok());
    fs::create_directory(Path("db"));
    result_ = Path("result.json");
  }

  std::string Path(const std::string& name) const { return folder_.path() + "/" + name; }

  // A tree as small as the shape allows: a second or two per run.
  std::string Command(const std::string& flags) const {
    return std::string(COLD_LOOKUP_BENCH) + " --num=20000 --lookups=500 --db='" + Path("db") +
           "' --json='" + result_ + "' " + flags;
  }

  json Result() const {
    std::ifstream file(result_);
    return json::parse(file, nullptr, /*allow_exceptions=*/false);
  }

  // Nothing temporary may be left, and no result unless `with_result`.
  void ExpectNothingLeft(bool with_result) const {
    EXPECT_TRUE(fs::is_empty(Path("db")));
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      const std::string name = entry.path().filename().string();
      EXPECT_TRUE(name == "db" || (with_result && name == "result.json")) << name;
    }
    EXPECT_EQ(fs::exists(result_), with_result);
  }

  ScopedFolder folder_;
  std::string result_;
};

TEST_F(ColdLookupBenchTest, CountsTheReadsOfEveryPolicy) {
  const Outcome run =
      Shell(Command("--threads=2 --policies='bloomfilter:10 ribbonfilter:10;per-level-bloom:10'"));
  ASSERT_EQ(run.exit_code, 0) << run.output;
  ExpectNothingLeft(/*with_result=*/true);
  EXPECT_NE(run.output.find("Per 1000 lookups of absent keys:"), std::string::npos) << run.output;
  EXPECT_EQ(run.output.find('\r'), std::string::npos) << "progress although stderr is no terminal";

  const json result = Result();
  ASSERT_TRUE(result.is_object());
  EXPECT_EQ(result["valid"], true);
  EXPECT_TRUE(result["reasons"].empty());
  EXPECT_EQ(result["run"]["seed"], 1);
  EXPECT_EQ(result["run"]["flags"]["num"], "20000");
  EXPECT_FALSE(result["run"]["rocksdb_version"].get<std::string>().empty());
  EXPECT_EQ(result["shape"]["entries"], 20000);
  EXPECT_EQ(result["shape"]["levels"].size(), 5u);
  ASSERT_EQ(result["policies"].size(), 4u);
  EXPECT_EQ(result["policies"][0]["spec"], "none");
  EXPECT_EQ(result["policies"][1]["spec"], "bloomfilter:10");
  EXPECT_EQ(result["policies"][2]["spec"].get<std::string>().rfind("ribbonfilter:10", 0), 0u);
  EXPECT_EQ(result["policies"][3]["spec"].get<std::string>().rfind("tieredfilter:0:bloom:", 0), 0u);
  for (const json& policy : result["policies"]) {
    EXPECT_EQ(policy["lookups"], 500);
    EXPECT_EQ(policy["keys_checked"], 20000);
    EXPECT_EQ(policy["keys_lost"], 0);
    EXPECT_EQ(policy["wasted_data_block_reads"], policy["data_block_reads"]);  // no key is present
    EXPECT_EQ(policy["reads_avoided"].get<int64_t>(),
              result["policies"][0]["data_block_reads"].get<int64_t>() -
                  policy["data_block_reads"].get<int64_t>());
    for (const char* field : {"filter_bytes", "data_block_reads", "bytes_read", "reads_avoided",
                              "entries", "filter_checks", "false_positives"}) {
      int64_t sum = 0;
      for (const json& level : policy["levels"]) {
        sum += level[field].get<int64_t>();
      }
      EXPECT_EQ(sum, policy[field].get<int64_t>()) << policy["spec"] << " " << field;
    }
  }
  // Without filters, each lookup reads at least one block of each of the eight sorted runs.
  EXPECT_GE(result["policies"][0]["data_block_reads"], 4000);
  EXPECT_LT(result["policies"][0]["data_block_reads"], 4250);
  EXPECT_GT(result["policies"][1]["reads_avoided"], 3900);
}

TEST_F(ColdLookupBenchTest, EveryLevelHoldsTheFilterItsRuleAsksFor) {
  const Outcome run =
      Shell(Command("--policies='tieredfilter:0:none,1-2:bloom:16,3:ribbon:9,bottommost:bloom:6'"));
  ASSERT_EQ(run.exit_code, 0) << run.output;
  const json policy = Result()["policies"][1];
  EXPECT_EQ(policy["levels"][0]["stored"], "none");
  EXPECT_EQ(policy["levels"][0]["filter_checks"], 0);
  EXPECT_EQ(policy["levels"][0]["reads_avoided"], 0);
  EXPECT_EQ(policy["levels"][2]["stored"].get<std::string>().rfind("bloom:", 0), 0u);
  EXPECT_NEAR(policy["levels"][2]["filter_bits_per_key"], 16, 3);  // 64-byte lines for 179 keys
  EXPECT_EQ(policy["levels"][3]["stored"].get<std::string>().rfind("ribbon:", 0), 0u);
  EXPECT_NEAR(policy["levels"][3]["filter_bits_per_key"], 9, 0.5);
  EXPECT_NEAR(policy["levels"][4]["filter_bits_per_key"], 6, 0.2);
}

TEST_F(ColdLookupBenchTest, TheSameSeedGivesTheSameFiguresAndAnotherSeedOthers) {
  const auto figures = [&](const std::string& flags) {
    EXPECT_EQ(Shell(Command("--verify_keys=false --policies=bloomfilter:4 " + flags)).exit_code, 0);
    const json result = Result();
    return std::make_pair(result["shape"]["fingerprint"], result["policies"][1]["levels"]);
  };
  const auto first = figures("--seed=5");
  EXPECT_EQ(first, figures("--seed=5 --threads=3"));
  EXPECT_NE(first, figures("--seed=6"));
}

TEST_F(ColdLookupBenchTest, PoliciesMayBeGivenByRepeatingTheFlag) {
  const Outcome run =
      Shell(Command("--verify_keys=false --policies=bloomfilter:4 --policies bloomfilter:8"));
  ASSERT_EQ(run.exit_code, 0) << run.output;
  const json result = Result();
  ASSERT_EQ(result["policies"].size(), 3u);
  EXPECT_EQ(result["policies"][2]["spec"], "bloomfilter:8");
}

TEST_F(ColdLookupBenchTest, APolicyThatWritesNoFilterMakesTheRunInvalid) {
  const Outcome run = Shell(Command("--policies='tieredfilter:*:none'"));
  EXPECT_EQ(run.exit_code, 1) << run.output;
  EXPECT_NE(run.output.find("never consulted"), std::string::npos) << run.output;
  EXPECT_EQ(Result()["valid"], false);
  EXPECT_FALSE(Result()["reasons"].empty());
}

TEST_F(ColdLookupBenchTest, RefusesFlagsThatMakeNoSenseAndNamesThem) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"--num=10", "--num=10"},
      {"--key_size=3", "--key_size=3"},
      {"--lookups=0", "--lookups=0"},
      {"--threads=0", "--threads=0"},
      {"--batch_size=0", "--batch_size=0"},
      {"--batch_size=2 --compression_type=snappy", "--batch_size=2"},
      {"--cold=lukewarm", "--cold=lukewarm"},
      {"--cold=cache", "--cache_mb"},
      {"--cache_mb=5", "--cache_mb=5"},
      {"--distribution=normal", "--distribution=normal"},
      {"--zipfian_theta=1", "--zipfian_theta=1"},
      {"--device=floppy", "floppy"},
      {"--policies=''", "--policies"},
      {"--policies=blomfilter:10", "blomfilter:10"},
      {"--policies='tieredfilter:0:bloom:nan'", "nan"},
      {"--compression_type=brotli", "--compression_type=brotli"},
      {"--max_bytes_for_level_multiplier=0.5", "--max_bytes_for_level_multiplier=0.5"},
      {"bloomfilter:10", "bloomfilter:10"}};
  for (const auto& [flags, named] : cases) {
    const Outcome run = Shell(Command(flags));
    EXPECT_EQ(run.exit_code, 2) << flags << "\n" << run.output;
    EXPECT_NE(run.output.find(named), std::string::npos) << flags << "\n" << run.output;
    ExpectNothingLeft(/*with_result=*/false);
  }
  EXPECT_NE(Shell(Command("--no_such_flag=1")).exit_code, 0);
}

TEST_F(ColdLookupBenchTest, SaysWhenAPathCannotBeWritten) {
  Outcome run = Shell(Command("--db=/proc/cold_lookup_bench"));
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.output.find("/proc/cold_lookup_bench"), std::string::npos) << run.output;
  run = Shell(Command("--json=/proc/result.json"));
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.output.find("/proc/result.json"), std::string::npos) << run.output;
  ExpectNothingLeft(/*with_result=*/false);
}

TEST_F(ColdLookupBenchTest, RefusesAFileSystemInMemory) {
  struct statfs info;
  constexpr long kTmpfs = 0x01021994;
  if (::statfs("/dev/shm", &info) != 0 || info.f_type != kTmpfs ||
      ::access("/dev/shm", W_OK) != 0) {
    GTEST_SKIP() << "no tmpfs at /dev/shm";
  }
  const Outcome run = Shell(Command("--db=/dev/shm"));
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.output.find("tmpfs"), std::string::npos) << run.output;
  ExpectNothingLeft(/*with_result=*/false);
}

TEST_F(ColdLookupBenchTest, AFullDiskIsAnErrorAndLeavesNothing) {
  // A file size limit hits RocksDB as a full disk does: a write comes back with an error.
  const Outcome run = Shell("ulimit -f 6000; " + Command("--num=200000"));
  EXPECT_EQ(run.exit_code, 1) << run.output;
  EXPECT_NE(run.output.find("IO error"), std::string::npos) << run.output;
  ExpectNothingLeft(/*with_result=*/false);
}

TEST_F(ColdLookupBenchTest, AnInterruptLeavesNothing) {
  std::ofstream(result_) << "older";
  // exec: so that the process to be interrupted is the driver and not the shell.
  const std::string command = "exec " + Command("--num=3000000 --lookups=1000000");
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  // Once the database is there the run is under way.
  for (int i = 0; i < 600 && fs::is_empty(Path("db")); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  ASSERT_EQ(::kill(child, SIGINT), 0);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 128 + SIGINT);
  std::ifstream file(result_);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "older");
  fs::remove(result_);
  ExpectNothingLeft(/*with_result=*/false);
}

TEST_F(ColdLookupBenchTest, SaysWhereFoundKeysLiveAndWhatWasExpected) {
  const Outcome run =
      Shell(Command("--absent_percent=40 --policies='bloomfilter:6 ribbonfilter:6'"));
  ASSERT_EQ(run.exit_code, 0) << run.output;
  const json result = Result();
  for (const json& policy : result["policies"]) {
    uint64_t found = 0;
    for (const json& level : policy["levels"]) {
      found += level["found"].get<uint64_t>();
      if (policy["spec"] != "none" && level["filter_checks"] > 0) {
        EXPECT_EQ(level["expected_false_positives"]["agrees"], true) << policy["spec"] << level;
      }
    }
    EXPECT_EQ(found, policy["found"].get<uint64_t>());
    EXPECT_NEAR(static_cast<double>(found), 300, 60);
    // Nine keys in ten are on the last level.
    EXPECT_NEAR(policy["levels"][4]["found"].get<double>() / static_cast<double>(found), 0.9, 0.06);
    EXPECT_GT(policy["latency_us"]["p99"], policy["latency_us"]["p50"]);
    EXPECT_GT(policy["cpu_us_per_lookup"], 0);
    EXPECT_EQ(policy["data_block_reads"].get<uint64_t>() -
                  policy["wasted_data_block_reads"].get<uint64_t>(),
              found);
  }
}

TEST_F(ColdLookupBenchTest, KnowsTheBaselinesByName) {
  const Outcome run =
      Shell(Command("--absent_percent=50 --policies='bloomfilter:10 ribbonfilter:10:2 "
                    "bloomfilter:10+optimize_filters_for_hits'"));
  ASSERT_EQ(run.exit_code, 0) << run.output;
  const json policies = Result()["policies"];
  const auto stored = [&](int policy, int level) {
    return policies[policy]["levels"][level]["stored"].get<std::string>();
  };
  // The hybrid: Bloom above level 2, Ribbon from there on where a table has enough keys for one.
  EXPECT_EQ(stored(2, 1).rfind("bloom:", 0), 0u);
  EXPECT_EQ(stored(2, 3).rfind("ribbon:", 0), 0u);
  EXPECT_EQ(policies[3]["spec"], "bloomfilter:10+optimize_filters_for_hits");
  EXPECT_EQ(stored(3, 3).rfind("bloom:", 0), 0u);
  EXPECT_EQ(stored(3, 4), "none");
  EXPECT_TRUE(policies[0]["filter_build"].is_null());
  for (int i = 1; i < 4; ++i) {
    EXPECT_GT(policies[i]["filter_build"]["cpu_ms"], 0);
    EXPECT_GT(policies[i]["filter_build"]["keys"], i < 3 ? 19999 : 1999);
    EXPECT_GT(policies[i]["memory"]["process_resident_bytes"], 0);
  }
  // Filters in memory are part of what RocksDB says its table readers take.
  const auto readers = [&](int policy) {
    return policies[policy]["memory"]["table_readers_bytes"].get<double>();
  };
  const double filter_bytes = policies[1]["filter_bytes"].get<double>();
  EXPECT_NEAR(readers(1) - readers(0), filter_bytes, 0.1 * filter_bytes);
}

TEST_F(ColdLookupBenchTest, CountsFilterReadsAgainstTheSavings) {
  Outcome run =
      Shell(Command("--cold=all --absent_percent=0 --verify_keys=false "
                    "--device=hdd,1000 --policies=bloomfilter:10"));
  ASSERT_EQ(run.exit_code, 0) << run.output;
  json policy = Result()["policies"][1];
  EXPECT_GT(policy["filter_block_reads"], 0);
  EXPECT_EQ(policy["filter_block_reads"], policy["rocksdb_counts"]["filter_block_read_count"]);
  const json avoided = policy["io_avoided"];
  EXPECT_EQ(
      avoided["net_bytes"].get<int64_t>(),
      avoided["data_bytes"].get<int64_t>() + avoided["index_and_filter_bytes"].get<int64_t>());
  EXPECT_EQ(policy["modelled_latency_us"].size(), 2u);
  EXPECT_GT(policy["modelled_latency_us"]["hdd"]["mean"],
            policy["modelled_latency_us"]["1000 us"]["mean"]);
  // Where every filter must be read, and every key is there, big filters lose.
  EXPECT_LT(avoided["index_and_filter_bytes"], 0);
  EXPECT_NE(run.output.find("more than without filters"), std::string::npos) << run.output;

  run =
      Shell(Command("--cold=cache --cache_mb=0.5 --batch_size=16 --absent_percent=50 "
                    "--distribution=recent --verify_keys=false --policies=bloomfilter:10"));
  ASSERT_EQ(run.exit_code, 0) << run.output;
  policy = Result()["policies"][1];
  EXPECT_EQ(policy["filter_block_reads"], 0);  // all fit
  EXPECT_GT(policy["levels"][0]["found"], 0);  // the newest keys are asked for most
  EXPECT_NE(run.output.find("the others recent with theta 0.99"), std::string::npos) << run.output;
}

TEST_F(ColdLookupBenchTest, SeveralSeedsGiveMeanAndSpread) {
  const Outcome run = Shell(Command("--seeds=3 --verify_keys=false --policies=bloomfilter:4"));
  ASSERT_EQ(run.exit_code, 0) << run.output;
  EXPECT_NE(run.output.find("over 3 seeds"), std::string::npos) << run.output;
  const json seeds = Result()["policies"][1]["seeds"];
  EXPECT_EQ(seeds["values"].size(), 3u);
  EXPECT_GT(seeds["standard_deviation"], 0);
}

TEST_F(ColdLookupBenchTest, EqualizesMemoryAndReads) {
  Outcome run = Shell(
      Command("--equalize=bytes --verify_keys=false --policies='bloomfilter:8 ribbonfilter:8'"));
  ASSERT_EQ(run.exit_code, 0) << run.output;
  json policies = Result()["policies"];
  EXPECT_NEAR(policies[2]["filter_bytes"].get<double>() / policies[1]["filter_bytes"].get<double>(),
              1, 0.01);
  run = Shell(
      Command("--equalize=reads --verify_keys=false --policies='bloomfilter:6 per-level-bloom:6'"));
  ASSERT_EQ(run.exit_code, 0) << run.output;
  policies = Result()["policies"];
  EXPECT_LT(policies[2]["filter_bytes"], policies[1]["filter_bytes"]);
  EXPECT_NEAR(policies[2]["expected_false_positives"]["mean"].get<double>() /
                  policies[1]["expected_false_positives"]["mean"].get<double>(),
              1, 0.03);
  run = Shell(Command("--equalize=bytes --policies='bloomfilter:8 tieredfilter:bloom:1%'"));
  EXPECT_EQ(run.exit_code, 2) << run.output;
  EXPECT_NE(run.output.find("bloom:1%"), std::string::npos) << run.output;
}

TEST_F(ColdLookupBenchTest, WritesAPageThatNeedsNothingFromElsewhere) {
  const std::string page_path = Path("page.html");
  const Outcome run = Shell(Command("--verify_keys=false --policies=bloomfilter:10 --html='" +
                                    page_path + "' --csv='" + Path("table.csv") + "'"));
  ASSERT_EQ(run.exit_code, 0) << run.output;
  std::ifstream table(Path("table.csv"));
  size_t rows = 0;
  for (std::string line; std::getline(table, line); ++rows) {
    EXPECT_EQ(line.rfind(rows == 0 ? "spec,level," : "\"", 0), 0u) << line;
  }
  EXPECT_EQ(rows, 1 + 2 * 6u);  // two policies, five levels and their sum
  std::ifstream file(page_path);
  const std::string page(std::istreambuf_iterator<char>(file), {});
  EXPECT_EQ(page.rfind("<!doctype html>", 0), 0u);
  EXPECT_NE(page.find("</html>"), std::string::npos);
  for (const char* outside : {"http", "src=", "url(", "@import", "<script"}) {
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
  }
  for (const char* part : {"<svg", "bloomfilter:10", "--num", "Per 1000 lookups",
                           "prefers-color-scheme", "@media print"}) {
    EXPECT_NE(page.find(part), std::string::npos) << part;
  }
}

TEST_F(ColdLookupBenchTest, KeepsTheDatabasesWhenAsked) {
  const Outcome run = Shell(Command("--keep_db --verify_keys=false --policies=bloomfilter:10"));
  ASSERT_EQ(run.exit_code, 0) << run.output;
  EXPECT_FALSE(fs::is_empty(Path("db")));
  for (const auto& entry : fs::recursive_directory_iterator(Path("db"))) {
    if (entry.path().filename() == "CURRENT") {
      const Outcome verified = Shell(std::string(COLD_LOOKUP_BENCH) + " --verify --db='" +
                                     entry.path().parent_path().string() + "'");
      EXPECT_EQ(verified.exit_code, 0) << verified.output;
      EXPECT_NE(verified.output.find("20000 keys"), std::string::npos) << verified.output;
    }
  }
  EXPECT_EQ(Shell(std::string(COLD_LOOKUP_BENCH) + " --verify --db=/proc/none").exit_code, 1);
  EXPECT_EQ(Shell(std::string(COLD_LOOKUP_BENCH) + " --verify").exit_code, 2);
  EXPECT_EQ(Shell(std::string(COLD_LOOKUP_BENCH) + " --keep_db").exit_code, 2);
}

}  // namespace
}  // namespace tieredfilter::cold_lookup
