#include "tools/cold_lookup_bench/verify_database.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "rocksdb/db.h"
#include "src/filter/key_hash.h"
#include "tools/cold_lookup_bench/existing_database.h"
#include "tools/cold_lookup_bench/interrupt.h"
#include "tools/cold_lookup_bench/progress.h"
#include "tools/cold_lookup_bench/tree_files.h"

namespace tieredfilter::cold_lookup {

using ROCKSDB_NAMESPACE::ColumnFamilyHandle;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::Iterator;
using ROCKSDB_NAMESPACE::PinnableSlice;
using ROCKSDB_NAMESPACE::ReadOptions;
using ROCKSDB_NAMESPACE::Slice;
using ROCKSDB_NAMESPACE::Status;

namespace {

// Keys per MultiGet: RocksDB's own batch size.
constexpr size_t kBatch = 32;
constexpr size_t kMaxExamples = 20;

class FamilyVerifier {
 public:
  FamilyVerifier(DB* db, ColumnFamilyHandle* family, TreeFiles files, Progress* progress,
                 DatabaseVerdict* verdict)
      : db_(db),
        family_(family),
        files_(std::move(files)),
        progress_(progress),
        verdict_(verdict) {}

  Status Run() {
    ReadOptions options;
    options.total_order_seek = true;
    options.fill_cache = false;
    const std::unique_ptr<Iterator> iterator(db_->NewIterator(options, family_));
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
      keys_.push_back(iterator->key().ToString());
      values_.push_back(iterator->value().ToString());
      if (keys_.size() == kBatch) {
        if (Status s = CheckBatch(); !s.ok()) {
          return s;
        }
      }
    }
    return iterator->status().ok() ? CheckBatch() : iterator->status();
  }

 private:
  bool Matches(const Status& s, const PinnableSlice& found, size_t i) const {
    return s.ok() && found == Slice(values_[i]);
  }

  Status CheckBatch() {
    std::vector<Slice> slices(keys_.begin(), keys_.end());
    std::vector<PinnableSlice> found(keys_.size());
    std::vector<Status> statuses(keys_.size());
    db_->MultiGet(ReadOptions(), family_, slices.size(), slices.data(), found.data(),
                  statuses.data());
    PinnableSlice single;
    for (size_t i = 0; i < keys_.size(); ++i) {
      single.Reset();
      const Status s = db_->Get(ReadOptions(), family_, slices[i], &single);
      for (const Status& status : {s, statuses[i]}) {
        if (!status.ok() && !status.IsNotFound()) {
          return status;
        }
      }
      const bool by_get = Matches(s, single, i);
      const bool by_multi_get = Matches(statuses[i], found[i], i);
      if (!by_get || !by_multi_get) {
        NoteMissing(keys_[i], by_get ? "MultiGet" : by_multi_get ? "Get" : "Get and MultiGet");
      }
    }
    verdict_->keys += keys_.size();
    progress_->Add(keys_.size());
    keys_.clear();
    values_.clear();
    return CheckInterrupt();
  }

  void NoteMissing(const std::string& key, const std::string& by) {
    if (verdict_->missing++ >= kMaxExamples) {
      return;
    }
    MissingKey missing{family_->GetName(),
                       Slice(key).ToString(/*hex=*/true),
                       HashKey(key.data(), key.size()),
                       by,
                       {}};
    std::vector<size_t> places;
    files_.FindInRange(key, &places);
    for (const size_t i : places) {
      const TreeFile& file = files_.files()[i];
      missing.places.push_back(fmt::format("{:06}.sst, level {}, filter: {}", file.number,
                                           file.level, file.filter.kind));
    }
    verdict_->examples.push_back(std::move(missing));
  }

  DB* const db_;
  ColumnFamilyHandle* const family_;
  const TreeFiles files_;
  Progress* const progress_;
  DatabaseVerdict* const verdict_;
  std::vector<std::string> keys_;
  std::vector<std::string> values_;
};

uint64_t EstimatedKeys(const ExistingDatabase& database) {
  uint64_t total = 0;
  for (ColumnFamilyHandle* family : database.families()) {
    uint64_t keys = 0;
    if (database.db()->GetIntProperty(family, DB::Properties::kEstimateNumKeys, &keys)) {
      total += keys;
    }
  }
  return total;
}

}  // namespace

Status VerifyDatabase(const std::string& path, DatabaseVerdict* verdict) {
  *verdict = DatabaseVerdict();
  ExistingDatabase database;
  // A filter policy silently dropped would hide what is looked for.
  if (Status s = database.Open(path, ExistingDatabase::UnknownOptions::kRefuse,
                               /*direct_reads=*/false);
      !s.ok()) {
    return s;
  }
  Progress progress("verifying", EstimatedKeys(database));
  for (ColumnFamilyHandle* family : database.families()) {
    TreeFiles files;
    Status s = TreeFiles::Read(database.db(), family, &files);
    if (s.ok()) {
      s = FamilyVerifier(database.db(), family, std::move(files), &progress, verdict).Run();
    }
    if (!s.ok()) {
      return s;
    }
    ++verdict->column_families;
  }
  return Status::OK();
}

std::string VerdictAsText(const std::string& path, const DatabaseVerdict& verdict) {
  std::string text =
      fmt::format("{}: {} keys in {} column {} looked up with Get and MultiGet, {} missing\n", path,
                  verdict.keys, verdict.column_families,
                  verdict.column_families == 1 ? "family" : "families", verdict.missing);
  for (const MissingKey& missing : verdict.examples) {
    text += fmt::format("  missing by {}: column family '{}', key {} (hex), hash {:016x}\n",
                        missing.found_by, missing.column_family, missing.key, missing.hash);
    for (const std::string& place : missing.places) {
      text += "    " + place + "\n";
    }
  }
  if (verdict.missing > verdict.examples.size()) {
    text += fmt::format("  and {} more\n", verdict.missing - verdict.examples.size());
  }
  return text;
}

}  // namespace tieredfilter::cold_lookup
