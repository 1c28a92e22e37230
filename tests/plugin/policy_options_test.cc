// The policy as RocksDB's options see it: strings, options files, properties, refusals.
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "plugin/tieredfilter.h"
#include "rocksdb/convenience.h"
#include "rocksdb/utilities/object_registry.h"
#include "rocksdb/utilities/options_util.h"
#include "tests/plugin/host_test_util.h"

namespace tieredfilter {
namespace {

using ROCKSDB_NAMESPACE::BlockBasedTableOptions;
using ROCKSDB_NAMESPACE::ColumnFamilyDescriptor;
using ROCKSDB_NAMESPACE::ColumnFamilyOptions;
using ROCKSDB_NAMESPACE::ConfigOptions;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::DBOptions;
using ROCKSDB_NAMESPACE::FilterPolicy;
using ROCKSDB_NAMESPACE::Options;
using ROCKSDB_NAMESPACE::Status;

constexpr char kLadder[] = "tieredfilter:0-1:bloom:14,2-4:bloom:10,5+:bloom:7,bottommost:bloom:7";

class PolicyOptionsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    EXPECT_GT(RegisterFilterPolicies(*ROCKSDB_NAMESPACE::ObjectLibrary::Default(), ""), 0);
  }

  static std::shared_ptr<const FilterPolicy> FromString(const std::string& text) {
    std::shared_ptr<const FilterPolicy> policy;
    EXPECT_OK(FilterPolicy::CreateFromString(ConfigOptions(), text, &policy));
    EXPECT_NE(policy, nullptr) << text;
    return policy;
  }

  static const FilterPolicy* PolicyOf(const ColumnFamilyOptions& options) {
    return options.table_factory->GetOptions<BlockBasedTableOptions>()->filter_policy.get();
  }

  // The policy that the newest OPTIONS file of the database makes.
  std::string LoadId(const std::string& path) {
    DBOptions db_options;
    std::vector<ColumnFamilyDescriptor> families;
    EXPECT_OK(LoadLatestOptions(ConfigOptions(), path, &db_options, &families));
    EXPECT_OK(CheckOptionsCompatibility(ConfigOptions(), path, db_options, families));
    const FilterPolicy* policy = families.empty() ? nullptr : PolicyOf(families[0].options);
    return policy == nullptr ? "nullptr" : policy->GetId();
  }

  ScratchDir dir_;
  const std::string path_ = dir_.Path("db");
};

TEST_F(PolicyOptionsTest, CreateFromString) {
  EXPECT_EQ(FromString("tieredfilter")->GetId(), kLadder);
  EXPECT_EQ(FromString("tieredfilter:bloom:9.5")->GetId(), "tieredfilter:*:bloom:9.5");
  EXPECT_EQ(FromString("{id=tieredfilter:0:none,*:ribbon:1%}")->GetId(),
            "tieredfilter:0:none,*:ribbon:1%");
  EXPECT_EQ(FromString("{id=tieredfilter}")->GetId(), kLadder);
  EXPECT_EQ(FromString("{id=tieredfilter;spec=0-1:bloom:14,last:none}")->GetId(),
            "tieredfilter:0-1:bloom:14,last:none");
  EXPECT_EQ(FromString("id=tieredfilter; spec=tieredfilter:bloom:12;")->GetId(),
            "tieredfilter:*:bloom:12");
  EXPECT_STREQ(FromString("tieredfilter")->Name(), "tieredfilter");
}

TEST_F(PolicyOptionsTest, TheFactoryFunctionTakesTheIdOrNot) {
  EXPECT_EQ(Policy("")->GetId(), kLadder);
  EXPECT_EQ(Policy("tieredfilter:bloom:10")->GetId(), Policy("bloom:10")->GetId());
  std::shared_ptr<const FilterPolicy> policy = Policy("bloom:10");
  const FilterPolicy* before = policy.get();
  const Status status = NewFilterPolicy("0:blom:10", &policy);
  EXPECT_TRUE(status.IsInvalidArgument());
  EXPECT_NE(status.ToString().find("character 3"), std::string::npos) << status.ToString();
  EXPECT_NE(status.ToString().find("did you mean \"bloom\""), std::string::npos);
  EXPECT_EQ(policy.get(), before);
}

TEST_F(PolicyOptionsTest, FamilyIsTheStockOne) {
  const std::unique_ptr<const FilterPolicy> stock(ROCKSDB_NAMESPACE::NewBloomFilterPolicy(10));
  EXPECT_STREQ(Policy("")->CompatibilityName(), stock->CompatibilityName());
}

