#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_delays.sh - MPI programs with planted delays: `eventspace time` reports the
# rank, the line and the cost, for their archives.
#
# usage: check_delays.sh [PLAN...]

. "${top_srcdir:?not set}/tests/delay/functions.sh"

planted=$top_builddir/tests/delay/planted

# plan NAME ROUNDS SHARE FACTOR... : for each planted delay, by rank and line, other
# ranks wait FACTOR times as long as it lasts. Together the delays cause SHARE of all
# waiting.
plan()
{
    [ ${#wanted[@]} -eq 0 ] || [[ " ${wanted[*]} " == *" $1 "* ]] || return 0
    one_of_three compare "$@"
}

compare()
{
    local name=$1 rounds=$2 share=$3
    shift 3
    record "$name" 4 "$planted" "$name" "$rounds"
    expect 0 "$eventspace" time --format json "$folder/$name.rec"
    truth check "$name" "$folder/$name" "$share" "$@"
    [ "$name" != polls ] || truth polling "$name" "$share"
}
wanted=("$@")

# Waiting at the start of the ranks is included; it is short compared with 25 times 40
# ms.
plan sender 25 0.6 1
plan receiver 25 0.6 1
plan persistent 25 0.6 1
plan chain 25 0.7 3
plan collective 25 0.7 3
plan root 25 0.7 3
plan through 25 0.7 3
# Halo: all other ranks wait for rank 2, directly or indirectly.
plan halo 25 0.7 3
# Two delays at the same time: only the longer one counts. One of the waiting ranks
# waits for half of it.
plan overlap 25 0.7 0 2.5
# Ranks 1, 2 and 3 wait for the first delay, and 2 and 3 for the second; so does rank 0,
# at the barrier.
plan added 25 0.7 3.3 2.8

# Polls with naps between them are not a row of polls (docs/collecting.md), so start the
# program without the shim.
unset EVENTSPACE_LAUNCHER ES_YIELD_NAP
plan polls 25 0.6 1

finish
