#include "tools/cold_lookup_bench/lookup_counter.h"

#include <algorithm>
#include <set>
#include <utility>

namespace tieredfilter::cold_lookup {

std::vector<bool> ConsultedFilters(const TreeFiles& files, bool optimize_filters_for_hits) {
  const std::vector<TreeFile>& list = files.files();
  std::vector<bool> consulted(list.size());
  for (size_t i = 0; i < list.size(); ++i) {
    const bool last =
        list[i].level == list.back().level && (list[i].level > 0 || i + 1 == list.size());
    consulted[i] = list[i].filter.kind != "none" && !(optimize_filters_for_hits && last);
  }
  return consulted;
}

LookupCounter::LookupCounter(const TreeFiles& files, bool optimize_filters_for_hits)
    : files_(files), consulted_(ConsultedFilters(files, optimize_filters_for_hits)) {
  counts_.negative_checks.resize(files.files().size());
}

void LookupCounter::NoteTime(uint64_t elapsed, uint64_t cpu, const std::vector<Device>& devices,
                             const std::vector<FileRead>& reads) {
  counts_.latency.Add(elapsed);
  counts_.cpu_nanoseconds += cpu;
  counts_.modelled.resize(devices.size());
  for (size_t i = 0; i < devices.size(); ++i) {
    counts_.modelled[i].Add(ModelledNanoseconds(devices[i], cpu, reads));
  }
}

bool LookupCounter::IsData(size_t file, const FileRead& read) const {
  const TreeFile& info = files_.files()[file];
  // Data blocks come first in a table file.
  return read.file_number == info.number && read.offset < info.data_bytes;
}

void LookupCounter::CountReads(const std::vector<FileRead>& reads) {
  for (const FileRead& read : reads) {
    const int file = files_.IndexOf(read.file_number);
    if (file < 0) {
      continue;  // the cross-check against RocksDB's counts reports it
    }
    const TreeFile& info = files_.files()[static_cast<size_t>(file)];
    LevelCounts& level = counts_.levels[info.level];
    level.operations += read.operation ? 1 : 0;
    if (IsData(static_cast<size_t>(file), read)) {
      ++level.data_block_reads;
      ++level.wasted_data_block_reads;  // unless it turns out to hold a key that was found
      level.data_bytes += read.device_bytes;
    } else if (info.filter.bytes > 0 && read.offset == info.filter.offset) {
      ++level.filter_block_reads;
      level.filter_bytes += read.device_bytes;
    } else {
      ++level.index_block_reads;
      level.index_bytes += read.device_bytes;
    }
  }
}

void LookupCounter::CountProbe(size_t file, bool holds_key, bool positive) {
  LevelCounts& level = counts_.levels[files_.files()[file].level];
  ++level.probes;
  level.found += holds_key ? 1 : 0;
  if (!consulted_[file]) {
    return;
  }
  ++level.filter_checks;
  if (holds_key) {
    ++level.true_positives;
  } else {
    ++counts_.negative_checks[file];
    ++(positive ? level.false_positives : level.filter_avoided);
  }
}

void LookupCounter::FindVisited(const std::string& key, const FoundAt& place) {
  files_.FindInRange(key, &in_range_);
  const auto last = std::find(in_range_.begin(), in_range_.end(), place.file);
  if (last != in_range_.end()) {
    in_range_.erase(last + 1, in_range_.end());
  }
}

void LookupCounter::CountVisits(const FoundAt& place) {
  int last_level = -1;
  for (const size_t file : in_range_) {
    const int level = files_.files()[file].level;
    counts_.levels[level].lookups += level != last_level ? 1 : 0;
    last_level = level;
  }
  ++counts_.lookups;
  counts_.found += place.found() ? 1 : 0;
  counts_.out_of_range += in_range_.empty() ? 1 : 0;
}

FoundAt LookupCounter::Count(const std::string& key, const std::vector<FileRead>& reads,
                             bool found) {
  FoundAt place;
  FindVisited(key, place);
  for (size_t i = in_range_.size(); found && i-- > 0 && !place.found();) {
    for (const FileRead& read : reads) {
      if (IsData(in_range_[i], read)) {
        place = {in_range_[i], read.offset};  // the last block read of the last file read
      }
    }
  }
  FindVisited(key, place);
  CountVisits(place);
  for (const size_t file : in_range_) {
    const bool positive = std::any_of(reads.begin(), reads.end(),
                                      [&](const FileRead& read) { return IsData(file, read); });
    CountProbe(file, file == place.file, positive);
  }
  CountReads(reads);
  if (place.found()) {
    --counts_.levels[files_.files()[place.file].level].wasted_data_block_reads;
  }
  return place;
}

void LookupCounter::CountBatch(const std::vector<std::string>& keys,
                               const std::vector<FoundAt>& places,
                               const std::vector<FileRead>& reads,
                               const FilterAnswer& filter_answer) {
  std::set<std::pair<size_t, uint64_t>> useful;  // keys may share a block
  for (size_t i = 0; i < keys.size(); ++i) {
    FindVisited(keys[i], places[i]);
    CountVisits(places[i]);
    for (const size_t file : in_range_) {
      const bool holds = file == places[i].file;
      CountProbe(file, holds, !holds && consulted_[file] && filter_answer(file, keys[i]));
    }
    if (places[i].found()) {
      useful.emplace(places[i].file, places[i].offset);
    }
  }
  CountReads(reads);
  for (const auto& [file, offset] : useful) {
    --counts_.levels[files_.files()[file].level].wasted_data_block_reads;
  }
}

}  // namespace tieredfilter::cold_lookup
