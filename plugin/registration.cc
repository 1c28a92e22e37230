// NewFilterPolicy and the factory behind FilterPolicy::CreateFromString.
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "plugin/tiered_filter_policy.h"
#include "plugin/tieredfilter.h"
#include "plugin/tree_sizes.h"
#include "rocksdb/utilities/object_registry.h"

namespace tieredfilter {
namespace {

using ROCKSDB_NAMESPACE::FilterPolicy;
using ROCKSDB_NAMESPACE::ObjectLibrary;
using ROCKSDB_NAMESPACE::Status;

// The policy, whatever its status, or why there is none. RocksDB is built to be called without
// exceptions in flight, so none may leave, not even for lack of memory.
std::unique_ptr<TieredFilterPolicy> NewPolicy(const std::string& spec, std::string* error) {
  try {
    return std::make_unique<TieredFilterPolicy>(spec);
  } catch (const std::exception& e) {
    *error = std::string("tieredfilter: cannot create the filter policy: ") + e.what();
    return nullptr;
  }
}

}  // namespace

Status NewFilterPolicy(const std::string& spec, std::shared_ptr<const FilterPolicy>* policy) {
  std::string error;
  std::unique_ptr<TieredFilterPolicy> created = NewPolicy(spec, &error);
  if (created == nullptr) {
    return Status::Aborted(error);
  }
  if (created->status().ok()) {
    *policy = std::move(created);
    return Status::OK();
  }
  return created->status();
}

std::shared_ptr<ROCKSDB_NAMESPACE::EventListener> NewSizesListener() {
  return std::make_shared<TreeSizesListener>();
}

int RegisterFilterPolicies(ObjectLibrary& library, const std::string& /*arg*/) {
  for (const char* policy_id : {kPolicyId, kCuckooPolicyId}) {
    // The id alone or with ":" and anything, so that a bad spec gets our reason instead of "could
    // not load".
    library.AddFactory<const FilterPolicy>(
        ObjectLibrary::PatternEntry(policy_id, /*optional=*/true)
            .AddSeparator(":", /*at_least_one=*/false),
        [](const std::string& id, std::unique_ptr<const FilterPolicy>* guard, std::string* errmsg) {
          // A policy with a bad status is handed out on purpose, see its constructor.
          *guard = NewPolicy(id, errmsg);
          return guard->get();
        });
  }
  library.AddFactory<ROCKSDB_NAMESPACE::EventListener>(
      kSizesListenerId,
      [](const std::string&, std::unique_ptr<ROCKSDB_NAMESPACE::EventListener>* guard,
         std::string* errmsg) -> ROCKSDB_NAMESPACE::EventListener* {
        try {
          *guard = std::make_unique<TreeSizesListener>();
        } catch (const std::exception& e) {
          *errmsg = std::string("tieredfilter: cannot create the listener: ") + e.what();
        }
        return guard->get();
      });
  size_t num_types;
  return static_cast<int>(library.GetFactoryCount(&num_types));
}

}  // namespace tieredfilter

// Named in tieredfilter.mk: a RocksDB that was built with the plugin in its tree calls it by C
// name.
extern "C" int tieredfilter_reg(ROCKSDB_NAMESPACE::ObjectLibrary& library, const std::string& arg);
int tieredfilter_reg(ROCKSDB_NAMESPACE::ObjectLibrary& library, const std::string& arg) {
  return tieredfilter::RegisterFilterPolicies(library, arg);
}
