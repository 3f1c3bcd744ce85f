#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# address_space.sh - under a limit of the address space (ulimit -v) a program runs collected
# if it runs uncollected, and has the same result.

. "${top_srcdir:?not set}/tests/mpi/functions.sh"

[ -z "$ES_SANITIZERS" ] || skip 'sanitizers reserve terabytes of address space'

# limited KB - prints the command that runs a ring under the limit; for both ranks.
limited() {
    printf 'ulimit -v %s && exec %s/ring' "$1" "$apps"
}

# result - prints the output of the ring without its times.
result() {
    sed -n 's/ correct,.*/ correct/p' "$1"
}

tried=0
for limit in $(seq 150000 25000 400000); do
    ranks 2 sh -c "$(limited "$limit")" >"$work/bare" 2>&1 || continue
    tried=$((tried + 1))
    observe 2 sh -c "$(limited "$limit")" >"$work/out" 2>&1
    expect 0 "$limit KB: the collected program runs, too"
    [ "$(result "$work/out")" = "$(result "$work/bare")" ]
    expect 0 "$limit KB: with the same result"
    tuples >"$work/tuples"
    cat "$work/out"
    [ "$(grep -cP '^process\t[01]\t2\t\d+\tfinalized\t' "$work/tuples")" -eq 2 ]
    expect 0 "$limit KB: and it is collected"
done
[ "$tried" -gt 0 ] || skip 'this MPI needs more than 400,000 KB of address space'

finish
