#include "plugin/cuckoo_bits_builder.h"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "plugin/filter_counters.h"
#include "src/filter/cuckoo_geometry.h"
#include "src/filter/key_hash.h"

namespace tieredfilter {
namespace {

using ROCKSDB_NAMESPACE::BlockBasedTableOptions;
using ROCKSDB_NAMESPACE::FilterBitsBuilder;
using ROCKSDB_NAMESPACE::FilterBuildingContext;
using ROCKSDB_NAMESPACE::Slice;
using ROCKSDB_NAMESPACE::Status;

// Less than this is not charged. The cache counts in steps of 256 KiB, rounded up; a full step for
// each of many small filters would be a charge for memory that nobody uses.
constexpr size_t kLeastCharge = 128 * 1024;

// What a build needs beyond hashes and block, at most: measured between 0.6 and 4.2 bytes per key
// for 4.6 to 24 bits per key, about 1.4 times the block, since fuller lines give away fewer of
// their keys; and the sort's scratch. cuckoo_memory_test holds it to this.
size_t WorkingBytes(size_t block_bytes) { return 2 * block_bytes + 300 * 1024; }

uint64_t HashOf(const Slice& key) { return HashKey(key.data(), key.size()); }

// Made without any memory of its own, since it is for when there is none.
Slice MatchAllBlock() {
  static const std::array<char, kShortTrailerBytes> bytes = [] {
    std::array<char, kShortTrailerBytes> block;
    BlockMetadata metadata;
    metadata.short_lines = 1;
    WriteTrailer(metadata, block.data());
    return block;
  }();
  return Slice(bytes.data(), bytes.size());
}

BlockCoding CodingOf(const FilterSetting& setting) {
  return setting.coding == CuckooCoding::kFingerprints ? BlockCoding::kFingerprints
                                                       : BlockCoding::kEquations;
}

uint8_t LevelOf(const FilterBuildingContext& context) {
  const int level = context.level_at_creation;
  return level >= 0 && level < kUnknownLevel ? static_cast<uint8_t>(level) : kUnknownLevel;
}

class CuckooFilterSource final : public FilterSource {
 public:
  explicit CuckooFilterSource(const BlockRequest& request) : request_(request) {}

  FilterBitsBuilder* NewBuilder(const FilterBuildingContext& context) const override {
    return NewCuckooBuilder(request_, context);
  }

