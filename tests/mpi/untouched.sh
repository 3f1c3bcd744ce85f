#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# untouched.sh - the collector sets nothing in the process but what docs/collecting.md lists:
# what `untouched` (untouched.c) prints is the same with and without it.

. "${top_srcdir:?not set}/tests/mpi/functions.sh"

[ -z "$ES_SANITIZERS" ] || skip 'a sanitized collector cannot be preloaded into the programs'

for level in single multiple; do
    [ $level = single ] && level=
    ranks 1 "$bin/untouched" $level >"$work/alone"
    expect 0 "${level:-single}: the program runs alone"
    observe 1 "$bin/untouched" $level >"$work/collected"
    expect 0 "${level:-single}: the program runs collected"
    diff "$work/alone" "$work/collected" | sed 's/^/# /'
    [ "${PIPESTATUS[0]}" = 0 ]
    expect 0 "${level:-single}: all is as without the collector"
    tuples >"$work/tuples"
    check "${level:-single}: it was collected" grep -q MPI_Waitall "$work/tuples"
done
finish
