#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# spawn.sh - parent and child know the communicator between them by the same key.

. "${top_srcdir:?not set}/tests/mpi/functions.sh"

timeout -k 5 20 "$MPIEXEC" -n 1 "$bin/spawn" </dev/null >"$work/out" 2>&1
status=$?
if [ "$status" -ne 0 ]; then
    # MPICH 4.0 over UCX does.
    skip "MPI_Comm_spawn fails uncollected, exit status $status: $(tail -n 1 "$work/out")"
fi

observe 1 "$bin/spawn"
expect 0 'a process is started and answers'
tuples >"$work/tuples"
[ "$mpi" != openmpi ] || [ "$(grep -c '^process' "$work/tuples")" -eq 2 ] ||
    skip 'Open MPI starts the child with the environment of its launcher, uncollected'
[ "$(grep -c '^process' "$work/tuples")" -eq 2 ]
expect 0 'both processes are recorded'
grep -P '^tuple\t.*\tMPI_Send\t' "$work/tuples" | cut -f6 >"$work/child"
grep -P '^tuple\t.*\tMPI_Recv\t' "$work/tuples" | cut -f6 >"$work/parent"
[ "$(wc -l <"$work/child")" -eq 1 ] && [ "$(cat "$work/child")" != - ]
expect 0 'the send of the child has a communicator'
check 'the receive of the parent has the same' diff "$work/child" "$work/parent"
finish
