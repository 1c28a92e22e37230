#!/bin/bash
# Runs the preload command of README.md as it stands there, but for the folders, and looks whether filters were written
# and consulted.
#   usage: readme_commands_test.sh BLOCK_FILE BUILD_DIR [SANITIZER_RUNTIME]
set -euo pipefail
block="$1" build_dir="$2" runtime="${3:-}"
command -v db_bench >/dev/null || { echo "db_bench (package rocksdb-tools) is not installed"; exit 77; }
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

# LD_PRELOAD takes no spaces, so a build folder with one is reached by a link.
ln -s "$build_dir" "$work/build"
sed -e "s|/tmp/|$work/|" -e "s|build/release/|$work/build/|" -e "s|LD_PRELOAD=|&${runtime:+$runtime:}|" \
  -e 's|db_bench |&--statistics --stats_interval=0 --compression_type=none |' "$block" >"$work/command.sh"
# db_bench and RocksDB leave memory behind at exit.
ASAN_OPTIONS=detect_leaks=0 bash "$work/command.sh" >"$work/out" 2>"$work/err" || { cat "$work/out" "$work/err"; exit 1; }

grep -q "tieredfilter" "$work/err" || { echo "no word about the policy on stderr:"; grep -a -v finished "$work/err"; exit 1; }
useful="$(sed -n 's/^rocksdb.bloom.filter.useful COUNT : //p' "$work/out")"
((${useful:-0} > 50000)) || { echo "filters avoided only ${useful:-no} reads; stderr was:"; grep -a -v finished "$work/err"; exit 1; }
echo "filters avoided $useful reads of blocks"
