#!/bin/bash
# Shows that src/ and its tests build and pass with no RocksDB, without building them a second time: configured without
# it, every one of their files is compiled by the very command that the release build used, so to the same object; no
# such command read a header of RocksDB; and no such test links its library. --build builds and runs them all the same.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../setup/common.sh"
build_dir="$REPO_ROOT/build/without-rocksdb"
mkdir -p "$build_dir"

generator=()
[[ -f $build_dir/CMakeCache.txt ]] || ! command -v ninja >/dev/null || generator=(-G Ninja)
log="$build_dir/log.txt"
cmake -S "$REPO_ROOT" -B "$build_dir" "${generator[@]}" -DCMAKE_BUILD_TYPE=Release -DTIEREDFILTER_ROCKSDB=OFF \
  >"$log" 2>&1 || { cat "$log" >&2; Die "does not configure without RocksDB, see above"; }

if [[ ${1:-} == --build ]]; then
  cmake --build "$build_dir" --parallel "$(nproc)"
  cd "$build_dir"
  exec ctest -j"$(nproc)" --output-on-failure --no-tests=error -LE '^slow$'
fi

release="$("$REPO_ROOT/tools/setup/build.sh")"
Commands() { sed -n 's/^ *"command": //p' "$1/compile_commands.json" | sed "s#$1#BUILD#g" | sort; }
count="$(Commands "$build_dir" | wc -l)"
((count > 0)) || Die "nothing is compiled without RocksDB"
different="$(comm -23 <(Commands "$build_dir") <(Commands "$release"))"
[[ -z $different ]] || Die "compiled in another way without RocksDB than with it: $different"

# The compiler wrote down every header it read.
if [[ -f $release/build.ninja ]]; then
  objects="$(sed -nE 's/^ *"command": .* -o ([^ ]+) -c .*/\1/p' "$build_dir/compile_commands.json")"
  # shellcheck disable=SC2086  # one argument each; CMake's names of objects have no blanks
  read_headers="$(ninja -C "$release" -t deps $objects)"
  grep -q 'src/filter/line_layout\.h' <<<"$read_headers" || Die "the build in $release does not say which headers it read"
  if grep -E '(include/rocksdb|block_based)/[^ ]*\.h$' <<<"$read_headers"; then
    Die "a header of RocksDB was read for src/ or its tests"
  fi
fi

tests="$(find "$build_dir/tests" -name CTestTestfile.cmake -exec cat {} + |
  sed -nE "s#^add_test\\([^ ]* \"$build_dir/(tests/[^\"]*)\".*#\\1#p" | sort -u)"
[[ -n $tests ]] || Die "no test is left without RocksDB"
while IFS= read -r test; do
  [[ -x $release/$test ]] || Die "$test is not in the release build"
  ! readelf -d "$release/$test" | grep -q 'NEEDED.*rocksdb' || Die "$test links RocksDB"
done <<<"$tests"
Say "$count files and $(wc -l <<<"$tests") tests are the same without RocksDB"
