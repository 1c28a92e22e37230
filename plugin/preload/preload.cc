// For LD_PRELOAD into an unmodified program that links librocksdb dynamically: registers the policy
// ids, and steps in where RocksDB settles the options of a column family.
//
// That place is SanitizeOptions(ImmutableDBOptions, ColumnFamilyOptions): the constructor of
// ColumnFamilyData calls it, so every column family passes through it however its database is
// opened (for writing, read-only, as secondary, with transactions or TTL, from the C API, from an
// options file), later ones included, and RepairDB calls it itself. It is an exported function that
// the library calls through its procedure linkage table, as long as it was not linked with
// -Bsymbolic or compiled with -fno-semantic-interposition; a test checks that. The table factory is
// made anew there, so it does not matter how the program came by its own.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "plugin/preload/environment.h"
#include "plugin/tieredfilter.h"
#include "rocksdb/options.h"
#include "rocksdb/utilities/object_registry.h"

#define TIEREDFILTER_EXPORT __attribute__((visibility("default")))

namespace tieredfilter {
namespace {

[[maybe_unused]] const int kRegisteredFactories =
    RegisterFilterPolicies(*ROCKSDB_NAMESPACE::ObjectLibrary::Default(), "");

// The function of the same name that the dynamic linker would have taken without us.
template <class Function>
Function NextAfterUs(Function ours) {
  Dl_info info;
  void* next = nullptr;
  if (dladdr(reinterpret_cast<void*>(ours), &info) != 0 && info.dli_sname != nullptr) {
    next = dlsym(RTLD_NEXT, info.dli_sname);
  }
  if (next == nullptr) {
    // The caller is RocksDB itself, so the function exists, unless the process has been put
    // together in a way nobody has thought of. Options that were not sanitized are no way to go on.
    std::fputs("tieredfilter: cannot find RocksDB's own SanitizeOptions; preload nothing\n",
               stderr);
    std::abort();
  }
  return reinterpret_cast<Function>(next);
}

}  // namespace
}  // namespace tieredfilter

namespace ROCKSDB_NAMESPACE {

struct ImmutableDBOptions;

// Up to 9.x and from 10.x on. Only one of the two exists in a library, so only one is ever called.
TIEREDFILTER_EXPORT ColumnFamilyOptions SanitizeOptions(const ImmutableDBOptions& db_options,
                                                        const ColumnFamilyOptions& source);
TIEREDFILTER_EXPORT ColumnFamilyOptions SanitizeCfOptions(const ImmutableDBOptions& db_options,
                                                          bool read_only,
                                                          const ColumnFamilyOptions& source);

ColumnFamilyOptions SanitizeOptions(const ImmutableDBOptions& db_options,
                                    const ColumnFamilyOptions& source) {
  using Function = ColumnFamilyOptions (*)(const ImmutableDBOptions&, const ColumnFamilyOptions&);
  static const Function next = tieredfilter::NextAfterUs<Function>(&SanitizeOptions);
  ColumnFamilyOptions options = next(db_options, source);
  tieredfilter::ApplyEnvironment(&options);
  return options;
}

ColumnFamilyOptions SanitizeCfOptions(const ImmutableDBOptions& db_options, bool read_only,
                                      const ColumnFamilyOptions& source) {
  using Function =
      ColumnFamilyOptions (*)(const ImmutableDBOptions&, bool, const ColumnFamilyOptions&);
  static const Function next = tieredfilter::NextAfterUs<Function>(&SanitizeCfOptions);
  ColumnFamilyOptions options = next(db_options, read_only, source);
  tieredfilter::ApplyEnvironment(&options);
  return options;
}

}  // namespace ROCKSDB_NAMESPACE
