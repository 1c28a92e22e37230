// NewFilterPolicy and the factory behind FilterPolicy::CreateFromString.
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "plugin/tiered_filter_policy.h"
#include "plugin/tieredfilter.h"
#include "rocksdb/utilities/object_registry.h"

namespace tieredfilter {
namespace {

using ROCKSDB_NAMESPACE::FilterPolicy;
using ROCKSDB_NAMESPACE::ObjectLibrary;
using ROCKSDB_NAMESPACE::Status;

// RocksDB is built to be called without exceptions in flight, so none may leave, not even for lack
// of memory.
Status NewPolicy(const std::string& spec_text, std::unique_ptr<const FilterPolicy>* policy) {
  try {
    ParseOptions options;
    options.cuckoo_available = kCuckooAvailable;
    PolicySpec spec;
    SpecError error;
    if (!PolicySpec::Parse(spec_text, options, &spec, &error)) {
      return Status::InvalidArgument("tieredfilter spec", error.ToString());
    }
    *policy = std::make_unique<const TieredFilterPolicy>(std::move(spec));
    return Status::OK();
  } catch (const std::exception& e) {
    return Status::Aborted("tieredfilter: cannot create the filter policy", e.what());
  }
}

}  // namespace

Status NewFilterPolicy(const std::string& spec, std::shared_ptr<const FilterPolicy>* policy) {
  std::unique_ptr<const FilterPolicy> created;
  const Status status = NewPolicy(spec, &created);
  if (status.ok()) {
    *policy = std::move(created);
  }
  return status;
}

int RegisterFilterPolicies(ObjectLibrary& library, const std::string& /*arg*/) {
  // "tieredfilter" or "tieredfilter:" and anything, so that a bad spec gets our reason instead of
  // "could not load".
  library.AddFactory<const FilterPolicy>(
      ObjectLibrary::PatternEntry(TieredFilterPolicy::kClassName(), /*optional=*/true)
          .AddSeparator(":", /*at_least_one=*/false),
      [](const std::string& id, std::unique_ptr<const FilterPolicy>* guard, std::string* errmsg) {
        const Status status = NewPolicy(id, guard);
        if (!status.ok()) {
          *errmsg = status.getState();
        }
        return guard->get();
      });
  size_t num_types;
  return static_cast<int>(library.GetFactoryCount(&num_types));
}

}  // namespace tieredfilter
