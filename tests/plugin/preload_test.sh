#!/usr/bin/env bash
# The preload object in programs that were never built for it: a C program, and the distribution's db_bench, ldb and
# sst_dump.
#
#   preload_test.sh <preload object> <unaware program> [<library to load in front, for sanitizers>]
set -euo pipefail

unaware=$2
front=${3:-}
# The loader takes a space in LD_PRELOAD for the end of a name, so the object is named by a link without one.
link_folder=$(mktemp -d /tmp/tieredfilter_preload.XXXXXX)
preload=$link_folder/preload.so
ln -s "$(realpath "$1")" "$preload"
scratch=$(mktemp -d "${TMPDIR:-/tmp}/tieredfilter preload.XXXXXX")  # a path with a space, on purpose
trap 'rm -rf "$scratch" "$link_folder"' EXIT
# RocksDB and the C program end without freeing everything, which is no fault of ours.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"
failures=0

fail() {
  echo "FAILED: $*" >&2
  failures=$((failures + 1))
}

# run <name> [VARIABLE=value ...] -- command: runs with the preload object; output in $out, error output in $err.
run() {
  local name=$1
  shift
  local environment=()
  while [[ $1 != -- ]]; do
    environment+=("$1")
    shift
  done
  shift
  echo "== $name"
  local status=0
  env "${environment[@]+"${environment[@]}"}" LD_PRELOAD="${front:+$front:}$preload" "$@" \
    >"$scratch/out" 2>"$scratch/err" || status=$?
  out=$(<"$scratch/out")
  err=$(<"$scratch/err")
  [[ $status == 0 ]] || fail "$name: exit status $status: $out $err"
}

expect() {  # expect <what> <regular expression> <text>
  [[ $3 =~ $2 ]] || fail "$1: expected /$2/ in: $3"
}

expect_not() {
  [[ ! $3 =~ $2 ]] || fail "$1: did not expect /$2/ in: $3"
}

expect_said_once() {  # expect_said_once <what>
  local lines
  lines=$(grep -c '^tieredfilter: ' <<<"$err" || true)
  [[ $lines == 1 ]] || fail "$1: $lines messages instead of one: $err"
}

# expect_bits <what> <bits per key>: the last C program wrote 4000 keys with filters of about this size.
expect_bits() {
  local bytes
  bytes=$(sed -n 's/.*filter_bytes=//p' <<<"$out")
  awk -v bytes="$bytes" -v bits="$2" 'BEGIN { b = 8 * bytes / 4000; exit !(b > bits - 0.3 && b < bits + 0.3) }' ||
    fail "$1: expected $2 bits per key, got $bytes bytes for 4000 keys"
}

expect_consulted() {
  local useful
  useful=$(sed -n 's/useful=\([0-9]*\).*/\1/p' <<<"$out")
  [[ $useful -gt 3900 && $useful -le 4000 ]] || fail "$1: a filter answered $useful of 4000 absent keys: $out"
}

# --- off by default
run "without variables nothing changes" -- "$unaware" write "$scratch/off"
expect "off" 'useful=0 filter_bytes=0' "$out"
[[ -z $err ]] || fail "off: says something: $err"

run "empty variables are no variables" TIEREDFILTER_POLICY= TIEREDFILTER_REPLACE= -- "$unaware" write "$scratch/empty"
expect "empty" 'useful=0 filter_bytes=0' "$out"
[[ -z $err ]] || fail "empty: says something: $err"

run "a shell does not talk about filters" TIEREDFILTER_POLICY=nonsense -- sh -c 'echo fine'
[[ $out == fine && -z $err ]] || fail "shell: $out $err"

# --- every way of opening a database
for mode in write write-family write-ttl write-transactions; do
  run "$mode" TIEREDFILTER_POLICY=flush:bloom:14 -- "$unaware" "$mode" "$scratch/$mode"
  expect_bits "$mode" 14
  expect_consulted "$mode"
  expect_said_once "$mode"
  expect "$mode" 'TIEREDFILTER_POLICY gives tieredfilter:flush:bloom:14 to every column family that sets no' "$err"
done
run "files for ingestion" TIEREDFILTER_POLICY=unknown:bloom:12 -- "$unaware" ingest "$scratch/ingest"
expect_bits "ingest" 12
expect_consulted "ingest"
for mode in read read-only read-secondary; do
  run "$mode" TIEREDFILTER_POLICY=bloom:10 -- "$unaware" "$mode" "$scratch/write"
  expect_bits "$mode" 14
  expect_consulted "$mode"
done
run "reading without a policy ignores filters" -- "$unaware" read "$scratch/write"
expect "plain read" 'useful=0' "$out"

for spec in cuckoofilter:10 flush:cuckoo:10; do
  run "$spec" TIEREDFILTER_POLICY="$spec" -- "$unaware" write "$scratch/$spec"
  expect_bits "$spec" 10
  expect_consulted "$spec"
done

# --- a program that sets a filter itself (Bloom with 4 bits)
run "its own filter stays" TIEREDFILTER_POLICY=bloom:14 -- "$unaware" bloom "$scratch/own"
expect_bits "own" 4
run "its own filter is replaced" TIEREDFILTER_POLICY=bloom:14 TIEREDFILTER_REPLACE=1 -- \
  "$unaware" bloom "$scratch/replaced"
