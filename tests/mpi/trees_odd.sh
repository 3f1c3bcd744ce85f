#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# trees_odd.sh - collective trees do not change the results of programs with unusual
# communicators, types and endings.

. "${top_srcdir:?not set}/tests/mpi/functions.sh"

all=barrier,bcast,reduce,allreduce,gather,scatter,allgather
all=$all,ibarrier,ibcast,ireduce,iallreduce,igather,iscatter,iallgather

# rules SHAPE [OPERATIONS]
rules() {
    echo "eventspace-trees 1; tree t operations=${2-$all} shape=$1; end"
}

cases='kinds types names children quiet waitall handlers'
[ "$mpi" = openmpi ] || cases+=' session' # of MPI 4
for what in $cases; do
    unset EVENTSPACE_TREES
    # A library may report requests after a failed one as pending.
    [ "$what" = waitall ] ||
        check "$what: by the library" ranks 3 "$bin/trees_odd" $what
    export EVENTSPACE_TREES=$(rules 'levels levels=host')
    check "$what: by tree" observe 3 "$bin/trees_odd" $what
    [ "$what" = quiet ] || check "$what: goes by trees" grep -q '	tree ' <(tuples)
    export EVENTSPACE_TREES=$(rules exchange)
    check "$what: by exchange" observe 3 "$bin/trees_odd" $what
done

# The results of many calls, correct and wrong ones.
for program in promises newer; do
    unset EVENTSPACE_TREES
    ranks 2 "$bin/$program" 2>/dev/null | sort >"$work/plain"
    for shape in binomial exchange; do
        export EVENTSPACE_TREES=$(rules $shape)
        observe 2 "$bin/$program" 2>/dev/null | sort >"$work/trees"
        check "$program prints the same: $shape" diff "$work/plain" "$work/trees"
    done
done

export EVENTSPACE_TREES=$(rules linear)
observe 3 "$bin/trees_odd" abort >"$work/out" 2>&1
expect 9 'the status of MPI_Abort()'

# Valid rules that do not apply to these ranks.
export EVENTSPACE_TREES
for EVENTSPACE_TREES in 'eventspace-trees 1; end' \
    "$(rules 'explicit edges=0-1,0-2,0-3,0-4')" \
    'eventspace-trees 1; tree t communicator=nobody shape=linear; end'; do
    observe 3 "$bin/trees_odd" kinds >"$work/out" 2>&1
    expect 0 "$EVENTSPACE_TREES"
    [ "$(tuples | grep -c '	tree ')" -eq 0 ]
    expect 0 'there are no trees'
done

# Unreadable rules: one line, and no trees.
long=$(printf 'x%.0s' {1..70000})
for EVENTSPACE_TREES in 'eventspace-trees 9; end' ';' \
    'eventspace-trees 1; tree t shape=ring; end' \
    "eventspace-trees 1; tree $long shape=linear; end"; do
    observe 3 "$bin/trees_odd" names >"$work/out" 2>&1
    expect 0 "unreadable: ${EVENTSPACE_TREES:0:60}"
    [ "$(grep -c 'there are no collective trees' "$work/out")" -eq 1 ]
    expect 0 'is told once'
    [ "$(tuples | grep -c '	tree ')" -eq 0 ]
    expect 0 'there are no trees'
done

finish
