#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# nonblocking_trees.sh - nonblocking collective operations by tree have the results of the
# library, and make progress while their ranks are inside other calls.

. "${top_srcdir:?not set}/tests/mpi/functions.sh"

all=barrier,bcast,reduce,allreduce,gather,scatter,allgather
all=$all,ibarrier,ibcast,ireduce,iallreduce,igather,iscatter,iallgather

# trees SHAPE [MEMBER=VALUE] - selects such trees for all operations.
trees() {
    export EVENTSPACE_TREES="eventspace-trees 1
tree test operations=$all shape=$*
end"
}

# same N WHAT SHAPE PROGRAM ARGUMENTS... - the output is the same by trees as by the
# library. The tuples show that trees were used.
same() {
    local n=$1 what=$2 shape=$3 program=$bin/nonblocking_$4
    shift 4
    unset EVENTSPACE_TREES
    ranks "$n" "$program" "$@" >"$work/plain"
    expect 0 "$what: runs with the library"
    # shellcheck disable=SC2086 # a shape and its members
    trees $shape
    observe "$n" "$program" "$@" >"$work/trees"
    expect 0 "$what: runs with trees ($shape)"
    check "$what: prints the same ($shape)" \
        diff <(sort "$work/plain") <(sort "$work/trees")
    check "$what: goes by trees ($shape)" \
        awk -F'\t' '$1 == "tuple" && $5 ~ /^tree / { found = 1 } END { exit !found }' \
        <(tuples)
    unset EVENTSPACE_TREES
}

# In a chain the inner ranks are needed most.
chain='explicit edges=0-1,1-2'
same 3 'a rank that blocks' "$chain" progress
same 3 'details' "$chain" trees details
same 3 'threads' "$chain" trees threads
same 3 'random operations in pairs' exchange trees random 6 12
same 2 'random operations of 2 ranks' 'binomial segment=1000' trees random 1 12
same 3 'random operations of 3 ranks' "$chain" trees random 2 12
same 4 'random operations of 4 ranks' 'kary fan-out=2' trees random 3 12
same 4 'random operations of 4 ranks' linear trees random 4 12

# Rules for the nonblocking forms only. A communicator gets trees only at a blocking
# operation, so these use the library, while other calls of the program still make progress.
all=ibcast,iallreduce
unset EVENTSPACE_TREES
ranks 3 "$bin/nonblocking_trees" random 5 6 >"$work/plain"
trees linear
observe 3 "$bin/nonblocking_trees" random 5 6 >"$work/trees"
expect 0 'nonblocking forms alone'
check 'nonblocking forms alone: the same' \
    diff <(sort "$work/plain") <(sort "$work/trees")
finish
