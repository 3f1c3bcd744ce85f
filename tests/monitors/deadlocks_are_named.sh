#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# deadlocks_are_named.sh - real programs that hang: the heartbeat reports which rank waits
# for which.

. "$top_srcdir/tests/cli/functions.sh"
need_mpi
hang=$top_builddir/apps/hang

# hangs CASE OPTION... - starts the case on two ranks and waits until it hangs.
hangs()
{
    run=$prefix-$1
    rm -f "$folder/hang.out" # or `await` finds the output of the case before
    "$eventspace" run -n 2 --name "$run" -- "$hang" --seconds 60 "$@" \
        >"$folder/hang.out" 2>"$folder/hang.err" </dev/null &
    launched=$!
    await 20 grep -q 'good iterations done' "$folder/hang.out"
}

ends()
{
    kill "$launched"
    wait "$launched"
    "$eventspace" clean "$run" >"$folder/out" 2>&1 || fault "clean: $(cat "$folder/out")"
}

watch()
{
    expect 1 "$eventspace" heartbeat -i 0.2 -n 5 --stalled-after 0.5 "$run"
    contains out "2 threads: $1 stalled, 0 dead, 0 finished"
}

hangs receive-cycle
watch 2
contains out "rank 0 waits in MPI_Recv for rank 1 (tag "
contains out "rank 1 waits in MPI_Recv for rank 0 (tag "
contains out "DEADLOCK (certain): 0 -> 1 -> 0, for "
expect 0 "$eventspace" events --last 3 "$run"
contains out "MPI_Recv from 1, tag 3"
contains out "still under way"
ends

hangs send-cycle
watch 2
contains out "rank 0 waits in MPI_Send for rank 1 (tag "
contains out "DEADLOCK (certain): 0 -> 1 -> 0, for "
ends

hangs wait
watch 2
contains out "rank 0 waits in MPI_Waitall for rank 1 ("
contains out " of 2 requests outstanding, "
contains out "DEADLOCK (certain): 0 -> 1 -> 0, for "
expect 0 "$eventspace" events --last 3 "$run"
contains out "MPI_Waitall of 2 requests, first MPI_Irecv from 1, tag 3, still under way"
expect 0 "$eventspace" events --last 3 -f json "$run"
json_lines_hold "o['type'] != 'open' or (o['awaits'], o['sequence']) == ('MPI_Irecv', None)"
ends

hangs missing-collective --absent-sleeps
watch 1
contains out "rank 0 waits in MPI_Barrier on MPI_COMM_WORLD"
contains out "for rank 1 to enter"
contains out "no deadlock: rank 1 holds up 1 thread; it has been computing for "
lacks out "DEADLOCK"
expect 0 "$eventspace" heartbeat --once --stalled-after 1h "$run"
contains out "for rank 1 to enter"
contains out "not yet counted as stalled"
contains out "no deadlock: rank 1 holds up 1 thread; it has been computing for "
expect 1 "$eventspace" heartbeat --once --stalled-after 100ms -f json "$run"
json_lines_hold "o['held_up_by'] == [{'rank': 1, 'threads': 1, 'gone': False}]"
ends

# A run that ends well removes its segments; a heartbeat that follows it reports its end.
"$eventspace" run -n 2 --name "$prefix-brief" -- "$top_builddir/apps/windtunnel" \
    --iterations 100000000 --until "$folder/enough" >"$folder/hang.out" 2>&1 &
launched=$!
await 20 "$eventspace" heartbeat --once "$prefix-brief"
"$eventspace" heartbeat -i 0.2 "$prefix-brief" >"$folder/out" 2>"$folder/err" &
follower=$!
await 20 grep -q progressing "$folder/out"
touch "$folder/enough"
wait "$follower" || fault "heartbeat of a run that ends well: $(cat "$folder/out" "$folder/err")"
contains out "2 threads: 0 stalled, 0 dead, 2 finished"
wait "$launched" || fault "windtunnel: $(cat "$folder/hang.out")"

# A kept run: the heartbeat ends with it and reports no fault.
"$eventspace" run -n 2 --keep --name "$prefix-good" -- "$hang" none >"$folder/hang.out" 2>&1
expect 0 "$eventspace" heartbeat -i 0.1 "$prefix-good"
contains out "2 threads: 0 stalled, 0 dead, 2 finished"
expect 0 "$eventspace" events --follow -f json "$prefix-good"
json_lines_hold "o['type'] in ('event', 'end')"
expect 2 "$eventspace" events --filter "tag === 3" "$prefix-good"
contains err "filter:1:"
"$eventspace" clean "$prefix-good" >"$folder/out" 2>&1
expect 2 "$eventspace" heartbeat "$prefix-good"

finish
