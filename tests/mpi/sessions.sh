#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# sessions.sh - a program that uses sessions only has the same output with rules for
# nonblocking trees as without: blocking calls make progress on trees if another process may
# need it.

. "${top_srcdir:?not set}/tests/mpi/functions.sh"

rules="eventspace-trees 1
tree test operations=barrier,allreduce,ibarrier,iallreduce shape=linear
end"

# same SETS - the output is the same by trees as by the library, for these process sets.
same() {
    ranks 2 "$bin/sessions" "$1" >"$work/plain" 2>"$work/err"
    status=$?
    [ "$status" -ne 77 ] || skip 'this MPI has no sessions'
    if [ "$status" -ne 0 ]; then
        echo "not checked, $1: this MPI fails at it uncollected: exit status $status"
        return
    fi
    EVENTSPACE_TREES=$rules observe 2 "$bin/sessions" "$1" >"$work/trees" 2>"$work/err"
    expect 0 "$1: runs with trees"
    check "$1: prints the same" diff <(sort "$work/plain") <(sort "$work/trees")
    [ "$1" = self ] || check "$1: goes by trees" \
        awk -F'\t' '$1 == "tuple" && $5 ~ /^tree / { found = 1 } END { exit !found }' \
        <(tuples)
}

same self
same world
same mixed
finish