// A bad string must be an error that says why, never a policy, and never "OK and no filter": in
// table-options strings RocksDB drops the errors of policies it cannot create.
TEST_F(PolicyOptionsTest, BadStringsAreRefusedOnEveryWay) {
  for (const char* text :
       {"tieredfilter:", "tieredfilter:bloom", "tieredfilter:bloom:", "tieredfilter:0:bloom:10,",
        "tieredfilter:BLOOM:10", "tieredfilter:0:bloom:nan", "tieredfilter:3-1:none",
        "tieredfilter:budget:0", "tieredfilter:budget:10,absent:2", "{id=tieredfilter;absent=0.5}",
        "{id=tieredfilter;budget=10;kinds=xor}", "{id=tieredfilter;spec=0:blom:10}",
        "{id=tieredfilter;spek=0:bloom:10}", "{id=tieredfilter:0:none;spec=0:bloom:10}"}) {
    for (const bool ignore_unknown : {false, true}) {
      ConfigOptions config;
      config.ignore_unknown_options =
          ignore_unknown && std::string(text).find("spek") == std::string::npos;
      std::shared_ptr<const FilterPolicy> policy;
      Status status = FilterPolicy::CreateFromString(config, text, &policy);
      EXPECT_TRUE(status.IsInvalidArgument()) << text << ": " << status.ToString();
      EXPECT_NE(status.ToString().find("tieredfilter"), std::string::npos) << status.ToString();

      BlockBasedTableOptions table_options;
      status = GetBlockBasedTableOptionsFromString(
          config, BlockBasedTableOptions(), std::string("filter_policy=") + text, &table_options);
      EXPECT_TRUE(status.IsInvalidArgument()) << text << ": " << status.ToString();

      // Nested in the options of a column family RocksDB says OK; then opening must not.
      Options options;
      status = GetOptionsFromString(
          config, Options(),
          std::string("create_if_missing=true;block_based_table_factory={filter_policy=") + text +
              ";}",
          &options);
      DB* db = nullptr;
      if (status.ok()) {
        status = DB::Open(options, path_, &db);
      }
      EXPECT_TRUE(status.IsInvalidArgument()) << text << ": " << status.ToString();
      EXPECT_NE(status.ToString().find("tieredfilter"), std::string::npos) << status.ToString();
      delete db;
    }
  }
}

TEST_F(PolicyOptionsTest, ABadPolicyThatSlippedThroughStopsTheOpen) {
  ConfigOptions config;
  config.invoke_prepare_options = false;
  std::shared_ptr<const FilterPolicy> policy;
  ASSERT_OK(FilterPolicy::CreateFromString(config, "tieredfilter:0:blom:10", &policy));
  DB* db = nullptr;
  const Status status = DB::Open(TestOptions(policy), path_, &db);
  EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
  EXPECT_NE(status.ToString().find("did you mean \"bloom\""), std::string::npos);
  delete db;
}

TEST_F(PolicyOptionsTest, LevelsBeyondNumLevelsStopTheOpen) {
  DB* db = nullptr;
  Options options = TestOptions(Policy("0:bloom:14,9:ribbon:7"));
  const Status status = DB::Open(options, path_, &db);
  EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
  EXPECT_NE(status.ToString().find("\"9:ribbon:7\""), std::string::npos) << status.ToString();
  EXPECT_NE(status.ToString().find("7 levels"), std::string::npos) << status.ToString();
  delete db;
  options.num_levels = 10;
  EXPECT_NE(Open(options, path_), nullptr);
}

TEST_F(PolicyOptionsTest, OptionsStringToTheFile) {
  Options options;
  ASSERT_OK(GetOptionsFromString(
      ConfigOptions(), TestOptions(nullptr),
      "block_based_table_factory={filter_policy=tieredfilter:flush:bloom:20,*:ribbon:7;"
      "format_version=5;optimize_filters_for_memory=false}",
      &options));
  std::unique_ptr<DB> db = Open(options, path_);
  ASSERT_NE(db, nullptr);
  PutKeys(db.get(), 0, 4000);
  ASSERT_OK(db->Flush(ROCKSDB_NAMESPACE::FlushOptions()));
  ASSERT_EQ(Tables(db.get()).size(), 1u);
  EXPECT_NEAR(Tables(db.get())[0].bits_per_key(), 20, 0.2);
  EXPECT_EQ(LoadId(path_), "tieredfilter:flush:bloom:20,*:ribbon:7");
}

