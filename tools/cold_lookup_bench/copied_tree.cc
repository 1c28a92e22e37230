#include "tools/cold_lookup_bench/copied_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <vector>

#include "rocksdb/comparator.h"
#include "rocksdb/table.h"
#include "tools/cold_lookup_bench/interrupt.h"
#include "tools/cold_lookup_bench/progress.h"
#include "tools/cold_lookup_bench/table_entries.h"
#include "tools/cold_lookup_bench/tree_builder.h"

namespace tieredfilter::cold_lookup {

using ROCKSDB_NAMESPACE::BlockBasedTableOptions;
using ROCKSDB_NAMESPACE::ColumnFamilyHandle;
using ROCKSDB_NAMESPACE::DBOptions;
using ROCKSDB_NAMESPACE::FilterPolicy;
using ROCKSDB_NAMESPACE::Iterator;
using ROCKSDB_NAMESPACE::Options;
using ROCKSDB_NAMESPACE::PinnableSlice;
using ROCKSDB_NAMESPACE::ReadOptions;
using ROCKSDB_NAMESPACE::Status;
using ROCKSDB_NAMESPACE::WriteBatch;

namespace {

constexpr uint64_t kKeysPerProgress = 4096;

// The runs of a tree as it is, oldest first.
TreePlan PlanOf(const TreeFiles& files) {
  TreePlan plan;
  for (auto file = files.files().rbegin(); file != files.files().rend(); ++file) {
    if (file->level == 0 || plan.runs.empty() || plan.runs.back().level != file->level) {
      plan.runs.push_back({file->level, 0, 0});
    }
    plan.runs.back().entries += file->entries;
    ++plan.runs.back().files;
  }
  return plan;
}

std::map<int, uint64_t> FilesByLevel(const TreeFiles& files) {
  std::map<int, uint64_t> count;
  for (const TreeFile& file : files.files()) {
    ++count[file.level];
  }
  return count;
}

}  // namespace

Status CopiedTree::CheckSupported() const {
  const ColumnFamilyHandle* const handle = source_.families()[family_];
  const auto refuse = [&](const std::string& what) {
    return Status::NotSupported(
        fmt::format("column family '{}' of {}: ", handle->GetName(), source_.path()), what);
  };
  if (family_options().comparator != ROCKSDB_NAMESPACE::BytewiseComparator()) {
    return refuse(
        fmt::format("keys ordered by '{}'; only by their bytes they can be told from "
                    "absent ones",
                    family_options().comparator->Name()));
  }
  if (family_options().table_factory->GetOptions<BlockBasedTableOptions>() == nullptr) {
    return refuse(fmt::format("tables of the kind '{}' have no filter policy",
                              family_options().table_factory->Name()));
  }
  std::error_code error;
  for (const TreeFile& file : files_.files()) {
    if (!std::filesystem::exists(fmt::format("{}/{:06}.sst", source_.path(), file.number), error)) {
      return refuse(
          fmt::format("table file {:06}.sst lies outside the database's folder", file.number));
    }
  }
  return Status::OK();
}

Status CopiedTree::Prepare(uint64_t count) {
  Status s = TreeFiles::Read(source_.db(), source_.families()[family_], &files_);
  if (s.ok()) {
    s = CheckSupported();
  }
  if (!s.ok()) {
    return s;
  }
  plan_ = PlanOf(files_);
  keys_.SetNumberOfEntries(plan_.TotalEntries());
  return keys_.Collect(source_.db(), source_.families()[family_], files_, count);
}

std::shared_ptr<const FilterPolicy> CopiedTree::policy() const {
  return family_options().table_factory->GetOptions<BlockBasedTableOptions>()->filter_policy;
}

double CopiedTree::FilterCoverage() const {
  uint64_t all = 0;
  uint64_t covered = 0;
  for (const TreeFile& file : files_.files()) {
    all += file.entries;
    covered += file.filter.kind == "none" ? 0 : file.entries;
  }
  return all == 0 ? 0 : static_cast<double>(covered) / static_cast<double>(all);
}

Status CopiedTree::MakeOptions(const std::shared_ptr<const FilterPolicy>& policy,
                               Options* options) const {
  // In place the database needs its own options, in a new one those of RocksDB do.
  *options = Options(in_place_ ? source_.options() : DBOptions(), family_options());
  BlockBasedTableOptions table =
      *family_options().table_factory->GetOptions<BlockBasedTableOptions>();
  table.filter_policy = policy;
  table.cache_index_and_filter_blocks = false;
  options->table_factory.reset(ROCKSDB_NAMESPACE::NewBlockBasedTableFactory(table));
  options->max_open_files = -1;
  options->allow_mmap_reads = false;
  options->cf_paths.clear();
  if (!in_place_) {
    // Entries stay what they are.
    options->compaction_filter = nullptr;
    options->compaction_filter_factory = nullptr;
    KeepShape(options);
  }
  return Status::OK();
}

Status CopiedTree::Load(const Options& options, const std::string& path, const std::string& label,
                        FilterBuildCost* cost) const {
  TreeWriter writer("loading " + label, plan_.TotalEntries(), cost);
  Status s = writer.Create(options, path);
  Options source_options(source_.options(), family_options());
  source_options.use_direct_reads = false;  // its files are read once per policy
  // From the oldest entries to the newest: a lookup visits files in the other order, and the part
  // of a key's versions that is left of a cut between two files of a level is newer.
  for (auto file = files_.files().rbegin(); s.ok() && file != files_.files().rend(); ++file) {
    s = ForEachBatchOfTable(source_options,
                            fmt::format("{}/{:06}.sst", source_.path(), file->number),
                            [&](WriteBatch* batch) { return writer.Write(batch); });
    if (s.ok()) {
      s = writer.FinishFile(file->level);
    }
  }
  const Status closed = writer.Close();
  return s.ok() ? closed : s;
}

Status CopiedTree::Check(const TreeFiles& files) const {
  const std::map<int, uint64_t> source = FilesByLevel(files_);
  for (const auto& [level, count] : FilesByLevel(files)) {
    const auto found = source.find(level);
    const uint64_t expected = found == source.end() ? 0 : found->second;
    if (count > expected) {
      return Status::Corruption(fmt::format("the copy has {} files on level {} where {} has {}",
                                            count, level, source_.path(), expected));
    }
  }
  return Status::OK();
}

Status CopiedTree::Verify(const Options& options, const std::string& path, int /*threads*/,
                          const std::string& label, VerifyResult* result) const {
  *result = VerifyResult();
  ReadOnlyDatabase database;
  if (Status s = database.Open(options, path, Family()); !s.ok()) {
    return s;
  }
  ReadOptions read;
  read.total_order_seek = true;
  read.fill_cache = false;
  const std::unique_ptr<Iterator> expected(
      source_.db()->NewIterator(read, source_.families()[family_]));
  Progress progress("looking up every key of " + label, keys_.live_keys());
  PinnableSlice value;
  std::vector<size_t> in_range;
  for (expected->SeekToFirst(); expected->Valid(); expected->Next()) {
    value.Reset();
    const Status s = database.db()->Get(ReadOptions(), database.family(), expected->key(), &value);
    if (!s.ok() && !s.IsNotFound()) {
      return s;
    }
    if (s.IsNotFound() || value != expected->value()) {
      files_.FindInRange(expected->key().ToString(), &in_range);
      NoteLost(expected->key(), in_range.empty() ? 0 : files_.files()[in_range.back()].level,
               result);
    }
    if (++result->keys % kKeysPerProgress == 0) {
      progress.Add(kKeysPerProgress);
      if (Status interrupted = CheckInterrupt(); !interrupted.ok()) {
        return interrupted;
      }
    }
  }
  return expected->status();
}

std::string CopiedTree::Identity() const {
  return fmt::format("{} {}", column_family(), files_.Fingerprint());
}

FamilyChoice CopiedTree::Family() const {
  FamilyChoice choice;
  if (in_place_) {
    choice.name = source_.descriptors()[family_].name;
    for (const auto& descriptor : source_.descriptors()) {
      if (descriptor.name == ROCKSDB_NAMESPACE::kDefaultColumnFamilyName) {
        choice.default_options = descriptor.options;
      }
    }
  }
  return choice;
}

}  // namespace tieredfilter::cold_lookup
