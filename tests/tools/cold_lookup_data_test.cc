// What a tree is filled with: generated keys with updates and deletions, and keys of a user's file.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cctype>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tools/cold_lookup_bench/file_keys.h"
#include "tools/cold_lookup_bench/generated_keys.h"
#include "tools/cold_lookup_bench/key_file.h"
#include "tools/cold_lookup_bench/key_mutation.h"
#include "tools/cold_lookup_bench/storage.h"
#include "tools/cold_lookup_bench/tree_plan.h"

namespace tieredfilter::cold_lookup {
namespace {

using ROCKSDB_NAMESPACE::Status;

TreePlan Plan(uint64_t num_keys, int sorted_levels = 3) {
  TreePlan plan;
  const Status s = PlanTree({num_keys, sorted_levels + 1, sorted_levels, 2, 10, 1000}, &plan);
  EXPECT_TRUE(s.ok()) << s.ToString();
  return plan;
}

GeneratedData Data() { return {{24, 40}, {8, 100}, "user/", 20, 30, 10}; }

// What a database would hold after all entries were written in order: the newest entry of each key.
std::map<std::string, EntryPlace> WriteAll(const TreePlan& plan, const KeySpace& keys) {
  std::map<std::string, EntryPlace> newest;
  std::string key;
  for (size_t run = 0; run < plan.runs.size(); ++run) {
    std::string last;
    for (uint64_t i = 0; i < plan.runs[run].entries; ++i) {
      keys.EntryKey({run, i}, &key);
      EXPECT_LT(last, key) << "run " << run << ", entry " << i;
      last = key;
      newest[key] = {run, i};
    }
  }
  return newest;
}

TEST(GeneratedKeysTest, SaysWhatADatabaseHoldsAfterUpdatesAndDeletions) {
  const TreePlan plan = Plan(20000);
  const GeneratedKeys keys(plan, 3, Data());
  const std::map<std::string, EntryPlace> newest = WriteAll(plan, keys);
  EXPECT_LT(newest.size(), 19800u);
  uint64_t deleted = 0;
  uint64_t rewritten = 0;
  uint64_t above = 0;
  std::string key;
  for (size_t run = 0; run < plan.runs.size(); ++run) {
    for (uint64_t i = 0; i < plan.runs[run].entries; ++i) {
      keys.EntryKey({run, i}, &key);
      const EntryPlace truth = newest.at(key);
      const EntryPlace told = keys.NewestOf({run, i});
      ASSERT_EQ(truth.run, told.run) << run << " " << i;
      ASSERT_EQ(truth.index, told.index) << run << " " << i;
      above += run > 0 ? 1 : 0;
      deleted += keys.KindOf({run, i}) == EntryKind::kDelete ? 1 : 0;
      rewritten += run == 0 && truth.run > 0 ? 1 : 0;
    }
  }
  // 10% and 10% + 30% of those above, but for the odd key that two runs write again.
  const auto n = static_cast<double>(above);
  EXPECT_NEAR(static_cast<double>(deleted) / n, 0.1, 0.035);
  EXPECT_NEAR(static_cast<double>(rewritten) / n, 0.4, 0.06);
}

TEST(GeneratedKeysTest, AsksForKeysThatAreThereAndForKeysThatAreNot) {
  const TreePlan plan = Plan(20000);
  const GeneratedKeys keys(plan, 3, Data());
  const std::map<std::string, EntryPlace> newest = WriteAll(plan, keys);
  std::set<size_t> sizes;
  std::set<std::string> prefixes;
  std::set<size_t> value_sizes;
  std::string key;
  std::string value;
  for (uint64_t number = 0; number < 20000; ++number) {
    keys.PresentKey(number, &key);
    ASSERT_EQ(newest.count(key), 1u);
    EXPECT_EQ(keys.KindOf(newest.at(key)), EntryKind::kPut);
    keys.ValueOf(newest.at(key), &value);
    value_sizes.insert(value.size());
    keys.AbsentKey(number, &key);
    EXPECT_EQ(newest.count(key), 0u);
    EXPECT_GT(key, newest.begin()->first);
    EXPECT_LT(key, newest.rbegin()->first);
    sizes.insert(key.size());
    prefixes.insert(key.substr(0, 7));
  }
  EXPECT_EQ(*sizes.begin(), 24u);
  EXPECT_EQ(*sizes.rbegin(), 40u);
  EXPECT_EQ(sizes.size(), 17u);
  EXPECT_EQ(value_sizes.size(), 93u);
  EXPECT_EQ(prefixes.size(), 20u);
  EXPECT_EQ(*prefixes.begin(), "user/00");
  EXPECT_EQ(*prefixes.rbegin(), "user/19");
}

TEST(GeneratedKeysTest, RefusesSizesThatDoNotFitAndNamesTheFlag) {
  const auto message = [](GeneratedData data) { return CheckGeneratedData(data).ToString(); };
  EXPECT_EQ(message(Data()), "OK");
  GeneratedData data = Data();
  data.key_size.smallest = 14;  // 5 + 2 + 8 are needed
  EXPECT_NE(message(data).find("--key_size=14: must lie between 15"), std::string::npos)
      << message(data);
  data = Data();
  data.key_size.largest = 20;
  EXPECT_NE(message(data).find("--key_size_max=20"), std::string::npos) << message(data);
  data = Data();
  data.value_size = {7, 7};
  EXPECT_NE(message(data).find("--value_size=7"), std::string::npos) << message(data);
  data = Data();
  data.update_percent = 95;
  EXPECT_NE(message(data).find("--delete_percent=105"), std::string::npos) << message(data);
  data = Data();
  data.prefix_count = 0;
  EXPECT_NE(message(data).find("--prefix_count=0"), std::string::npos) << message(data);
}

TEST(MutateKeyTest, ChangesOneCharacterWithinItsClass) {
  for (const std::string original : {"usr/share/Doc-7", "..7..", "\x01\x02\x03"}) {
    std::set<std::string> seen;
    for (uint64_t random = 0; random < 5000; ++random) {
      std::string key = original;
      MutateKey(Mix64(random), &key);
      ASSERT_EQ(key.size(), original.size());
      size_t changed = 0;
      for (size_t i = 0; i < key.size(); ++i) {
        if (key[i] != original[i]) {
          ++changed;
          if (original[0] != '\x01') {
            EXPECT_EQ(std::isdigit(original[i]) != 0, std::isdigit(key[i]) != 0) << key;
            EXPECT_TRUE(std::isalnum(original[i])) << key;
          }
        }
      }
      EXPECT_EQ(changed, 1u) << key;
      seen.insert(key);
    }
    EXPECT_GE(seen.size(), original == "..7.." ? 9u : 200u);
  }
}

class KeyFileTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(folder_.CreateIn(".", "key file test.").ok()); }

