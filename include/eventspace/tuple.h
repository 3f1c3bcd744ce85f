/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The trace tuple: what an event collector records of one operation. */
#ifndef EVENTSPACE_TUPLE_H
#define EVENTSPACE_TUPLE_H

#include <stddef.h>
#include <stdint.h>

/* Peer of an operation that has none (also of one with MPI_PROC_NULL). */
#define ES_PEER_NONE (-1)
/* Peer of an open receive or probe from any source. */
#define ES_PEER_ANY (-2)
/* Tag of an open receive or probe with any tag. */
#define ES_TAG_ANY (-2)
/* The matching number is not known: no match can be made with this tuple. */
#define ES_SEQUENCE_UNKNOWN UINT32_MAX
/* Payload of 2^32-1 bytes or more. */
#define ES_BYTES_MAX UINT32_MAX
/* A bit of `operation`: the receive or probe, now complete, was open to any source. */
#define ES_OPERATION_ANY_SOURCE 0x8000u
/* No communicator: the operation has none, or it is not in the table. */
#define ES_COMMUNICATOR_NONE UINT16_MAX

/*
 * 36 bytes in native byte order, the record of the archive format too.  Its
 * fields are open because it is a layout.  Times are clock ticks of the writing process
 * (see clock.h); peer and root are ranks in the communicator (of the remote group where
 * it is an intercommunicator).
 */
struct es_tuple {
    uint64_t stop;         /* ticks when the operation completed; 0 = still open */
    uint16_t operation;    /* code from the operation table, never 0; of some receives
                              and probes with ES_OPERATION_ANY_SOURCE */
    uint16_t communicator; /* index into the segment's communicator table */
    uint64_t start;        /* ticks when the operation was entered */
    uint32_t sequence;     /* matching number */
    int32_t peer;          /* partner or root, or ES_PEER_* */
    int32_t tag;           /* message tag, or the operation's own parameter */
    uint32_t bytes;        /* payload size, at most ES_BYTES_MAX */
} __attribute__((packed, aligned(4)));

#define ES_TUPLE_WORDS (sizeof(struct es_tuple) / sizeof(uint32_t))

_Static_assert(sizeof(struct es_tuple) == 36, "the trace tuple has 36 bytes");
_Static_assert(offsetof(struct es_tuple, operation) == 8, "operation follows stop");
_Static_assert(offsetof(struct es_tuple, start) == 12,
               "start follows the communicator");
_Static_assert(offsetof(struct es_tuple, bytes) == 32, "bytes come last");

#endif
