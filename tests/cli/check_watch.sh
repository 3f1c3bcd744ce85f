#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_watch.sh - run --watch: what hangs is told and ended, what is left over is told;
# why: latent errors of recorded runs.

. "${0%/*}/functions.sh"
need_mpi
hang=$top_builddir/apps/hang
latent=$top_builddir/tests/mpi/latent
[ -x "$latent" ] || latent=$top_builddir/mpi/latent

# One that hangs is told for certain, once, and ended.
for how in receive-cycle send-cycle wait; do
    expect 86 timeout -k 5 120 "$eventspace" run -n 2 --name "$prefix-$how" --watch=abort -- \
        "$hang" "$how" --seconds 100
    contains err "eventspace run: '$prefix-$how' cannot proceed, and is terminated:"
    contains err "DEADLOCK (certain): 0 -> 1 -> 0"
    told=$(grep -c 'cannot proceed' "$folder/err")
    [ "$told" = 1 ] || fault "$how: told $told times"
    expect 0 "$eventspace" clean "$prefix-$how"
done

# Without `abort` it goes on, until it gives up by itself.
expect 3 timeout -k 5 120 "$eventspace" run -n 2 --name "$prefix-told" --watch -- \
    "$hang" receive-cycle --seconds 5
contains err "eventspace run: '$prefix-told' cannot proceed:"
contains err "DEADLOCK (certain)"
expect 0 "$eventspace" clean "$prefix-told"

# One that does not hang is left alone.
expect 0 timeout -k 5 120 "$eventspace" run -n 2 --watch=abort -- "$hang" none
lacks err "cannot proceed"
lacks err "ended with leaks"
expect 2 "$eventspace" run -n 2 --watch=kill -- true
contains err "--watch=kill: give --watch or --watch=abort"

# What is left over, and where it was posted.
posted=
if grep -q '^#define HAVE_LIBDW 1' "$top_builddir/config.h"; then
    posted="latent.c:$(sed -n '/MPI_Irecv(.*ANSWER/=' "$top_srcdir/tests/mpi/latent.c") in leave_over()"
fi
check_leaks()
{
    contains "$1" "LEAK: rank 0: 1 message to rank 1, tag 7, on MPI_COMM_WORLD: never received"
    contains "$1" "LEAK: rank 1: 1 request of MPI_Irecv with rank 0, tag 8, on MPI_COMM_WORLD, posted at $posted"
    contains "$1" ": never completed"
    contains "$1" "LEAK: rank 0 and 1 other, each: 1 communicator: not freed"
    contains "$1" "LEAK: rank 0 and 1 other, each: 1 datatype: not freed"
}
expect 0 timeout -k 5 120 "$eventspace" run -n 2 --keep --name "$prefix-over" --watch -- \
    "$latent" leave-over
contains err "eventspace run: '$prefix-over' ended with leaks:"
check_leaks err
expect 4 "$eventspace" why "$prefix-over"
check_leaks out
expect 4 "$eventspace" why -f json "$prefix-over"
contains out '{"type":"leak","what":"messages","rank":0,"ranks":1,"count":1,"peer":1,"tag":7,'
expect 0 "$eventspace" clean "$prefix-over"

# A recording and a watch of one run: both end with it.
expect 0 timeout -k 5 120 "$eventspace" run -n 2 --name "$prefix-both" --watch \
    --record "$folder/both" -- "$latent" leave-over
contains err "eventspace run: '$prefix-both' ended with leaks:"
check_leaks err
expect 4 "$eventspace" why "$folder/both"
check_leaks out

# Latent errors of recorded runs.
record()
{
    expect 0 timeout -k 5 120 "$eventspace" run -n 3 --record "$folder/$1" -- "$latent" "$1"
}
record send-first
expect 4 "$eventspace" why "$folder/send-first"
contains out "LATENT deadlock: 3 calls that wait for each other, hidden because sends were buffered; 5 times"
contains out "rank 0: MPI_Send (operation 2), tag 7, on MPI_COMM_WORLD, needs that rank 1 begins MPI_Recv (operation 3)"
expect 4 "$eventspace" why -f json "$folder/send-first"
json_lines_hold "o['type'] == 'latent' and o['times'] == 5 and len(o['steps']) == 3"
record wait-first
expect 4 "$eventspace" why "$folder/wait-first"
contains out "MPI_Wait (operation 3) of MPI_Isend, tag 7"
record broadcast-first
expect 4 "$eventspace" why "$folder/broadcast-first"
contains out "hidden because a collective operation did not wait for all; 5 times"
record post-first
expect 0 "$eventspace" why "$folder/post-first"
contains out "no latent deadlock in "
record leave-over
expect 4 "$eventspace" why "$folder/leave-over"
contains out "LEAK: rank 0: 1 message to rank 1, tag 7, on MPI_COMM_WORLD: never received"
contains out "LEAK: rank 0 and 2 others, each: 1 communicator: not freed"
record gather-any
expect 0 "$eventspace" why "$folder/gather-any"
contains out "5 benign races of receives from any source"
record answer-any
expect 4 "$eventspace" why "$folder/answer-any"
contains out "what follows depends on whose message it was (tag 7, on MPI_COMM_WORLD"
finish
