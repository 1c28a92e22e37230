// tieredfilter: a RocksDB filter policy that chooses a filter per LSM level.
//
// This is the only header a user includes. See README.md for the spec grammar.
#pragma once

#include <memory>
#include <string>

#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
class FilterPolicy;
class ObjectLibrary;
}  // namespace ROCKSDB_NAMESPACE

namespace tieredfilter {

// Creates the filter policy that `spec` describes, e.g. "0-1:bloom:14,2-4:bloom:10,5+:bloom:7".
// `spec` may carry the policy id in front ("tieredfilter:...") as it stands in an options file; an
// empty spec is the documented default ladder.
//
// On success *policy is set. On a spec that makes no sense the Status is InvalidArgument, names the
// offending piece and its position and says what would be right; *policy is untouched. Never
// throws. The policy is immutable and safe to share between threads, column families and databases.
ROCKSDB_NAMESPACE::Status NewFilterPolicy(
    const std::string& spec, std::shared_ptr<const ROCKSDB_NAMESPACE::FilterPolicy>* policy);

// Registers the policy ids (`tieredfilter`, later `cuckoofilter`) with `library`, so that
// FilterPolicy::CreateFromString and options files know them. `arg` is unused (RocksDB's registrar
// signature). Returns the number of factories the library has now. Call it once, before options are
// read.
int RegisterFilterPolicies(ROCKSDB_NAMESPACE::ObjectLibrary& library, const std::string& arg);

}  // namespace tieredfilter
