#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# cases_are_found.sh - the cases of the thesis have the numbers of matches that it states:
# all by `indexed`, by the other engines those that end soon. Tables are made of the output.

set -u
failed=0
patterns=$top_srcdir/bench/patterns
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
    echo "$*"
    failed=$((failed + 1))
}

run() {
    "$top_builddir/bench/patterns_bench" -q -r 1 -d "$patterns" "$@" >>"$folder/cases.txt" ||
        fail "patterns_bench $*: status $?"
}

run -w indexed
for case in 2 3 4 5 7 8; do
    run -c $case
done
"$top_builddir/bench/patterns_large" -n 64 -e 20000 -d "$patterns" >"$folder/large.txt" ||
    fail "patterns_large: status $?"
"$top_builddir/bench/closures_bench" -r 1 -n 50 tcp pvm-merge >"$folder/closures.txt" ||
    fail "closures_bench: status $?"
"$top_builddir/bench/pattern_live" 20000 16 >"$folder/live.txt" ||
    fail "pattern_live: status $?"
grep -q "> .* s$" "$folder/cases.txt" && fail "a search was not done in time"

"$PYTHON" "$top_srcdir/bench/pattern_tables.py" -o "$folder" "$folder/cases.txt" \
    "$folder/closures.txt" "$folder/large.txt" "$folder/live.txt" >"$folder/tables.md" ||
    fail "pattern_tables.py: status $?"
for title in "Table 6.4" "Tables 4.3 to 4.10" "Tables 4.11 to 4.14" "Large event set" \
    "While events arrive"; do
    grep -q "^### $title" "$folder/tables.md" || fail "no table '$title'"
done
grep -q "^| 4 .* 58 | 58 |" "$folder/tables.md" || fail "case 4 is not in the tables"
for figure in "$folder"/*.svg; do
    "$PYTHON" -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' \
        "$figure" || fail "$figure is no SVG"
done
[ $failed -eq 0 ]
