#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# advice.sh - a tree that crosses a long line twice on one way is in force; the monitor
# proposes one that crosses it once, puts it in force, and what it foretold comes.

. "${0%/*}/functions.sh"

hosts up --delay 2000
place a0 b0 a1 b1
draw_map $work/map.json
# The end of the chain is late, so the ranks come as far apart with any tree. What is
# measured is the machine's to spoil, so there are several tries.
for try in 1 2 3; do
    run=advised$try
    start_run $run --trees=explicit:0-1,1-3,3-2 --threshold 60000 --map $work/map.json -- \
        "$apps/imbalance" --ranks-late 2 --late-us 8000 --sleep --iterations 500
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
    grep -q 'takes the place of explicit:0-1,1-3,3-2 after' $work/err
check_nothing_left
finish
