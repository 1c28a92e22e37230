#include "plugin/cuckoo_bits_reader.h"

#include <algorithm>
#include <utility>

#include "plugin/filter_activity.h"
#include "plugin/filter_counters.h"
#include "plugin/rocksdb_compat.h"
#include "src/format/block.h"

namespace tieredfilter {
namespace {

using ROCKSDB_NAMESPACE::FilterBitsReader;
using ROCKSDB_NAMESPACE::Slice;

// One virtual call and one through the kernel's table: which code tests a line is settled here, not
// asked at every lookup. Aligned, and with what a lookup reads in front, so that it is one cache
// line.
class alignas(64) CuckooBitsReader final : public FilterBitsReader {
 public:
  CuckooBitsReader(const Slice& contents, std::shared_ptr<FilterActivity> activity)
      : activity_(activity.get()),
        block_(contents.data(), contents.size(), DefaultCpuKernel()),
        activity_owner_(std::move(activity)) {
    level_ = CountedLevel(block_);
  }

  bool MayMatch(const Slice& entry) override {
    const bool may_match = block_.MayMatch(entry.data(), entry.size());
    activity_->CountOne(level_, may_match);
    return may_match;
  }

  void MayMatch(int num_keys, Slice** keys, bool* may_match) override {
    KeyView views[kMaxBatch];
    for (int done = 0; done < num_keys;) {
      const int count = std::min(num_keys - done, static_cast<int>(kMaxBatch));
      for (int i = 0; i < count; ++i) {
        views[i] = {keys[done + i]->data(), keys[done + i]->size()};
      }
      block_.MayMatch(views, static_cast<size_t>(count), may_match + done);
      done += count;
    }
    const auto negatives = std::count(may_match, may_match + num_keys, false);
    activity_->Count(level_, static_cast<uint64_t>(num_keys), static_cast<uint64_t>(negatives));
  }

 private:
  // A block that never says "no" was made for no level as far as figures go.
  static size_t CountedLevel(const BlockReader& block) {
    if (!block.filters() || block.metadata().level == kUnknownLevel) return kUncountedLevel;
    return std::min<size_t>(block.metadata().level, kCountedLevels - 1);
  }

  FilterActivity* const activity_;
  size_t level_;
  const BlockReader block_;
  const std::shared_ptr<FilterActivity> activity_owner_;  // never null
};

}  // namespace

FilterBitsReader* NewCuckooBitsReader(const Slice& contents,
                                      std::shared_ptr<FilterActivity> activity) {
  BlockMetadata metadata;
  if (!ParseBlock(contents.data(), contents.size(), &metadata)) {
    g_unusable_blocks_read.fetch_add(1, std::memory_order_relaxed);
  }
  if (activity == nullptr) {
    // Counts that nobody reads are cheaper than to ask at every lookup.
    static const auto* const unread =
        new std::shared_ptr<FilterActivity>(std::make_shared<FilterActivity>());
    activity = *unread;
  }
  return new CuckooBitsReader(contents, std::move(activity));
}

}  // namespace tieredfilter