expect_bits "replaced" 14
expect "replaced" 'in place of its own filter policy' "$err"
expect_said_once "replaced"

# --- mistakes are said and change nothing
run "bad spec" TIEREDFILTER_POLICY=0:blom:10 TIEREDFILTER_REPLACE=1 -- "$unaware" bloom "$scratch/bad"
expect_bits "bad spec" 4
expect "bad spec" 'TIEREDFILTER_POLICY is ignored: .*character 3: .*did you mean "bloom"' "$err"
expect_said_once "bad spec"
run "bad switch" TIEREDFILTER_POLICY=bloom:14 TIEREDFILTER_REPLACE=yes -- "$unaware" bloom "$scratch/switch"
expect_bits "bad switch" 4
expect "bad switch" 'TIEREDFILTER_REPLACE=yes is neither 0 nor 1' "$err"
run "switch alone" TIEREDFILTER_REPLACE=1 -- "$unaware" bloom "$scratch/alone"
expect_bits "switch alone" 4
expect "switch alone" 'no effect without TIEREDFILTER_POLICY' "$err"
run "levels that do not exist" TIEREDFILTER_POLICY=0:bloom:14,9:bloom:7 -- "$unaware" write "$scratch/beyond"
expect_bits "beyond" 14
expect "beyond" '"9:bloom:7" is for levels that do not exist' "$err"

# --- the distribution's own tools
for tool in db_bench ldb sst_dump; do
  if ! command -v "$tool" >/dev/null; then
    echo "$tool is not installed; its part is skipped"
    [[ $failures == 0 ]] && exit 77
    exit 1
  fi
done

run "a database whose options file has no filter" -- "$unaware" write "$scratch/bench"
sed -e 's/^\( *filter_policy=\).*/\1tieredfilter:flush:bloom:20,*:ribbon:7/' \
  -e 's/^\( *compression\)=.*/\1=kNoCompression/' \
  "$(ls "$scratch"/bench/OPTIONS-* | tail -1)" >"$scratch/options"
grep -q 'filter_policy=tieredfilter' "$scratch/options" || fail "the options file was not edited"
run "db_bench with an options file" -- db_bench --options_file="$scratch/options" --db="$scratch/bench" \
  --benchmarks=fillrandom,flush,readmissing --num=4000 --threads=1 --statistics --seed=1
useful=$(sed -n 's/^rocksdb.bloom.filter.useful COUNT : //p' <<<"$out")
[[ $useful -gt 3900 ]] || fail "db_bench: a filter answered $useful of 4000 absent keys"
run "db_bench with the environment" TIEREDFILTER_POLICY=bloom:14 -- db_bench --db="$scratch/bench2" \
  --benchmarks=fillrandom,flush,readmissing --num=4000 --threads=1 --statistics --seed=1
useful=$(sed -n 's/^rocksdb.bloom.filter.useful COUNT : //p' <<<"$out")
[[ $useful -gt 3900 ]] || fail "db_bench with the environment: a filter answered $useful of 4000 absent keys"
run "db_bench with cuckoo filters" TIEREDFILTER_POLICY=cuckoofilter:8.6 -- db_bench --db="$scratch/bench3" \
  --benchmarks=fillrandom,flush,readmissing --num=4000 --threads=1 --statistics --seed=1
useful=$(sed -n 's/^rocksdb.bloom.filter.useful COUNT : //p' <<<"$out")
[[ $useful -gt 3900 ]] || fail "db_bench with cuckoo filters: a filter answered $useful of 4000 absent keys"

cp "$(ls "$scratch"/off/OPTIONS-* | tail -1)" "$scratch/no_filter_options"
run "an options file that says no filter" TIEREDFILTER_POLICY=bloom:14 -- db_bench \
  --options_file="$scratch/no_filter_options" --db="$scratch/off" \
  --benchmarks=fillrandom,flush,readmissing --num=4000 --threads=1 --statistics --seed=1
useful=$(sed -n 's/^rocksdb.bloom.filter.useful COUNT : //p' <<<"$out")
[[ $useful -gt 3900 ]] || fail "options file without filter: a filter answered $useful of 4000 absent keys"

run "sst_dump shows the policy" -- sst_dump --file="$scratch/bench2" --command=none --show_properties
expect "sst_dump" 'filter policy name: tieredfilter' "$out"
expect "sst_dump" 'filter block size: [1-9]' "$out"
run "ldb reads with the options of the database" -- ldb --db="$scratch/write" --try_load_options get key000007
expect "ldb" '^key000007$' "$out"
run "ldb writes with the options of the database" -- ldb --db="$scratch/write" --try_load_options put another value
run "ldb manifest" -- ldb --db="$scratch/write" --try_load_options scan --from=another --max_keys=1
expect "ldb scan" 'another : value' "$out"
expect_not "ldb" 'tieredfilter:' "$err"

[[ $failures == 0 ]] && echo "all passed"
exit "$((failures > 0))"
