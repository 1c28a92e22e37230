#!/bin/bash
# tools/sweep.sh on a small tree: whole results, and going on after an interruption.
#   usage: sweep_test.sh ROOT BUILD_DIR
set -euo pipefail
root="$1" build_dir="$2"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
Sweep() { python3 -B "$root/tools/comparisons/sweep.py" --build_dir="$build_dir" --quick --work="$work/kept" "$@"; }

Sweep --results="$work/first" >"$work/out" 2>"$work/err" || { cat "$work/err"; exit 1; }
grep -q "^14 points, all within the predicted interval" "$work/out"
python3 - "$work/first.json" <<'END'
import json
import sys
result = json.load(open(sys.argv[1]))
at_10 = {point["kind"]: point for point in result["points"] if point["bits"] == 10}
assert len(at_10) == 7 and all(point["cpu_us_per_lookup"] > 0 for point in at_10.values())
for kind in ("stock Ribbon", "Bloom by level", "cuckoo by level", "best mix by budget"):
    assert at_10[kind]["wasted_reads_per_1000"] < at_10["stock Bloom"]["wasted_reads_per_1000"], kind
for point in result["points"]:
    # Less is stored where the cap on bits leaves nothing to spend them on.
    assert point["filter_bits_per_key"] / point["bits"] < 1.1, point
END
grep -q "<polyline" "$work/first.html"
[[ -z $(ls -A "$work/kept/databases") ]] || { echo "databases are left behind"; exit 1; }

# One point is missing and one is half written: only these two are made again.
points=("$work"/kept/points-*/*.json)
((${#points[@]} == 15)) || { echo "${#points[@]} points are kept"; exit 1; }
touch "$work/then"
rm "${points[0]}"
head -c 100 "${points[1]}" >"$work/half"
cp "$work/half" "${points[1]}"
touch -d "1 minute ago" "$work/then" "${points[@]:1}"
Sweep --results="$work/second" >"$work/out" 2>"$work/err" || { cat "$work/err"; exit 1; }
made="$(find "$work"/kept/points-*/ -name '*.json' -newer "$work/then" | wc -l)"
((made == 2)) || { echo "$made points were made again"; exit 1; }
