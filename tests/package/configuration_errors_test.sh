#!/bin/bash
# The configuration stops, with a message that names the cause, where RocksDB's headers and library do not fit.
#   usage: configuration_errors_test.sh ROOT COMPILER GENERATOR ROCKSDB_SOURCE_DIR ROCKSDB_LIBRARY
set -euo pipefail
root="$1" compiler="$2" generator="$3" source_dir="$4" library="$5"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

# Configure ARGUMENT...: in a folder of its own; output in $work/log with the line breaks that CMake puts in undone.
Configure() {
  local status=0
  rm -rf "$work/build"
  cmake -S "$root" -B "$work/build" -G "$generator" -DCMAKE_CXX_COMPILER="$compiler" -DTIEREDFILTER_TESTS=OFF \
    -DTIEREDFILTER_TOOLS=OFF "$@" >"$work/out" 2>&1 || status=$?
  tr -s ' \n' ' ' <"$work/out" >"$work/log"
  return "$status"
}
ExpectRefusal() {
  local what="$1" message="$2"
  shift 2
  if Configure "$@"; then
    echo "$what: accepted"
    exit 1
  fi
  grep -qF -- "$message" "$work/log" || { echo "$what: no word of '$message' in:"; cat "$work/out"; exit 1; }
  echo "$what: refused"
}

# Headers of another version: the same, but for the number.
mkdir -p "$work/altered/table/block_based"
cp -r "$source_dir/include" "$work/altered/"
touch "$work/altered/table/block_based/filter_policy_internal.h"
patch_level="$(sed -n 's/^#define ROCKSDB_PATCH //p' "$source_dir/include/rocksdb/version.h")"
sed -i "s/^#define ROCKSDB_PATCH .*/#define ROCKSDB_PATCH $((patch_level + 1))/" \
  "$work/altered/include/rocksdb/version.h"
ExpectRefusal "headers of another version" "RocksDB versions differ" \
  -DROCKSDB_SOURCE_DIR="$work/altered" -DROCKSDB_LIBRARY="$library"
ExpectRefusal "no headers" "source header: $work/none/include/rocksdb/version.h (not found)" \
  -DROCKSDB_SOURCE_DIR="$work/none" -DROCKSDB_LIBRARY="$library"
ExpectRefusal "no library" "library: $work/none.so (not found)" \
  -DROCKSDB_SOURCE_DIR="$source_dir" -DROCKSDB_LIBRARY="$work/none.so"
echo 'no library' >"$work/broken.so"
ExpectRefusal "a library that is none" "cannot link and run a program against" \
  -DROCKSDB_SOURCE_DIR="$source_dir" -DROCKSDB_LIBRARY="$work/broken.so"

# Without RocksDB the rest is configured, when asked for.
Configure -DTIEREDFILTER_ROCKSDB=OFF || { echo "no RocksDB wanted: refused"; cat "$work/out"; exit 1; }
grep -q "building src/ and its tests only" "$work/log"
echo "no RocksDB wanted: accepted"
