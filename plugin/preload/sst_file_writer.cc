// Tables written for ingestion: SstFileWriter takes its options as they are, past SanitizeOptions,
// so its constructor is the place to step in. It is part of the public interface, called by
// programs and by the C API alike.
//
// A constructor cannot be defined for a class that has one already, hence the free functions under
// its mangled names. If RocksDB is built with another namespace, or changes the parameters again,
// the names fit nothing and files for ingestion get the filters that the program asks for itself.
#include <dlfcn.h>

#include "plugin/preload/environment.h"
#include "rocksdb/comparator.h"
#include "rocksdb/options.h"
#include "rocksdb/sst_file_writer.h"

#define TIEREDFILTER_EXPORT __attribute__((visibility("default")))
#define TIEREDFILTER_CONSTRUCTOR                                             \
  "_ZN7rocksdb13SstFileWriterC1ERKNS_10EnvOptionsERKNS_7OptionsEPKNS_10Comp" \
  "aratorEPNS_18ColumnFamilyHandleEbNS_3Env10IOPriorityE"

namespace tieredfilter {

using ROCKSDB_NAMESPACE::ColumnFamilyHandle;
using ROCKSDB_NAMESPACE::Comparator;
using ROCKSDB_NAMESPACE::Env;
using ROCKSDB_NAMESPACE::EnvOptions;
using ROCKSDB_NAMESPACE::Options;
using ROCKSDB_NAMESPACE::SstFileWriter;

// Up to 10.x, with skip_filters as the last parameter.
TIEREDFILTER_EXPORT void ConstructSstFileWriter(
    SstFileWriter* self, const EnvOptions& env_options, const Options& options,
    const Comparator* comparator, ColumnFamilyHandle* column_family, bool invalidate_page_cache,
    Env::IOPriority priority, bool skip_filters) __asm__(TIEREDFILTER_CONSTRUCTOR "b");
// From 11.x on.
TIEREDFILTER_EXPORT void ConstructSstFileWriter(
    SstFileWriter* self, const EnvOptions& env_options, const Options& options,
    const Comparator* comparator, ColumnFamilyHandle* column_family, bool invalidate_page_cache,
    Env::IOPriority priority) __asm__(TIEREDFILTER_CONSTRUCTOR);

void ConstructSstFileWriter(SstFileWriter* self, const EnvOptions& env_options,
                            const Options& options, const Comparator* comparator,
                            ColumnFamilyHandle* column_family, bool invalidate_page_cache,
                            Env::IOPriority priority, bool skip_filters) {
  using Function = void (*)(SstFileWriter*, const EnvOptions&, const Options&, const Comparator*,
                            ColumnFamilyHandle*, bool, Env::IOPriority, bool);
  static const auto next =
      reinterpret_cast<Function>(dlsym(RTLD_NEXT, TIEREDFILTER_CONSTRUCTOR "b"));
  Options changed = options;
  ApplyEnvironment(&changed);
  next(self, env_options, changed, comparator, column_family, invalidate_page_cache, priority,
       skip_filters);
}

void ConstructSstFileWriter(SstFileWriter* self, const EnvOptions& env_options,
                            const Options& options, const Comparator* comparator,
                            ColumnFamilyHandle* column_family, bool invalidate_page_cache,
                            Env::IOPriority priority) {
  using Function = void (*)(SstFileWriter*, const EnvOptions&, const Options&, const Comparator*,
                            ColumnFamilyHandle*, bool, Env::IOPriority);
  static const auto next = reinterpret_cast<Function>(dlsym(RTLD_NEXT, TIEREDFILTER_CONSTRUCTOR));
  Options changed = options;
  ApplyEnvironment(&changed);
  next(self, env_options, changed, comparator, column_family, invalidate_page_cache, priority);
}

}  // namespace tieredfilter
