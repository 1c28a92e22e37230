#!/bin/bash
# Does a memory budget keep what it promises? In three parts, on the driver's standard shape and on natural loads:
# budgets beside stock filters of the same memory, the budget's division beside the best one that a search finds, and
# filter bytes against the budget from the first flush on, under levelled and universal compaction and while 80% of the
# keys are deleted, and while the process is killed. Installs and builds what is missing first; about half an hour.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup/common.sh"

Usage() {
  cat <<'END'
usage: tools/budget_check.sh [--num=KEYS] [--lookups=N] [--seeds=N] [--results=PREFIX]
  --num=KEYS        keys of every tree (default: 10000000)
  --lookups=N       lookups of absent keys (default: 2000000)
  --seeds=N         key orders of the natural loads (default: 2)
  --results=PREFIX  also write PREFIX.txt
END
}

num=10000000 lookups=2000000 seeds=2 results=
for argument in "$@"; do
  case "$argument" in
    --num=*) num="${argument#*=}" ;;
    --lookups=*) lookups="${argument#*=}" ;;
    --seeds=*) seeds="${argument#*=}" ;;
    --results=*) results="${argument#*=}" ;;
    -h | --help) Usage; exit 0 ;;
    *) Usage >&2; Die "unknown argument '$argument'" ;;
  esac
done
build_dir="$("$REPO_ROOT/tools/setup/build.sh" cold_lookup_bench budget_soak_test)"
output="$(mktemp)"
trap 'rm -f "$output"' EXIT

Machine() {
  PYTHONPATH="$REPO_ROOT/tools/comparisons" python3 -B -c 'import machine; print(machine.as_text(machine.describe()))'
}

Measure() {
  printf 'Memory budgets on %s\n' "$(Machine)"
  printf 'tools/budget_check.sh --num=%s --lookups=%s --seeds=%s\n' "$num" "$lookups" "$seeds"
  printf '\n--- Stock filters and budgets; ribbonfilter:10 takes about 7.02 bits per key\n\n'
  # By level too: "!" marks false positives outside the 99.9% interval of what the filters lead one to expect.
  "$build_dir/tools/cold_lookup_bench/cold_lookup_bench" --num="$num" --lookups="$lookups" --threads="$(nproc)" \
    --baseline=false --device=none --per_level=true --db="$build_dir/budget-databases" \
    --policies='bloomfilter:10 ribbonfilter:10 tieredfilter:budget:10 tieredfilter:budget:7.02 tieredfilter:budget:4.8'
  printf '\n--- The best division that a search finds\n\n'
  "$REPO_ROOT/tools/search_best_setting.sh" --num "$num" --lookups "$lookups"
  printf '\n--- Filter bytes against the budget\n\n'
  "$build_dir/tests/plugin/budget_soak_test" --num="$num" --seeds="$seeds" | grep -vE '^\[|^Note: '
}

Measure | tee "$output"
if [[ -n $results ]]; then
  install -m 644 "$output" "$results.txt.tmp.$$"
  mv "$results.txt.tmp.$$" "$results.txt"
fi
