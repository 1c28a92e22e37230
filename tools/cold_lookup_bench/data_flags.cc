#include "tools/cold_lookup_bench/data_flags.h"

#include <fmt/format.h>
#include <gflags/gflags.h>

#include <algorithm>

DEFINE_uint64(key_size, 16, "Size of each key in bytes, prefix included");
DEFINE_uint64(key_size_max, 0,
              "Largest size of a key in bytes: sizes then vary evenly from --key_size on. 0: all "
              "keys have --key_size");
DEFINE_uint64(value_size, 100, "Size of each value in bytes");
DEFINE_uint64(value_size_max, 0,
              "Largest size of a value in bytes: sizes then vary evenly from --value_size on. 0: "
              "all values have --value_size");
DEFINE_string(key_prefix, "", "Text that every key begins with");
DEFINE_uint64(prefix_count, 1,
              "Number of different prefixes: with more than one, --key_prefix is followed by a "
              "decimal number of fixed width that neighbouring keys share");
DEFINE_double(update_percent, 0,
              "Percentage of the entries above the oldest sorted run that write a key of that run "
              "again; with --load=fillrandom, so many such writes per 100 new keys");
DEFINE_double(
    delete_percent, 0,
    "Percentage of the entries above the oldest sorted run that delete a key of that run; "
    "with --load=fillrandom, so many deletions per 100 new keys");
DEFINE_string(key_file, "",
              "File with the keys to store, each once, instead of --num generated ones; in any "
              "order. Takes 16 bytes of memory per key. Absent keys are keys of the file with one "
              "letter or digit changed, checked to be absent and inside the key range of every "
              "sorted run");
DEFINE_string(absent_key_file, "",
              "File with keys that are not in --key_file but inside its key range, in the same "
              "format, to be looked up as absent keys");
DEFINE_string(key_format, "lines",
              "Format of key files: 'lines', one key per line, or 'length-prefixed', a 32-bit "
              "little-endian number of bytes before each key");
DEFINE_string(key_encoding, "plain", "Encoding of keys in key files: 'plain' or 'hex'");

namespace tieredfilter::cold_lookup {

using ROCKSDB_NAMESPACE::Status;

namespace {

SizeRange RangeOf(uint64_t smallest, uint64_t largest) {
  return {smallest, largest == 0 ? smallest : largest};
}

Status ReadKeyFileFlags(DataFlags* flags) {
  flags->key_file = FLAGS_key_file;
  flags->absent_key_file = FLAGS_absent_key_file;
  if (FLAGS_key_format == "length-prefixed") {
    flags->key_format = KeyFormat::kLengthPrefixed;
  } else if (FLAGS_key_format != "lines") {
    return Status::InvalidArgument(
        fmt::format("--key_format={}: must be 'lines' or 'length-prefixed'", FLAGS_key_format));
  }
  if (FLAGS_key_encoding == "hex") {
    flags->key_encoding = KeyEncoding::kHex;
  } else if (FLAGS_key_encoding != "plain") {
    return Status::InvalidArgument(
        fmt::format("--key_encoding={}: must be 'plain' or 'hex'", FLAGS_key_encoding));
  }
  if (flags->key_file.empty()) {
    return flags->absent_key_file.empty()
               ? Status::OK()
               : Status::InvalidArgument("--absent_key_file: needs --key_file");
  }
  for (const char* flag : {"num", "key_size", "key_size_max", "key_prefix", "prefix_count",
                           "update_percent", "delete_percent"}) {
    if (!gflags::GetCommandLineFlagInfoOrDie(flag).is_default) {
      return Status::InvalidArgument(
          fmt::format("--{}: shapes generated keys; with --key_file leave it out", flag));
    }
  }
  return Status::OK();
}

}  // namespace

Status ReadDataFlags(DataFlags* flags) {
  GeneratedData& data = flags->generated;
  data.key_size = RangeOf(FLAGS_key_size, FLAGS_key_size_max);
  data.value_size = RangeOf(FLAGS_value_size, FLAGS_value_size_max);
  data.key_prefix = FLAGS_key_prefix;
  data.prefix_count = FLAGS_prefix_count;
  data.update_percent = FLAGS_update_percent;
  data.delete_percent = FLAGS_delete_percent;
  Status s = CheckGeneratedData(data);
  return s.ok() ? ReadKeyFileFlags(flags) : s;
}

}  // namespace tieredfilter::cold_lookup
