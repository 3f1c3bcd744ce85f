#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# fatal_errors.sh - after an MPI error that ends the program, `why` names its rank and the
# call, for the run and for its archive. The program ends as without the collector
# (errors.sh compares many more errors).

. "${top_srcdir:?not set}/tests/mpi/functions.sh"
use_commands

# ended COMMAND... - prints its exit status; its output goes to $work/said.
ended() {
    timeout -k 5 30 "$@" >"$work/said" 2>&1 </dev/null
    echo $?
}

# names FILE CALL - `why` has named rank 1 as dead in this call, or both ranks: a launcher
# may kill all of them, including that which failed.
undecided='DIED \(certain\): ranks 0-1 (were killed by signal 15|ended at the same time, and)'
names() {
    tr -s ' \n' ' ' <"$1" >"$1.line"
    grep -Eq "DIED \\(certain\\): rank 1 [^;]*\\b($2)" "$1.line" ||
        { [ "${2#*no such}" = "$2" ] && grep -Eq "$undecided" "$1.line"; } ||
        { sed 's/^/# /' "$1"; return 1; }
}

# tells HOW TEXT - MPI's message was printed. Launchers drop what they have not read when
# a rank ends the program, so it may take a run whose ranks write to a file.
tells() {
    ! grep -q "Fatal error in .*: $2" "$work/said" || return 0
    # shellcheck disable=SC2016 # for the inner shell
    ended "$eventspace" run --name "$1-own" -n 2 sh -c 'exec "$0" "$1" 2>>"$2"' \
        "$bin/fatal_errors" "$1" "$work/own" >"$work/status"
    "$eventspace" clean --force "$1-own" >"$work/status"
    grep -q "Fatal error in .*: $2" "$work/own"
}

# fails HOW CALL TEXT
fails() {
    local alone=0 tries=5 collected
    # MPICH 4.2's launcher alone loses the status of one run in 15 (exit_status.sh).
    while [ "$alone" = 0 ] && [ $((tries -= 1)) -ge 0 ]; do
        alone=$(ended "$MPIEXEC" -n 2 "$bin/fatal_errors" "$1")
    done
    collected=$(ended "$eventspace" run --name "$1" --record "$work/$1" -n 2 \
        "$bin/fatal_errors" "$1")
    # Launchers sometimes report their own kills of the other ranks (exit_status.sh).
    [ "$alone" = "$collected" ] || [ "$alone" = 9 ] || [ "$alone" = 15 ]
    expect 0 "$1: ends with $alone as alone, not with $collected"
    # Open MPI sends this text to its launcher, and sometimes ends before it arrives.
    [ "$mpi" = openmpi ] || check "$1: MPI tells of the error" tells "$1" "$3"
    "$eventspace" why "$1" >"$work/why"
    check "$1: the verdict on the run" names "$work/why" "$2"
    "$eventspace" why "$work/$1" >"$work/why"
    check "$1: the verdict on its archive" names "$work/why" "$2"
    # MPICH 4.2's launcher leaves the other rank behind.
    pkill -KILL -f "^$bin/fatal_errors $1" || :
}

fails truncate MPI_Recv 'Message truncated'
fails truncate-created MPI_Recv 'Message truncated'
fails truncate-set-again MPI_Recv 'Message truncated'
fails truncate-wait MPI_Wait 'Message truncated'
fails truncate-elsewhere MPI_Recv 'Message truncated'
fails invalid-rank 'MPI_Send to 77 .no such rank' 'Invalid rank'
fails invalid-rank-elsewhere 'MPI_Send to 77 .no such rank' 'Invalid rank'
fails invalid-type 'MPI_Init|killed|exited|gone' 'Invalid datatype' # the call is not recorded
fails invalid-window-rank MPI_Win_lock 'Invalid rank'
finish
