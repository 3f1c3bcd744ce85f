#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_collective_bench.sh - bench/collective.sh compares what it says it compares.

. "${0%/*}/functions.sh"
need_mpi
unset ES_YIELD_NAP # times of operations
bench=$top_srcdir/bench
[ -x "$top_builddir/bench/collective" ] || fault "bench/collective is not built"

# It runs in the build folder, as users run it.
cd "$top_builddir" || exit 1
timeout -k 5 100 "$bench/collective.sh" --quick --ranks 4 --sizes 8,2000 \
    --operations barrier,allreduce,scatter --trees "kary:2 kary:2.quiet levels:host,core:2" \
    -o "$folder/bench" >"$folder/out" 2>"$folder/err" ||
    fault "it ended with $?: $(cat "$folder/out" "$folder/err")"
is_empty err
for figure in barrier_0_direct_ratio allreduce_8_library_time allreduce_2000_kary_2_ratio_low \
    scatter_2000_levels_host_core_2_ratio scatter_8_kary_2_edges switchable_allreduce_ratio; do
    [ "$(grep -c "^figure: collective_${figure} [0-9.]* [a-z]*$" "$folder/out")" -eq 1 ] ||
        fault "not one figure $figure: $(cat "$folder/out")"
done
[ "$(grep -c '^| allreduce | [0-9]* |' "$folder/bench.md")" -eq 2 ] || fault "the table has not 2 rows"
[ "$(grep -c '_ratio' "$folder/bench.tsv")" -gt 10 ] || fault "few figures in the list"
grep -q '<circle' "$folder/bench.svg" || fault "no plot"

# Trees are used, and of the quiet twin's edges nothing is recorded.
. "$bench/collective_rules.sh"
{
    echo '{"version": 1, "application": {"ranks": 3}, "collectors": ['
    tree_collectors
    echo '], "collectives": ['
    tree_rules "kary:2 kary:2.quiet"
    echo ']}'
} >"$folder/map.json"
run=$prefix-bench
expect 0 "$eventspace" run -n 3 --map "$folder/map.json" --name "$run" --keep \
    -- "$top_builddir/bench/collective" --rounds 2 --block 1 --sizes 8 --operations allreduce \
    library kary:2 kary:2.quiet
expect 0 "$eventspace" list --elements "$run"
awk '$1 ~ /(contribute|arrival|departure)$/ { sum += $6 } END { exit !(sum > 100) }' \
    "$folder/out" || fault "no edges are recorded: $(cat "$folder/out")"
awk '$1 ~ /quiet$/ { n++; sum += $6 } END { exit !(n > 0 && sum == 0) }' "$folder/out" ||
    fault "not all is quiet: $(cat "$folder/out")"
expect 0 "$eventspace" clean --force "$run"

for wrong in "--trees star" "--rounds" "--ranks x" "--unknown"; do
    # shellcheck disable=SC2086 # words
    expect 2 "$bench/collective.sh" $wrong
done
finish
