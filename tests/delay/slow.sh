#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# slow.sh - runs a rank of an MPI program. Rank RANK is stopped for three quarters of
# the time, as if another program used its processor.
#
# usage: slow.sh RANK PROGRAM [ARGUMENT...]

slow=$1
shift
[ "${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-}}" = "$slow" ] || exec "$@"
"$@" &
pid=$!
while kill -STOP $pid 2>/dev/null; do
    sleep 0.015
    kill -CONT $pid 2>/dev/null
    sleep 0.005
done
wait $pid
