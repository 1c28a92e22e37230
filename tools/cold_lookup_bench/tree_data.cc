#include "tools/cold_lookup_bench/tree_data.h"

#include <fmt/format.h>

#include <utility>

#include "tools/cold_lookup_bench/file_keys.h"
#include "tools/cold_lookup_bench/generated_keys.h"

namespace tieredfilter::cold_lookup {

using ROCKSDB_NAMESPACE::Status;

Status TreeData::Open(const DataFlags& flags) {
  flags_ = &flags;
  for (const auto& [name, path, file] :
       {std::make_tuple("--key_file", flags.key_file, &present_),
        std::make_tuple("--absent_key_file", flags.absent_key_file, &absent_)}) {
    if (path.empty()) {
      continue;
    }
    *file = std::make_unique<KeyFile>();
    if (Status s = (*file)->Open(name, path, flags.key_format, flags.key_encoding); !s.ok()) {
      return s;
    }
    if ((*file)->duplicates() > 0) {
      notes_.push_back(fmt::format("{}={}: {} keys that came more than once were left out", name,
                                   path, (*file)->duplicates()));
    }
  }
  return Status::OK();
}

void TreeData::FitShape(uint64_t file_size, TreeShape* shape) const {
  const auto average = [](const SizeRange& size) {
    return static_cast<double>(size.smallest + size.largest) / 2;
  };
  double entry_size = average(flags_->generated.value_size);
  if (present_ != nullptr) {
    shape->num_keys = present_->keys().size();
    entry_size += present_->average_size();
  } else {
    entry_size += average(flags_->generated.key_size);
  }
  shape->entries_per_file = static_cast<uint64_t>(static_cast<double>(file_size) / entry_size);
}

Status TreeData::MakeKeys(const TreePlan& plan, uint64_t seed,
                          std::unique_ptr<KeySpace>* keys) const {
  if (present_ == nullptr) {
    *keys = std::make_unique<GeneratedKeys>(plan, seed, flags_->generated);
    return Status::OK();
  }
  auto file_keys = std::make_unique<FileKeys>(plan, seed, flags_->generated.value_size, *present_,
                                              absent_.get());
  Status s = file_keys->Check();
  *keys = std::move(file_keys);
  return s;
}

}  // namespace tieredfilter::cold_lookup
