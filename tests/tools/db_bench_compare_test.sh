#!/bin/bash
# tools/db_bench_compare.sh on a small tree: equal trees and bytes, a result as JSON and as text, refusals.
#   usage: db_bench_compare_test.sh ROOT
set -euo pipefail
root="$1"
export TIEREDFILTER_NO_INSTALL=1
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
Compare() { "$root/tools/db_bench_compare.sh" --num=100000 --reads=2000 --runs=2 --db="$work/db" "$@"; }

Compare --policies="bloomfilter:10 tieredfilter:budget:@,kinds:cuckoo,shape:SHAPE" --results="$work/result" \
  >"$work/out" 2>"$work/err" || { cat "$work/err"; exit 1; }
cmp "$work/out" "$work/result.txt"
python3 - "$work/result.json" <<'END'
import json
import sys
result = json.load(open(sys.argv[1]))
bloom, cuckoo = result["policies"]
assert abs(cuckoo["filter_bytes"] / bloom["filter_bytes"] - 1) <= 0.01, (bloom, cuckoo)
assert sum(level["entries"] for level in result["tree"]["levels"].values()) == 111100
assert result["tree"]["levels"]["0"] == {"files": 4, "entries": 100}
for policy in result["policies"]:
    missing = policy["benchmarks"]["readmissing"]
    assert [run["operations"] for run in missing["runs"]] == [2000, 2000]
    # The same keys are asked for each time, so the counts do not differ.
    assert len({run["useful"] for run in missing["runs"]}) == 1
    assert missing["true_positive"] == 0 and missing["positive"] <= missing["data_block_reads"]
    # Every run of the tree has a filter, and nearly every key lies in the range of each.
    assert 0.9 * 7 * 2000 < missing["useful"] + missing["positive"] <= 7 * 2000
    # Without a prefix extractor a seek reads one block of every sorted run.
    assert policy["benchmarks"]["seekrandom"]["data_block_reads"] >= 7 * 95
misses = [policy["benchmarks"]["readmissing"]["positive"] for policy in result["policies"]]
assert misses[1] < misses[0] / 4, misses
END
[[ -z $(ls -A "$work/db") ]] || { echo "databases are left behind"; exit 1; }

if Compare --policies="bloomfilter:10 bloomfilter:12" --results="$work/unequal" >"$work/out" 2>"$work/err"; then
  echo "different filter bytes were compared"
  exit 1
fi
grep -q "bytes, not .* within 1%: nothing to compare" "$work/err" || { cat "$work/err"; exit 1; }
[[ ! -e $work/unequal.json && ! -e $work/unequal.txt && ! -s $work/out ]]
