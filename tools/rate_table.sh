#!/bin/bash
# The table that papers on filters have: so many keys, Bloom against cuckoo (and Ribbon) at the same false-positive rate,
# by memory, insert time and query time. Installs and builds what is missing first.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup/common.sh"

script="$REPO_ROOT/tools/comparisons/rate_table.py"
for argument in "$@"; do
  if [[ $argument == -h || $argument == --help ]]; then
    exec python3 "$script" --help
  fi
done
build_dir="$("$REPO_ROOT/tools/setup/build.sh" filter_bench)"
exec python3 "$script" --filter_bench="$build_dir/tools/filter_bench/filter_bench" "$@"
