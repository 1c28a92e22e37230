#include "tools/cold_lookup_bench/tree_files.h"

#define XXH_INLINE_ALL  // no library to link for one hash
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace tieredfilter::cold_lookup {

using ROCKSDB_NAMESPACE::ColumnFamilyHandle;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::LiveFileMetaData;
using ROCKSDB_NAMESPACE::Status;
using ROCKSDB_NAMESPACE::TablePropertiesCollection;

namespace {

bool VisitedBefore(const TreeFile& a, const TreeFile& b) {
  if (a.level != b.level) {
    return a.level < b.level;
  }
  if (a.level == 0) {
    return a.newest_sequence > b.newest_sequence;
  }
  return a.smallest_key < b.smallest_key;
}

Status ReadFile(const LiveFileMetaData& meta, const TablePropertiesCollection& properties,
                TreeFile* file) {
  const std::string path = meta.db_path + meta.name;
  const auto found = properties.find(path);
  if (found == properties.end()) {
    return Status::Corruption("no table properties for", path);
  }
  file->number = meta.file_number;
  file->file_bytes = meta.size;
  file->level = meta.level;
  file->smallest_key = meta.smallestkey;
  file->largest_key = meta.largestkey;
  file->newest_sequence = meta.largest_seqno;
  file->entries = found->second->num_entries;
  file->data_blocks = found->second->num_data_blocks;
  file->data_bytes = found->second->data_size;
  file->filter_entries = found->second->num_filter_entries;
  file->policy_name = found->second->filter_policy_name;
  return ReadTableFilter(path, &file->filter);
}

// One line per file, with all that must be equal between two trees.
std::string ShapeOf(const TreeFile& file) {
  return fmt::format("level {} {} keys {} blocks {} bytes [", file.level, file.entries,
                     file.data_blocks, file.data_bytes) +
         file.smallest_key + "] [" + file.largest_key + "]\n";
}

}  // namespace

TreeFiles::TreeFiles(std::vector<TreeFile> files) : files_(std::move(files)) {
  std::sort(files_.begin(), files_.end(), VisitedBefore);
  for (size_t i = 0; i < files_.size(); ++i) {
    index_of_number_[files_[i].number] = i;
    if (files_[i].level == 0) {
      ++level0_files_;
    } else if (i == 0 || files_[i - 1].level != files_[i].level) {
      levels_.emplace_back(i, i + 1);
    } else {
      levels_.back().second = i + 1;
    }
  }
}

Status TreeFiles::Read(DB* db, ColumnFamilyHandle* family, TreeFiles* result) {
  std::vector<LiveFileMetaData> metadata;
  db->GetLiveFilesMetaData(&metadata);
  TablePropertiesCollection properties;
  if (Status s = db->GetPropertiesOfAllTables(family, &properties); !s.ok()) {
    return s;
  }
  std::vector<TreeFile> files;
  for (const LiveFileMetaData& meta : metadata) {
    if (meta.column_family_name != family->GetName()) {
      continue;
    }
    files.emplace_back();
    if (Status s = ReadFile(meta, properties, &files.back()); !s.ok()) {
      return s;
    }
  }
  *result = TreeFiles(std::move(files));
  return Status::OK();
}

void TreeFiles::FindInRange(const std::string& key, std::vector<size_t>* indices) const {
  indices->clear();
  const auto holds = [&](size_t i) {
    return files_[i].smallest_key <= key && key <= files_[i].largest_key;
  };
  for (size_t i = 0; i < level0_files_; ++i) {
    if (holds(i)) {
      indices->push_back(i);
    }
  }
  for (const auto& [begin, end] : levels_) {
    const auto first = std::lower_bound(
        files_.begin() + static_cast<ptrdiff_t>(begin),
        files_.begin() + static_cast<ptrdiff_t>(end), key,
        [](const TreeFile& file, const std::string& wanted) { return file.largest_key < wanted; });
    const auto i = static_cast<size_t>(first - files_.begin());
    if (i < end && holds(i)) {
      indices->push_back(i);
    }
  }
}

void TreeFiles::IgnoreFilters() {
  for (TreeFile& file : files_) {
    file.filter = TableFilter();
  }
}

int TreeFiles::IndexOf(uint64_t file_number) const {
  const auto found = index_of_number_.find(file_number);
  return found == index_of_number_.end() ? -1 : static_cast<int>(found->second);
}

std::string TreeFiles::Fingerprint() const {
  std::string all;
  for (const TreeFile& file : files_) {
    all += ShapeOf(file);
  }
  return fmt::format("{:016x}", XXH3_64bits(all.data(), all.size()));
}

Status CheckAgainstPlan(const TreePlan& plan, const TreeFiles& files) {
  std::vector<std::pair<int, uint64_t>> planned;
  for (const RunPlan& run : plan.runs) {
    for (uint64_t file = 0; file < run.files; ++file) {
      planned.emplace_back(run.level, run.FirstEntryOfFile(file + 1) - run.FirstEntryOfFile(file));
    }
  }
  std::vector<std::pair<int, uint64_t>> found;
  for (const TreeFile& file : files.files()) {
    found.emplace_back(file.level, file.entries);
  }
  std::sort(planned.begin(), planned.end());
  std::sort(found.begin(), found.end());
  if (planned != found) {
    const auto [p, f] = std::mismatch(planned.begin(), planned.end(), found.begin(), found.end());
    const auto show = [](const auto& at, const auto& list) {
      return at == list.end() ? std::string("no file")
                              : fmt::format("a file of {} keys on level {}", at->second, at->first);
    };
    return Status::Corruption(fmt::format("the tree is not as planned: expected {}, found {}",
                                          show(p, planned), show(f, found)));
  }
  return Status::OK();
}

std::string DescribeDifference(const TreeFiles& a, const TreeFiles& b) {
  if (a.files().size() != b.files().size()) {
    return fmt::format("{} files against {}", a.files().size(), b.files().size());
  }
  for (size_t i = 0; i < a.files().size(); ++i) {
    const TreeFile& x = a.files()[i];
    const TreeFile& y = b.files()[i];
    if (ShapeOf(x) != ShapeOf(y)) {
      return fmt::format(
          "file {} in the order of lookups: level {}, {} keys, {} data blocks against level {}, {} "
          "keys, {} data blocks",
          i, x.level, x.entries, x.data_blocks, y.level, y.entries, y.data_blocks);
    }
  }
  return "";
}

}  // namespace tieredfilter::cold_lookup
