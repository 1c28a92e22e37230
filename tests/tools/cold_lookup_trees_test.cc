// Trees that the driver does not make up: existing databases, measured as they are or copied, and
// trees that RocksDB's own compactions shaped.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "rocksdb/comparator.h"
#include "rocksdb/db.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/table.h"
#include "rocksdb/utilities/object_registry.h"
#include "tools/cold_lookup_bench/existing_database.h"
#include "tools/cold_lookup_bench/natural_load.h"
#include "tools/cold_lookup_bench/storage.h"

namespace tieredfilter::cold_lookup {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ROCKSDB_NAMESPACE::BlockBasedTableOptions;
using ROCKSDB_NAMESPACE::ColumnFamilyDescriptor;
using ROCKSDB_NAMESPACE::ColumnFamilyHandle;
using ROCKSDB_NAMESPACE::ColumnFamilyOptions;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::DBOptions;
using ROCKSDB_NAMESPACE::FilterPolicy;
using ROCKSDB_NAMESPACE::FlushOptions;
using ROCKSDB_NAMESPACE::Options;
using ROCKSDB_NAMESPACE::ReadOptions;
using ROCKSDB_NAMESPACE::WriteOptions;

ColumnFamilyOptions FamilyOptions(const FilterPolicy* policy) {
  ColumnFamilyOptions options;
  options.disable_auto_compactions = true;
  BlockBasedTableOptions table;
  table.filter_policy.reset(policy);
  options.table_factory.reset(ROCKSDB_NAMESPACE::NewBlockBasedTableFactory(table));
  return options;
}

class TreesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(folder_.CreateIn(fs::current_path().string(), "trees test.").ok());
    path_ = folder_.path() + "/existing";
  }

  // Creates the database with the given families, beside the default one, and calls fill(db, i,
  // handle) for each, the default one first.
  template <class Fill>
  void Create(std::vector<ColumnFamilyDescriptor> families, const Fill& fill) {
    DBOptions options;
    options.create_if_missing = true;
    options.create_missing_column_families = true;
    std::vector<ColumnFamilyHandle*> handles;
    DB* raw = nullptr;
    ASSERT_TRUE(DB::Open(options, path_, families, &handles, &raw).ok());
    const std::unique_ptr<DB> db(raw);
    for (size_t i = 0; i < handles.size(); ++i) {
      fill(db.get(), i, handles[i]);
      EXPECT_TRUE(db->Flush(FlushOptions(), handles[i]).ok());
      EXPECT_TRUE(db->DestroyColumnFamilyHandle(handles[i]).ok());
    }
    EXPECT_TRUE(db->Close().ok());
  }

  // A small database of one column family and `files` files on level 0.
  void CreateSimple(ColumnFamilyOptions options, int files = 2) {
    Create({{"default", std::move(options)}}, [files](DB* db, size_t, ColumnFamilyHandle* family) {
      for (int file = 0; file < files; ++file) {
        for (int i = 0; i < 3000; ++i) {
          EXPECT_TRUE(
              db->Put(WriteOptions(), family, fmt::format("key{:06}", 14 * i + 7 * file), "value")
                  .ok());
        }
        EXPECT_TRUE(db->Flush(FlushOptions(), family).ok());
      }
    });
  }

  int Run(const std::string& flags) {
    const std::string command = std::string(COLD_LOOKUP_BENCH) + " --db='" + folder_.path() +
                                "/db' --json='" + folder_.path() + "/result.json' " + flags +
                                " 2>&1";
    output_.clear();
    FILE* pipe = ::popen(command.c_str(), "r");
    char buffer[4096];
    for (size_t n = 0; (n = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0;) {
      output_.append(buffer, n);
    }
    const int status = ::pclose(pipe);
    std::ifstream file(folder_.path() + "/result.json");
    result_ = json::parse(file, nullptr, /*allow_exceptions=*/false);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  int Measure(const std::string& flags) { return Run("--existing_db='" + path_ + "' " + flags); }

  ScopedFolder folder_;
  std::string path_;
  std::string output_;
  json result_;
};

TEST_F(TreesTest, MeasuresEveryColumnFamilyAsItIsAndChangesNothing) {
  std::vector<ColumnFamilyDescriptor> families;
  families.emplace_back("default", FamilyOptions(ROCKSDB_NAMESPACE::NewBloomFilterPolicy(10)));
  families.emplace_back("hot data",
                        FamilyOptions(ROCKSDB_NAMESPACE::NewRibbonFilterPolicy(12, -1)));
  families.emplace_back("empty", FamilyOptions(nullptr));
  families.emplace_back("cold", FamilyOptions(ROCKSDB_NAMESPACE::NewBloomFilterPolicy(5)));
  const char* const formats[] = {"user{:05}", "{:08}/item", "", "\x01{:06}"};
  Create(families, [&](DB* db, size_t family, ColumnFamilyHandle* handle) {
    for (int i = 0; family != 2 && i < 5000; ++i) {
      const std::string key = fmt::format(fmt::runtime(formats[family]), i * 7);
      EXPECT_TRUE(db->Put(WriteOptions(), handle, key, std::string(50, 'v')).ok());
      if (i % 1500 == 1000) {
        EXPECT_TRUE(db->Flush(FlushOptions(), handle).ok());
      }
    }
  });
  FolderState before;
  ASSERT_TRUE(ReadFolderState(path_, &before).ok());
  ASSERT_EQ(Measure("--lookups=600 --absent_percent=50"), 0) << output_;
  FolderState after;
  ASSERT_TRUE(ReadFolderState(path_, &after).ok());
  EXPECT_EQ(DescribeChange(before, after), "");
  EXPECT_NE(output_.find("column family 'empty' has no table files"), std::string::npos) << output_;
  ASSERT_EQ(result_["policies"].size(), 6u);
  const char* const kinds[] = {"bloom:", "ribbon:", "bloom:"};
  const double bits[] = {10, 8, 5};
  for (size_t i = 0; i < 6; ++i) {
    const json& policy = result_["policies"][i];
    EXPECT_EQ(policy["keys_checked"], 5000);
    EXPECT_EQ(policy["keys_lost"], 0);
    EXPECT_NEAR(policy["levels"][0]["found"].get<double>(), 300, 80);
    if (i % 2 == 0) {
      EXPECT_EQ(policy["levels"][0]["stored"], "none");
      EXPECT_EQ(policy["filter_checks"], 0);
    } else {
      EXPECT_EQ(policy["levels"][0]["stored"].get<std::string>().rfind(kinds[i / 2], 0), 0u);
      EXPECT_NEAR(policy["filter_bits_per_key"].get<double>(), bits[i / 2], 1.5);
      EXPECT_GT(policy["reads_avoided"], 100);
    }
  }
}

TEST_F(TreesTest, CopiesADatabaseFileByFileForEveryPolicy) {
  ColumnFamilyOptions options = FamilyOptions(nullptr);
  options.merge_operator = nullptr;
  std::map<int, std::string> truth;
  Create({{"default", options}}, [&](DB* db, size_t, ColumnFamilyHandle* family) {
    const auto write = [&](int key, const std::string& value) {
      truth[key] = value;
      EXPECT_TRUE(db->Put(WriteOptions(), family, fmt::format("key{:06}", key), value).ok());
    };
    const auto flush = [&] { EXPECT_TRUE(db->Flush(FlushOptions(), family).ok()); };
    for (int i = 0; i < 6000; ++i) {
      write(7 * i, "old");
    }
    flush();
    ROCKSDB_NAMESPACE::CompactRangeOptions compact;
    compact.change_level = true;
    compact.target_level = 3;
    EXPECT_TRUE(db->CompactRange(compact, family, nullptr, nullptr).ok());
    for (int round = 0; round < 3; ++round) {
      for (int i = round; i < 2000; i += 3) {
        write(21 * i, fmt::format("new {}", round));
        if (i % 5 == 0) {
          EXPECT_TRUE(db->Delete(WriteOptions(), family, fmt::format("key{:06}", 21 * i + 7)).ok());
          truth.erase(21 * i + 7);
        }
      }
      flush();
    }
  });
  ASSERT_EQ(
      Measure("--lookups=600 --absent_percent=50 --policies='bloomfilter:10 ribbonfilter:10'"), 0)
      << output_;
  ASSERT_EQ(result_["policies"].size(), 3u);
  for (const json& policy : result_["policies"]) {
    EXPECT_EQ(policy["keys_checked"], truth.size());
    EXPECT_EQ(policy["keys_lost"], 0);
  }
  std::map<int, int> files;
  for (const json& level : result_["shape"]["levels"]) {
    files[level["level"]] = level["files"];
  }
  EXPECT_EQ(files, (std::map<int, int>{{0, 3}, {3, 1}}));
  EXPECT_EQ(result_["shape"]["entries"], 6000 + 2000 + 400);  // deletions were copied as well
  EXPECT_GT(result_["policies"][1]["reads_avoided"], 100);
}

TEST_F(TreesTest, SaysThatFilesWithoutFiltersAreNotComparable) {
  CreateSimple(FamilyOptions(nullptr));
  EXPECT_EQ(Measure("--lookups=200"), 1);
  EXPECT_NE(output_.find("filter coverage 0%"), std::string::npos) << output_;
  EXPECT_EQ(result_["valid"], false);
  ASSERT_EQ(Measure("--lookups=200 --policies=bloomfilter:10"), 0) << output_;
}

TEST_F(TreesTest, ReadsTheFiltersOfAPolicyItDoesNotKnow) {
  CreateSimple(FamilyOptions(ROCKSDB_NAMESPACE::NewBloomFilterPolicy(10)));
  // As if another plugin's policy had written the options.
  for (const auto& entry : fs::directory_iterator(path_)) {
    if (entry.path().filename().string().rfind("OPTIONS-", 0) == 0) {
      std::ifstream in(entry.path());
      std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
      const std::string old = "filter_policy=bloomfilter:10:false";
      ASSERT_NE(text.find(old), std::string::npos);
      text.replace(text.find(old), old.size(), "filter_policy=strangefilter:7");
      std::ofstream(entry.path()) << text;
    }
  }
  ASSERT_EQ(Measure("--lookups=200"), 0) << output_;
  EXPECT_NE(output_.find("'strangefilter:7'"), std::string::npos) << output_;
  EXPECT_GT(result_["policies"][1]["reads_avoided"], 100);
}

TEST_F(TreesTest, RefusesWhatItCannotMeasureAndSaysWhy) {
  const auto expect = [&](const std::string& flags, const std::string& part) {
    EXPECT_NE(Measure(flags), 0);
    EXPECT_NE(output_.find(part), std::string::npos) << output_;
    EXPECT_FALSE(fs::exists(folder_.path() + "/result.json"));
  };
  expect("", "cannot");
  ColumnFamilyOptions reverse = FamilyOptions(nullptr);
  reverse.comparator = ROCKSDB_NAMESPACE::ReverseBytewiseComparator();
  CreateSimple(reverse);
  expect("--lookups=100", "keys ordered by 'rocksdb.ReverseBytewiseComparator'");
  expect("--num=5", "--num: the database of --existing_db is what it is");
  fs::remove_all(path_);
  Create({{"default", FamilyOptions(nullptr)}}, [](DB* db, size_t, ColumnFamilyHandle* family) {
    for (int i = 0; i < 3000; ++i) {
      EXPECT_TRUE(db->Put(WriteOptions(), family, fmt::format("key{:06}", 7 * i), "value").ok());
    }
    EXPECT_TRUE(db->DeleteRange(WriteOptions(), family, "key000100", "key000200").ok());
  });
  expect("--lookups=100 --policies=bloomfilter:10", "holds range deletions");
}

TEST_F(TreesTest, FreezesTheTreeOfANaturalLoad) {
  const std::string flags =
      "--num=20000 --load=fillrandom --write_buffer_size=200000 --max_bytes_for_level_base=400000 "
      "--target_file_size_base=200000 --lookups=300 --absent_percent=50 ";
  ASSERT_EQ(Run(flags + "--policies='bloomfilter:10 ribbonfilter:8'"), 0) << output_;
  EXPECT_EQ(result_["policies"][1]["keys_checked"], 20000);
  EXPECT_EQ(result_["policies"][2]["keys_lost"], 0);
  EXPECT_GT(result_["shape"]["levels"].size(), 1u);
  ASSERT_EQ(Run(flags + "--update_percent=30 --delete_percent=10 --policies=bloomfilter:10 "
                        "--compaction_style=universal"),
            0)
      << output_;
  EXPECT_LT(result_["policies"][1]["keys_checked"], 19000);
  EXPECT_GT(result_["policies"][1]["keys_checked"], 17000);
}

TEST_F(TreesTest, UsesALoadedTreeAgainUnlessSomethingItDependsOnDiffers) {
  const std::string flags =
      "--num=20000 --lookups=200 --verify_keys=false --per_level=false --reuse ";
  const std::string two = "--policies='bloomfilter:10 bloomfilter:8' ";
  const auto reused = [&] {
    size_t count = 0;
    for (const json& note : result_["notes"]) {
      count += note.get<std::string>().find("used again") != std::string::npos ? 1 : 0;
    }
    return count;
  };
  const auto loaded = [&] {
    size_t trees = 0;
    for (const auto& entry : fs::directory_iterator(folder_.path() + "/db")) {
      EXPECT_EQ(entry.path().filename().string().rfind("tree.", 0), 0u) << entry.path();
      ++trees;
    }
    return trees;
  };
  ASSERT_EQ(Run(flags + "--policies=bloomfilter:10"), 0) << output_;
  EXPECT_EQ(reused(), 0u);
  EXPECT_EQ(loaded(), 2u);
  const json first = result_["policies"][1]["data_block_reads"];
  ASSERT_EQ(Run(flags + two), 0) << output_;
  EXPECT_EQ(reused(), 2u);
  EXPECT_EQ(loaded(), 3u);
  EXPECT_EQ(result_["policies"][1]["data_block_reads"], first);
  ASSERT_EQ(Run(flags + two + "--lookups=100 --threads=2"), 0) << output_;
  EXPECT_EQ(reused(), 3u);
  ASSERT_EQ(Run(flags + two + "--value_size=99"), 0) << output_;
  EXPECT_EQ(reused(), 0u);
  EXPECT_EQ(loaded(), 6u);
  // As after a loss of power: a tree without its description is none.
  for (const auto& entry : fs::directory_iterator(folder_.path() + "/db")) {
    fs::remove(entry.path() / "TREE_DESCRIPTION");
  }
  EXPECT_EQ(Run(flags + two), 1) << output_;
  EXPECT_NE(output_.find("cannot name the loaded tree"), std::string::npos) << output_;
}

TEST(PermutationTest, VisitsEveryNumberOnceInAnotherOrder) {
  for (const uint64_t count : {1, 2, 3, 1000, 1024, 1025}) {
    const Permutation order(count, 5);
    const Permutation other(count, 6);
    std::set<uint64_t> seen;
    uint64_t same = 0;
    uint64_t in_place = 0;
    for (uint64_t i = 0; i < count; ++i) {
      ASSERT_LT(order(i), count);
      seen.insert(order(i));
      same += order(i) == other(i) ? 1 : 0;
      in_place += order(i) == i ? 1 : 0;
    }
    EXPECT_EQ(seen.size(), count);
    EXPECT_LE(same, count / 100 + 5);
    EXPECT_LE(in_place, count / 100 + 5);
  }
}

}  // namespace
}  // namespace tieredfilter::cold_lookup
