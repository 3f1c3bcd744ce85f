#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_delays.sh - real programs whose delays are planted: `eventspace time` names the rank
# and the line, of archives and of runs that go on, and how much that costs.
#
# usage: check_delays.sh [PLAN...]

. "${top_srcdir:?not set}/tests/delay/functions.sh"

planted=$top_builddir/tests/delay/planted

# plan NAME ROUNDS SHARE FACTOR... : for each place that is planted, by rank and line,
# how many times what was slept others have waited.
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

# What the start of the ranks costs is left: it is small besides 25 times 40 ms.
plan sender 25 0.6 1
plan receiver 25 0.6 1
plan chain 25 0.7 3
plan collective 25 0.7 3
plan root 25 0.7 3
plan through 25 0.7 3
# Halo: all others wait for rank 2, and for nobody else in the end.
plan halo 25 0.7 3
# Of two at the same time the longer one counts: for one of the others half of it.
plan overlap 25 0.7 0 2.5
# Ranks 1, 2 and 3 wait for the first, 2 and 3 for the second; so does rank 0, at the
# barrier.
plan added 25 0.7 3.3 2.8

# Polls that take naps are no row (docs/collecting.md): as a user starts it.
unset EVENTSPACE_LAUNCHER ES_YIELD_NAP
plan polls 25 0.6 1

finish
