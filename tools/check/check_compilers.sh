#!/bin/bash
# Compiles sources again without making objects, warnings as errors like in the build, with the compiler and standard
# that the builds do not have: the release build is g++ as C++17, the sanitizer build clang as C++20. By default only
# filter_bench, which the sanitizer build leaves out; --all compiles everything as all three other pairs.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../setup/common.sh"
command -v clang++ >/dev/null || Die "clang++ not found; run tools/setup/install_dependencies.sh --checks"
build_dir="$("$REPO_ROOT/tools/setup/build.sh" --configure-only)"

# Commands COMPILER STANDARD: the compilation database as one shell command a line, JSON's escapes undone; compiler (with
# its launcher), standard and output exchanged. RocksDB's own sources, which filter_bench compiles, are left out.
Commands() {
  sed -n 's/^ *"command": "\(.*\)",\{0,1\}$/\1/p' "$build_dir/compile_commands.json" |
    sed -E 's/\\"/"/g; s/\\\\/\\/g' | grep -vE ' -c "?[^"]*/\.deps/[^"]*"?$' |
    grep -E " -c .*$files" |
    sed -nE 's/ -std=[a-z+0-9]+//; s/ -Winvalid-pch//; s/ -include [^ ]*cmake_pch[^ ]*//; s/ -o [^ ]+ -c / -c /
      s#^.*/(c\+\+|g\+\+|clang\+\+)(-[0-9]+)? #'"$1 -std=$2 -fsyntax-only "'#p'
}

variants=("clang++ c++20")
files='/tools/filter_bench/'
if [[ ${1:-} == --all ]]; then
  variants+=("clang++ c++17" "g++ c++20")
  files=.
fi
for variant in "${variants[@]}"; do
  read -r compiler standard <<<"$variant"
  count="$(Commands "$compiler" "$standard" | wc -l)"
  ((count > 0)) || Die "no command found in $build_dir/compile_commands.json"
  Say "$compiler -std=$standard: $count files"
  (cd "$build_dir" && Commands "$compiler" "$standard" | tr '\n' '\0' |
    xargs -0 -n 1 -P "$(nproc)" sh -c 'eval "$0" || exit 1') || Die "$compiler -std=$standard does not compile, see above"
done
