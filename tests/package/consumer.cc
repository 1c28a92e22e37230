// A program of another project: creates a policy from a spec and prints its id.
#include <cstdio>
#include <memory>

#include "rocksdb/filter_policy.h"
#include "tieredfilter/tieredfilter.h"

int main() {
  std::shared_ptr<const rocksdb::FilterPolicy> policy;
  const rocksdb::Status status = tieredfilter::NewFilterPolicy("0-1:bloom:14,2+:ribbon:7", &policy);
  std::puts(status.ok() ? policy->GetId().c_str() : status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
