#!/bin/bash
# Compiles the adapter (without making objects) against the headers of every layout of RocksDB's filter builders:
#   7.3 to 9.5     the installed version's source package
#   9.6 to 10.8    the source packages of newer Debian suites, where they can be reached
#   from 10.9 on   our stand-in header over the installed version's public headers; real trees with --tree
# Says what was checked and what was left out and why.
#   usage: tools/check/check_rocksdb_layouts.sh [--tree DIR]...
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../setup/common.sh"
cd "$REPO_ROOT"
compiler="${CXX:-g++}"

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
{
  printf '#include "plugin/rocksdb_compat.h"\n'
  cat plugin/*.cc plugin/*.h plugin/*/*.cc | grep -E '^#include "rocksdb/' | sort -u
} >"$work/all_rocksdb.h"

# Check WHAT STANDARD HAS_ADD_KEY_AND_ALT HAS_CALCULATE_SPACE INCLUDE_DIR...
# STANDARD and the two answers are of the layout, not of the tree: that the feature tests find them is what is checked.
# One after the other for a layout, the layouts side by side.
layouts=0
Check() {
  layouts=$((layouts + 1))
  mkdir "$work/$layouts"
  CheckOne "$work/$layouts" "$@" >"$work/$layouts/log" 2>&1 &
  # No more at a time than there are CPUs.
  ((layouts < $(nproc))) || wait -n || true
}
CheckOne() {
  local own="$1" what="$2" standard="$3" alt="$4" space="$5" includes=() dir bad=0
  shift 5
  for dir in "$@"; do includes+=(-isystem "$dir"); done
  local flags=(-std="$standard" -Wall -Wextra -Wshadow -Wsuggest-override -Wno-unused-parameter -Werror
    -I. "${includes[@]}" -DROCKSDB_PLATFORM_POSIX -DROCKSDB_LIB_IO_POSIX -DOS_LINUX
    -DLAYOUT_HAS_ADD_KEY_AND_ALT="$alt" -DLAYOUT_HAS_CALCULATE_SPACE="$space")
  # RocksDB's headers are read once per layout, not once per file: they are nine tenths of the work.
  "$compiler" "${flags[@]}" -x c++-header "$work/all_rocksdb.h" -o "$own/all_rocksdb.h.gch" || bad=1
  printf '%s\0' plugin/*.cc plugin/*/*.cc tests/plugin/layouts/probe.cc |
    xargs -0 -n 1 "$compiler" "${flags[@]}" -Winvalid-pch -include "$own/all_rocksdb.h" -fsyntax-only || bad=1
  if ((bad)); then
    Say "$what: FAILED"
  else
    Say "$what: ok"
    touch "$own/passed"
  fi
}

# CheckTree WHAT DIR: a whole source tree, layout by its version.
CheckTree() {
  local version major minor alt=0 space=0 standard=c++17
  version="$(SourceTreeVersion "$2")"
  [[ -n $version ]] || Die "$2 is no RocksDB source tree"
  IFS=. read -r major minor _ <<<"$version"
  ((major * 100 + minor >= 906)) && alt=1
  ((major * 100 + minor >= 1009)) && space=1
  ((major * 100 + minor >= 1007)) && standard=c++20  # RocksDB's own headers need it from there on
  Check "RocksDB $version ($1)" "$standard" "$alt" "$space" "$2/include" "$2"
}

installed="$REPO_ROOT/.deps/rocksdb-source"
[[ -d $installed ]] || tools/setup/fetch_rocksdb_source.sh >/dev/null
CheckTree "installed version" "$installed"
Check "stand-in for RocksDB 10.9 and later" c++17 1 1 tests/plugin/layouts/from_10_9 "$installed/include"

for suite in trixie sid; do
  # A word on what went wrong goes to stderr; no network is no fault of the sources.
  if tree="$(tools/setup/fetch_rocksdb_source.sh --suite "$suite")"; then
    CheckTree "Debian $suite" "$tree"
  else
    Say "RocksDB of Debian $suite: SKIPPED, its source package cannot be reached (see above)"
  fi
done
while (($#)); do
  [[ $1 == --tree && -n ${2:-} ]] || Die "unknown argument '$1'"
  CheckTree "given" "$2"
  shift 2
done
wait
cat "$work"/*/log >&2
[[ $(ls "$work"/*/passed | wc -l) == "$layouts" ]]
