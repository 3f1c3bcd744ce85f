#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# local_launcher.sh - starts ranks on this host, for machines without an MPI.
#
# usage: local_launcher.sh -n N [-machinefile F] COMMAND...
# Gives the ranks what Hydra gives them; ends with the highest exit status.
set -u
[ "$1" = -n ] || exit 99
count=$2
shift 2
if [ "$1" = -machinefile ]; then
    [ -r "$2" ] || exit 98
    shift 2
fi
pids=()
ended=
trap 'ended=yes; [ ${#pids[@]} -eq 0 ] || kill -TERM "${pids[@]}"' TERM INT
for ((rank = 0; rank < count; rank++)); do
    PMI_RANK=$rank PMI_SIZE=$count MPI_LOCALRANKID=$rank MPI_LOCALNRANKS=$count "$@" &
    pids+=($!)
    [ -z "$ended" ] || kill -TERM $! # a signal that came before this rank
done
worst=0
for pid in "${pids[@]}"; do
    wait "$pid"
    status=$?
    # A trapped signal ends the first wait too early.
    while kill -0 "$pid" 2>/dev/null; do
        wait "$pid"
        status=$?
    done
    [ $status -gt $worst ] && worst=$status
done
exit $worst
