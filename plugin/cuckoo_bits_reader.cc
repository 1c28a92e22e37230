#include "plugin/cuckoo_bits_reader.h"

#include <algorithm>

#include "plugin/filter_counters.h"
#include "plugin/rocksdb_compat.h"
#include "src/format/block.h"

namespace tieredfilter {
namespace {

using ROCKSDB_NAMESPACE::FilterBitsReader;
using ROCKSDB_NAMESPACE::Slice;

// One virtual call and one through the kernel's table: which code tests a line is settled here, not
// asked at every lookup.
class CuckooBitsReader final : public FilterBitsReader {
 public:
  explicit CuckooBitsReader(const Slice& contents)
      : block_(contents.data(), contents.size(), DefaultCpuKernel()) {}

  bool MayMatch(const Slice& entry) override { return block_.MayMatch(entry.data(), entry.size()); }

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
  }

 private:
  const BlockReader block_;
};

}  // namespace

FilterBitsReader* NewCuckooBitsReader(const Slice& contents) {
  BlockMetadata metadata;
  if (!ParseBlock(contents.data(), contents.size(), &metadata)) {
    g_unusable_blocks_read.fetch_add(1, std::memory_order_relaxed);
  }
  return new CuckooBitsReader(contents);
}

}  // namespace tieredfilter
