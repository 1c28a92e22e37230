#!/bin/bash
# Measures again what README.md shows and writes it between README's markers, so that no figure there is typed by hand.
# Run it on an idle machine: about 6 minutes.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup/common.sh"

readme="$REPO_ROOT/README.md"
build_dir="$("$REPO_ROOT/tools/setup/build.sh" cold_lookup_bench filter_bench)"
text="$(mktemp)" page="$(mktemp)"
trap 'rm -f "$text" "$page"' EXIT

"$REPO_ROOT/tools/demo.sh" "--html=$page" | sed '/^Charts: /d' >"$text"
awk -v begin='<!-- begin generated: demo -->' -v end='<!-- end generated -->' -v text="$text" '
  $0 == begin { print; print "```"; while ((getline line < text) > 0) print line; print "```"; skip = 1; found = 1 }
  skip && $0 == end { skip = 0 }
  !skip && $0 != begin { print }
  END { exit !found }' "$readme" >"$page" || Die "README.md has no block for the demo"
cat "$page" >"$readme"

"$build_dir/tools/filter_bench/filter_bench" --keys=5k,100k,1m,10m --reps=7 "--markdown=$readme" \
  --filters=bloom:10,ribbon:7.1,ribbon:8.4,cuckoo-equations:7.5,cuckoo-equations:8.6,cuckoo-equations:10,cuckoo-fingerprints:11.2
