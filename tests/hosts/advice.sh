#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# advice.sh - the tree in force crosses a slow line twice on one path. The monitor must
# propose a tree that crosses it once, apply it, and predict its time within a factor of 3.

. "${0%/*}/functions.sh"

hosts up --delay 2000
place a0 b0 a1 b1
draw_map $work/map.json
# The last rank of the chain is late, so that the ranks arrive equally far apart with any
# tree. A busy machine adds some ms to each message: where that spoils the measurement, the
# next one is over a line so long that they do not count.
for iterations in 500 400 300; do
    [ $iterations -eq 500 ] || pkill -USR1 -x delay_line
    run=advised$iterations
    start_run $run --trees=explicit:0-1,1-3,3-2 --threshold 60000 --map $work/map.json -- \
        "$apps/imbalance" --ranks-late 2 --late-us 8000 --sleep --iterations $iterations
    on front 60 "$eventspace" collectives --apply --after 64 -i 0.5 --format json $run \
        >$work/monitor 2>$work/err
    expect 0 'collectives --apply'
    ended job
    expect 0 'the program, which checks its results'
    "$PYTHON" "$here/collective_truth.py" advice $work/monitor 0.8 && break
done
expect 0 'the advice is good, and comes true'
cat $work/err
check 'it is said what was done' \
    grep -q 'replaces explicit:0-1,1-3,3-2 after' $work/err
check_nothing_left
finish
