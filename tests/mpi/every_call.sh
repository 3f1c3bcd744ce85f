#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# every_call.sh - every routine of the table that this MPI has is recorded under its name.

. "${top_srcdir:?not set}/tests/mpi/functions.sh"

ranks 1 "$bin/every_call" "$work/file" >"$work/err" 2>&1
status=$?
[ "$status" -ne 77 ] || skip 'this MPI is older than MPI-4.0'
[ "$status" -eq 0 ] || skip "this MPI fails at it uncollected: exit status $status"

# These need other processes, end this one, or stand for another routine that was called.
cat >"$work/left_out" <<'LEFT_OUT'
MPI_Abort
MPI_Close_port
MPI_Comm_accept
MPI_Comm_connect
MPI_Comm_join
MPI_Comm_spawn
MPI_Comm_spawn_multiple
MPI_Init
MPI_Intercomm_create
MPI_Intercomm_create_from_groups
MPI_Intercomm_merge
MPI_Open_port
LEFT_OUT

cat >"$work/plan" <<'PLAN'
eventspace-plan 1
collector all classes=send,receive,completion,collective,communicator,one-sided,io,other threshold=8191
end
PLAN
EVENTSPACE_PLAN=$work/plan observe 1 "$bin/every_call" "$work/file"
expect 0 'the program runs collected'
tuples | awk -F'\t' '$1 == "tuple" { print $5 }' | LC_ALL=C sort -u >"$work/recorded"
table=$top_srcdir/wrappers/mpi
"$PYTHON" -B "$table/generate.py" list "$table/operations.tab" | cut -d' ' -f2- |
    LC_ALL=C sort >"$work/listed"
nm -D --defined-only "$library" | awk '$3 ~ /^MPI_/ { print $3 }' | LC_ALL=C sort -u |
    LC_ALL=C comm -12 - "$work/listed" >"$work/had"
[ "$(wc -l <"$work/had")" -gt 300 ]
expect 0 'the library defines what the table lists'
check 'every routine that was called is recorded' \
    diff "$work/left_out" <(LC_ALL=C comm -23 "$work/had" "$work/recorded")

# The call that creates a persistent request and its operation have one tuple each.
tuples | awk -F'\t' '$1 == "tuple" && $5 ~ /_init(_c)?$/ && $5 !~ /Session/ {
    n[$5]++
    if ($9 == "?") calls[$5]++
} END {
    for (o in n)
        if (calls[o] != 1 || n[o] > 2)
            print o, n[o], calls[o]
}' >"$work/inits"
[ ! -s "$work/inits" ]
expect 0 'a call that makes a request is recorded once, without a number'
cat "$work/inits"

# Arrays of int and of MPI_Count, with one element each, are summed by their own width.
tuples | awk -F'\t' '$1 == "tuple" && $5 ~ /^MPI_(Allgatherv|Alltoallv|Reduce_scatter)(_c)?$/ {
    print $5, $10
}' | LC_ALL=C sort -u >"$work/vectors"
printf '%s 4\n' MPI_Allgatherv MPI_Allgatherv_c MPI_Alltoallv MPI_Alltoallv_c \
    MPI_Reduce_scatter MPI_Reduce_scatter_c | grep -wFf "$work/had" >"$work/expected"
check 'vectors of counts are summed' diff "$work/expected" "$work/vectors"
finish
