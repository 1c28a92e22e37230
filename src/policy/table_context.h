// What is known about a table (SST file) at the moment its filter is started.
#pragma once

namespace tieredfilter {

enum class CompactionStyle { kLevelled, kUniversal, kFifo, kNone };

// Why the table is written. kRecovery: a memtable written out while a database is opened or
// repaired.
enum class TableReason { kFlush, kCompaction, kRecovery, kMisc };

struct TableContext {
  // Level the table is created for, or -1 if unknown (a table written for ingestion). A trivial
  // move can take the table further down later; its filter stays.
  int level_at_creation = -1;
  // True if the table goes into the lowest sorted run of its key range.
  bool is_bottommost = false;
  // Number of levels of the column family, or -1 if unknown.
  int num_levels = -1;
  CompactionStyle compaction_style = CompactionStyle::kLevelled;
  TableReason reason = TableReason::kMisc;
};

}  // namespace tieredfilter
