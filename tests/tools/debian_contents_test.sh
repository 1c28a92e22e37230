#!/bin/bash
# The key set of Debian's file paths: fetched through apt, sorted, each path once; the second call does nothing.
#   usage: debian_contents_test.sh ROOT
set -euo pipefail
root="$1"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
keys="$work/keys"

status=0
"$root/tools/key_sets/fetch_debian_contents.sh" "$keys" >"$work/out" 2>&1 || status=$?
if ((status == 3)); then
  echo "the archive cannot be reached"
  exit 77
fi
((status == 0)) || { cat "$work/out"; exit 1; }
(($(wc -l <"$keys") > 1000000)) || { echo "only $(wc -l <"$keys") paths"; exit 1; }
LC_ALL=C sort -u -c "$keys"
grep -qx usr/bin/dpkg "$keys"
! grep -q '[[:space:]]$' "$keys" || { echo "the packages' column is left in"; exit 1; }
[[ -z $("$root/tools/key_sets/fetch_debian_contents.sh" "$keys" 2>&1) ]] || { echo "fetched again"; exit 1; }
