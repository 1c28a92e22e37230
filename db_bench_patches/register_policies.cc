// Makes this project's policies known to db_bench before main() starts, as a build inside RocksDB's
// tree would by its list of plugins.
#include "plugin/tieredfilter.h"
#include "rocksdb/utilities/object_registry.h"

namespace {

[[maybe_unused]] const int registered =
    tieredfilter::RegisterFilterPolicies(*ROCKSDB_NAMESPACE::ObjectLibrary::Default(), "");

}  // namespace
