// All trees that a run measures policies on, as the flags ask for them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/status.h"
#include "tools/cold_lookup_bench/config.h"
#include "tools/cold_lookup_bench/copied_tree.h"
#include "tools/cold_lookup_bench/existing_database.h"
#include "tools/cold_lookup_bench/policy_choice.h"
#include "tools/cold_lookup_bench/storage.h"
#include "tools/cold_lookup_bench/tree_data.h"
#include "tools/cold_lookup_bench/tree_source.h"

namespace tieredfilter::cold_lookup {

// One tree, and the policies to measure on it: the one without filters first, if the run has it.
struct Subject {
  std::string column_family;  // empty if the run has only one
  std::unique_ptr<TreeSource> source;
  std::vector<PolicyChoice> policies;
};

class SourceSet {
 public:
  // Opens the files and the database that the flags name. `config` must outlive this.
  ROCKSDB_NAMESPACE::Status Open(const Config& config);

  // Makes the trees of a seed, with temporary databases in `folder`. Those made before are gone.
  // Remarks for the reader of the report are added to `notes`, reasons why the run proves nothing
  // to `reasons`.
  ROCKSDB_NAMESPACE::Status Make(uint64_t seed, const std::string& folder,
                                 std::vector<std::string>* notes,
                                 std::vector<std::string>* reasons);

  std::vector<Subject>& subjects() { return subjects_; }

  // Corruption if the files of the existing database are not what they were at Open().
  ROCKSDB_NAMESPACE::Status CheckUnchanged() const;

 private:
  using Lines = std::vector<std::string>;

  ROCKSDB_NAMESPACE::Status MakeFixed(uint64_t seed);
  ROCKSDB_NAMESPACE::Status MakeNatural(uint64_t seed, const std::string& folder);
  ROCKSDB_NAMESPACE::Status LoadNatural(const Config& seeded, const std::string& folder,
                                        const TreePlan& plan, std::string* path);
  ROCKSDB_NAMESPACE::Status MakeExisting(uint64_t seed, Lines* notes, Lines* reasons);
  ROCKSDB_NAMESPACE::Status PoliciesAsTheyAre(const CopiedTree& tree, Subject* subject,
                                              Lines* notes, Lines* reasons) const;

  const Config* config_ = nullptr;
  TreeData data_;
  FolderState before_;
  // Trees refer to what is above them.
  ScopedFolder natural_folder_;
  std::unique_ptr<ExistingDatabase> database_;
  std::vector<Subject> subjects_;
};

}  // namespace tieredfilter::cold_lookup
