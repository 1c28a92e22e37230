#!/bin/bash
# Every patch for db_bench is small and of one piece, and the one for the RocksDB at hand applies without fuzz.
#   usage: db_bench_patch_test.sh ROCKSDB_SOURCE_DIR ROCKSDB_VERSION
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
source_dir="$1" version="$2"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

for patch in "$root"/db_bench_patches/rocksdb-*.patch; do
  changed="$(grep -cE '^[-+]([^-+]|$)' "$patch")"
  ((changed <= 30)) || { echo "${patch##*/} changes $changed lines; at most 30 are easy to carry along"; exit 1; }
  files="$(grep -c '^+++ ' "$patch")"
  ((files == 1)) || { echo "${patch##*/} touches $files files"; exit 1; }
done

patch="$root/db_bench_patches/rocksdb-${version%.*}.patch"
[[ -f $patch ]] || { echo "no patch for RocksDB $version"; exit 77; }
[[ -f $source_dir/tools/db_bench_tool.cc ]] || { echo "no db_bench in $source_dir"; exit 77; }
# The output is discarded, the source stays as it is.
patch --force --fuzz=0 --output="$work/out.cc" "$source_dir/tools/db_bench_tool.cc" "$patch" >"$work/log" 2>&1 ||
  { cat "$work/log"; exit 1; }
! grep -q offset "$work/log" || { echo "made for another source:"; cat "$work/log"; exit 1; }
grep -q 'DEFINE_string(filter_policy' "$work/out.cc"
