#!/bin/bash
# Compares filter policies on real keys: the paths of Debian's Contents index, and lookups of plausible paths that it does
# not list. Fetches, installs and builds what is missing first.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../setup/common.sh"

Usage() {
  cat <<'END'
usage: tools/key_sets/debian_contents.sh [--results=PREFIX] [--NAME=VALUE...]
  --results=PREFIX  write PREFIX.html, PREFIX.json and PREFIX.txt (default: debian_contents in the key set's folder)
  --NAME=VALUE      any other flag of cold_lookup_bench, see cold_lookup_bench --help
END
}

results=
flags=()
while (($#)); do
  case "$1" in
    -h | --help) Usage; exit 0 ;;
    --results=*) results="${1#*=}"; shift ;;
    --*=*) flags+=("$1"); shift ;;
    *) Usage >&2; Die "unknown argument '$1'" ;;
  esac
done

build_dir="$("$REPO_ROOT/tools/setup/build.sh" cold_lookup_bench)"
folder="$build_dir/key_sets"
mkdir -p "$folder"
results="$(realpath -m "${results:-$folder/debian_contents}")"
"$REPO_ROOT/tools/key_sets/fetch_debian_contents.sh" "$folder/debian_contents.keys"
[[ $folder/debian_contents.absent -nt $folder/debian_contents.keys ]] ||
  python3 "$REPO_ROOT/tools/key_sets/make_absent_paths.py" "$folder/debian_contents.keys" "$folder/debian_contents.absent"

# Run in that folder, so that no name of a folder of this machine gets into the report.
cd "$folder"
Say "measuring"
"$build_dir/tools/cold_lookup_bench/cold_lookup_bench" --key_file=debian_contents.keys --key_format=lines \
  --absent_key_file=debian_contents.absent --lookups=100000 --verify_keys=false --per_level=true "--threads=$(nproc)" \
  --policies='bloomfilter:10 ribbonfilter:10:-1 cuckoofilter:10 per-level-bloom:10 per-level-ribbon:10 per-level-cuckoo:10' \
  --db=databases --json=debian_contents.result.json --html=debian_contents.result.html "${flags[@]+"${flags[@]}"}" |
  tee debian_contents.result.txt
mkdir -p "$(dirname "$results")"
for kind in html json txt; do
  mv "debian_contents.result.$kind" "$results.$kind"
done
