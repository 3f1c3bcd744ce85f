#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# promises.sh - an observed program gets the same results as an unobserved one: return
# values, statuses, error codes, error handlers, attributes and thread levels.

. "${top_srcdir:?not set}/tests/mpi/functions.sh"

export ES_TEST_OTHER=1
for level in '' single funneled serialized multiple; do
    ranks 2 "$bin/promises" $level >"$work/plain"
    expect 0 "it runs unobserved, ${level:-by MPI_Init}"
    observe 2 "$bin/promises" $level >"$work/observed"
    expect 0 "it runs observed, ${level:-by MPI_Init}"
    check "both print the same, ${level:-by MPI_Init}" \
        diff <(sort "$work/plain") <(sort "$work/observed")
    tuples >"$work/tuples"
    # A truncated message was received, so the next one has the number after it.
    check "a truncated message has its number, ${level:-by MPI_Init}" awk -F'\t' '
        $1 == "tuple" && $2 == 1 && $5 == "MPI_Recv" && $8 == 3 { found = found " " $9 }
        END { exit found != " 0 1 5" }' "$work/tuples"
    check "the delete callbacks' calls are not recorded, ${level:-by MPI_Init}" awk -F'\t' '
        $1 == "communicator" && $10 == "MPI_COMM_SELF" { self[$2, $4] = 1 }
        $1 == "tuple" && $5 == "MPI_Barrier" && ($2, $6) in self { bad = 1 }
        END { exit bad }' "$work/tuples"
done
finish
