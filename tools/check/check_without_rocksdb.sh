#!/bin/bash
# Shows that src/ and its tests build and pass with no RocksDB: configures without it and runs those tests. With little
# optimisation, which is quick to compile and shows that the golden bytes do not depend on it.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../setup/common.sh"
build_dir="$REPO_ROOT/build/without-rocksdb"
mkdir -p "$build_dir"
log="$build_dir/log.txt"

generator=()
[[ -f $build_dir/CMakeCache.txt ]] || ! command -v ninja >/dev/null || generator=(-G Ninja)
{
  cmake -S "$REPO_ROOT" -B "$build_dir" "${generator[@]}" -DTIEREDFILTER_ROCKSDB=OFF \
    -DCMAKE_CXX_FLAGS_RELEASE=-O1 &&
    cmake --build "$build_dir" --parallel "$(nproc)" &&
    (cd "$build_dir" && ctest -j2 --output-on-failure --no-tests=error -LE '^slow$' -E cuckoo_conformance_test)
} >"$log" 2>&1 || {
  cat "$log" >&2
  Die "src/ and its tests do not build or pass without RocksDB, see above"
}
# The compiler wrote down every header it read.
if [[ -f $build_dir/build.ninja ]] && ninja -C "$build_dir" -t deps | grep -E '(include/rocksdb|block_based)/[^ ]*\.h$'; then
  Die "a RocksDB header was read in a build without RocksDB"
fi
