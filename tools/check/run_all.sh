#!/bin/bash
# Runs the fast checks of the sources. The last line is "N passed, N failed[, N skipped]".
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../setup/common.sh"
cd "$REPO_ROOT" || exit 1

passed=0 failed=0 skipped=0
Check() {
  local status=0
  printf -- '--- %s\n' "$*"
  "$@" || status=$?
  case $status in
    0) passed=$((passed + 1)) ;;
    77) skipped=$((skipped + 1)) ;;
    *) failed=$((failed + 1)); printf '*** failed: %s\n' "$*" ;;
  esac
}
[[ ${TIEREDFILTER_NO_INSTALL:-0} == 1 ]] || tools/setup/install_dependencies.sh --checks || exit 1
Check tools/check/check_format.sh
Check tools/check/check_includes.sh
Check tools/check/check_rocksdb_layouts.sh
Check tools/check/check_without_rocksdb.sh
Check tools/check/check_compilers.sh

printf '%d passed, %d failed' "$passed" "$failed"
((skipped == 0)) || printf ', %d skipped' "$skipped"
printf '\n'
((failed == 0))