  std::string Write(const std::string& name, const std::string& content) {
    const std::string path = folder_.path() + "/" + name;
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }

  // The keys joined with '|', or the message.
  static std::string Read(const std::string& path, KeyFormat format, KeyEncoding encoding) {
    KeyFile file;
    if (Status s = file.Open("--key_file", path, format, encoding); !s.ok()) {
      return s.ToString();
    }
    std::string all;
    std::string key;
    for (const KeyReference reference : file.keys()) {
      file.Get(reference, &key);
      all += (all.empty() ? "" : "|") + key;
    }
    return all;
  }

  std::string ReadLines(const std::string& content, KeyEncoding encoding = KeyEncoding::kPlain) {
    return Read(Write("keys", content), KeyFormat::kLines, encoding);
  }

  ScopedFolder folder_;
};

TEST_F(KeyFileTest, SortsKeysAndKeepsEachOnce) {
  EXPECT_EQ(ReadLines("b\na\nab\na"), "a|ab|b");
  EXPECT_EQ(ReadLines("b\r\na b\n"), "a b|b\r");  // only the line feed ends a key
  EXPECT_EQ(ReadLines("6B\n6a\n6A6b\n", KeyEncoding::kHex), "j|jk|k");
  EXPECT_EQ(Read(Write("keys", std::string("\2\0\0\0b\n\1\0\0\0a", 11)), KeyFormat::kLengthPrefixed,
                 KeyEncoding::kPlain),
            "a|b\n");
  KeyFile file;
  ASSERT_TRUE(
      file.Open("--key_file", Write("keys", "b\na\nb\nb\n"), KeyFormat::kLines, KeyEncoding::kPlain)
          .ok());
  EXPECT_EQ(file.duplicates(), 2u);
}

