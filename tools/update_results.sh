#!/bin/bash
# Measures again what tools/results/ holds. Run it on an idle machine: about an hour and a half, a third of it the sweep,
# which goes on where an interrupted run stopped.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup/common.sh"

results="$REPO_ROOT/tools/results"
"$REPO_ROOT/tools/rate_table.sh" "--results=$results/rate_table"
"$REPO_ROOT/tools/db_bench_compare.sh" "--results=$results/db_bench_compare"
"$REPO_ROOT/tools/budget_check.sh" "--results=$results/budget_check"
"$REPO_ROOT/tools/key_sets/debian_contents.sh" "--results=$results/debian_contents"
"$REPO_ROOT/tools/sweep.sh" "--results=$results/sweep"
