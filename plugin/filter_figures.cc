// GetFilterFigures and CompactDriftedFiles (tieredfilter.h).
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>

#include "plugin/rocksdb_compat.h"
#include "plugin/table_context_adapter.h"
#include "plugin/tiered_filter_policy.h"
#include "plugin/tieredfilter.h"
#include "rocksdb/db.h"
#include "rocksdb/metadata.h"
#include "rocksdb/table_properties.h"
#include "src/policy/filter_curves.h"

namespace tieredfilter {
namespace {

using ROCKSDB_NAMESPACE::ColumnFamilyHandle;
using ROCKSDB_NAMESPACE::ColumnFamilyMetaData;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::Options;
using ROCKSDB_NAMESPACE::Status;

// A filter that differs from the plan by no more than this is as planned: the plan moves by less
// from day to day, and small filters are rounded up to whole lines or slots.
constexpr double kSameShare = 0.1;
constexpr double kSameBytes = 256;

// Null if the column family's policy is not ours. By name, since RocksDB may be built without RTTI.
const TieredFilterPolicy* PolicyOf(const Options& options) {
  const auto* table =
      options.table_factory == nullptr
          ? nullptr
          : options.table_factory->GetOptions<ROCKSDB_NAMESPACE::BlockBasedTableOptions>();
  if (table == nullptr || table->filter_policy == nullptr) {
    return nullptr;
  }
  const char* name = table->filter_policy->Name();
  const bool is_ours = std::strcmp(name, kPolicyId) == 0 || std::strcmp(name, kCuckooPolicyId) == 0;
  return is_ours ? static_cast<const TieredFilterPolicy*>(table->filter_policy.get()) : nullptr;
}

double PlannedBytes(const FilterSetting& setting, double keys) {
  if (setting.kind == FilterKind::kNone || keys <= 0) {
    return 0;
  }
  const FilterCurve& curve = CurveOf(setting.kind);
  const double bits =
      setting.has_bits()
          ? setting.bits_per_key()
          : std::min(curve.max_bits(),
                     curve.BitsForHalvings(-std::log2(setting.false_positive_rate())));
  return keys * bits / 8 + curve.bytes_per_table();
}

// What the policy would give a new table in place of one that is there.
TableContext ContextOf(const Options& options, int level, bool is_last) {
  ROCKSDB_NAMESPACE::BlockBasedTableOptions table_options;
  ROCKSDB_NAMESPACE::FilterBuildingContext context(table_options);
  context.compaction_style = options.compaction_style;
  TableContext table = ToTableContext(context);
  table.level_at_creation = level;
  table.num_levels = options.num_levels;
  table.is_bottommost = level > 0 && is_last;
  table.reason = level == 0 ? TableReason::kFlush : TableReason::kCompaction;
  return table;
}

void AddActivity(const FilterActivity& activity, FilterFigures* figures) {
  const std::vector<ActivityCount> totals = activity.Totals();
  for (size_t level = 0; level < totals.size(); ++level) {
    if (totals[level].probes == 0) {
      continue;
    }
    FilterLevelFigures* found = nullptr;
    const int number = level == kUncountedLevel ? -1 : static_cast<int>(level);
    for (FilterLevelFigures& one : figures->levels) {
      found = one.level == number ? &one : found;
    }
    if (found == nullptr) {
      figures->levels.emplace_back();
      found = &figures->levels.back();
      found->level = number;
    }
    found->probes = totals[level].probes;
    found->negatives = totals[level].negatives;
  }
}

void AddFile(const FilterFile& file, FilterLevelFigures* level, FilterFigures* figures) {
  level->files += 1;
  level->keys += file.keys;
  level->filter_bytes += file.filter_bytes;
  level->planned_bytes += file.planned_bytes;
  const double off =
      std::abs(static_cast<double>(file.filter_bytes) - static_cast<double>(file.planned_bytes));
  if (off > std::max(kSameBytes, kSameShare * static_cast<double>(file.planned_bytes))) {
    level->drifted_files += 1;
    level->drifted_filter_bytes += file.filter_bytes;
    figures->drifted.push_back(file);
  }
}

uint64_t Off(const FilterFile& file) {
  return std::max(file.filter_bytes, file.planned_bytes) -
         std::min(file.filter_bytes, file.planned_bytes);
}

Status ReadFigures(DB* db, ColumnFamilyHandle* family, FilterFigures* figures) {
  const Options options = db->GetOptions(family);
  const TieredFilterPolicy* policy = PolicyOf(options);
  if (policy == nullptr) {
    return Status::InvalidArgument("tieredfilter: the filter policy of the column family " +
                                       family->GetName() + " is another one",
                                   "figures are there for tieredfilter and cuckoofilter");
  }
  ROCKSDB_NAMESPACE::TablePropertiesCollection properties;
  const Status status = db->GetPropertiesOfAllTables(family, &properties);
  if (!status.ok()) {
    return status;
  }
  ColumnFamilyMetaData metadata;
  db->GetColumnFamilyMetaData(family, &metadata);
  int last = 0;
  for (const auto& level : metadata.levels) {
    last = level.files.empty() ? last : level.level;
  }
  for (const auto& level : metadata.levels) {
    if (level.files.empty()) {
      continue;
    }
    const FilterSetting planned =
        policy->PlannedFor(options.info_log.get(), family->GetName(),
                           ContextOf(options, level.level, level.level == last));
    figures->levels.emplace_back();
    figures->levels.back().level = level.level;
    figures->levels.back().planned = planned.ToString();
    for (const auto& one : level.files) {
      const auto found = properties.find(one.db_path + one.name);
      if (found == properties.end()) {
        continue;  // compacted away meanwhile
      }
      FilterFile file;
      file.name = one.name;
      file.level = level.level;
      file.filter_bytes = found->second->filter_size;
      file.keys = found->second->filter_size > 0 ? found->second->num_filter_entries
                                                 : found->second->num_entries;
      file.planned_bytes =
          static_cast<uint64_t>(PlannedBytes(planned, static_cast<double>(file.keys)));
      AddFile(file, &figures->levels.back(), figures);
    }
  }
  std::sort(figures->drifted.begin(), figures->drifted.end(),
            [](const FilterFile& a, const FilterFile& b) { return Off(a) > Off(b); });
  AddActivity(policy->activity(), figures);
  if (policy->budget() != nullptr) {
    figures->solution = policy->budget()->SolutionOf(options.info_log.get(), family->GetName(),
                                                     &figures->absent_share);
  }
  return Status::OK();
}

}  // namespace

Status GetFilterFigures(DB* db, ColumnFamilyHandle* family, FilterFigures* figures) {
  try {
    FilterFigures read;
    const Status status = ReadFigures(db, family, &read);
    if (status.ok()) {
      *figures = std::move(read);
    }
    return status;
  } catch (const std::exception& e) {
    return Status::Aborted(std::string("tieredfilter: no figures: ") + e.what());
  }
}

Status CompactDriftedFiles(DB* db, ColumnFamilyHandle* family, size_t max_files,
                           std::vector<FilterFile>* compacted) {
  FilterFigures figures;
  Status status = GetFilterFigures(db, family, &figures);
  try {
    compacted->reserve(std::min(max_files, compacted->size() + figures.drifted.size()));
  } catch (const std::exception& e) {
    return Status::Aborted(std::string("tieredfilter: nothing is compacted: ") + e.what());
  }
  for (const FilterFile& file : figures.drifted) {
    if (!status.ok() || compacted->size() >= max_files) {
      break;
    }
    if (file.level == 0) {
      continue;  // compacted soon anyway, and not without the older files of that level
    }
    status =
        db->CompactFiles(ROCKSDB_NAMESPACE::CompactionOptions(), family, {file.name}, file.level);
    if (status.ok()) {
      compacted->push_back(file);
    } else if (status.IsInvalidArgument() || status.IsAborted()) {
      // Gone, or in another compaction, which rewrites it.
      status = Status::OK();
    }
  }
  return status;
}

std::string FilterFigures::ToString() const {
  std::string text;
  char line[256];
  if (solution != 0) {
    std::snprintf(line, sizeof(line), "solution %u, absent share %.4f\n", solution, absent_share);
    text += line;
  }
  text +=
      "level  files        keys  filter bytes  planned bytes  drifted files  drifted bytes  "
      "      probes     negatives  planned\n";
  for (const FilterLevelFigures& level : levels) {
    std::snprintf(
        line, sizeof(line), "%5s %6llu %11llu %13llu %14llu %14llu %14llu %13llu %13llu  %s\n",
        level.level < 0 ? "?" : std::to_string(level.level).c_str(),
        static_cast<unsigned long long>(level.files), static_cast<unsigned long long>(level.keys),
        static_cast<unsigned long long>(level.filter_bytes),
        static_cast<unsigned long long>(level.planned_bytes),
        static_cast<unsigned long long>(level.drifted_files),
        static_cast<unsigned long long>(level.drifted_filter_bytes),
        static_cast<unsigned long long>(level.probes),
        static_cast<unsigned long long>(level.negatives), level.planned.c_str());
    text += line;
  }
  return text;
}

}  // namespace tieredfilter
