#!/bin/bash
# Compares filter policies by db_bench itself, on one and the same tree and at equal filter bytes. Installs and builds
# what is missing first; comparisons/db_bench_compare.py says how it is done.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup/common.sh"

script="$REPO_ROOT/tools/comparisons/db_bench_compare.py"
for argument in "$@"; do
  if [[ $argument == -h || $argument == --help ]]; then
    exec python3 "$script" --help
  fi
done
build_dir="$("$REPO_ROOT/tools/setup/build.sh" tieredfilter_db_bench cold_lookup_bench)"
exec python3 "$script" --db_bench="$build_dir/db_bench_patches/db_bench" \
  --driver="$build_dir/tools/cold_lookup_bench/cold_lookup_bench" "$@"
