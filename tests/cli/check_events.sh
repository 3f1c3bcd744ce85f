#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_events.sh - eventspace events: what is asked for and not there, where losses are
# told, and how following ends.

. "${0%/*}/functions.sh"
need_mpi

end_all()
{
    # shellcheck disable=SC2046 # a list of pids
    kill $(jobs -p) 2>/dev/null
    clear_up
}
trap end_all EXIT

# A run that has ended.
ended=$prefix-ended
expect 0 "$eventspace" run -n 2 --keep --name "$ended" -- "$top_builddir/apps/ring" --rounds 20

# Nothing is lost, and nothing is said of it.
expect 0 "$eventspace" events "$ended"
is_empty err
lacks out lost
expect 0 "$eventspace" events --rank 0-9 --thread 0 --comm MPI_COMM_WORLD "$ended"
is_empty err
expect 0 "$eventspace" events "$ended" --limit 3
[ "$(wc -l <"$folder/out")" -eq 4 ] || fault "--limit 3: $(cat "$folder/out")"
expect 0 "$eventspace" events --last 3 "$ended"
[ "$(wc -l <"$folder/out")" -eq 4 ] || fault "--last 3: $(cat "$folder/out")"

# What the run does not have.
refuses()
{
    local words=$1
    shift
    expect 2 "$eventspace" events "$@" "$ended"
    is_empty out
    contains err "eventspace events: $words"
}
refuses "--rank: there is no rank 9; the run has ranks 0 to 1" --rank 9
refuses "--rank: there is no rank 2; the run has ranks 0 to 1" --rank 0,2-3
refuses "--thread: there is no thread 5; the run's ranks have thread 0 only" --thread 5
refuses "--host: there is no host 'a-host-that-is-not-there'; the run has '" \
    --host a-host-that-is-not-there
refuses "--comm: there is no communicator 'nocomm'; the run has 'MPI_COMM_WORLD'" --comm nocomm
refuses "--comm: there is no communicator 'MPI_COMM_WRLD'; did you mean 'MPI_COMM_WORLD'?" \
    --comm MPI_COMM_WRLD
refuses "--rank: there is no rank 9" --follow --rank 9
refuses "--comm: there is no communicator" --follow --comm nocomm
expect 2 "$eventspace" events --operation MPI_Sned "$ended"
contains err "MPI_Send"

# Few tuples are kept: those that are gone are told on standard error.
expect 0 "$eventspace" run -n 2 --keep --name "$prefix-few" --threshold 7 -- \
    "$top_builddir/apps/ring" --rounds 2000
expect 0 "$eventspace" events "$prefix-few"
contains err " overwritten before the reading began"
lacks out "overwritten"
expect 0 "$eventspace" events --format json "$prefix-few"
is_empty err
contains out '"type":"end","lost":0,"overwritten_before":'

# A run that goes on: an interrupt ends the reading, which is summed up.
run=$prefix-live
"$eventspace" run -n 2 --name "$run" -- "$top_builddir/apps/ring" --rounds 100000000 \
    >"$folder/ring" 2>&1 </dev/null &
runner=$!
await 20 "$eventspace" heartbeat --once "$run"
expect 2 "$eventspace" events --follow --rank 9 "$run"
contains err "--rank: there is no rank 9; the run has ranks 0 to 1"
# A communicator may yet be made.
"$eventspace" events --follow --comm later "$run" >"$folder/later" 2>"$folder/later.err" &
later=$!
reads()
{
    "$eventspace" scope list "$run" | grep -q "^events "
}
await 20 reads
kill -TERM $later
wait $later || fault "an interrupt is a failure: $(cat "$folder/later.err")"
grep -qx "eventspace events: 0 events shown, .* lost while reading.*" "$folder/later.err" ||
    fault "following is not summed up: $(cat "$folder/later.err")"
for format in text json csv; do
    followed=$folder/followed.$format
    "$eventspace" events --follow --format $format "$run" >"$followed" 2>"$followed.err" &
    follower=$!
    await 20 grep -q MPI_ "$followed"
    kill -TERM $follower
    wait $follower || fault "an interrupt is a failure: $(cat "$followed.err")"
    grep -Eq "^eventspace events: [1-9][0-9]* events shown, [0-9]+ lost while reading" \
        "$followed.err" || fault "--format $format: $(cat "$followed.err")"
    [ "$(tail -c 1 "$followed")" = "" ] || fault "the last line does not end"
done
# The servers end with the run: that is no fault to tell of.
"$eventspace" events --follow "$run" >"$folder/ended" 2>"$folder/ended.err" &
follower=$!
await 20 grep -q MPI_ "$folder/ended"
kill -INT $runner
wait $runner
wait $follower || fault "the end of the run is a failure"
grep -q "^eventspace events: [1-9][0-9]* events shown" "$folder/ended.err" &&
    [ "$(wc -l <"$folder/ended.err")" = 1 ] ||
    fault "at the end of a run: $(cat "$folder/ended.err")"
finish
