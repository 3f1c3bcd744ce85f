#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# failed_calls.sh - a call that returns an error is told as that: with its class and its
# arguments, and it is no send or receive for the order of events.

. "${top_srcdir:?not set}/tests/mpi/functions.sh"
use_commands
run=failed-$$

try "$eventspace" run -n 2 --quiet --keep --record "$work/archive" --name $run -- \
    "$bin/failed_calls"
expect 0 'the program runs'
try "$eventspace" events $run
for wanted in 'MPI_Bcast root 99 (no such rank) on MPI_COMM_WORLD, failed: MPI_ERR_ROOT' \
    'MPI_Ibcast root 99 (no such rank) on MPI_COMM_WORLD, failed: MPI_ERR_ROOT' \
    'MPI_Cart_create on MPI_COMM_WORLD, failed: ' \
    'MPI_Win_fence on MPI_COMM_WORLD, failed: ' \
    'MPI_Test, failed: MPI_ERR_TRUNCATE' \
    'MPI_Testall, failed: ' \
    'MPI_Testany, failed: MPI_ERR_TRUNCATE' \
    'MPI_Testsome, failed: ' \
    'MPI_Iprobe from 99 (no such rank), tag 7, failed: MPI_ERR_RANK' \
    'MPI_Send to 99 (no such rank), tag 7, failed: MPI_ERR_RANK' \
    'MPI_Irecv from 99 (no such rank), tag 7, failed: MPI_ERR_RANK' \
    'MPI_Send to 1, tag 7, failed: MPI_ERR_COUNT' \
    'MPI_Recv from 1, tag 8, failed: MPI_ERR_TRUNCATE'; do
    said "$wanted"
    expect 0 "events: $wanted"
done
try "$eventspace" events --filter 'failed == MPI_ERR_COUNT' --format json $run
[ "$(grep -c '"type":"event"' "$work/said")" = 1 ] || { cat "$work/said"; false; }
expect 0 'a filter finds the call that failed'
try "$eventspace" export "$work/archive" --to event-set --output "$work/set"
expect 0 'the recording is converted'
for wanted in '"index":[0-9]*,"type":"MPI_Send".*"peer":"99".*"failed":"MPI_ERR_RANK"' \
    '"index":[0-9]*,"type":"MPI_Irecv".*"peer":"99".*"failed":"MPI_ERR_RANK"' \
    '"index":[0-9]*,"type":"MPI_Send".*"peer":"1".*"failed":"MPI_ERR_COUNT"' \
    '"receive","type":"MPI_Recv".*"failed":"MPI_ERR_TRUNCATE"'; do
    grep -q "$wanted" "$work/set" || { cat "$work/set"; false; }
    expect 0 "event set: $wanted"
done
try "$eventspace" search --patterns mpi --count "$work/archive" LostMessage
[ "$(cat "$work/said")" = 0 ] || { cat "$work/said"; false; }
expect 0 'no message is lost, and the order is complete'

"$eventspace" run -n 2 --name $run-hang -- "$bin/failed_calls" hang >"$work/hang" 2>&1 </dev/null &
launcher=$!
# is_told - the verdict has the hint.
is_told() {
    try "$eventspace" why $run-hang
    said 'hint: rank 0 has never sent to rank 1 with tag 7' &&
        said 'its MPI_Send returned MPI_ERR_COUNT'
}
await 30 is_told
expect 0 'why: who waits for a message learns that its send failed'
! grep -E 'MISMATCH|MISSING' "$work/said" || { cat "$work/said"; false; }
expect 0 'why: a collective operation that one rank refused is none'
kill $launcher
wait $launcher
finish
