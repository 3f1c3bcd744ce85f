/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The reply to a pull as bytes: what a subtree sends its remote stage.
 *
 *     head    40 bytes, little endian: counts, flags, what the pull cost
 *     words   of the tuples, in the sender's byte order, as far as they differ from
 *             those of the reply before
 *     masks   one byte a tuple: which words it has
 *     marks   runs of tuples of one origin with positions that follow each other, and
 *             rows of one tuple each of origins that do
 *     sites   where the scope asks for them: differences, one for each tuple
 *     reports, notices, positions that are not where the marks end
 *
 * Behind the masks all numbers are LEB128 varints, signed ones in zigzag.  Positions
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

#define ES_WIRE_HEAD_BYTES 40
#define ES_WIRE_TUPLES_MAX 1000000 /* in one reply: it must fit into a frame */

/* Up to where each origin was sent, or received, and the tuples of the last reply.
 * The positions begin with those of the "open" reply, the tuples with zeros, and every
 * reply moves them: at the receiving end reading is resumed at the positions. */
struct esi_wire_state {
    uint64_t *next;        /* owned: esi_wire_state_fini() */
    struct es_tuple *last; /* by place; owned; in the sender's byte order */
    uint32_t count;
};

/* Of so many origins, all zeros.  -ENOMEM. */
int esi_wire_state_init(struct esi_wire_state *state, uint32_t count);
void esi_wire_state_fini(struct esi_wire_state *state);

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

/* What is sent: head | words | tail.  Kept from pull to pull. */
struct esi_wire_buffer {
    unsigned char head[ES_WIRE_HEAD_BYTES];
    uint32_t *words; /* owned, as the tail: esi_wire_buffer_fini() */
    size_t word_count;
    size_t word_capacity;
    unsigned char *tail;
    size_t tail_bytes;
    size_t tail_capacity;
};

void esi_wire_buffer_fini(struct esi_wire_buffer *buffer);

/* Writes a batch whose marks name origins below state->count, and
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

#endif
