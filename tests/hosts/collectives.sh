#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# collectives.sh - the clocks of the hosts differ by seconds. The collective-operation
# monitor must still find the late rank and the time that it costs the others. By
# uncorrected clocks another rank would seem to delay all others by seconds.

. "${0%/*}/functions.sh"

wrong_clocks
hosts up --delay 1000
place a0 b0 a1 b1
draw_map $work/map.json

# watched RUN [OPTION...] - runs imbalance with rank 3 late, by so much that a busy machine
# does not count. The monitor reads it on the launcher's host and on a host outside the run
# while it runs, and afterwards on a rank's host.
watched() {
    local run=$1 name
    start_run "$@" --keep --threshold 20000 --map $work/map.json -- \
        "$apps/imbalance" --ranks-late 3 --late-us 160000 --sleep --iterations 50
    local home
    home=$(home_of $run)
    bring_key out $run
    begin front front "$eventspace" collectives --nodes --follow --format json $run
    begin out out "$eventspace" collectives --nodes --format json --server "$home" $run
    # While the program runs, it is checked on which hosts the stages of the monitor work.
    await 10 grep -qs '"type":"rank"' $work/front.out
    on front 20 "$eventspace" scope show collectives-nodes $run >$work/$run.stages
    ended job
    expect 0 "$run: imbalance"
    for name in front out; do
        ended $name
        expect 0 "$run: collectives on $name"
    done
    on b0 20 "$eventspace" collectives --nodes --once --format json $run >$work/b0.out
    expect 0 "$run: collectives on b0, afterwards"
    for name in front out b0; do
        check "$run: who is late, on $name" "$PYTHON" "$here/collective_truth.py" late \
            $work/$name.out $work/job.out 3 b1
    done
    on a1 20 "$eventspace" collectives --nodes --once $run >$work/text
    check "$run: it is said in words" grep -q '^rank 3 on b1 arrives last in' $work/text
}

# The MPI library's own algorithm.
watched own
check 'which has no internal nodes' grep -q '^0 results' $work/text

# An instrumented tree: rank 1 leads cluster west, is the parent of 3, and a child of 0.
watched tree --trees=levels:host,cluster
for name in front out b0; do
    check "its nodes, on $name" \
        "$PYTHON" "$here/collective_truth.py" nodes $work/$name.out $work/job.out 3
done
check 'it is said which' grep -Eq '^ *1  b0 .*  3 \([0-9]* %\)' $work/text
for rank in 0:a0 1:b0; do
    check "node ${rank%:*} is analysed in the tuple server of ${rank#*:}" \
        grep -Eq "tree-node +rank ${rank%:*} +${rank#*:} " $work/tree.stages
done
for run in own tree; do
    on front 10 "$eventspace" clean $run >/dev/null
    hosts exec out rm -rf "$EVENTSPACE_DIR/$run"
done
check_nothing_left
finish
