#!/bin/bash
# Builds db_bench with the flag --filter_policy and with this project's policies, runs it, and checks that the files it
# writes carry the policy that was asked for. Prints db_bench's path on stdout, everything else on stderr.
#
# RocksDB's source package is left as it is: CMakeLists.txt in this folder patches a copy in the build folder.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../tools/setup/common.sh"

Usage() {
  cat <<'END'
usage: db_bench_patches/build_db_bench.sh [--no-check]
  --no-check  build only
END
}

check=1
for argument in "$@"; do
  case "$argument" in
    --no-check) check=0 ;;
    -h | --help) Usage; exit 0 ;;
    *) Usage >&2; Die "unknown argument '$argument'" ;;
  esac
done

build_dir="$("$REPO_ROOT/tools/setup/build.sh" tieredfilter_db_bench)"
db_bench="$build_dir/db_bench_patches/db_bench"
if ((!check)); then
  printf '%s\n' "$db_bench"
  exit 0
fi

command -v sst_dump >/dev/null || Die "sst_dump not found; run tools/setup/install_dependencies.sh"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

# Small runs with a fixed seed: what matters is the filters in the files, not how fast they are.
DbBench() {
  "$db_bench" --db="$work/db" --num=20000 --benchmarks=fillrandom,flush,compact,readmissing --compression_type=none \
    --seed=1 --stats_interval=0 "$@" >"$work/out" 2>"$work/err"
}
Show() { grep -av '^\.\.\. finished' "$work/out" "$work/err" >&2 || true; }

# ExpectFilters POLICY NAME BITS ARGUMENT...: the header shows POLICY; all files carry NAME and about BITS per key.
ExpectFilters() {
  local policy="$1" name="$2" bits="$3"
  shift 3
  DbBench "$@" || { Show; Die "db_bench $* failed"; }
  grep -qxF "Filter policy: $policy" "$work/out" || { Show; Die "db_bench $*: its header does not show $policy"; }
  sst_dump --file="$work/db" --command=none --show_properties >"$work/properties" 2>&1 ||
    { cat "$work/properties" >&2; Die "sst_dump failed"; }
  awk -v name="$name" -v bits="$bits" '
    /^  # entries: / { entries += $3; ++files }
    /^  filter block size: / { bytes += $4 }
    /^  filter policy name: / { if ($4 == name) ++named }
    END {
      stored = entries ? 8 * bytes / entries : 0
      printf "%d of %d files carry %s, %.3f bits per key\n", named, files, name, stored
      exit !(files > 0 && named == files && stored > 0.98 * bits && stored < 1.02 * bits)
    }' "$work/properties" >"$work/verdict" ||
    Die "db_bench $*: $(<"$work/verdict"), where $bits were asked for"
  Say "$policy: $(<"$work/verdict")"
}
# ExpectRefusal MESSAGE ARGUMENT...
ExpectRefusal() {
  local message="$1"
  shift
  ! DbBench "$@" || Die "db_bench $*: accepted"
  grep -qF -- "$message" "$work/err" || { Show; Die "db_bench $*: no word of '$message'"; }
}

ExpectFilters "tieredfilter:*:bloom:20" tieredfilter 20 --filter_policy=tieredfilter:bloom:20
options="$work/options"
sed 's/^\( *filter_policy=\).*/\1bloomfilter:5/' "$(ls "$work"/db/OPTIONS-* | tail -n 1)" >"$options"
ExpectFilters bloomfilter:5:false bloomfilter 5 --options_file="$options"
ExpectFilters cuckoofilter:10 cuckoofilter 10 --options_file="$options" --filter_policy=cuckoofilter:10
ExpectFilters ribbonfilter:10:-1 ribbonfilter 7.1 --filter_policy=ribbonfilter:10:-1

ExpectRefusal "--filter_policy=nonsense: " --filter_policy=nonsense
ExpectRefusal "--filter_policy=nullptr: yields no policy" --filter_policy=nullptr
ExpectRefusal 'did you mean "bloom"' --filter_policy=tieredfilter:0:blom:10
ExpectRefusal "excludes the other filter flags" --filter_policy=bloomfilter:10 --bloom_bits=10
ExpectRefusal "excludes the other filter flags" --filter_policy=bloomfilter:10 --use_ribbon_filter
ExpectRefusal "needs block-based tables" --filter_policy=bloomfilter:10 --use_plain_table --mmap_read
Say "what db_bench cannot honour it refuses"
printf '%s\n' "$db_bench"
