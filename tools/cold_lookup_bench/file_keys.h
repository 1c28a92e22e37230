// The keys of a file, dealt out to the runs of a tree.
#pragma once

#include <string>
#include <vector>

#include "rocksdb/status.h"
#include "tools/cold_lookup_bench/key_file.h"
#include "tools/cold_lookup_bench/key_space.h"
#include "tools/cold_lookup_bench/tree_plan.h"

namespace tieredfilter::cold_lookup {

// Every run gets a random selection of the keys, so that it spans the whole key range. Memory: 8
// bytes per key beside the file's own 8.
class FileKeys : public KeySpace {
 public:
  // The plan must have as many entries as `present` has keys. `absent`, of the same encoding, may
  // be null: absent keys are then mutated keys of `present` (see MutateKey). Both must outlive
  // this.
  FileKeys(const TreePlan& plan, uint64_t seed, SizeRange value_size, const KeyFile& present,
           const KeyFile* absent);

  // Checks that absent keys can be had: InvalidArgument names the line of a key of the absent file
  // that is also present or lies outside the range of the present ones, or says that mutation finds
  // no absent keys, as where the keys are all numbers from 0 on.
  ROCKSDB_NAMESPACE::Status Check() const;

  void EntryKey(EntryPlace place, std::string* key) const override;

  // A key of the absent file; these lie inside the range of all present keys, but a small run may
  // begin behind one or end before it. Mutated keys lie inside the range of every run.
  void AbsentKey(uint64_t number, std::string* key) const override;

 private:
  bool Mutate(uint64_t number, std::string* key) const;
  bool IsPresent(const std::string& key) const;
  ROCKSDB_NAMESPACE::Status CheckAbsentFile() const;

  const KeyFile& present_;
  const KeyFile* const absent_;
  std::vector<std::vector<KeyReference>> runs_;
  std::string first_absent_;  // absent keys lie between these two, which are present
  std::string last_absent_;
};

}  // namespace tieredfilter::cold_lookup
