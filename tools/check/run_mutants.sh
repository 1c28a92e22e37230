#!/bin/bash
# Shows that the tests of src/filter and src/format can fail: puts one fault after another into a copy of the sources and
# runs the test that has to notice it. Prints a table; exits 1 if a fault went unnoticed or no longer applies. Minutes,
# since every fault means a build; not part of the default checks.
#   usage: tools/check/run_mutants.sh [NAME...]
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../setup/common.sh"

scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
tree="$scratch/tree" build="$scratch/build"
mkdir "$tree"
cp -r "$REPO_ROOT/src" "$REPO_ROOT/cmake" "$REPO_ROOT/CMakeLists.txt" "$tree/"
mkdir "$tree/tests"
cp -r "$REPO_ROOT/tests/"{filter,format,fuzz,policy,package,CMakeLists.txt,sanitized.h} "$tree/tests/"
mkdir -p "$tree/tools" && cp -r "$REPO_ROOT/tools/check" "$REPO_ROOT/tools/setup" "$tree/tools/"

generator=()
command -v ninja >/dev/null && generator=(-G Ninja)
cmake -S "$tree" -B "$build" "${generator[@]}" -DTIEREDFILTER_ROCKSDB=OFF \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O1 >"$scratch/log" 2>&1 ||
  { cat "$scratch/log" >&2; Die "the copy cannot be configured"; }

failures=0 kills=0
only=("$@")

Row() { printf '%-28s %-34s %-58s %s\n' "$@"; }

# The test binaries by the names that CTest has for them.
Build() { cmake --build "$build" --parallel "$(nproc)" --target "$1" >"$scratch/log" 2>&1; }
RunTest() {
  local binary
  binary="$(find "$build/tests" -type f -name "$1" -perm -u+x | head -n 1)"
  [[ -n $binary ]] && timeout 600 "$binary" --gtest_brief=1 --gtest_filter="$2" >"$scratch/out" 2>&1
}

