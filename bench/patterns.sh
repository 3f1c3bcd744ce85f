#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# patterns.sh - what searches of patterns and convex closures cost: tables and figures.
#
#   bench/patterns.sh [quick|full] [FOLDER]      from the top of the build folder
#
# Writes cases.txt, closures.txt, large.txt and, of these, tables.md and figures (*.svg)
# into FOLDER (patterns-measured). Quick takes some minutes and leaves out what takes
# longer than a second or so; full lets searches run for 60 s each, and goes to 10^7
# events. The status is 1 when a search finds other matches than are in the made sets.

set -eu
mode=${1:-quick}
folder=${2:-patterns-measured}
sources=$(dirname "$0")
case $mode in
quick) options=-q runs=3 sizes=1000000 ;;
full) options="-t 60" runs=20 sizes="1000000 10000000" ;;
*)
    echo "usage: patterns.sh [quick|full] [FOLDER]" >&2
    exit 2
    ;;
esac
if ! [ -x bench/patterns_bench ]; then
    echo "patterns.sh: no bench/patterns_bench: run it in the build folder, after make" >&2
    exit 2
fi
mkdir -p "$folder"
status=0

# shellcheck disable=SC2086
bench/patterns_bench $options -d "$sources/patterns" >"$folder/cases.txt" || status=$?
bench/closures_bench -r "$runs" >"$folder/closures.txt" || status=$?
: >"$folder/large.txt"
for events in $sizes; do
    bench/patterns_large -e "$events" -d "$sources/patterns" >>"$folder/large.txt" ||
        status=$?
done
: >"$folder/live.txt"
if [ -x bench/pattern_live ]; then
    bench/pattern_live >"$folder/live.txt" || status=$?
fi
PYTHONDONTWRITEBYTECODE=1 "${PYTHON:-python3}" "$sources/pattern_tables.py" -o "$folder" \
    "$folder/cases.txt" "$folder/closures.txt" "$folder/large.txt" "$folder/live.txt" \
    >"$folder/tables.md"
echo "$folder/tables.md"
exit $status
