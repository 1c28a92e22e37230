#!/bin/bash
# Runs clang-tidy with .clang-tidy over all sources (minutes: not part of the default checks), or over the files given.
#   usage: tools/check/run_clang_tidy.sh [FILE...]
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../setup/common.sh"
tidy="$(command -v clang-tidy-14 || command -v clang-tidy)" ||
  Die "clang-tidy not found; run tools/setup/install_dependencies.sh --checks"
build_dir="$("$REPO_ROOT/tools/setup/build.sh" --configure-only)"

if (($# == 0)); then
  cd "$REPO_ROOT"
  mapfile -t files < <(find src plugin tools -name '*.cc' | sort)
else
  files=("$@")
fi
printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "$(nproc)" "$tidy" -p "$build_dir" --quiet
