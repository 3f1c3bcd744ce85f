#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# before_mpi.sh - a rank on another host dies before its first MPI call: the run and its
# archive tell it alike.

. "${0%/*}/functions.sh"

hosts up --rate 100mbit --delay 200
place a0 a1
begin job front "$eventspace" run --name early --hostfile "$work/machines" \
    --launcher "$launcher" --keep --record "$work/archive" -- \
    "$top_builddir/tests/mpi/exit_status" early-SIGABRT 1 "$work/go"

# tells TEXT - `why` of the run says it.
tells() {
    hosts exec front "$eventspace" why early >$work/run 2>$work/run.err
    grep -qF "$1" $work/run
}
await 30 tells 'rank 1 holds up 1 thread; it has not called MPI yet' ||
    { cat $work/run $work/run.err; false; }
expect 0 'the rank that has not called MPI holds up the other'
touch $work/go
ended job
wanted='DIED (certain): rank 1 killed by signal 6 (SIGABRT) before its first MPI call'
await 20 tells "$wanted" || { cat $work/run $work/run.err; false; }
expect 0 'the run tells how it ended'
"$eventspace" why $work/archive >$work/told
grep -qF "$wanted" $work/told || { cat $work/told; false; }
expect 0 'so does its archive'
on front 20 "$eventspace" clean early >/dev/null
check_nothing_left
finish
