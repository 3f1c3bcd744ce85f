#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_tree_classes.sh - what is recorded inside instrumented trees is shown by class: as
# many contributions, arrivals and departures as the tree has edges.

. "${0%/*}/functions.sh"
need_mpi
unset EVENTSPACE_HOME EVENTSPACE_KEY EVENTSPACE_STAGES
trap clear_up EXIT

run=$prefix-classes
timeout -k 5 60 "$eventspace" run -n 4 --trees=kary:2 --threshold 600 --name "$run" --keep \
    -- "$top_builddir/apps/imbalance" --iterations 20 >"$folder/out" 2>&1 </dev/null ||
    fault "$(cat "$folder/out")"

# shown CLASS OPERATION NUMBER : so many tuples of the allreduce's edges, over 0 <- 1, 2 and
# 1 <- 3.
shown()
{
    local count

    count=$("$eventspace" events --format json --class "$1" "$run" 2>/dev/null |
        grep -c "\"operation\": *\"$2\"")
    [ "$count" -eq "$3" ] || fault "--class $1: $count of $2, not $3"
}

shown contribute "tree contribute" 80
shown arrival "tree arrival up" 60
shown arrival "tree arrival down" 60
shown departure "tree departure up" 20
shown departure "tree departure down" 60
shown collective "tree arrival up" 0

# Their elements are as large as the others, and listed with them.
expect 0 "$eventspace" list --elements --format json "$run"
elements=$(grep -c '"type":"element"' "$folder/out")
[ "$elements" -ge 20 ] || fault "$elements elements: $(cat "$folder/out")"
[ "$elements" -eq "$(grep -c '"threshold":600,' "$folder/out")" ] ||
    fault "other thresholds: $(cat "$folder/out")"
contains out '"1.0/point-to-point"'
contains out '"1.0/arrival"'
finish
