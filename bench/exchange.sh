#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# exchange.sh - the overhead of collection on messages of a program not linked with
# EventSpace.
#
#   bench/exchange.sh [TURNS [ROUNDS]]       from the top of the build folder
#
# The program runs alone, with the floor of any collector, and under `eventspace exec`,
# in turns.  Each figure is the median over the turns of the time added to the bare run
# of the same turn, for the minimum of its rounds and for their median.

set -eu
turns=${1:-7}
rounds=${2:-200}
mpiexec=${MPIEXEC:-mpiexec}
build=$PWD
if ! [ -x "$build/bench/exchange" ]; then
    echo "exchange.sh: no $build/bench/exchange: run it in the build folder, after make" >&2
    exit 2
fi

run() {
    what=$1
    shift
    "$mpiexec" -bind-to core -n 2 "$@" </dev/null | awk -v what="$what" '{print what, $0}'
}

turn=0
while [ "$turn" -lt "$turns" ]; do
    turn=$((turn + 1))
    for mode in pingpong rate; do
        run bare "$build/bench/exchange" "$mode" "$rounds"
        run floor "$build/bench/exchange" "$mode" floor "$rounds"
        run collected "$build/cli/eventspace" exec -- "$build/bench/exchange" "$mode" \
            "$rounds"
    done
done | awk '
function median(text, parts, count, i, j, kept) {
    count = split(text, parts, " ")
    for (i = 2; i <= count; i++) {
        kept = parts[i]
        for (j = i - 1; j > 0 && parts[j] + 0 > kept + 0; j--)
            parts[j + 1] = parts[j]
        parts[j + 1] = kept
    }
    return parts[int((count + 1) / 2)] + 0
}
{
    for (i = 3; i <= 4; i++) {
        if ($1 == "bare")
            bare[i] = $i
        all[$2, $1, i] = all[$2, $1, i] " " ($1 == "bare" ? $i : $i - bare[i])
    }
}
function tell(mode, i, what, alone, floor, added) {
    alone = median(all[mode, "bare", i])
    floor = median(all[mode, "floor", i])
    added = median(all[mode, "collected", i])
    printf "%-8s %-6s %8.1f ns alone, floor adds %.1f, collecting %.1f\n", mode, what, alone,
           floor, added
    printf "figure: exchange_%s_%s_added %.1f ns\n", mode, what, added
    if (floor > 0)
        printf "figure: exchange_%s_%s_to_floor %.2f ratio\n", mode, what, added / floor
}
END {
    split("pingpong rate", modes, " ")
    for (m = 1; m <= 2; m++) {
        tell(modes[m], 3, "least")
        tell(modes[m], 4, "median")
    }
}'
