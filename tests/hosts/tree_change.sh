#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# tree_change.sh - a tree each of whose edges crosses a long line is replaced, while the
# program runs, by one that crosses it once. The time that the monitor measures must drop. A
# new rule must reach the ranks although a tuple server is down, and the results of the
# program stay right.

. "${0%/*}/functions.sh"

hosts up --delay 2000
place a0 b0 a1 b1
draw_map $work/map.json
start_run change --keep --trees=explicit:0-1,1-2,2-3 --threshold 60000 \
    --map $work/map.json -- "$apps/imbalance" --iterations 3000
home=$(home_of change)

# measured NAME - writes all operations up to now, one line for each tree.
measured() {
    on front 20 "$eventspace" collectives --once --format json change >$work/$1
}

# has COUNT TREE - at least COUNT operations have used the tree.
has() {
    measured so_far
    "$PYTHON" "$here/collective_truth.py" count $work/so_far "$2" "$1"
}

shows() {
    on front 10 "$eventspace" collect tree change 2>/dev/null | grep -q "$1"
}

await 30 has 100 0
on front 30 "$eventspace" collect tree levels:host,cluster,gateway --wait 20 change \
    >$work/out
expect 0 'the tree is changed to one by host and cluster'
check 'it is in force' grep -q 'levels:host,cluster,gateway' $work/out
await 30 has 200 1
measured both
check 'it crosses the line once instead of three times, and is so much faster' \
    "$PYTHON" "$here/collective_truth.py" faster $work/both 0 1 0.8

# The tuple server of a1 is down: the rule reaches the others, and so rank 0, which decides.
hosts exec a1 pkill -9 -x eventspaced
on front 30 "$eventspace" collect tree binomial change >$work/out 2>$work/err
expect 3 'a wish while a tuple server is down'
check 'it is said whose' grep -q 'cannot query host a1' $work/err
await 20 shows binomial
check 'the wish is in force all the same' shows binomial
# The tuple server of rank 0 is down: the tree does not change.
hosts exec a0 pkill -9 -x eventspaced
on front 30 "$eventspace" collect tree linear change >$work/out 2>$work/err
expect 3 'a wish that cannot reach rank 0'
check 'it is said why' grep -q 'cannot query host a0' $work/err
for host in a0 a1; do
    on $host 10 "$top_builddir/cli/eventspaced" --run change --home "$home" >$work/out
    expect 0 "the server of $host again"
done
check 'the tree is what it was' shows binomial

on front 30 "$eventspace" collect tree library --wait 20 change >$work/out
expect 0 "back to the library's own"
check 'which is shown' grep -q 'library' $work/out
ended job
expect 0 'the program, which checks its results'
measured all
for change in '0 1 0.8' '0 library 0.8'; do
    # shellcheck disable=SC2086 # three words
    check "what went before is told apart ($change)" \
        "$PYTHON" "$here/collective_truth.py" faster $work/all $change
done
check 'each operation is seen once' "$PYTHON" "$here/collective_truth.py" whole \
    $work/all $work/job.out
on front 10 "$eventspace" clean change >/dev/null
check_nothing_left
finish
