#!/bin/bash
# Checks the formatting of all C and C++ files against .clang-format; --fix rewrites them.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../setup/common.sh"
cd "$REPO_ROOT"

# Debian 12's version; another one formats a few constructs differently.
formatter="$(command -v clang-format-14 || command -v clang-format)" ||
  Die "clang-format not found; run tools/setup/install_dependencies.sh --checks"

mode=(--dry-run -Werror)
[[ ${1:-} == --fix ]] && mode=(-i)
find src plugin tools tests cmake db_bench_patches -type f \( -name '*.cc' -o -name '*.h' -o -name '*.c' \) -print0 |
  xargs -0 -r -n 50 "$formatter" --style=file "${mode[@]}"
