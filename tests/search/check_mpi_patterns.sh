#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_mpi_patterns.sh - the patterns that come with EventSpace find what they describe,
# and nothing else: in recordings of programs made for it, and in example programs, recorded
# and live.

. "${top_srcdir:?not set}/tests/cli/functions.sh"
need_mpi
unset EVENTSPACE_HOME EVENTSPACE_KEY EVENTSPACE_STAGES

cases=$top_builddir/tests/search/mpi_cases
apps=$top_builddir/apps
export EVENTSPACE_PATTERNS=$top_srcdir/share/patterns
runs=0

# recorded RANKS PROGRAM ARGUMENTS... - records a run in $folder/archive. MPICH 4.2 ends a
# program in MPI_Finalize, with status 15 or 0, if it has left a message unreceived.
recorded()
{
    local ranks=$1
    shift
    rm -rf "$folder/archive"
    runs=$((runs + 1))
    timeout -k 5 60 "$eventspace" run -n "$ranks" \
        --name "$prefix-patterns-$runs" --record "$folder/archive" -- "$@" \
        >"$folder/out" 2>"$folder/err" </dev/null ||
        { [ "$2" = lost ] && grep -q 'unmatched message' "$folder/err"; } ||
        fault "$*: $(cat "$folder/out" "$folder/err")"
}

# matches PREDICATE - prints its number of matches in the archive.
matches()
{
    "$eventspace" search "$folder/archive" -p mpi --count "$1" 2>"$folder/err"
}

# has PREDICATE [COUNT] - there is at least one match, or exactly COUNT.
has()
{
    local found
    found=$(matches "$1")
    if [ $# -eq 2 ] && [ "$found" != "$2" ]; then
        fault "$case: $1: $found matches instead of $2: $(cat "$folder/err")"
    elif [ "$found" -lt 1 ]; then
        fault "$case: $1 was not found: $(cat "$folder/err")"
    fi
}

# never PREDICATE... - there is no match, and the exit status is 1.
never()
{
    local predicate
    for predicate; do
        expect 1 "$eventspace" search "$folder/archive" -p mpi "$predicate"
    done
}

# Patterns that do not depend on timing.
causal="MessageRace InterleavedRace ProbeRace Overtaking LostMessage SerializedCollective ConflictingAccess"

# only CASE [PREDICATE COUNT] - of the causal patterns only this one has matches.
only()
{
    local predicate
    case=$1
    recorded 3 "$cases" "$case"
    for predicate in $causal; do
        if [ "$predicate" = "${2:-}" ]; then
            has "$predicate" "$3"
        else
            never "$predicate"
        fi
    done
}

only race MessageRace 1
only named
only asked
only interleaved InterleavedRace 2
only probe-race ProbeRace 1
only probe-asked
only matched-race MessageRace 1
only overtaking Overtaking 1
only lost LostMessage 1
only serialized SerializedCollective 2
only conflict ConflictingAccess 1
only atomic

# timed CASE PREDICATE - as only(), and there is a match that depends on timing. Other load
# may delay the other rank, too, so this is repeated.
timed()
{
    for _ in 1 2 3 4 5; do
        only "$1"
        [ "$(matches "$2")" -ge 1 ] && return
    done
    has "$2"
}

timed late-sender LateSender
timed late-receiver LateReceiver
timed one-for-all WaitOnOneRank
timed imbalance LoadImbalance

case=masterworker
recorded 3 "$apps/masterworker" --tasks 30 --numbers 100
has MessageRace
never InterleavedRace Overtaking LostMessage SerializedCollective ConflictingAccess

case=life
recorded 4 "$apps/life" --hops 30
has MessageRace
never Overtaking LostMessage SerializedCollective ConflictingAccess

case=ring
recorded 3 "$apps/ring"
never MessageRace Overtaking LostMessage

# No message to MPI_PROC_NULL is lost, and receives that were posted early do not wait.
for case in stencil2d windtunnel; do
    recorded 4 "$apps/$case" --iterations 20
    # shellcheck disable=SC2086 # several words
    never $causal WaitOnOneRank LateReceiver UnderWay
done

# No rank waits in a nonblocking operation.
case=imbalance
recorded 3 "$apps/imbalance" --operation iallreduce --ranks-late 1 --late-us 3000 --iterations 10
never LoadImbalance

# Two ranks wait for each other: the hanging run, and its archive.
case=hang
"$eventspace" run -n 2 --name "$prefix-hang" \
    --record "$folder/hang" -- "$apps/hang" receive-cycle \
    >"$folder/program" 2>&1 </dev/null &
program=$!
hangs()
{
    [ "$("$eventspace" search "$prefix-hang" -p mpi --count UnderWay)" = 2 ]
}
await 20 hangs || fault "hang: $(cat "$folder/program" "$folder/err")"
kill -TERM "$program"
wait "$program"

finish
