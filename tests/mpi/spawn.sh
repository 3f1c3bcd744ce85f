#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# spawn.sh - spawned worlds belong to the run, and messages between worlds match.

. "${top_srcdir:?not set}/tests/mpi/functions.sh"

ranks 2 "$bin/spawn" >"$work/plain" 2>&1
status=$?
if [ "$status" -ne 0 ]; then
    # MPICH 4.0 over UCX fails.
    skip "MPI_Comm_spawn fails uncollected, exit status $status: $(tail -n 1 "$work/plain")"
fi

# Short paths, because both libraries must fit into the environment of spawned processes.
ln -s "$library" "$work/libeventspace-mpi.so"
ln -s "$shim" "$work/shim.so"
library=$work/libeventspace-mpi.so shim=$work/shim.so

observe 2 "$bin/spawn" >"$work/out" 2>&1
expect 0 'two worlds are spawned and talk'
check 'the output is that of the uncollected program' \
    diff <(sort "$work/plain") <(sort "$work/out")
tuples >"$work/tuples"
check 'six processes are recorded, and all messages match but those of two spawned worlds' \
    "$PYTHON" "$here/check_spawn.py" "$work/tuples" 6 65 4

observe 2 "$bin/spawn" $'SPAWN_GIVEN=1 2\nLD_PRELOAD='"$shim" \
    $'EVENTSPACE_DISABLE=1\nSPAWN_GIVEN=3' "SPAWN_GIVEN=$(printf '%0200d' 7)" \
    >"$work/out" 2>&1
expect 0 'processes are started with environments of the program'
[ "$(grep -c 'info object is unchanged' "$work/out")" -eq 3 ]
expect 0 'the info objects are the same after it'
grep -q 'SPAWN_GIVEN is 1 2, LD_PRELOAD set' "$work/out"
expect 0 'one has its variable, and what it is to preload'
grep -q 'SPAWN_GIVEN is 3, LD_PRELOAD' "$work/out"
expect 0 'so has one that is not to be recorded'
grep -q 'SPAWN_GIVEN is 0*7, LD_PRELOAD' "$work/out"
expect 0 'a long environment comes through'
grep -q 'spawned processes run uncollected' "$work/out"
expect 0 'what has no room beside it is said'
tuples >"$work/tuples"
[ "$(grep -c '^process' "$work/tuples")" -eq 3 ]
expect 0 'only the first of them is recorded'
finish
