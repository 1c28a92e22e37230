// The tree of a database that exists: measured as it is, or written again file by file.
#pragma once

#include <memory>
#include <string>

#include "rocksdb/options.h"
#include "tools/cold_lookup_bench/existing_database.h"
#include "tools/cold_lookup_bench/sampled_keys.h"
#include "tools/cold_lookup_bench/tree_source.h"

namespace tieredfilter::cold_lookup {

class CopiedTree : public TreeSource {
 public:
  // `source` must outlive it. `in_place`: policies are measured on the source itself, which then
  // must be a policy that reads the filters it has, or none.
  CopiedTree(const ExistingDatabase& source, size_t family, uint64_t seed, bool in_place)
      : source_(source), family_(family), in_place_(in_place), keys_(seed) {}

  // Reads the files' metadata and samples up to `count` keys to look up, which takes one pass
  // through the data. NotSupported for what the driver cannot count or copy: comparators other than
  // the bytewise one, files outside the database's folder, other tables than block-based ones.
  ROCKSDB_NAMESPACE::Status Prepare(uint64_t count);

  const TreeFiles& files() const { return files_; }
  // The policy that the database's options name; null if there is none or it is not known here.
  std::shared_ptr<const ROCKSDB_NAMESPACE::FilterPolicy> policy() const;
  // The part of the entries, 0 to 1, that lie in files with a filter.
  double FilterCoverage() const;
  const std::string& column_family() const { return source_.descriptors()[family_].name; }
  uint64_t live_keys() const { return keys_.live_keys(); }

  const TreePlan& plan() const override { return plan_; }
  const LookupKeys& keys() const override { return keys_; }
  ROCKSDB_NAMESPACE::Status MakeOptions(
      const std::shared_ptr<const ROCKSDB_NAMESPACE::FilterPolicy>& policy,
      ROCKSDB_NAMESPACE::Options* options) const override;
  ROCKSDB_NAMESPACE::Status Load(const ROCKSDB_NAMESPACE::Options& options, const std::string& path,
                                 const std::string& label, FilterBuildCost* cost) const override;
  // Files of which every entry was deleted or hidden by a newer one in the same file may be gone.
  ROCKSDB_NAMESPACE::Status Check(const TreeFiles& files) const override;
  // Keys are compared with what an iterator over the source shows.
  ROCKSDB_NAMESPACE::Status Verify(const ROCKSDB_NAMESPACE::Options& options,
                                   const std::string& path, int threads, const std::string& label,
                                   VerifyResult* result) const override;
  std::string Identity() const override;
  std::string InPlace() const override { return in_place_ ? source_.path() : ""; }
  FamilyChoice Family() const override;

 private:
  const ROCKSDB_NAMESPACE::ColumnFamilyOptions& family_options() const {
    return source_.descriptors()[family_].options;
  }
  ROCKSDB_NAMESPACE::Status CheckSupported() const;

  const ExistingDatabase& source_;
  const size_t family_;
  const bool in_place_;
  TreeFiles files_;
  TreePlan plan_;
  SampledKeys keys_;
};

}  // namespace tieredfilter::cold_lookup
