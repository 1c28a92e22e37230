#!/bin/bash
# Is a memory budget divided well? Searches for a better setting per level, by measured figures, and measures the best
# one beside the budget's own.
#
#   tools/search_best_setting.sh [--num KEYS] [--bits BITS] [--absent "100 50 10"] [--lookups N] [--seed S]
#
# The driver measures bytes and false positives of every level under one setting after the other. From the budget's own
# setting, and from one setting for all, memory then moves between any two levels, total bytes unchanged, as long as
# that saves reads by the measured figures. The driver measures what is found and the budget's setting with the same
# lookups; a ratio under 1 means that the search found better. Takes about a quarter of an hour with a million keys.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup/common.sh"
cd "$REPO_ROOT"

num=1000000 bits=10 shares="100 50 10" lookups=1000000 seed=1
while [[ $# -gt 0 ]]; do
  [[ $# -ge 2 ]] || Die "usage: tools/search_best_setting.sh [--num N] [--bits B] [--absent LIST] [--lookups N] [--seed S]"
  case $1 in
    --num) num=$2 ;;
    --bits) bits=$2 ;;
    --absent) shares=$2 ;;
    --lookups) lookups=$2 ;;
    --seed) seed=$2 ;;
    *) Die "unknown option $1" ;;
  esac
  shift 2
done
driver=build/release/tools/cold_lookup_bench/cold_lookup_bench
[[ -x $driver ]] || Die "$driver is not there; run tools/setup/build.sh first"
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT

Measure() {  # LOOKUPS ABSENT_PERCENT POLICIES CSV
  "$driver" --num="$num" --seed="$seed" --lookups="$1" --absent_percent="$2" --policies="$3" --csv="$4" \
    --baseline=false --verify_keys=false --device=none > "$scratch/log" 2>&1 || { cat "$scratch/log" >&2; Die "the driver failed"; }
}

# Rows of a CSV as "spec level files entries bytes checks false_positives wasted_reads"; specs are quoted and hold commas.
Rows() {
  sed -E 's/^"([^"]*)",/\1\t/; s/"[^"]*"/-/' "$1" | awk -F'\t' 'NR > 1 { split($2, f, ","); print $1, f[1], f[2], f[3], f[5], f[8], f[10], f[14] }'
}

# About 1500 false positives per level where the rate is high, and few lookups where it is low enough to matter little.
for setting in bloom:1 bloom:2 bloom:3 bloom:4 cuckoo:4 cuckoo:5 cuckoo:6 cuckoo:7 cuckoo:8 cuckoo:8.5 cuckoo:9 \
  cuckoo:9.5 cuckoo:10 cuckoo:10.5 cuckoo:11 cuckoo:12 cuckoo:13 cuckoo:14 cuckoo:16 cuckoo:18 cuckoo:20; do
  count="$(awk -v b="${setting#*:}" 'BEGIN { n = int(1500 * 2 ^ (b * 0.92)); print (n < 20000 ? 20000 : n > 1500000 ? 1500000 : n) }')"
  Measure "$count" 100 "tieredfilter:$setting" "$scratch/one.csv"
  Rows "$scratch/one.csv" | sed "s/^[^ ]*/${setting/:/ }/" >> "$scratch/curves"
  echo "measured $setting with $count lookups" >&2
done
shape="$(awk '$3 != "all" && $1 == "bloom" && $2 == 1 { t = t (t == "" ? $4 "x" int($5 / $4) : "+" $5) } END { print t }' "$scratch/curves")"

for share in $shares; do
  ours="tieredfilter:budget:$bits,absent:$(awk -v s="$share" 'BEGIN { print s / 100 }'),shape:$shape"
  Measure 1000 100 "$ours" "$scratch/ours.csv"
  Rows "$scratch/ours.csv" > "$scratch/ours"
  best="$(awk -v absent="$share" -v bits="$bits" -f tools/search_best_setting.awk "$scratch/curves" "$scratch/ours")"
  Measure "$lookups" "$share" "$ours $best" "$scratch/both.csv"
  Rows "$scratch/both.csv" | awk -v share="$share" -v lookups="$lookups" -v best="$best" '
    $2 == "all" { wasted[++n] = $8; bytes[n] = $5; keys = $4 }
    END { printf "%s%% absent: budget %.3f wasted reads per 1000 lookups (%d) in %.3f bits per key; best found %.3f (%d) in %.3f: ratio %.3f (+-%.3f); %s\n",
          share, wasted[1] * 1000 / lookups, wasted[1], bytes[1] * 8 / keys, wasted[2] * 1000 / lookups, wasted[2], bytes[2] * 8 / keys,
          wasted[2] / wasted[1], 2 * wasted[2] / wasted[1] * sqrt(1 / wasted[1] + 1 / wasted[2]), best }'
done
