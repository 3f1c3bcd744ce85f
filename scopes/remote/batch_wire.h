/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A pull and its reply as bytes: what a remote stage and its subtree send each other.
 *
 * The reply:
 *
 *     head    40 bytes, little endian: counts, flags, what the pull cost
 *     tuples  36 bytes each as they lie, in the sender's byte order
 *     marks   runs of tuples of one origin with positions that follow each other
 *     sites   where the scope asks for them: differences, one for each tuple
 *     reports, notices, positions that are not where the marks end
 *
 * Behind the tuples all numbers are LEB128 varints, signed ones in zigzag.  Positions
 * are sent as differences to the position up to which the origin was received: a tuple
 * that follows the one before costs one byte of marks, or less.
 *
 * Pure logic.  Time and memory are linear in what is sent; nothing is allocated once
 * the buffers have grown.
 */
#ifndef ES_SCOPES_REMOTE_BATCH_WIRE_H
#define ES_SCOPES_REMOTE_BATCH_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/error.h"
#include "eventspace/stage_batch.h"
#include "tuplespace/transport/frame.h"

#define ES_WIRE_HEAD_BYTES 40
#define ES_WIRE_TUPLES_MAX 1000000 /* in one reply: it must fit into a frame */

/* Up to where each origin was sent, or received: the caller's, one position per origin.
 * It begins with the positions of the "open" reply, and every reply moves it: at the
 * receiving end reading is resumed there. */
struct esi_wire_state {
    uint64_t *next;
    uint32_t count;
};

/* A position that does not follow from the marks. */
struct esi_wire_move {
    uint64_t position;
    uint32_t origin;
    uint32_t reserved; /* 0 */
};

struct esi_wire_moves {
    struct esi_wire_move *items; /* owned: esi_wire_moves_fini() */
    size_t count;
    size_t capacity;
};

void esi_wire_moves_fini(struct esi_wire_moves *moves);

/* What the pull has cost its server's thread. */
struct esi_wire_cost {
    uint64_t cpu_ns;
    uint64_t wall_ns;
};

/* What is sent around the tuples: head | tuples | tail.  Kept from pull to pull. */
struct esi_wire_buffer {
    unsigned char head[ES_WIRE_HEAD_BYTES];
    unsigned char *tail; /* owned: esi_wire_buffer_fini() */
    size_t tail_bytes;
    size_t tail_capacity;
};

void esi_wire_buffer_fini(struct esi_wire_buffer *buffer);

/* Writes head and tail of a batch whose marks name origins below state->count, and
 * moves the state to `positions`, one per origin.  NULL: positions mean nothing here
 * (only the latest tuples are read).  -ENOMEM: nothing is changed. */
int esi_batch_encode(struct esi_wire_state *state,
                     const struct es_batch *batch,
                     const uint64_t *positions,
                     const struct esi_wire_cost *cost,
                     struct esi_wire_buffer *buffer);

/* How to read a reply. */
struct esi_wire_source {
    bool swapped;            /* the sender's byte order is not ours */
    const uint32_t *origins; /* the receiver's index of each origin; NULL = the same */
};

/* Appends what `payload` holds to the batch, moves the state, and puts `moves`, with
 * the sender's indices, and the cost in place of what was there.  -EPROTO with words,
 * -ENOMEM: the batch is as it was, and the connection is of no use any more. */
int esi_batch_decode(struct esi_wire_state *state,
                     const struct esi_wire_source *source,
                     const void *payload,
                     size_t length,
                     struct es_batch *batch,
                     struct esi_wire_moves *moves,
                     struct esi_wire_cost *ret_cost,
                     struct es_error *error);

/* What is known of a reply before it is decoded. */
struct esi_wire_size {
    uint32_t tuples;
    /* It must be handed up in one piece: it has tuples made of several, or an element's
     * tuples in another order than the element's. */
    bool whole;
};

/* -EPROTO: not a reply. */
int esi_batch_wire_size(const void *payload,
                        size_t length,
                        struct esi_wire_size *ret_size);

/* --- Requests --------------------------------------------------------------------- */

/* The payload of a PULL: u64 serial, max, timeout; u32 flags, count; then for each
 * position that the consumer has acknowledged since the pull before u32 origin, u64
 * position; little endian.  Only scopes for which writers wait acknowledge. */
enum { ES_SUBTREE_PULL_BYTES = 32, ES_SUBTREE_ACKNOWLEDGED_BYTES = 12 };

struct esi_subtree_pull {
    uint64_t serial; /* counts the pulls of this connection, from 1 */
    uint64_t max;
    uint64_t timeout_ns; /* how long the subtree may wait for others */
    bool drain;          /* this and the next two as in struct es_pull */
    bool careful;
    bool measure;
    uint32_t acknowledged_count;
    const unsigned char *acknowledged; /* as they came; borrowed from the frame */
};

/* Everything of this origin below the position was used. */
struct esi_subtree_acknowledged {
    uint32_t origin;
    uint64_t position;
};

/* Writes all but the positions. */
void esi_subtree_pull_encode(const struct esi_subtree_pull *pull,
                             unsigned char out[ES_SUBTREE_PULL_BYTES]);
/* -EPROTO with words. */
int esi_subtree_pull_decode(const struct esi_frame *frame,
                            struct es_error *error,
                            struct esi_subtree_pull *ret_pull);

void esi_subtree_acknowledged_encode(
    const struct esi_subtree_acknowledged *acknowledged,
    unsigned char out[ES_SUBTREE_ACKNOWLEDGED_BYTES]);
/* `index` is below pull->acknowledged_count. */
struct esi_subtree_acknowledged esi_subtree_acknowledged_at(
    const struct esi_subtree_pull *pull,
    uint32_t index);

#endif
