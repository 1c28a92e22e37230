# Reads CTest's LastTest.log and prints "N passed, N failed[, N skipped]": GoogleTest's own cases where a test is a
# GoogleTest binary, one otherwise. A binary that crashed or timed out counts one failure beyond the cases it finished.
/^[0-9]+\/[0-9]+ Testing: / { ok = bad = skip = 0; gtest = 0; next }
/^\[==========\] Running [0-9]+ test/ { gtest = 1; next }
/^\[       OK \] / { ok++; next }
/^\[  SKIPPED \] .*ms\)$/ { skip++; next }
/^\[  FAILED  \] .*ms\)$/ { bad++; next }
/^Test (Passed|Failed|Not Run|Skipped)|^Test (timeout|exceeded)/ {
  tests++
  if (!gtest) { ok = bad = skip = 0 }
  if (/^Test Passed/) { if (!gtest) ok = 1; bad = 0 }
  else if (/^Test Skipped|^Test Not Run/) { if (ok + bad + skip == 0) skip = 1 }
  else if (bad == 0) bad = 1
  passed += ok; failed += bad; skipped += skip
  ok = bad = skip = 0; gtest = 0
}
END {
  if (tests == 0) exit 1
  printf "%d passed, %d failed%s\n", passed, failed, skipped ? ", " skipped " skipped" : ""
}
