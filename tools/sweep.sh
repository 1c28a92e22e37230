#!/bin/bash
# Wasted reads against filter memory, from 2 to 20 bits per key, for seven kinds of filter policy on one tree: one HTML
# page and one JSON file. Installs and builds what is missing first; goes on where an interrupted run stopped.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup/common.sh"

script="$REPO_ROOT/tools/comparisons/sweep.py"
for argument in "$@"; do
  if [[ $argument == -h || $argument == --help ]]; then
    exec python3 "$script" --help
  fi
done
build_dir="$("$REPO_ROOT/tools/setup/build.sh" cold_lookup_bench tieredfilter_db_bench)"
exec python3 "$script" --build_dir="$build_dir" "$@"
