/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The encoding of a reply to a pull, which a subtree sends to its remote stage.
 *
 *    head    40 bytes, little endian: counts, flags, cost of the pull
 *    words   of the tuples, in the sender's byte order: only those that differ from the
 *            previous reply
 *    masks   one byte per tuple: which words are present
 *    marks   runs: tuples of one origin with consecutive positions; and rows: one tuple
 *            each of consecutive origins
 *    sites   if the scope asks for them: differences, one per tuple
 *    reports, notices, positions that differ from the end of the marks
 *
 * After the masks, all numbers are LEB128 varints, signed ones in zigzag.  Positions
 * are sent as differences to the position up to which the origin was received: a tuple
 * that directly follows its predecessor costs at most one byte of marks.
 *
 * Pure logic.  Time and memory are linear in the size of the reply; nothing is
 * allocated once the buffers have grown.
 */
#ifndef ES_SCOPES_REMOTE_BATCH_WIRE_H
#define ES_SCOPES_REMOTE_BATCH_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/error.h"
#include "eventspace/stage_batch.h"

#define ES_WIRE_HEAD_BYTES 40
#define ES_WIRE_TUPLES_MAX 1000000 /* per reply, which must fit into a frame */

/* The positions up to which each origin was sent or received, and the tuples of the
 * last reply.  The positions start with those of the "open" reply, the tuples with
 * zeros.  Every reply advances them; the receiver resumes reading at these
 * positions. */
struct esi_wire_state {
    uint64_t *next;        /* owned: esi_wire_state_fini() */
    struct es_tuple *last; /* by place; owned; in the sender's byte order */
    uint32_t count;
};

/* Initializes the state for `count` origins, all zeros.  Returns 0 or -ENOMEM. */
int esi_wire_state_init(struct esi_wire_state *state, uint32_t count);
void esi_wire_state_fini(struct esi_wire_state *state);

/* A position that cannot be derived from the marks. */
struct esi_wire_move {
    uint64_t position;
    uint32_t origin;
    uint32_t reserved; /* always 0 */
};

struct esi_wire_moves {
    struct esi_wire_move *items; /* owned: esi_wire_moves_fini() */
    size_t count;
    size_t capacity;
};

void esi_wire_moves_fini(struct esi_wire_moves *moves);

/* What the pull cost the server's thread. */
struct esi_wire_cost {
    uint64_t cpu_ns;
    uint64_t wall_ns;
};

/* A reply to send: head | words | tail.  Reused by later pulls. */
struct esi_wire_buffer {
    unsigned char head[ES_WIRE_HEAD_BYTES];
    uint32_t *words; /* owned, like `tail`: esi_wire_buffer_fini() */
    size_t word_count;
    size_t word_capacity;
    unsigned char *tail;
    size_t tail_bytes;
    size_t tail_capacity;
};

void esi_wire_buffer_fini(struct esi_wire_buffer *buffer);

/* Encodes a batch whose marks name origins below state->count, and advances the state
 * to `positions`, one per origin.  `positions` may be NULL if positions have no meaning
 * (only the latest tuples are read).  On -ENOMEM, nothing is changed. */
int esi_batch_encode(struct esi_wire_state *state,
                     const struct es_batch *batch,
                     const uint64_t *positions,
                     const struct esi_wire_cost *cost,
                     struct esi_wire_buffer *buffer);

/* How to read a reply. */
struct esi_wire_source {
    bool swapped;            /* the sender has the other byte order */
    const uint32_t *origins; /* the receiver's index of each origin; NULL if equal */
};

/* Appends the tuples of `payload` to the batch, advances the state, and replaces the
 * contents of `moves` (with the sender's indices) and of the cost.  Returns 0, -EPROTO
 * with a text, or -ENOMEM.  After an error the batch is unchanged, and the connection
 * can no longer be used. */
int esi_batch_decode(struct esi_wire_state *state,
                     const struct esi_wire_source *source,
                     const void *payload,
                     size_t length,
                     struct es_batch *batch,
                     struct esi_wire_moves *moves,
                     struct esi_wire_cost *ret_cost,
                     struct es_error *error);

/* Properties of a reply that are known before it is decoded. */
struct esi_wire_size {
    uint32_t tuples;
    /* The reply must be passed on in one piece: it contains derived tuples, or tuples
     * of an element in another order than in the element. */
    bool whole;
};

/* Returns 0, or -EPROTO if `payload` is not a reply. */
int esi_batch_wire_size(const void *payload,
                        size_t length,
                        struct esi_wire_size *ret_size);

#endif
