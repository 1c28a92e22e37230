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
[[ ${TIEREDFILTER_NO_INSTALL:-0} == 1 ]] || "$REPO_ROOT/tools/setup/install_dependencies.sh"
db_bench="$("$REPO_ROOT/db_bench_patches/build_db_bench.sh" --no-check)"
exec python3 "$script" --db_bench="$db_bench" "$@"
