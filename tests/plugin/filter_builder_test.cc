// Builders and readers without a database: bytes, sizes, rates, and blocks nobody should ever have
// written.
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "plugin/filter_reader.h"
#include "plugin/rocksdb_compat.h"
#include "plugin/stock_filters.h"
#include "rocksdb/table.h"
#include "src/format/block.h"
#include "src/policy/bloom_rate.h"
#include "tests/plugin/host_test_util.h"

namespace tieredfilter {
namespace {

// Written out: this byte is in files on disk.
constexpr unsigned char kBlockMarker = 0xa5;

using ROCKSDB_NAMESPACE::BlockBasedTableOptions;
using ROCKSDB_NAMESPACE::FilterBitsBuilder;
using ROCKSDB_NAMESPACE::FilterBitsReader;
using ROCKSDB_NAMESPACE::FilterBuildingContext;
using ROCKSDB_NAMESPACE::FilterPolicy;
using ROCKSDB_NAMESPACE::Slice;

BlockBasedTableOptions FixedSizes() {
  BlockBasedTableOptions options;
  options.format_version = 5;
  options.optimize_filters_for_memory = false;
  return options;
}

std::string BuildFilter(const FilterPolicy& policy, uint64_t keys,
                        const BlockBasedTableOptions& options = FixedSizes()) {
  const std::unique_ptr<FilterBitsBuilder> builder(
      policy.GetBuilderWithContext(FilterBuildingContext(options)));
  if (builder == nullptr) {
    return "";
  }
  for (uint64_t i = 0; i < keys; ++i) {
    builder->AddKey(Key(i));
  }
  std::unique_ptr<const char[]> buffer;
  const Slice block = builder->Finish(&buffer);
  return block.ToString();
}

uint64_t CountFalsePositives(const FilterPolicy& policy, const std::string& block,
                             uint64_t lookups) {
  const std::unique_ptr<FilterBitsReader> reader(policy.GetFilterBitsReader(block));
  uint64_t count = 0;
  for (uint64_t i = 0; i < lookups; ++i) {
    count += reader->MayMatch(AbsentKey(i)) ? 1 : 0;
  }
  return count;
}

TEST(FilterBuilderTest, BloomIsStockByteForByte) {
  for (const double bits : {1.0, 6.667, 10.0, 14.0, 64.0}) {
    const std::shared_ptr<const FilterPolicy> stock(ROCKSDB_NAMESPACE::NewBloomFilterPolicy(bits));
    FilterSetting setting = FilterSetting::WithBits(FilterKind::kBloom, bits);
    const auto ours = Policy(setting.ToString());
    for (const uint64_t keys : {0, 1, 100, 5000}) {
      EXPECT_EQ(BuildFilter(*ours, keys), BuildFilter(*stock, keys)) << bits << " " << keys;
    }
  }
}

TEST(FilterBuilderTest, RibbonIsStockByteForByteOfTheParameterFound) {
  for (const char* spec : {"ribbon:3", "ribbon:7", "ribbon:12.5", "ribbon:0.1%"}) {
    FilterSetting setting;
    SpecError error;
    ASSERT_TRUE(ParseFilterSetting(spec, 0, false, &setting, &error));
    const std::unique_ptr<const FilterPolicy> stock(
        ROCKSDB_NAMESPACE::NewRibbonFilterPolicy(StockRibbonParameter(setting), -1));
    for (const uint64_t keys : {1, 100, 5000}) {
      EXPECT_EQ(BuildFilter(*Policy(spec), keys), BuildFilter(*stock, keys)) << spec;
    }
  }
}

TEST(FilterBuilderTest, StockOptionsActOnOurBuilders) {
  BlockBasedTableOptions legacy = FixedSizes();
  legacy.format_version = 4;
  const std::shared_ptr<const FilterPolicy> stock(ROCKSDB_NAMESPACE::NewBloomFilterPolicy(10));
  EXPECT_EQ(BuildFilter(*Policy("bloom:10"), 1000, legacy), BuildFilter(*stock, 1000, legacy));
  EXPECT_NE(BuildFilter(*Policy("bloom:10"), 1000, legacy), BuildFilter(*stock, 1000));
}

TEST(FilterBuilderTest, BitsAreBitsReallyStored) {
  for (const char* kind : {"bloom", "ribbon"}) {
    for (const double bits : {2.0, 4.5, 7.0, 10.0, 20.0, 32.0}) {
      FilterKind parsed = FilterKind::kNone;
      ASSERT_TRUE(FindFilterKind(kind, &parsed));
      const auto policy = Policy(FilterSetting::WithBits(parsed, bits).ToString());
      for (const uint64_t keys : {5000, 60000}) {
        const double stored = 8.0 * static_cast<double>(BuildFilter(*policy, keys).size()) /
                              static_cast<double>(keys);
        EXPECT_NEAR(stored, bits, 0.03 * bits) << kind << " " << keys;
      }
    }
  }
}

// Rates asked for are rates met. Bounds are four standard deviations of the count plus 5% for the
// model.
TEST(FilterBuilderTest, RatesAreMet) {
  constexpr uint64_t kKeys = 100000;
  constexpr uint64_t kLookups = 400000;
  struct Case {
    const char* spec;
    double rate;
  };
  for (const Case& c : std::vector<Case>{{"bloom:10%", 0.1},
                                         {"bloom:1%", 0.01},
                                         {"bloom:0.1%", 0.001},
                                         {"ribbon:10%", 0.1},
                                         {"ribbon:1%", 0.01},
                                         {"ribbon:0.1%", 0.001}}) {
    const auto policy = Policy(c.spec);
    const double expected = c.rate * kLookups;
    const double count =
        static_cast<double>(CountFalsePositives(*policy, BuildFilter(*policy, kKeys), kLookups));
    EXPECT_NEAR(count, expected, 4 * std::sqrt(expected) + 0.05 * expected) << c.spec;
  }
}

TEST(FilterBuilderTest, BloomModelAgreesWithTheStockFilter) {
  constexpr uint64_t kKeys = 100000;
  constexpr uint64_t kLookups = 400000;
  for (const double bits : {2.0, 5.0, 8.0, 12.0, 16.0}) {
    const auto policy = Policy(FilterSetting::WithBits(FilterKind::kBloom, bits).ToString());
    const double expected = BloomRateForBits(bits) * kLookups;
    const double count =
        static_cast<double>(CountFalsePositives(*policy, BuildFilter(*policy, kKeys), kLookups));
    EXPECT_NEAR(count, expected, 4 * std::sqrt(expected) + 0.03 * expected) << bits;
  }
}

TEST(FilterBuilderTest, NoneHasNoBuilder) {
  const BlockBasedTableOptions options = FixedSizes();
  EXPECT_EQ(Policy("none")->GetBuilderWithContext(FilterBuildingContext(options)), nullptr);
}

TEST(FilterBuilderTest, ABuilderServesOnePartitionAfterTheOther) {
  for (const char* spec : {"bloom:10", "ribbon:7"}) {
    const auto policy = Policy(spec);
    const BlockBasedTableOptions options = FixedSizes();
    const std::unique_ptr<FilterBitsBuilder> builder(
        policy->GetBuilderWithContext(FilterBuildingContext(options)));
    for (int partition = 0; partition < 3; ++partition) {
      EXPECT_EQ(builder->EstimateEntriesAdded(), 0u);
      for (uint64_t i = 0; i < 2000; ++i) {
        builder->AddKey(Key(i));
      }
      EXPECT_EQ(builder->EstimateEntriesAdded(), 2000u);
      std::unique_ptr<const char[]> buffer;
      EXPECT_EQ(builder->Finish(&buffer).ToString(), BuildFilter(*policy, 2000)) << spec;
    }
  }
}

class FilterReaderTest : public ::testing::Test {
 protected:
  // Asks single and batched, including for an empty key and for no keys; all answers must agree.
  static bool Answer(const Slice& contents) {
    const std::unique_ptr<FilterBitsReader> reader(NewFilterBitsReader(contents));
    EXPECT_NE(reader, nullptr);
    Slice key("some key");
    Slice empty;
    Slice* keys[] = {&key, &empty};
    bool may_match[2] = {false, false};
    reader->MayMatch(0, keys, may_match);
    EXPECT_FALSE(may_match[0]);
    reader->MayMatch(2, keys, may_match);
    EXPECT_EQ(may_match[0], reader->MayMatch(key));
    EXPECT_EQ(may_match[1], reader->MayMatch(empty));
    return may_match[0];
  }
};

TEST_F(FilterReaderTest, AnEmptyBlockHoldsNoKey) {
  EXPECT_FALSE(Answer(Slice()));
  EXPECT_FALSE(Answer(Slice(nullptr, 0)));
  EXPECT_FALSE(Answer(Slice("", 0)));
}

TEST_F(FilterReaderTest, ABlockTooShortForATrailerMayMatch) {
  for (size_t size = 1; size <= 5; ++size) {
    for (int byte = 0; byte < 256; ++byte) {
      EXPECT_TRUE(Answer(std::string(size, static_cast<char>(byte)))) << size << " " << byte;
    }
  }
}

TEST_F(FilterReaderTest, OurMarkerAndUnknownMarkersMayMatch) {
  // Every marker but Bloom (-1), Ribbon (-2) and the probe counts of legacy Bloom.
  for (int marker = 128; marker <= 253; ++marker) {
    for (const size_t body : {1, 11, 64, 1000}) {
      const std::string block =
          std::string(body, '\0') + static_cast<char>(marker) + std::string(4, '\0');
      EXPECT_TRUE(Answer(block)) << marker;
    }
  }
  EXPECT_TRUE(Answer(std::string(64, '\0') + static_cast<char>(kBlockMarker) + "\xff\xff\xff\xff"));
}

TEST_F(FilterReaderTest, RandomBytesDoNotCrash) {
  std::mt19937 random(99);
  for (int i = 0; i < 20000; ++i) {
    // In a heap block of exactly its size, so that a sanitizer sees every step beyond.
    const size_t size = random() % 200;
    const std::unique_ptr<char[]> bytes(new char[size + 1]);
    for (size_t b = 0; b < size; ++b) {
      bytes[b] = static_cast<char>(random());
    }
    if (size > 5 && random() % 2 == 0) {
      const unsigned char markers[] = {0xff, 0xfe, 0xa5, 0xa4, 0x00, 0x06};
      bytes[size - 5] = static_cast<char>(markers[random() % 6]);
    }
    Answer(Slice(bytes.get(), size));
  }
}

TEST_F(FilterReaderTest, StockFiltersAreReadInFull) {
  for (const char* spec : {"bloom:10", "ribbon:7"}) {
    const auto policy = Policy(spec);
    // Enough keys to notice a reader that denies one in ten thousand.
    constexpr uint64_t kKeys = 100000;
    const std::string block = BuildFilter(*policy, kKeys);
    const std::unique_ptr<FilterBitsReader> reader(NewFilterBitsReader(block));
    for (uint64_t i = 0; i < kKeys; ++i) {
      ASSERT_TRUE(reader->MayMatch(Key(i))) << spec;
    }
    EXPECT_LT(CountFalsePositives(*policy, block, 10000), 200u) << spec;
  }
}

}  // namespace
}  // namespace tieredfilter
