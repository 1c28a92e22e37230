#!/bin/bash
# The check scripts find what they are there to find: each gets a copy of the sources with one fault put in.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

Fresh() {
  rm -rf "$work/copy"
  mkdir "$work/copy"
  cp -r "$root"/{src,plugin} "$work/copy/"
  mkdir "$work/copy"/{tools,tests}
}
# ExpectFinding WHAT TEXT COMMAND...
ExpectFinding() {
  local what="$1" text="$2"
  shift 2
  if "$@" >"$work/out" 2>&1; then
    echo "not found: $what"
    exit 1
  fi
  grep -qF -- "$text" "$work/out" || { echo "$what: no word of '$text' in:"; cat "$work/out"; exit 1; }
}
Includes() { "$root/tools/check/check_includes.sh" "$work/copy"; }

Fresh
Includes || { echo "a clean copy has findings"; exit 1; }

# Each line: folder, include, what the finding says.
while IFS='|' read -r folder include text; do
  Fresh
  printf '#include %s\n' "$include" >"$work/copy/$folder/fault.h"
  ExpectFinding "$folder includes $include" "$folder/fault.h:1: $text" Includes
done <<'END'
src/filter|"rocksdb/slice.h"|src/filter/ must not include "rocksdb/slice.h"
src/filter|"src/policy/policy_spec.h"|src/filter/ must not include "src/policy/policy_spec.h"
src/filter|"src/format/trailer.h"|src/filter/ must not include "src/format/trailer.h"
src/format|"src/policy/policy_spec.h"|src/format/ must not include "src/policy/policy_spec.h"
src/policy|"src/format/trailer.h"|src/policy/ must not include "src/format/trailer.h"
src/policy|<fmt/format.h>|src/policy/ must not include <fmt/format.h>
src/policy|"plugin/tieredfilter.h"|src/policy/ must not include "plugin/tieredfilter.h"
plugin|"tools/demo.h"|plugin/ must not include "tools/demo.h"
plugin|"tests/helper.h"|plugin/ must not include "tests/helper.h"
END

Fresh
printf '#include "src/policy/policy_spec.h"\n' >>"$work/copy/plugin/tieredfilter.h"
ExpectFinding "a private header in the public one" "the public header must not include" Includes

Fresh
printf '#if ROCKSDB_MAJOR >= 9\n#endif\n' >"$work/copy/tools/fault.cc"
ExpectFinding "a version question outside of the compatibility header" "tools/fault.cc:1:" Includes

# The two lists of sources.
Sources() { "$root/tools/check/check_sources.sh" "$work/lists" "$work/copy"; }
Lists() {
  mkdir -p "$work/lists"
  sed -n 's/^tieredfilter_SOURCES = //p' "$root/plugin/tieredfilter.mk" | tr -s ' ' '\n' >"$work/lists/library_sources.txt"
  (cd "$work/copy" && find src plugin -name '*.cc') | sort |
    comm -23 - <(sort "$work/lists/library_sources.txt") >"$work/lists/preload_sources.txt"
}
Fresh
Lists
Sources || { echo "a clean copy has findings in its lists of sources"; exit 1; }
touch "$work/copy/src/filter/forgotten.cc"
ExpectFinding "a source in no list" "src/filter/forgotten.cc" Sources
Fresh
sed -i '1d' "$work/lists/library_sources.txt"
ExpectFinding "a source that CMake's list lacks" "plugin/tieredfilter.mk but not in CMake" Sources
Fresh
Lists
sed -i 's/^tieredfilter_FUNC = /tieredfilter_FUNC=/' "$work/copy/plugin/tieredfilter.mk"
ExpectFinding "a line that RocksDB's CMake build misses" "expected exactly one line 'tieredfilter_FUNC" Sources
Fresh
sed -i 's/^\(tieredfilter_SOURCES = [^ ]*\) /\1 \\\n  /' "$work/copy/plugin/tieredfilter.mk"
ExpectFinding "a continued line" "a continued line breaks" Sources

# The closing line of tools/test.sh.
Count() { awk -f "$root/tools/check/count_tests.awk" "$work/ctest" "$work/ctest.log"; }
cat >"$work/ctest" <<'END'
1/5 Test #1: good ......................   Passed    0.00 sec
2/5 Test #3: crashed ...................Subprocess aborted***Exception:   0.00 sec
3/5 Test #2: script ....................   Passed    0.00 sec
4/5 Test #4: skipped_script ............***Skipped   0.00 sec
5/5 Test #5: never_started .............***Not Run   0.00 sec
END
cat >"$work/ctest.log" <<'END'
1/5 Testing: good
[==========] Running 3 tests from 1 test suite.
[       OK ] A.B (0 ms)
[  SKIPPED ] A.C (0 ms)
[       OK ] A.D (0 ms)
[==========] 3 tests from 1 test suite ran. (0 ms total)
2/5 Testing: crashed
[==========] Running 4 tests from 1 test suite.
[       OK ] A.B (0 ms)
[  FAILED  ] A.C (0 ms)
3/5 Testing: script
4/5 Testing: skipped_script
END
counted="$(Count)"
[[ $counted == "4 passed, 3 failed, 2 skipped" ]] || { echo "wrong count: $counted"; exit 1; }
