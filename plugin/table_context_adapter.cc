#include "plugin/table_context_adapter.h"

namespace tieredfilter {
namespace {

CompactionStyle ToCompactionStyle(ROCKSDB_NAMESPACE::CompactionStyle style) {
  switch (style) {
    case ROCKSDB_NAMESPACE::kCompactionStyleLevel:
      return CompactionStyle::kLevelled;
    case ROCKSDB_NAMESPACE::kCompactionStyleUniversal:
      return CompactionStyle::kUniversal;
    case ROCKSDB_NAMESPACE::kCompactionStyleFIFO:
      return CompactionStyle::kFifo;
    case ROCKSDB_NAMESPACE::kCompactionStyleNone:
      break;
  }
  return CompactionStyle::kNone;
}

TableReason ToTableReason(ROCKSDB_NAMESPACE::TableFileCreationReason reason) {
  switch (reason) {
    case ROCKSDB_NAMESPACE::TableFileCreationReason::kFlush:
      return TableReason::kFlush;
    case ROCKSDB_NAMESPACE::TableFileCreationReason::kCompaction:
      return TableReason::kCompaction;
    case ROCKSDB_NAMESPACE::TableFileCreationReason::kRecovery:
      return TableReason::kRecovery;
    case ROCKSDB_NAMESPACE::TableFileCreationReason::kMisc:
      break;
  }
  return TableReason::kMisc;
}

}  // namespace

TableContext ToTableContext(const ROCKSDB_NAMESPACE::FilterBuildingContext& context) {
  TableContext table;
  table.level_at_creation = context.level_at_creation;
  table.is_bottommost = context.is_bottommost;
  table.num_levels = context.num_levels;
  table.compaction_style = ToCompactionStyle(context.compaction_style);
  table.reason = ToTableReason(context.reason);
  return table;
}

}  // namespace tieredfilter
