#include "plugin/preload/environment.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

#include "plugin/tieredfilter.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/options.h"
#include "rocksdb/table.h"

namespace tieredfilter {
namespace {

using ROCKSDB_NAMESPACE::BlockBasedTableOptions;
using ROCKSDB_NAMESPACE::ColumnFamilyOptions;
using ROCKSDB_NAMESPACE::FilterPolicy;
using ROCKSDB_NAMESPACE::Status;
using ROCKSDB_NAMESPACE::TableFactory;

constexpr char kPolicyVariable[] = "TIEREDFILTER_POLICY";
constexpr char kReplaceVariable[] = "TIEREDFILTER_REPLACE";

struct Environment {
  std::shared_ptr<const FilterPolicy> policy;  // null: nothing to do
  bool replace = false;
};

void Say(const std::string& message) {
  // One write per line, so that lines of several processes do not mix.
  const std::string line = "tieredfilter: " + message + "\n";
  std::fputs(line.c_str(), stderr);
}

std::string ValueOf(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

Environment ReadEnvironment() {
  Environment environment;
  const std::string spec = ValueOf(kPolicyVariable);
  const std::string replace = ValueOf(kReplaceVariable);
  if (!replace.empty() && replace != "0" && replace != "1") {
    Say(std::string(kReplaceVariable) + "=" + replace +
        " is neither 0 nor 1; the program's own filters stay");
  }
  if (spec.empty()) {
    if (replace == "1") {
      Say(std::string(kReplaceVariable) + " has no effect without " + kPolicyVariable);
    }
    return environment;
  }
  const Status status = NewFilterPolicy(spec, &environment.policy);
  if (!status.ok()) {
    Say(std::string(kPolicyVariable) + " is ignored: " + status.ToString());
    return environment;
  }
  environment.replace = replace == "1";
  Say(std::string(kPolicyVariable) + " gives " + environment.policy->GetId() +
      (environment.replace ? " to every column family, in place of its own filter policy"
                           : " to every column family that sets no filter policy"));
  return environment;
}

// Read when the first column family is set up, not when the object is loaded: a preload variable is
// inherited by every child process, and a shell has no business talking about filters. Never
// destroyed, since column families may be set up until the very end.
const Environment& TheEnvironment() {
  static const Environment* const environment = new Environment(ReadEnvironment());
  return *environment;
}

void WarnIfUnfit(const FilterPolicy& policy, const ColumnFamilyOptions& options) {
  // Opening has been allowed already, without our policy; all that is left is to say it.
  static std::atomic<bool> said{false};
  const Status status = policy.ValidateOptions(ROCKSDB_NAMESPACE::DBOptions(), options);
  if (!status.ok() && !said.exchange(true)) {
    Say(status.ToString());
  }
}

void Apply(ColumnFamilyOptions* options) {
  const Environment& environment = TheEnvironment();
  // By exact name: a factory that wraps a block-based one would be lost.
  if (environment.policy == nullptr || options->table_factory == nullptr ||
      std::strcmp(options->table_factory->Name(), TableFactory::kBlockBasedTableName()) != 0) {
    return;
  }
  const auto* table_options = options->table_factory->GetOptions<BlockBasedTableOptions>();
  if (table_options == nullptr ||
      (table_options->filter_policy != nullptr && !environment.replace)) {
    return;
  }
  WarnIfUnfit(*environment.policy, *options);
  BlockBasedTableOptions changed = *table_options;
  changed.filter_policy = environment.policy;
  // A new factory: the old one may belong to other column families, or to the program.
  options->table_factory.reset(ROCKSDB_NAMESPACE::NewBlockBasedTableFactory(changed));
}

}  // namespace

void ApplyEnvironment(ColumnFamilyOptions* options) {
  try {
    Apply(options);
  } catch (const std::exception& e) {
    Say(std::string("no filter policy is set: ") + e.what());
  }
}

}  // namespace tieredfilter
