#include "plugin/filter_reader.h"

#include <cstddef>
#include <utility>

#include "plugin/cuckoo_bits_reader.h"
#include "plugin/rocksdb_compat.h"
#include "src/format/block.h"

namespace tieredfilter {
namespace {

using ROCKSDB_NAMESPACE::FilterBitsReader;
using ROCKSDB_NAMESPACE::Slice;

// Marker byte and four more bytes, in every kind of block.
constexpr size_t kMarkerBytes = 5;

class MayMatchReader final : public FilterBitsReader {
 public:
  bool MayMatch(const Slice&) override { return true; }
  void MayMatch(int num_keys, Slice**, bool* may_match) override {
    for (int i = 0; i < num_keys; ++i) {
      may_match[i] = true;
    }
  }
};

}  // namespace

FilterBitsReader* NewFilterBitsReader(const Slice& contents,
                                      std::shared_ptr<FilterActivity> activity) {
  if (contents.size() > 0 && (contents.data() == nullptr || contents.size() <= kMarkerBytes)) {
    // RocksDB reads 1 to 5 bytes as a filter without keys. No builder writes that, so it is what is
    // left of a longer block, and "no match" would lose its keys.
    return new MayMatchReader();
  }
  if (contents.size() > kMarkerBytes &&
      IsBlockMarker(static_cast<unsigned char>(contents[contents.size() - kMarkerBytes]))) {
    return NewCuckooBitsReader(contents, std::move(activity));
  }
  return ROCKSDB_NAMESPACE::BuiltinFilterPolicy::GetBuiltinFilterBitsReader(contents);
}

}  // namespace tieredfilter
