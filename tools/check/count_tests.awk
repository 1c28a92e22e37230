# usage: awk -f count_tests.awk CTEST_OUTPUT LastTest.log
# Prints "N passed, N failed[, N skipped]": GoogleTest's own cases where a test is a GoogleTest binary, one otherwise.
# A binary that dies half-way counts one failure beyond the cases it finished. The outcome of a whole test is taken from
# CTest's output, since the log calls a skipped test passed.
FNR == 1 { file++ }
file == 1 {
  if (match($0, /^ *[0-9]+\/[0-9]+ Test +#[0-9]+: [^ ]+/)) {
    name = substr($0, RSTART, RLENGTH); sub(/.* /, "", name)
    outcome[name] = /   Passed +[0-9.]+ sec/ ? "passed" : /\*\*\*Skipped/ ? "skipped" : "failed"
  }
  next
}
/^[0-9]+\/[0-9]+ Testing: / {
  Finish()
  current = $3; ok = bad = skip = gtest = complete = 0
  next
}
/^\[==========\] Running [0-9]+ test/ { gtest = 1 }
/^\[==========\] [0-9]+ tests? from .* ran\./ { complete = 1 }
/^\[       OK \] / { ok++ }
/^\[  SKIPPED \] .*ms\)$/ { skip++ }
/^\[  FAILED  \] .*ms\)$/ { bad++ }
END {
  Finish()
  # Tests that CTest could not start are missing in the log.
  for (name in outcome) if (!(name in counted)) { tests++; if (outcome[name] == "skipped") skipped++; else failed++ }
  if (tests == 0) exit 1
  printf "%d passed, %d failed%s\n", passed, failed, skipped ? ", " skipped " skipped" : ""
}
function Finish() {
  if (current == "") return
  tests++
  counted[current] = 1
  if (!gtest) {
    ok = outcome[current] == "passed"; skip = outcome[current] == "skipped"; bad = !ok && !skip
  } else if (outcome[current] == "failed" && (bad == 0 || !complete)) {
    bad++
  }
  passed += ok; failed += bad; skipped += skip
  current = ""
}