# Mutant NAME FILE SED_EXPRESSION TEST GTEST_FILTER
Mutant() {
  local name="$1" file="$tree/$2" expression="$3" test="$4" filter="$5" verdict
  if ((${#only[@]})) && [[ " ${only[*]} " != *" $name "* ]]; then return; fi
  cp -p "$file" "$scratch/original"
  sed -E -i "$expression" "$file"
  if cmp -s "$file" "$scratch/original"; then
    verdict="DOES NOT APPLY: adapt it to the source"
  elif ! Build "$test"; then
    verdict="DOES NOT COMPILE: adapt it to the source"
  elif RunTest "$test" "$filter"; then
    verdict="SURVIVED"
  else
    verdict="killed"
  fi
  # A new date, or the build would take the mutant for up to date.
  cp "$scratch/original" "$file"
  Row "$name" "$2" "$test $filter" "$verdict"
  if [[ $verdict == killed ]]; then kills=$((kills + 1)); else failures=$((failures + 1)); fi
}

Row fault file "test that has to notice" verdict

# Without faults all of the tests named below pass.
for test in block_test cuckoo_conformance_test few_keys_test fingerprint_line_test golden_block_test hostile_block_test key_hash_test line_layout_test \
  line_solver_test lookup_test placement_test short_filter_test wide_product_test; do
  Build "$test" || { tail -n 30 "$scratch/log" >&2; Die "$test does not build in the copy"; }
done
for test in block_test few_keys_test fingerprint_line_test golden_block_test hostile_block_test key_hash_test line_layout_test line_solver_test lookup_test \
  placement_test short_filter_test; do
  RunTest "$test" '*' || { tail -n 30 "$scratch/out" >&2; Die "$test fails without any fault"; }
done

conformance=cuckoo_conformance_test
counts='*EveryCountTo2000/equations_portable'

# Keys lost while lines are built.
Mutant drop_a_received_key src/filter/equations_builder.cc \
  's/while \(row < received\) add/while (row + 1 < received) add/' $conformance "$counts"
Mutant drop_the_last_own_key src/filter/equations_builder.cc \
  's/(i = placement_\.kept\(line\)); i-- > 0;/\1; i-- > 1;/' $conformance "$counts"
Mutant do_not_solve_again src/filter/equations_builder.cc \
  's/if \(state_\[to\] != kSolved\) continue;/continue;/' $conformance "$counts"
Mutant forget_late_rows src/filter/line_solver_impl.h \
  's/if \(k >= g->late_rows\) g->late_rows = k \+ 1;/if (k > g->late_rows) g->late_rows = k;/' \
  line_solver_test '*RowsThatDifferInTheTailOnly*'
Mutant dependent_rows_are_fine src/filter/line_solver_impl.h \
  's/g->first_bad\[l\] = p;/g->first_bad[l] = g->rows;/' line_solver_test '*FindsDependentRows*'
Mutant dependent_late_rows_are_fine src/filter/line_solver_impl.h \
  's/g->first_bad\[l\] = g->late_of\[k\]\[l\];/g->first_bad[l] = g->rows;/' line_solver_test '*FindsDependentRows*'
Mutant dependent_triple_rows_are_fine src/filter/triple_solver_impl.h \
  's/g->first_bad\[l\] = p;/g->first_bad[l] = g->rows;/' line_solver_test '*FindsDependentRows*'
Mutant no_far_columns src/filter/triple_solver_impl.h \
  's/row\.far\.v\[i\] = far & -far & no_tail;/row.far.v[i] = far \& no_tail \& ~no_tail;/' line_solver_test '*RowsThatDiffer*'
Mutant extra_planes_half_folded src/filter/line_solver_impl.h \
  's/symbol3, coefficients, column \+ 3/symbol3, coefficients, column + 2/' line_solver_test '*'
Mutant extra_columns_of_another_row src/filter/line_solver_impl.h \
  's/main\.v\[i\] >> columns\.v\[i\];/main.v[i] >> (columns.v[i] - 1);/' line_solver_test '*'
Mutant many_planes_share_the_tail src/filter/line_solver_impl.h \
  's/in_tail = most <= kMostPlanesInTail;/in_tail = most > 0;/' line_solver_test '*'
Mutant clear_one_row_too_many src/filter/line_solver.cc \
  's/p = from; p < group->rows/p = from - (from > 0); p < group->rows/' line_solver_test '*FindsDependentRows*'
Mutant late_keys_unchained src/filter/placement.cc \
  's/late = late_\[late\]\.next/late = kNone/' placement_test '*'
Mutant settled_keys_of_another_line src/filter/placement.cc \
  's/own = hashes_ \+ start_\[line\];/own = hashes_ + start_[line] + (line > 7);/' placement_test '*'
Mutant plan_ends_after_one_sweep src/filter/placement_plan.h \
  's/kMostSweeps = 100/kMostSweeps = 1/' placement_test '*APlan*'
Mutant cycles_end_in_wrong_holes src/filter/hash_sort.cc \
  's/hole\[k\] = hole\[open\];//' hash_sort_test '*'

# A lookup that goes elsewhere than the builder.
Mutant threshold_off_by_one src/filter/placement.cc \
  's/given_\[line\] - 1\]\) \+ 1;/given_[line] - 1]);/' placement_test '*'
Mutant secondary_off_by_one src/filter/line_layout.h \
  's/primary \+ 1 \+ MulHigh/primary + MulHigh/' line_layout_test '*SecondaryIsAnotherLine*'
Mutant lookup_ignores_threshold src/filter/lookup_body.h \
  's/GroupIsGivenAway\(slot\.group, /GroupIsGivenAway(slot.group + 128, /' lookup_test '*AgreesWithTheFormats*'
Mutant batch_ignores_threshold src/filter/lookup_body.h \
  's/GroupIsGivenAway\(groups\[i\], /GroupIsGivenAway(groups[i] + 128u, /' lookup_test '*AgreesWithTheFormats*'
Mutant kind_moves_the_threshold src/filter/line_layout.h \
  's/return 2 \* group \+ 1 < tag/return 2 * group < tag/' lookup_test '*AgreesWithTheFormats*'
Mutant ninth_plane_ignored src/filter/lookup_body.h \
  's/\(wrong & tag & kTagMorePlanes\) == 0/(wrong \& 0 * tag) == 0/' lookup_test '*AgreesWithTheFormats*'
Mutant extra_plane_of_another_word src/filter/line_match_tables.h \
  's/lanes\.wrapped\[i\] = 2 \* columns - skip/lanes.wrapped[i] = 2 * columns - skip - 1/' lookup_test '*AgreesWithTheFormats*'
Mutant tail_of_eight_planes src/filter/line_match.h \
  's/>> \(\(tag << 5\) & 63\)/>> 0 * tag/' lookup_test '*AgreesWithTheFormats*'
Mutant product_halves_swapped src/filter/wide_product.h \
  's/mulx %3, %0, %1/mulx %3, %1, %0/' wide_product_test '*'
Mutant forget_the_salt src/format/block.cc \
  's/lines_\.salt = metadata_\.salt;/lines_.salt = 0;/' golden_block_test '*one_line_salted'
Mutant forget_a_short_salt src/format/block.cc \
  's/view\.salt = m\.salt;/view.salt = 0;/' $conformance '*FewKeys/equations_portable'
Mutant salt_not_undone src/filter/line_layout.h \
  's/0x9cb4b2f8129337dbULL/0x9cb4b2f8129337d9ULL/' line_layout_test '*SaltsCanBeUndone*'

# Bytes that change, and equations that answer for nothing.
Mutant another_hash src/filter/key_hash.h \
  's/return XXH3_64bits\(data, size\)/return XXH64(data, size, 0)/' key_hash_test '*'
Mutant another_multiplier src/filter/line_layout.h \
  's/0x9fb21c651e98df25ULL/0x9fb21c651e98df27ULL/' golden_block_test '*'
Mutant far_columns_from_near_ones src/filter/line_layout.h \
  's/return MulHigh\(key\.spread, 0xa0761d6478bd642fULL\);/return key.coefficients;/' \
  line_layout_test '*RateOfMovedAndUnmoved*'
Mutant fingerprint_from_coefficients src/filter/line_layout.h \
  's/return \{mixed >> 1, second\.high/return {mixed >> 1, mixed/' \
  line_layout_test '*RateOfMovedAndUnmoved*'

# The short form.
short=short_filter_test
Mutant short_threshold_ignored src/filter/short_lookup_body.h \
  's/slot\.group < \(tag/slot.group + 128 < (tag/' $short '*EveryCount*'
Mutant short_last_plane_ignored src/filter/short_lookup_body.h \
  's/return !kMore \|\| .*;/return true;/' $short '*EveryCount*'
Mutant short_late_keys_left_out src/filter/short_builder.cc \
  's/todo_\.push_back\(to\);//' $short '*EveryCount*'
Mutant short_contradictions_tolerated src/filter/short_builder.cc \
  's/return \(row\.value & LowBits\(planes_\)\) == 0;/return true;/' $short '*EveryCount*'
Mutant short_rows_kept_of_given_keys src/filter/short_builder.cc \
  's/Shrink\(rows_before_group\);/Shrink(rows_before_group * 0 + system->rows());/' golden_block_test '*short*'
Mutant short_lines_not_cleared src/filter/short_builder.cc \
  's/std::memset\(out_, 0, geometry_\.data_bytes\);//' $short '*EveryByte*'
Mutant short_form_reads_further src/filter/short_lookup_body.h \
  's,const char\* p = bits \+ at / 8;,const char* p = bits + at / 8 + (at > 0);,' hostile_block_test '*Short*'
Mutant short_keys_per_line src/filter/short_geometry.h \
  's/kShortLineKeys = 90/kShortLineKeys = 60/' few_keys_test '*Quarter*'

# The fingerprints coding.
fingerprints=fingerprint_line_test
Mutant long_mini_buckets_cut src/filter/fingerprint_lookup_body.h \
  's/in_bucket > f\.fields, 0/in_bucket > 60, 0/' $fingerprints '*AllKeysInOneMiniBucket*'
Mutant fingerprint_threshold_ignored src/filter/fingerprint_lookup_body.h \
  's/slot\.group < TagThreshold/slot.group + 128 < TagThreshold/' $fingerprints '*AnySmallNumber*'
Mutant remainder_from_top_bits src/filter/fingerprint_line.h \
  's/return key\.high & .*;/return key.high >> (64 - remainder_bits);/' $fingerprints '*RateIsAsStated*'
Mutant crowded_line_tolerated src/filter/fingerprint_builder.cc \
  's,lines / 32 : 0,0u : 0u,' $fingerprints '*OneCrowdedLine*'
Mutant rate_of_kept_keys_only src/filter/fingerprint_builder.cc \
  's/\(primary \+ elsewhere\)/(primary + 0 * elsewhere)/' $fingerprints '*RateIsAsStated*'

# Blocks that are not whole.
Mutant checksum_not_compared src/format/block.cc \
  's/if \(Get\(t \+ kChecksumAt, 4\) != Checksum\(t, kChecksumAt, m\.data_bytes\)\) return false;//' hostile_block_test '*'
Mutant checksum_without_length src/format/block.cc \
  's/checksum_at, data_bytes\)\)/checksum_at, 0 * data_bytes))/' hostile_block_test '*Truncated*'
Mutant short_checksum_not_compared src/format/block.cc \
  's/if \(Get\(t \+ kShortChecksumAt, 4\) != .*\) return false;//' hostile_block_test '*short_153'
Mutant reserved_byte_ignored src/format/block.cc \
  's/if \(Get\(t \+ kReservedAt, 1\) != 0\) return false;//' block_test '*HandMade*'
Mutant later_version_is_read src/format/block.cc \
  's/Get\(t \+ kVersionAt, 1\) != kFormatVersion/Get(t + kVersionAt, 1) < kFormatVersion/' block_test '*HandMade*'
Mutant earlier_version_is_read src/format/block.cc \
  's/Get\(t \+ kVersionAt, 1\) != kFormatVersion/Get(t + kVersionAt, 1) > kFormatVersion/' block_test '*HandMade*'
Mutant any_number_of_planes src/format/block.cc \
  's/planes >= kMinPlanes && planes <= kMaxPlanes/planes > 0/' block_test '*HandMade*'

Say "$kills killed, $failures not"
((failures == 0))