TEST_F(KeyFileTest, NamesTheLineOrOffsetOfWhatItCannotRead) {
  const auto expect = [](const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  expect(ReadLines("a\n\nb\n"), "line 2: an empty key");
  expect(ReadLines("61\n6\n", KeyEncoding::kHex), "line 2: an odd number of hex digits");
  expect(ReadLines("61\n61\n6x\n", KeyEncoding::kHex), "line 3: byte 2 of the key is no hex digit");
  expect(ReadLines(""), "has 0 bytes");
  expect(ReadLines(std::string(1 << 20, 'x')), "line 1: a key of 1048576 bytes");
  expect(Read(folder_.path() + "/missing", KeyFormat::kLines, KeyEncoding::kPlain),
         "missing: cannot open");
  expect(Read(folder_.path(), KeyFormat::kLines, KeyEncoding::kPlain), "not a regular file");
  const auto prefixed = [this](const std::string& content) {
    return Read(Write("keys", content), KeyFormat::kLengthPrefixed, KeyEncoding::kPlain);
  };
  expect(prefixed(std::string("\1\0\0\0a\5\0\0\0b", 10)),
         "offset 5 (bytes): a key of 5 bytes, but 1 bytes are left");
  expect(prefixed(std::string("\1\0\0\0a\5\0", 7)), "offset 5 (bytes): 2 bytes left");
}

TEST_F(KeyFileTest, DealsEveryKeyToOneRunAndFindsAbsentOnesInItsRange) {
  std::string content;
  for (int i = 0; i < 20000; ++i) {
    content += fmt::format("usr/share/doc/package-{}/file{:02}\n", i / 20, i * 7 % 100);
  }
  KeyFile file;
  ASSERT_TRUE(
      file.Open("--key_file", Write("keys", content), KeyFormat::kLines, KeyEncoding::kPlain).ok());
  const TreePlan plan = Plan(file.keys().size());
  const FileKeys keys(plan, 5, {8, 8}, file, nullptr);
  ASSERT_TRUE(keys.Check().ok()) << keys.Check().ToString();
  const std::map<std::string, EntryPlace> all = WriteAll(plan, keys);
  EXPECT_EQ(all.size(), file.keys().size());
  std::string first;
  std::string last = "z";
  std::string key;
  for (size_t run = 0; run < plan.runs.size(); ++run) {
    keys.EntryKey({run, 0}, &key);
    first = std::max(first, key);
    keys.EntryKey({run, plan.runs[run].entries - 1}, &key);
    last = std::min(last, key);
  }
  std::set<std::string> absent;
  for (uint64_t number = 0; number < 5000; ++number) {
    keys.AbsentKey(number, &key);
    EXPECT_EQ(all.count(key), 0u) << key;
    EXPECT_GT(key, first);
    EXPECT_LT(key, last);
    absent.insert(key);
  }
  EXPECT_GT(absent.size(), 4800u);
  const FileKeys other(plan, 6, {8, 8}, file, nullptr);
  std::string other_key;
  keys.EntryKey({1, 0}, &key);
  other.EntryKey({1, 0}, &other_key);
  EXPECT_NE(key, other_key) << "another seed deals the keys differently";
}

TEST_F(KeyFileTest, SaysWhereNoAbsentKeysCanBeHad) {
  std::string content;
  for (int i = 0; i < 10000; ++i) {
    content += fmt::format("{:04}\n", i);
  }
  KeyFile dense;
  ASSERT_TRUE(
      dense.Open("--key_file", Write("keys", content), KeyFormat::kLines, KeyEncoding::kPlain)
          .ok());
  const TreePlan plan = Plan(dense.keys().size());
  const std::string none = FileKeys(plan, 5, {8, 8}, dense, nullptr).Check().ToString();
  EXPECT_NE(none.find("--absent_key_file"), std::string::npos) << none;

  const auto with_absent = [&](const std::string& lines) {
    KeyFile absent;
    EXPECT_TRUE(absent
                    .Open("--absent_key_file", Write("absent", lines), KeyFormat::kLines,
                          KeyEncoding::kPlain)
                    .ok());
    const FileKeys keys(plan, 5, {8, 8}, dense, &absent);
    std::string key;
    keys.AbsentKey(0, &key);
    return keys.Check().ok() ? "absent: " + key : keys.Check().ToString();
  };
  EXPECT_EQ(with_absent("1234x\n"), "absent: 1234x");
  EXPECT_NE(with_absent("1234x\n0077\n").find("line 2: the key is not absent: --key_file="),
            std::string::npos);
  EXPECT_NE(with_absent("1234x\n000\n").find("line 2: the key is before the first"),
            std::string::npos);
  EXPECT_NE(with_absent("x\n").find("line 1: the key is behind the last"), std::string::npos);
}

}  // namespace
}  // namespace tieredfilter::cold_lookup
