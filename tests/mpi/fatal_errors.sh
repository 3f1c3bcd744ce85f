#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# fatal_errors.sh - after an MPI error that ends the program, `why` names its rank, call,
# class and text, for the run and for its archive. The program ends as without the
# collector.

. "${top_srcdir:?not set}/tests/mpi/functions.sh"

[ -z "$ES_SANITIZERS" ] || skip 'a sanitized collector cannot be preloaded into the programs'

eventspace=$top_builddir/cli/eventspace
unset EVENTSPACE_RUN
export EVENTSPACE_DIR=$work/runs EVENTSPACE_PRELOAD=$library

clean_up() {
    "$eventspace" clean --all >/dev/null
    rm -rf "$work"
}
trap clean_up EXIT

# The class of a truncated message, and the prefix of its text.
truncate=14 said=
[ "$mpi" = mpich ] || truncate=15 said='MPI_ERR_[A-Z]*: '

# ended COMMAND... - prints its exit status; its output goes to $work/said.
ended() {
    timeout -k 5 30 "$@" >"$work/said" 2>&1 </dev/null
    echo $?
}

# names FILE CALL CLASS TEXT - `why` has reported this error of rank 1.
names() {
    grep -qi "^DIED (certain): rank 1 .*; $2 failed, and its error is fatal: $said$4.* (class $3)" \
        "$1" || { sed 's/^/# /' "$1"; return 1; }
}

# fails HOW CALL CLASS TEXT
fails() {
    local alone collected
    alone=$(ended "$MPIEXEC" -n 2 "$bin/fatal_errors" "$1")
    collected=$(ended "$eventspace" run --name "$1" --record "$work/$1" -n 2 \
        "$bin/fatal_errors" "$1")
    # Launchers sometimes report their own kills of the other ranks (exit_status.sh).
    [ "$alone" = "$collected" ] || [ "$alone" = 9 ] || [ "$alone" = 15 ]
    expect 0 "$1: ends with $alone as alone, not with $collected"
    # Open MPI sends this text to its launcher, and sometimes ends before it arrives.
    [ "$mpi" = openmpi ] || check "$1: MPI tells of the error" \
        grep -q "Fatal error in .*: $4" "$work/said"
    "$eventspace" why "$1" >"$work/why"
    check "$1: the verdict on the run" names "$work/why" "$2" "$3" "$4"
    "$eventspace" why "$work/$1" >"$work/why"
    check "$1: the verdict on its archive" names "$work/why" "$2" "$3" "$4"
}

fails truncate MPI_Recv $truncate 'Message truncated'
fails truncate-created MPI_Recv $truncate 'Message truncated'
fails truncate-set-again MPI_Recv $truncate 'Message truncated'
fails truncate-wait MPI_Wait $truncate 'Message truncated'
fails invalid-rank MPI_Send 6 'Invalid rank'
fails invalid-type 'a call' 3 'Invalid datatype'
fails invalid-window-rank MPI_Win_lock 6 'Invalid rank'

status=$(ended "$eventspace" run --name none --keep -n 2 "$bin/fatal_errors" none)
cat "$work/said"
[ "$status" = 0 ]
expect 0 'error handlers are as without us'
finish
