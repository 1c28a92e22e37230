// RocksDB's view of the table being built, in this project's terms.
#pragma once

#include "rocksdb/filter_policy.h"
#include "src/policy/table_context.h"

namespace tieredfilter {

TableContext ToTableContext(const ROCKSDB_NAMESPACE::FilterBuildingContext& context);

}  // namespace tieredfilter
