/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * epoch_steps.h - a packed part of a log sorted by traces: for epochs without an end,
 * in which a trace learns of the same others again and again.
 *
 * For each trace its *steps*: (head, value).  Those of most traces tend to follow each
 * other at the same distance, and then the first and their number are kept; else each
 * as the difference to the one before, with as many bits as the largest needs.  A trace
 * that was known before this part and has no step in it has one at head 0 with its
 * value, so that each part knows all that is known at its end: what it does not name
 * was not known before either.  Where that would take more memory than vectors, the
 * part is a vector for each head.
 */
#ifndef ES_MONITORS_ORDER_EPOCH_EPOCH_STEPS_H
#define ES_MONITORS_ORDER_EPOCH_EPOCH_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "monitors/order/epoch/epoch_block.h"

/* The writer's memory for packing: caller's, zeroed. */
struct esi_sorting {
    uint32_t *places;  /* of each trace: number of its steps, then where they go */
    uint32_t *traces;  /* those with steps, rising */
    uint64_t *steps;   /* head << 32 | value */
    uint64_t *earlier; /* trace << 32 | value: known before, and no step since */
    bool *evens;       /* of traces with steps: they are at the common distance */
    uint32_t trace_room;
    uint64_t step_room;
    uint32_t earlier_count;
    uint32_t trace_count;
    uint64_t step_count;
};

void esi_sorting_fini(struct esi_sorting *sorting);
uint64_t esi_sorting_bytes(const struct esi_sorting *sorting);

/* Is the block of this kind? */
static inline bool esi_steps_is(const unsigned char *block)
{
    return block[0] == 0;
}

/* Is it only more of a block before? */
bool esi_steps_is_more(const unsigned char *block);

/* What is packed: the first `heads` of a log; `before` is the part before it in the
 * same epoch, or NULL, and ends at the event `last`. */
struct esi_steps_part {
    const struct esi_log *log;
    uint32_t heads;
    struct esi_block_place place;
    const unsigned char *before;
    bool is_before_near; /* in the arena that the block comes to */
    struct esi_block_place before_place;
    uint32_t last;
    uint32_t traces; /* there are */
};

/* Perhaps it takes fewer heads, and says so in the part.  0 or -ENOMEM. */
int esi_steps_pack(struct esi_steps_part *part,
                   struct esi_sorting *sorting,
                   struct esi_arena *arena,
                   const unsigned char **ret_block);

/* As esi_block_find(). */
int64_t esi_steps_find(const unsigned char *block,
                       const struct esi_block_place *place,
                       uint32_t own,
                       uint32_t trace);

/* Places of traces. */
uint32_t esi_steps_count(const unsigned char *block);
/* Heads that are known at the event `own`. */
uint32_t esi_steps_head(const unsigned char *block,
                        const struct esi_block_place *place,
                        uint32_t own);
/* Is it the last head of the block?  Then the block has all that is known. */
bool esi_steps_is_end(const unsigned char *block, uint32_t head);
/* The trace of a place, and its value at a head: 0 = not known then, or, at
 * other heads than the last, only in a part before. */
void esi_steps_entry(const unsigned char *block,
                     const struct esi_block_place *place,
                     uint32_t head,
                     uint32_t at,
                     uint32_t *ret_trace,
                     uint32_t *ret_value);

#endif
