#!/bin/bash
# Compiles every source again without making objects: with g++ as C++20, with clang as C++17 and as C++20, warnings as
# errors like in the build. The build itself is g++ as C++17.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../setup/common.sh"
command -v clang++ >/dev/null || Die "clang++ not found; run tools/setup/install_dependencies.sh --checks"
build_dir="$("$REPO_ROOT/tools/setup/build.sh")"

# One command per line of the compilation database, JSON's escapes undone, compiler (and its launcher) and output
# exchanged. CMake writes one field per line, and quotes for a shell.
Commands() {
  sed -n 's/^ *"command": "\(.*\)",\{0,1\}$/\1/p' "$build_dir/compile_commands.json" |
    sed -E 's/\\"/"/g; s/\\\\/\\/g' |
    sed -E "s|^.*(/c\+\+\|/g\+\+\|/clang\+\+)(-[0-9]+)? |$1 |; s| -std=[a-z+0-9]+||; s| -o [^ ]+ -c | -c |; s|^$1 |&-std=$2 -fsyntax-only |" |
    grep "^$1 "
}

for variant in "g++ c++20" "clang++ c++17" "clang++ c++20"; do
  read -r compiler standard <<<"$variant"
  count="$(Commands "$compiler" "$standard" | wc -l)"
  ((count > 0)) || Die "no command found in $build_dir/compile_commands.json"
  Say "$compiler -std=$standard: $count files"
  (cd "$build_dir" && Commands "$compiler" "$standard" | tr '\n' '\0' |
    xargs -0 -n 1 -P "$(nproc)" sh -c 'eval "$0" || exit 1') || Die "$compiler -std=$standard does not compile, see above"
done
