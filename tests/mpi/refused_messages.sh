#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# refused_messages.sh - a call that MPI refuses takes no number from the messages that are
# like it, and they count on. So do collective operations.

. "${top_srcdir:?not set}/tests/mpi/functions.sh"

# numbers OPERATION TAG - the numbers of its tuples in one rank, in their order.
numbers() {
    awk -F'\t' -v operation="$1" -v tag="$2" \
        '$5 == operation && $8 == tag && (operation != "MPI_Bcast" || $2 == 0) {
             print $9
         }' "$work/tuples" | tr '\n' ' '
}

# numbered OPERATION TAG NUMBERS
numbered() {
    [ "$(numbers "$1" "$2")" = "$3 " ]
    expect 0 "$1, tag $2: $3"
}

# all_numbered HOW - the same in both ways in which a call is recorded.
all_numbered() {
    check "the calls are refused, $1" observe 2 "$bin/refused_messages"
    tuples >"$work/tuples"
    numbered MPI_Send 5 '0 1 2 ? 3 4 5'
    numbered MPI_Isend 6 '0 1 2 ? 3 4 5'
    numbered MPI_Send 7 '0 1 2 3 4 5'
    numbered MPI_Recv 5 '0 1 2 ? 3 4 5'
    numbered MPI_Irecv 6 '0 1 2 ? 3 4 5'
    numbered MPI_Recv 7 '0 1 2 3 4 5'
    numbered MPI_Bcast 0 '0 1 2 ? 3 4 5'
}

all_numbered 'fast path'
export EVENTSPACE_CLOCK=monotonic
all_numbered 'general wrapper'
finish
