// What the tree of a run is filled with, as the flags say.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "rocksdb/status.h"
#include "tools/cold_lookup_bench/data_flags.h"
#include "tools/cold_lookup_bench/key_space.h"
#include "tools/cold_lookup_bench/tree_plan.h"

namespace tieredfilter::cold_lookup {

class TreeData {
 public:
  // Opens the files that the flags name. `flags` must outlive this.
  ROCKSDB_NAMESPACE::Status Open(const DataFlags& flags);

  // Makes the shape fit the data: number of keys, and entries per file of `file_size` bytes.
  void FitShape(uint64_t file_size, TreeShape* shape) const;

  // The entries of a tree of that shape. This must outlive them.
  ROCKSDB_NAMESPACE::Status MakeKeys(const TreePlan& plan, uint64_t seed,
                                     std::unique_ptr<KeySpace>* keys) const;

  // What a reader of the report should know.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  const DataFlags* flags_ = nullptr;
  std::unique_ptr<KeyFile> present_;
  std::unique_ptr<KeyFile> absent_;
  std::vector<std::string> notes_;
};

}  // namespace tieredfilter::cold_lookup
