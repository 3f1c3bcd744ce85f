/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The trace tuple: what an event collector records about one operation. */
#ifndef EVENTSPACE_TUPLE_H
#define EVENTSPACE_TUPLE_H

#include <stddef.h>
#include <stdint.h>

/* Peer of an operation that has no peer, or whose peer is MPI_PROC_NULL. */
#define ES_PEER_NONE (-1)
/* Peer of an open receive or probe with MPI_ANY_SOURCE. */
#define ES_PEER_ANY (-2)
/* Tag of an open receive or probe with MPI_ANY_TAG. */
#define ES_TAG_ANY (-2)
/* The matching number is not known: this tuple cannot be matched. */
#define ES_SEQUENCE_UNKNOWN UINT32_MAX
/* The payload has 2^32-1 bytes or more. */
#define ES_BYTES_MAX UINT32_MAX
/* A bit of `operation`: a completed receive or probe that was posted with
 * MPI_ANY_SOURCE. */
#define ES_OPERATION_ANY_SOURCE 0x8000u
/* A bit of `operation`: the call returned an error.  `bytes` is then the number of its
 * class (es_error_name()), as it has moved no data; and unless a message was taken all
 * the same (truncated), `sequence` is unknown: it is no send, receive or instance. */
#define ES_OPERATION_FAILED 0x4000u
/* The operation has no communicator, or its communicator is not in the table. */
#define ES_COMMUNICATOR_NONE UINT16_MAX

/*
 * 36 bytes in native byte order; also the record of the archive format.  The fields are
 * public because the struct is a memory layout.  Times are clock ticks of the process
 * that wrote the tuple (clock.h).  Peer and root are ranks in the communicator; for an
 * intercommunicator, in its remote group.
 */
struct es_tuple {
    uint64_t stop;         /* ticks when the operation completed;
                              0 if it is still open */
    uint16_t operation;    /* code from the operation table, never 0, and
                              ES_OPERATION_* bits */
    uint16_t communicator; /* index into the segment's communicator table */
    uint64_t start;        /* ticks when the operation began */
    uint32_t sequence;     /* matching number */
    int32_t peer;          /* peer or root, or ES_PEER_* */
    int32_t tag;           /* message tag, or a parameter specific to the operation */
    uint32_t bytes;        /* payload size in bytes, at most ES_BYTES_MAX; or the
                              class of an error */
} __attribute__((packed, aligned(4)));

/* The code of the operation, without bits.  Thread-safe, like the following. */
static inline uint16_t es_tuple_operation(const struct es_tuple *tuple)
{
    return tuple->operation &
           (uint16_t) ~(ES_OPERATION_ANY_SOURCE | ES_OPERATION_FAILED);
}

/* The payload size in bytes; 0 if the call failed. */
static inline uint32_t es_tuple_bytes(const struct es_tuple *tuple)
{
    return tuple->operation & ES_OPERATION_FAILED ? 0 : tuple->bytes;
}

/* The class of the error that the call returned, for es_error_name(); 0 if it returned
 * none. */
static inline uint32_t es_tuple_error(const struct es_tuple *tuple)
{
    return tuple->operation & ES_OPERATION_FAILED ? tuple->bytes : 0;
}

#define ES_TUPLE_WORDS (sizeof(struct es_tuple) / sizeof(uint32_t))

_Static_assert(sizeof(struct es_tuple) == 36, "the trace tuple has 36 bytes");
_Static_assert(offsetof(struct es_tuple, operation) == 8, "operation follows stop");
_Static_assert(offsetof(struct es_tuple, start) == 12,
               "start follows the communicator");
_Static_assert(offsetof(struct es_tuple, bytes) == 32, "bytes come last");

#endif
