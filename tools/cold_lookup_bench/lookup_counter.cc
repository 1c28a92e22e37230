#include "tools/cold_lookup_bench/lookup_counter.h"

namespace tieredfilter::cold_lookup {

LookupCounter::LookupCounter(const TreeFiles& files) : files_(files), tally_(files.files().size()) {
  counts_.negative_checks.resize(files.files().size());
}

void LookupCounter::TallyReads(const std::vector<FileRead>& reads) {
  for (const FileRead& read : reads) {
    const int file = files_.IndexOf(read.file_number);
    if (file < 0) {
      continue;  // the cross-check against RocksDB's counts reports it
    }
    FileTally& tally = tally_[static_cast<size_t>(file)];
    // Data blocks come first in a table file.
    const bool data = read.offset < files_.files()[static_cast<size_t>(file)].data_bytes;
    ++(data ? tally.data_reads : tally.other_reads);
    tally.bytes += read.bytes;
  }
}

void LookupCounter::CountProbe(size_t file, bool holds_key) {
  const TreeFile& info = files_.files()[file];
  FileTally& tally = tally_[file];
  LevelCounts& level = counts_.levels[info.level];
  ++level.probes;
  level.data_block_reads += tally.data_reads;
  level.found += holds_key ? 1 : 0;
  level.wasted_data_block_reads += holds_key ? 0 : tally.data_reads;
  level.other_block_reads += tally.other_reads;
  level.bytes_read += tally.bytes;
  if (info.filter.kind != "none") {
    ++level.filter_checks;
    if (holds_key) {
      ++level.true_positives;
    } else {
      ++counts_.negative_checks[file];
      ++(tally.data_reads > 0 ? level.false_positives : level.filter_avoided);
    }
  }
  tally = FileTally();
}

void LookupCounter::Count(const std::string& key, const std::vector<FileRead>& reads, bool found) {
  TallyReads(reads);
  files_.FindInRange(key, &in_range_);
  size_t visited = in_range_.size();
  if (found) {
    while (visited > 0 && tally_[in_range_[visited - 1]].data_reads == 0) {
      --visited;
    }
  }
  int last_level = -1;
  for (size_t i = 0; i < visited; ++i) {
    CountProbe(in_range_[i], found && i + 1 == visited);
    const int level = files_.files()[in_range_[i]].level;
    counts_.levels[level].lookups += level != last_level ? 1 : 0;
    last_level = level;
  }
  ++counts_.lookups;
  counts_.found += found ? 1 : 0;
}

}  // namespace tieredfilter::cold_lookup
