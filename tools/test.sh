#!/bin/bash
# Builds and runs the tests; installs what is missing first. The last line is "N passed, N failed[, N skipped]" and
# counts GoogleTest cases, plus one for every test that is a script.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup/common.sh"

Usage() {
  cat <<'END'
usage: tools/test.sh [options]
  --preset NAME           a preset of CMakePresets.json: release (default), debug, asan, tsan, clang
  --sanitize[=thread]     the same as --preset asan (or tsan)
  --slow                  also the tests with the label "slow"
  --only REGEX            only the tests whose name matches (as ctest -R)
  -h, --help              this text
END
}

preset=release
# One more than there are CPUs: some tests wait for the disk.
arguments=(-j3 --output-on-failure --no-tests=error)
exclude=(-LE '^slow$')
while (($#)); do
  case "$1" in
    --preset) (($# > 1)) || Die "--preset needs a name"; preset="$2"; shift 2 ;;
    --preset=*) preset="${1#*=}"; shift ;;
    --sanitize | --sanitize=address) preset=asan; shift ;;
    --sanitize=thread) preset=tsan; shift ;;
    --slow) exclude=(); shift ;;
    --only) (($# > 1)) || Die "--only needs a regular expression"; arguments+=(-R "$2"); shift 2 ;;
    --only=*) arguments+=(-R "${1#*=}"); shift ;;
    -h | --help) Usage; exit 0 ;;
    *) Usage >&2; Die "unknown argument '$1'" ;;
  esac
done

build_dir="$("$REPO_ROOT/tools/setup/build.sh" --preset "$preset")"

# One run at a time per folder, since CTest writes one log per folder.
exec 8>"$build_dir.test.lock"
flock 8

# The log of an earlier run must not be taken for this one's.
log="$build_dir/Testing/Temporary/LastTest.log"
rm -f "$log"
output="$build_dir.test.out"
status=0
(cd "$build_dir" && ctest "${arguments[@]}" ${exclude[@]+"${exclude[@]}"}) 2>&1 | tee "$output" || status=$?

[[ -f $log ]] || Die "no test ran"
awk -f "$REPO_ROOT/tools/check/count_tests.awk" "$output" "$log" || Die "no test ran"
exit "$status"
