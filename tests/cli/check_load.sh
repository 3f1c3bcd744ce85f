#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_load.sh - the load generator of bench/ writes what it says.

. "${0%/*}/functions.sh"
load=$top_builddir/bench/load
run=$prefix-load

# What it says of each element is what readers find there.
"$load" --run "$run" --hosts 2 --ranks 3 --threads 2 --elements 4 --total 22 --count 40 \
    --rate 2000 --seconds 30 --linger 30 >"$folder/load" &
pid=$!
await 20 grep -q '^written' "$folder/load"
contains load "ready: run $run, 3 ranks on 2 hosts, 22 elements"
contains load "written: 880 tuples to 22 elements"
[ "$(grep -c ' 40$' "$folder/load")" = 22 ] || fault "not 22 elements with 40 tuples"
expect 0 "$eventspace" list "$run"
contains out "run $run: 3 processes, 6 threads, 22 elements, 880 tuples"
[ "$(awk '$1 == "host-1" && $2 == 2' "$folder/load" | wc -l)" = 6 ] || fault "rank 2 is elsewhere"

# A signal ends it and takes the segments away.
kill -TERM $pid
wait $pid || fault "ended with $?"
expect 2 "$eventspace" list "$run"

# So does one while it writes.
"$load" --run "$run" --rate 1000 --seconds 0 --quiet >"$folder/load" &
pid=$!
await 10 grep -q ready "$folder/load"
writes()
{
    "$eventspace" list "$run" | grep -q ' elements, [1-9][0-9]* tuples'
}
await 10 writes
kill -INT $pid
wait $pid || fault "ended with $?"
contains load "tuples to 14 elements"
expect 2 "$eventspace" list "$run"

for wrong in "--hosts 3" "--ranks 0" "--threshold 0" "--rate x" "--seconds -1" "--run a/b" \
    "--unknown"; do
    # shellcheck disable=SC2086 # words
    expect 2 "$load" $wrong
done
finish
