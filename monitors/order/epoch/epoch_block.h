/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A part of a trace's log that nothing is added to any more, packed.
 *
 * A *record* keeps the log as it was: heads, then entries in their order, each array as
 * narrow as its largest number allows.  Values are differences to the cut's base, which
 * are small.  A trace is found by looking through the entries from the end.
 */
#ifndef ES_MONITORS_ORDER_EPOCH_EPOCH_BLOCK_H
#define ES_MONITORS_ORDER_EPOCH_EPOCH_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitors/order/epoch/epoch_arena.h"
#include "monitors/order/epoch/epoch_cut.h"
#include "monitors/order/epoch/epoch_log.h"

/* What a block is of. */
struct esi_block_place {
    const struct esi_cuts *cuts;
    uint32_t cut;   /* that values are relative to */
    uint32_t first; /* own index that heads are relative to */
};

/* Packs what a log holds at the event `own`; NULL in ret_block where that is nothing.
 * 0 or -ENOMEM. */
int esi_block_pack(const struct esi_log *log,
                   uint32_t own,
                   const struct esi_block_place *place,
                   struct esi_epoch_arena *arena,
                   const unsigned char **ret_block);

enum { ESI_BLOCK_NOWHERE = -1 };

/* Asks for the value itself: no value is as much. */
static const uint32_t ESI_EXACTLY = UINT32_MAX;

/* What is known of `trace` at the event `own` beyond the cut, or less if that tells as
 * well whether it is `enough`, which is quicker; 0 = nothing in this block;
 * ESI_BLOCK_NOWHERE = nor in those before. */
int64_t esi_block_find(const unsigned char *block,
                       const struct esi_block_place *place,
                       uint32_t own,
                       uint32_t trace,
                       uint32_t enough);

/* Entries that tell what is known at the event `own`: of records, those up to then; of
 * steps, one of each trace. */
uint32_t esi_block_end_at(const unsigned char *block,
                          const struct esi_block_place *place,
                          uint32_t own);
/* One of them, of a record. */
void esi_block_entry(const unsigned char *block,
                     const struct esi_block_place *place,
                     uint32_t at,
                     uint32_t *ret_trace,
                     uint32_t *ret_value);

/*
 * A packed part of a log sorted by traces: for epochs without an end,
 * in which a trace learns of the same others again and again.
 *
 * For each trace its *steps*: (head, value).  Those of many traces have the same heads,
 * and rise by much the same from one to the next (epoch_layout.h).  A trace
 * that was known before this part and has no step in it has one at head 0 with its
 * value, so that each part knows all that is known at its end: what it does not name
 * was not known before either.  Where that would take more memory than vectors, the
 * part is a vector for each head.
 */

/* What a part has of a trace. */
struct esi_steps_tally {
    uint64_t heads;       /* a bit for each, or a hash of them */
    uint32_t count;       /* of steps; 0 = none */
    uint32_t last;        /* value */
    uint32_t least, most; /* rises; UINT32_MAX and 0 where there is one step */
};

/* The writer's memory for packing: caller's, zeroed. */
struct esi_sorting {
    struct esi_steps_tally *tallies; /* of each trace */
    uint32_t *places;                /* of each trace with steps: behind its last one */
    uint32_t *traces;  /* those with steps, rising; or rises of steps that are due */
    uint64_t *steps;   /* head << 32 | value */
    uint64_t *earlier; /* trace << 32 | value: known before, and no step since; or
                        * steps that are due */
    struct esi_steps_column *columns;   /* of traces with steps */
    struct esi_steps_pattern *patterns; /* steps of a column that has it */
    uint32_t *slots;                    /* patterns, by their heads; 0 = free */
    size_t tally_room, trace_room, earlier_room, step_room, pattern_room, slot_room;
    uint32_t earlier_count;
    uint32_t trace_count;
    uint32_t pattern_count;
    uint32_t slot_mask;
    bool has_bits; /* heads are a bit for each; else there are too many of them, or two
                    * steps of a trace at one */
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
                   struct esi_epoch_arena *arena,
                   const unsigned char **ret_block);

/* Heads that are known at the event `own`. */
uint32_t esi_steps_head(const unsigned char *block,
                        const struct esi_block_place *place,
                        uint32_t own);
/* Is it the last head of the block?  Then the block has all that is known. */
bool esi_steps_is_end(const unsigned char *block, uint32_t head);

#endif
