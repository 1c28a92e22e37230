#!/bin/bash
# Shows what a filter per level saves: the same data under four filter policies, every lookup on cold data, one table and
# one sentence. Installs what is missing first.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup/common.sh"

Usage() {
  cat <<'END'
usage: tools/demo.sh [options]
  --json=FILE   also write the result as JSON
  --html=FILE   where the page with charts goes (default: demo.html in the build folder)
  --db=FOLDER   where the temporary databases go (default: under the build folder); must be on a disk
  --NAME=VALUE  any other flag of cold_lookup_bench, see cold_lookup_bench --help
  -h, --help    this text
END
}

# 900,000 keys in four levels of ratio 10 and four level-0 files, where a level-0 file has 202 keys: its Bloom filter then
# fills its 64-byte lines. Many other numbers leave a third of the last line empty, which hands the smallest filters bits
# nobody asked for and makes the stock setting look better than it is on real, larger files.
flags=(--num=900000 --lookups=25000 --per_level=false "--threads=$(nproc)")
policies='bloomfilter:10 ribbonfilter:10 per-level-bloom:10 per-level-cuckoo:10'

database=
page=
while (($#)); do
  case "$1" in
    -h | --help) Usage; exit 0 ;;
    --json | --html | --db | --policies) (($# > 1)) || Die "$1 needs a value"; set -- "$1=$2" "${@:3}" ;;
    --html=*) page="${1#*=}"; shift ;;
    --db=*) database="${1#*=}"; shift ;;
    --policies=*) policies="${1#*=}"; shift ;;
    --*) flags+=("$1"); shift ;;
    *) Usage >&2; Die "unknown argument '$1'" ;;
  esac
done

build_dir="$("$REPO_ROOT/tools/setup/build.sh" cold_lookup_bench)"
page="${page:-$build_dir/demo.html}"
printf 'Charts: %s\n' "$page"
Say "measuring, which takes about a minute"
exec "$build_dir/tools/cold_lookup_bench/cold_lookup_bench" "${flags[@]}" "--policies=$policies" \
  "--html=$page" "--db=${database:-$build_dir/demo-databases}"
