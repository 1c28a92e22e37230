// Compiles and runs the C++ code blocks of README.md; cmake/TieredfilterReadme.cmake cuts them out.
#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>

#include <memory>
#include <string>

#include "readme_factory.inc.includes"
#include "readme_options.inc.includes"

namespace {

#include "readme_factory.inc"
#include "readme_options.inc"

std::string PolicyIdOf(const rocksdb::ColumnFamilyOptions& options) {
  const auto* table_options = options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  if (table_options == nullptr || table_options->filter_policy == nullptr) {
    return "";
  }
  return table_options->filter_policy->GetId();
}

TEST(ReadmeTest, FactorySetsThePolicy) {
  rocksdb::Options options;
  const rocksdb::Status status = UseTieredFilter(&options);
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(PolicyIdOf(options), "tieredfilter:0-1:bloom:14,2-4:bloom:10,5+:ribbon:7");
}

TEST(ReadmeTest, OptionsStringSetsThePolicy) {
  rocksdb::ColumnFamilyOptions options;
  const rocksdb::Status status = ReadOptions(&options);
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(PolicyIdOf(options), "tieredfilter:0-1:bloom:14,2+:bloom:7");
}

// Every spec in the tables of README.md is accepted, with the meaning that a table gives it.
TEST(ReadmeTest, SpecsInTheTablesAreAccepted) {
  for (const char* levels : {"0", "0-1", "5+", "last", "last-1", "last-2..last", "flush",
                             "bottommost", "unknown", "*"}) {
    for (const char* filter : {"bloom:10", "ribbon:7.5", "bloom:1%", "ribbon:0.1%", "none"}) {
      const std::string spec = std::string(levels) + ":" + filter;
      std::shared_ptr<const rocksdb::FilterPolicy> policy;
      const rocksdb::Status status = tieredfilter::NewFilterPolicy(spec, &policy);
      EXPECT_TRUE(status.ok()) << spec << ": " << status.ToString();
    }
  }
}

}  // namespace