 private:
  const BlockRequest request_;
};

}  // namespace

FilterBitsBuilder* NewCuckooBuilder(BlockRequest request, const FilterBuildingContext& context) {
  request.level = LevelOf(context);
  try {
    return new CuckooBitsBuilder(request, context.table_options, context.info_log);
  } catch (const std::bad_alloc&) {
    g_match_all_blocks_written.fetch_add(1, std::memory_order_relaxed);
    ROCKSDB_NAMESPACE::Error(context.info_log,
                             "tieredfilter: a table gets no filter: no memory to start one");
    return nullptr;
  }
}

BlockRequest RequestFor(const FilterSetting& setting) {
  BlockRequest request;
  request.coding = CodingOf(setting);
  if (setting.has_rate()) {
    // The fewest bits there are may give a better rate than was asked for; the most reach the
    // lowest rate that the grammar accepts (a test checks that).
    const double fewest = static_cast<double>(LimitsOf(FilterKind::kCuckoo).min_millibits) / 1e3;
    request.bits_per_key =
        std::max(fewest, BitsForRate(request.coding, setting.false_positive_rate()));
  } else {
    request.bits_per_key = setting.bits_per_key();
    request.asked_millibits = static_cast<uint16_t>(setting.millibits_per_key);
  }
  return request;
}

std::unique_ptr<const FilterSource> NewCuckooFilterSource(const FilterSetting& setting) {
  return std::make_unique<CuckooFilterSource>(RequestFor(setting));
}

CuckooBitsBuilder::CuckooBitsBuilder(const BlockRequest& request,
                                     const BlockBasedTableOptions& table_options,
                                     ROCKSDB_NAMESPACE::Logger* info_log)
    : request_(request),
      detect_corruption_(table_options.detect_filter_construct_corruption),
      info_log_(info_log),
      charge_(table_options) {}

void CuckooBitsBuilder::AddKey(const Slice& key) {
  collector_.AddKey(HashOf(key));
  ChargeForHashes();
}

void CuckooBitsBuilder::AddKeyAndAlt(const Slice& key, const Slice& alt) {
  collector_.AddKeyAndAlt(HashOf(key), HashOf(alt));
  ChargeForHashes();
}

void CuckooBitsBuilder::ChargeForHashes() {
  if (collector_.memory_bytes() != charged_hash_bytes_) Charge(0);
}

void CuckooBitsBuilder::Charge(size_t working_bytes) {
  charged_hash_bytes_ = collector_.memory_bytes();
  if (!charge_.enabled()) return;
  const size_t bytes =
      charged_hash_bytes_ + to_verify_.memory_bytes() + finished_bytes_ + working_bytes;
  // Not enough memory even to keep the charge's books is no reason to fail, either.
  try {
    charge_.Set(bytes < kLeastCharge ? 0 : bytes);
  } catch (const std::bad_alloc&) {
  }
}

Slice CuckooBitsBuilder::GiveUp(const char* why, size_t entries) {
  g_match_all_blocks_written.fetch_add(1, std::memory_order_relaxed);
  ROCKSDB_NAMESPACE::Error(info_log_,
                           "tieredfilter: a filter of %zu keys is replaced by one that matches "
                           "everything, which costs reads but no key: %s",
                           entries, why);
  return MatchAllBlock();
}

// A block without data if there is no memory.
BuiltBlock CuckooBitsBuilder::Build() {
  const size_t entries = collector_.size();
  collector_.ShrinkToFit();
  const size_t block_bytes = CalculateSpace(entries);
  Charge(block_bytes + WorkingBytes(block_bytes));
  try {
    return BuildBlock(collector_.hashes(), entries, request_, DefaultCpuKernel());
  } catch (const std::bad_alloc&) {
    return BuiltBlock();
  }
}

Slice CuckooBitsBuilder::Finish(std::unique_ptr<const char[]>* buf, Status* status) {
  const size_t entries = collector_.size();
  Slice content;
  Status result;
  keys_to_verify_ = 0;
  if (!collector_.complete()) {
    content = GiveUp("no memory for the key hashes", entries);
  } else if (detect_corruption_ && !collector_.ChecksumHolds()) {
    content = MatchAllBlock();
    result = Status::Corruption("tieredfilter: the key hashes of a filter changed in memory");
    ROCKSDB_NAMESPACE::Error(info_log_, "%s", result.ToString().c_str());
  } else {
    BuiltBlock block = Build();
    if (block.data == nullptr) {
      content = GiveUp("no memory to build it", entries);
    } else {
      if (!block.ok) GiveUp("the keys could not be placed", entries);
      keys_to_verify_ = block.metadata.keys;
      finished_bytes_ += block.size;
      content = Slice(block.data.get(), block.size);
      *buf = std::move(block.data);
    }
  }
  to_verify_.Clear();
  if (detect_corruption_ && keys_to_verify_ > 0) to_verify_.Swap(&collector_);
  collector_.Clear();
  Charge(0);
  if (status != nullptr) *status = result;
  return content;
}

Status CuckooBitsBuilder::MaybePostVerify(const Slice& filter_content) {
  if (!detect_corruption_) return Status::OK();
  BlockMetadata metadata;
  Status result;
  if (!ParseBlock(filter_content.data(), filter_content.size(), &metadata) ||
      metadata.keys != keys_to_verify_) {
    result = Status::Corruption("tieredfilter: the metadata of a new filter is damaged");
  } else {
    const BlockReader reader(filter_content.data(), filter_content.size(), DefaultCpuKernel());
    const uint64_t* hashes = to_verify_.hashes();
    for (size_t i = 0; i < keys_to_verify_ && result.ok(); ++i) {
      if (!reader.HashMayMatch(hashes[i])) {
        result = Status::Corruption("tieredfilter: a new filter does not match one of its keys");
      }
    }
  }
  if (!result.ok()) ROCKSDB_NAMESPACE::Error(info_log_, "%s", result.ToString().c_str());
  to_verify_.Clear();
  keys_to_verify_ = 0;
  Charge(0);
  return result;
}

size_t CuckooBitsBuilder::ApproximateNumEntries(size_t bytes) {
  // Beyond the largest block there are no more bytes to fill.
  const size_t most = static_cast<size_t>(static_cast<double>(kMaxLines * kLineBytes) * 8.0 /
                                          request_.bits_per_key);
  // The most entries that fit, by bisection: BlockBytes is monotone, and no formula to invert.
  size_t low = 0, high = most;
  while (low < high) {
    const size_t middle = high - (high - low) / 2;
    if (CalculateSpace(middle) <= bytes) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

double CuckooBitsBuilder::EstimatedFpRate(size_t num_entries, size_t bytes) {
  const size_t trailer_bytes = TrailerBytes(num_entries, request_);
  if (num_entries == 0 || bytes <= trailer_bytes) return 1.0;
  if (bytes == CalculateSpace(num_entries)) return ExpectedRate(num_entries, request_);
  BlockRequest request = request_;
  // More than any filter has a use for: the rate stays the same from 25 bits on.
  constexpr double kMostBits = 64;
  // Half a bit less than there is, so that rounding up to lines does not add one.
  request.bits_per_key =
      std::min(kMostBits, (static_cast<double>(bytes - trailer_bytes) * 8.0 - 0.5) /
                              static_cast<double>(num_entries));
  // Too few bits to place the keys: the block would match everything.
  if (request.bits_per_key < kMinPlanes) return 1.0;
  return ExpectedRate(num_entries, request);
}

}  // namespace tieredfilter
