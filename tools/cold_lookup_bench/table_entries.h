// The entries of a table file as they are stored: deletions and merge operands as well.
#pragma once

#include <functional>
#include <string>

#include "rocksdb/options.h"
#include "rocksdb/status.h"
#include "rocksdb/write_batch.h"

namespace tieredfilter::cold_lookup {

// Calls write(batch) with the entries of the table file at `path`, a few thousand at a time, such
// that a database that applies them in turn ends up with what the file says: keys ascend, and the
// versions of one key come from the oldest to the newest. `options` are those of the file's column
// family. Stops at the first failure. NotSupported for what cannot be written again as it is: range
// deletions, values in blob files, wide columns.
ROCKSDB_NAMESPACE::Status ForEachBatchOfTable(
    const ROCKSDB_NAMESPACE::Options& options, const std::string& path,
    const std::function<ROCKSDB_NAMESPACE::Status(ROCKSDB_NAMESPACE::WriteBatch*)>& write);

}  // namespace tieredfilter::cold_lookup
