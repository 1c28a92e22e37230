// The part of the command line that says what the tree is filled with.
#pragma once

#include <cstdint>
#include <string>

#include "rocksdb/status.h"
#include "tools/cold_lookup_bench/generated_keys.h"
#include "tools/cold_lookup_bench/key_file.h"

namespace tieredfilter::cold_lookup {

struct DataFlags {
  GeneratedData generated;
  std::string key_file;  // empty: keys are generated
  std::string absent_key_file;
  KeyFormat key_format = KeyFormat::kLines;
  KeyEncoding key_encoding = KeyEncoding::kPlain;
};

// Reads the flags after gflags has parsed them. InvalidArgument names the flag that makes no sense.
ROCKSDB_NAMESPACE::Status ReadDataFlags(DataFlags* flags);

}  // namespace tieredfilter::cold_lookup
