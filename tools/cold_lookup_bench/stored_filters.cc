#include "tools/cold_lookup_bench/stored_filters.h"

#include <fmt/format.h>

#include <utility>

#include "plugin/rocksdb_compat.h"
#include "rocksdb/slice.h"
#include "tools/cold_lookup_bench/table_filter.h"

namespace tieredfilter::cold_lookup {

using ROCKSDB_NAMESPACE::FilterBitsReader;
using ROCKSDB_NAMESPACE::FilterPolicy;
using ROCKSDB_NAMESPACE::Slice;
using ROCKSDB_NAMESPACE::Status;

struct StoredFilters::Filter {
  std::string content;
  std::unique_ptr<FilterBitsReader> reader;  // reads `content`
};

StoredFilters::StoredFilters() = default;
StoredFilters::~StoredFilters() = default;

Status StoredFilters::Load(const std::string& path, const TreeFiles& files,
                           std::shared_ptr<const FilterPolicy> policy) {
  policy_ = std::move(policy);
  filters_.clear();
  for (const TreeFile& file : files.files()) {
    filters_.push_back(nullptr);
    if (file.filter.kind == "none" || policy_ == nullptr) {
      continue;
    }
    if (file.filter.kind == "partitioned") {
      return Status::NotSupported(
          "lookups in batches cannot be counted apart where filters are partitioned; use "
          "--batch_size=1");
    }
    auto filter = std::make_unique<Filter>();
    const Status s = ReadFilterContent(fmt::format("{}/{:06}.sst", path, file.number), file.filter,
                                       &filter->content);
    if (!s.ok()) {
      return s;
    }
    filter->reader.reset(policy_->GetFilterBitsReader(Slice(filter->content)));
    filters_.back() = std::move(filter);
  }
  return Status::OK();
}

bool StoredFilters::MayMatch(size_t file, const std::string& key) const {
  return filters_[file] == nullptr || filters_[file]->reader->MayMatch(Slice(key));
}

}  // namespace tieredfilter::cold_lookup