TEST_F(PolicyOptionsTest, OptionsFileRoundTripOfRandomSpecs) {
  std::mt19937 random(7);
  const std::vector<std::string> kinds = {"bloom:", "ribbon:", "cuckoo:"};
  const std::vector<std::string> amounts = {"7", "9.5", "13.125", "1%", "0.05%"};
  for (int i = 0; i < 40; ++i) {
    std::string spec;
    for (const char* levels :
         {"flush", "bottommost", "unknown", "last-1..last", "0", "1-3", "4+"}) {
      if (random() % 2 == 0) {
        const std::string setting =
            random() % 4 == 0 ? "none"
                              : kinds[random() % kinds.size()] + amounts[random() % amounts.size()];
        spec += (spec.empty() ? "" : ",") + std::string(levels) + ":" + setting;
      }
    }
    const std::shared_ptr<const FilterPolicy> policy = Policy(spec);
    const std::string path = dir_.Path("db" + std::to_string(i));
    ASSERT_NE(Open(TestOptions(policy), path), nullptr);
    ASSERT_EQ(LoadId(path), policy->GetId()) << spec;
    ASSERT_EQ(FromString(policy->ToString(ConfigOptions()))->GetId(), policy->GetId()) << spec;
  }
}

TEST_F(PolicyOptionsTest, CuckooFilterIsOneSettingUnderItsOwnId) {
  for (const char* id : {"cuckoofilter:8.6", "cuckoofilter:1%"}) {
    EXPECT_EQ(FromString(id)->GetId(), id);
    EXPECT_STREQ(FromString(id)->Name(), "cuckoofilter");
    const std::string path = dir_.Path(id);
    ASSERT_NE(Open(TestOptions(Policy(id)), path), nullptr);
    EXPECT_EQ(LoadId(path), id);
  }
  EXPECT_EQ(FromString("{id=cuckoofilter;spec=9.50}")->GetId(), "cuckoofilter:9.5");
  EXPECT_EQ(FromString("tieredfilter:5+:cuckoo:9.5")->GetId(), "tieredfilter:5+:cuckoo:9.5");
  for (const char* text : {"cuckoofilter", "cuckoofilter:", "cuckoofilter:x", "cuckoofilter:3",
                           "cuckoofilter:9,0:none", "cuckoofilter:9:fast"}) {
    std::shared_ptr<const FilterPolicy> policy;
    const Status status = FilterPolicy::CreateFromString(ConfigOptions(), text, &policy);
    EXPECT_TRUE(status.IsInvalidArgument()) << text << ": " << status.ToString();
    EXPECT_NE(status.ToString().find("character"), std::string::npos) << status.ToString();
  }
}

// What a user meets who takes the database to a program without the plugin.
TEST_F(PolicyOptionsTest, WithoutThePluginTheOptionsFileNamesIt) {
  ASSERT_NE(Open(TestOptions(Policy("bloom:12")), path_), nullptr);
  ConfigOptions config;
  config.registry = std::make_shared<ROCKSDB_NAMESPACE::ObjectRegistry>(
      std::make_shared<ROCKSDB_NAMESPACE::ObjectLibrary>("empty"));
  std::shared_ptr<const FilterPolicy> policy;
  config.ignore_unsupported_options = false;
  const Status status = FilterPolicy::CreateFromString(config, "tieredfilter:*:bloom:12", &policy);
  EXPECT_TRUE(status.IsNotSupported()) << status.ToString();
  EXPECT_NE(status.ToString().find("tieredfilter"), std::string::npos);
}

TEST_F(PolicyOptionsTest, APolicyInUseDoesNotChange) {
  const std::shared_ptr<const FilterPolicy> policy = Policy("");
  std::unique_ptr<DB> db = Open(TestOptions(policy), path_);
  PutKeys(db.get(), 0, 10);
  ASSERT_OK(db->Flush(ROCKSDB_NAMESPACE::FlushOptions()));
  auto* changeable = const_cast<FilterPolicy*>(policy.get());
  EXPECT_FALSE(changeable->ConfigureFromString(ConfigOptions(), "spec=bloom:3").ok());
  EXPECT_EQ(policy->GetId(), kLadder);
  // Nor through the database: the option is not a changeable one.
  EXPECT_FALSE(db->SetOptions({{"table_factory.filter_policy.spec", "bloom:3"}}).ok());
  EXPECT_EQ(policy->GetId(), kLadder);
}

TEST_F(PolicyOptionsTest, EquivalenceIsByRules) {
  std::string mismatch;
  EXPECT_TRUE(
      Policy("bloom:10")->AreEquivalent(ConfigOptions(), Policy("*:bloom:10.0").get(), &mismatch));
  EXPECT_FALSE(
      Policy("bloom:10")->AreEquivalent(ConfigOptions(), Policy("bloom:11").get(), &mismatch));
}

}  // namespace
}  // namespace tieredfilter
