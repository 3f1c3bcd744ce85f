#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# newer.sh - large counts, partitions, persistent collectives and generalized requests are
# recorded under their own names, and the two ends of their messages agree.

. "${top_srcdir:?not set}/tests/mpi/functions.sh"

ranks 2 "$bin/newer"
status=$?
[ "$status" -ne 77 ] || skip 'this MPI is older than MPI-4.0'
[ "$status" -eq 0 ] || skip "this MPI fails at it uncollected: exit status $status"

cat >"$work/expected" <<'EXPECTED'
MPI collective post 8
MPI_Allreduce_c 2
MPI_Allreduce_init 8
MPI_Barrier_init 4
MPI_Bcast_c 2
MPI_Finalize 2
MPI_Grequest_complete 2
MPI_Grequest_start 2
MPI_Init 2
MPI_Irecv_c 4
MPI_Isend_c 4
MPI_Parrived 8
MPI_Precv_init 1
MPI_Pready 8
MPI_Psend_init 1
MPI_Recv_c 3
MPI_Request_free 6
MPI_Request_get_status 2
MPI_Send_c 3
MPI_Sendrecv receive 2
MPI_Sendrecv_c 2
MPI_Start 8
MPI_Startall 2
MPI_Start partitioned receive 2
MPI_Start partitioned send 2
MPI_Wait 10
MPI_Waitall 4
EXPECTED
sort -o "$work/expected" "$work/expected"

# ends KIND OPERATION... - prints communicator, sender, receiver, tag, sequence and bytes of
# the sends or receives.
ends() {
    local kind=$1
    shift
    (IFS='|' && awk -F'\t' -v kind="$kind" -v names="|$*|" '
        $1 == "tuple" && index(names, "|" $5 "|") {
            print $6, kind == "sends" ? $2 " " $7 : $7 " " $2, $8, $9, $10
        }' "$work/tuples") | sort
}

# alike WHAT COUNT - there are COUNT sends and COUNT receives, and they agree.
alike() {
    [ "$(wc -l <"$work/sends")" -eq "$2" ]
    expect 0 "$1: there are $2 sends"
    check "$1: both ends agree" diff "$work/sends" "$work/receives"
}

observe 2 "$bin/newer"
expect 0 'the program gets the right data'
tuples >"$work/tuples"
awk -F'\t' '$1 == "tuple" { n[$5]++ } END { for (o in n) print o, n[o] }' "$work/tuples" |
    sort >"$work/counts"
check 'every call is recorded under its own name' diff "$work/expected" "$work/counts"

ends sends MPI_Send_c MPI_Isend_c MPI_Sendrecv_c >"$work/sends"
ends receives MPI_Recv_c MPI_Irecv_c 'MPI_Sendrecv receive' >"$work/receives"
alike 'large counts' 9
! grep -qF '?' "$work/sends"
expect 0 'large counts: every message has its number'

ends sends 'MPI_Start partitioned send' >"$work/sends"
ends receives 'MPI_Start partitioned receive' >"$work/receives"
alike 'partitioned' 2

# A persistent collective is created by a call without a number. Each start of it is an
# instance, in all members.
for rank in 0 1; do
    awk -F'\t' -v rank=$rank '$1 == "tuple" && $2 == rank && $4 ~ /collective/ && $9 != "?" {
        print $5, $6, $7, $9, $10
    }' "$work/tuples" >"$work/collective.$rank"
done
check 'collectives are alike in both ranks' diff "$work/collective.0" "$work/collective.1"
[ "$(awk '{ printf "%s ", $4 }' "$work/collective.0")" = '0 1 2 3 4 5 ' ]
expect 0 'collectives are numbered in order'

# A collective that completes later is reported at its start with the same code, instance
# and size.
codes='MPI_Allreduce_init 192 MPI_Barrier_init 180'
for rank in 0 1; do
    awk -F'\t' -v rank=$rank -v codes="$codes" '
        BEGIN { n = split(codes, word, " "); for (i = 1; i < n; i += 2) code[word[i]] = word[i + 1] }
        $1 == "tuple" && $2 == rank && ($5 in code) && $9 != "?" { print code[$5], $6, $7, $9, $10, $11 }
    ' "$work/tuples" >"$work/begun"
    awk -F'\t' -v rank=$rank '
        $1 == "tuple" && $2 == rank && $5 == "MPI collective post" {
            print $8, $6, $7, $9, $10, $11
        }' "$work/tuples" >"$work/posts"
    check "each start of a collective is told by rank $rank" diff "$work/begun" "$work/posts"
done
finish
