#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# verdict.sh - verdicts on ranks of two hosts are the same as on one host. While a tuple
# server is down, they cover only the ranks of the other host; after its restart all again.

. "${0%/*}/functions.sh"

programs=$top_builddir/tests/verdict/programs
harness=$top_srcdir/tests/verdict/harness.py
export PYTHONDONTWRITEBYTECODE=1
[ -x "$programs/verdict_cases" ] || skip 'the programs of tests/verdict are not built'

# begin_case CASE HOST[:SLOTS]... - starts it and waits until its ranks are in their last
# operations.
begin_case() {
    run=$1
    shift
    place "$@"
    export VERDICT_SIGNS=$work/signs.$run
    mkdir "$VERDICT_SIGNS"
    start_run "$run" --keep -- "$programs/verdict_cases" "$run"
    await 20 all_reached
}

all_reached() {
    [ "$(find "$VERDICT_SIGNS" -name 'reached.*' | wc -l)" -eq "$ranks" ]
}

why() {
    on front 30 "$eventspace" why --format json "$run" >$work/why 2>$work/why.err
    cat $work/why.err
}

is_met() { # EXPECTED
    why
    "$PYTHON" "$harness" met "$1" $work/why
}

# verdict_is EXPECTED WHEN - waits for this verdict; certain findings must be true at any
# time.
verdict_is() {
    await 20 is_met "$1"
    expect 0 "$run, $2: $1"
}

nothing_certain() { # WHEN
    local i
    for i in 1 2 3 4 5; do
        why
        "$PYTHON" "$harness" met none $work/why
        expect 0 "$run, $1: nothing certain at look $i"
    done
}

kill_server() { # HOST
    hosts exec "$1" kill -9 "$(hosts exec "$1" pgrep -x eventspaced)"
    await 10 hosts exec "$1" sh -c '! pgrep -x eventspaced'
}

restart_server() { # HOST
    on "$1" 10 "$top_builddir/cli/eventspaced" --run "$run" --home "$(home_of "$run")" \
        >$work/out
    expect 0 "$run: the server of $1 is started again"
}

end_case() {
    local host
    [ -s $work/job.status ] || send TERM job front
    ended job
    for host in front a0 a1; do
        on $host 20 "$eventspace" clean --force "$run" >/dev/null 2>&1
    done
}

# --- Cases -------------------------------------------------------------------------------

# Two cycles, one on each host, and a rank that waits for all others.
two_cycles() {
    begin_case recv_two_cycles a0:2 a1:3
    verdict_is 'DEADLOCK certain 0,1+2,3' 'live'
    kill_server a1
    verdict_is 'DEADLOCK certain 0,1' 'with the server of a1 down'
    restart_server a1
    verdict_is 'DEADLOCK certain 0,1+2,3' 'with the server back'
    end_case
}

# One cycle over both hosts: it cannot be certain while one server is down.
one_cycle() {
    begin_case recv_cycle_4 a0:2 a1:2
    verdict_is 'DEADLOCK certain 0,1,2,3' 'live'
    kill_server a1
    nothing_certain 'with the server of a1 down'
    restart_server a1
    verdict_is 'DEADLOCK certain 0,1,2,3' 'with the server back'
    end_case
}

short_case() { # CASE EXPECTED HOST...
    local case=$1 expected=$2
    shift 2
    begin_case "$case" "$@"
    verdict_is "$expected" 'live'
    end_case
}

right_case() { # CASE HOST...
    begin_case "$@"
    nothing_certain 'live'
    kill_server a1
    nothing_certain 'with the server of a1 down'
    touch "$VERDICT_SIGNS/go"
    ended job
    expect 0 "$run ends well"
    end_case
}

hosts up
two_cycles
one_cycle
short_case barrier_missing 'DEADLOCK certain 0,2' a0:2 a1
short_case barrier_and_bcast 'MISMATCH certain 0,1' a0 a1
short_case waitany_none 'DEADLOCK certain 0,1,2' a0 a1:2
right_case busy_ring a0:2 a1:2
right_case slow_sender a0 a1
check_nothing_left
finish
