#!/bin/bash
# Checks that the two lists of sources agree: plugin/tieredfilter.mk (builds inside RocksDB's tree) and CMake's targets
# (stand-alone builds), and that no source on disk is in neither.
#   usage: tools/check/check_sources.sh LIST_DIR [ROOT]
# LIST_DIR holds what CMake wrote at configuration: library_sources.txt and preload_sources.txt.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../setup/common.sh"
(($# >= 1)) || Die "usage: $0 LIST_DIR [ROOT]"
lists="$(cd "$1" && pwd)"
root="$(cd "${2:-$REPO_ROOT}" && pwd)"
cd "$root"
mk=plugin/tieredfilter.mk
offences=0

# RocksDB's CMake build reads the file by regular expressions; what they miss is left out of the build in silence.
for variable in SOURCES FUNC; do
  count="$(grep -c "^tieredfilter_$variable = [^ ]" "$mk" || true)"
  [[ $count == 1 ]] || { Say "$mk: expected exactly one line 'tieredfilter_$variable = ...'"; offences=1; }
done
function="$(sed -n 's/^tieredfilter_FUNC = //p' "$mk")"
grep -qE "extern \"C\" .*\b$function\(" plugin/*.cc ||
  { Say "$mk: no extern \"C\" function $function in plugin/"; offences=1; }
if grep -nE '\\$' "$mk"; then
  Say "$mk: a continued line breaks RocksDB's CMake build"
  offences=1
fi

# Compare WHAT FILE_A NAME_A FILE_B NAME_B
Compare() {
  local only
  only="$(comm -23 <(sort -u "$2") <(sort -u "$4"))"
  [[ -z $only ]] || { Say "$1: in $3 but not in $5:" $only; offences=1; }
  only="$(comm -13 <(sort -u "$2") <(sort -u "$4"))"
  [[ -z $only ]] || { Say "$1: in $5 but not in $3:" $only; offences=1; }
}
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
sed -n 's/^tieredfilter_SOURCES = //p' "$mk" | tr -s ' ' '\n' | sed '/^$/d' >"$work/mk"
find src plugin -name '*.cc' >"$work/disk"
cat "$lists/library_sources.txt" "$lists/preload_sources.txt" | sed '/^$/d' >"$work/all"
Compare "library" "$work/mk" "$mk" "$lists/library_sources.txt" "CMake's library targets"
Compare "all" "$work/all" "CMake's targets" "$work/disk" "src/ and plugin/"
exit "$offences"
