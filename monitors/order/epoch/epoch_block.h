/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A sealed part of a trace's log, packed; nothing is added to it any more.
 *
 * A *record* keeps the log as it was: heads, then entries in their order.  Each array
 * is as narrow as its largest number allows.  Values are stored as differences to the
 * cut's base, which are small.  A trace is found by searching the entries from the end.
 */
#ifndef ES_MONITORS_ORDER_EPOCH_EPOCH_BLOCK_H
#define ES_MONITORS_ORDER_EPOCH_EPOCH_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitors/order/epoch/epoch_arena.h"
#include "monitors/order/epoch/epoch_cut.h"
#include "monitors/order/epoch/epoch_log.h"
#include "monitors/order/epoch/epoch_snapshot.h"

/* The position of a block. */
struct esi_block_place {
    const struct esi_cuts *cuts;
    uint32_t cut;   /* values are relative to its base */
    uint32_t first; /* own index that heads are relative to */
};

/* Packs what a log holds at the event `own`.  *ret_block is NULL if it holds nothing.
 * Returns 0 or -ENOMEM. */
int esi_block_pack(const struct esi_log *log,
                   uint32_t own,
                   const struct esi_block_place *place,
                   struct esi_epoch_arena *arena,
                   const unsigned char **ret_block);

enum { ESI_BLOCK_NOWHERE = -1 };

/* As `enough`: requests the exact value, since no value is that large. */
static const uint32_t ESI_EXACTLY = UINT32_MAX;

/* Returns the greatest index of `trace` that is known at the event `own` beyond the
 * cut. May return a smaller value, which is faster, if that already shows whether the
 * exact one is at least `enough`.  Returns 0 if this block does not name the trace,
 * ESI_BLOCK_NOWHERE if the blocks before do not either. */
int64_t esi_block_find(const unsigned char *block,
                       const struct esi_block_place *place,
                       uint32_t own,
                       uint32_t trace,
                       uint32_t enough);

/* Returns the number of entries that describe what is known at the event `own`: for
 * records, the entries up to that event; for steps, one per trace. */
uint32_t esi_block_end_at(const unsigned char *block,
                          const struct esi_block_place *place,
                          uint32_t own);
/* Reads one of these entries from a record. */
void esi_block_entry(const unsigned char *block,
                     const struct esi_block_place *place,
                     uint32_t at,
                     uint32_t *ret_trace,
                     uint32_t *ret_value);

/*
 * A packed part of a log, sorted by traces; for long epochs, in which a trace learns
 * about the same traces again and again.
 *
 * For each trace it stores its *steps*: pairs (head, value).  Many traces have steps at
 * the same heads, with similar increments (epoch_layout.h).  A trace that was known
 * before this part and has no step in it gets one at head 0 with its value.  So each
 * part contains all that is known at its end: a trace that it does not name was not
 * known before either.  If this takes more memory than vectors, the part is a vector
 * per head instead.
 */

/* Summary of a trace's steps in a part. */
struct esi_steps_tally {
    uint64_t heads;       /* one bit per head, or a hash of them */
    uint32_t count;       /* number of steps; 0 = none */
    uint32_t last;        /* value */
    uint32_t least, most; /* increments; UINT32_MAX and 0 if there is only one step */
};

/* The writer's memory for packing; allocated and zeroed by the caller. */
struct esi_sorting {
    struct esi_steps_tally *tallies; /* by trace */
    uint32_t *places;  /* by trace with steps: place after its last step */
    uint32_t *traces;  /* traces with steps, in increasing order; or increments of due
                          steps */
    uint64_t *steps;   /* head << 32 | value */
    uint64_t *earlier; /* trace << 32 | value: known before and no step since; or due
                          steps */
    struct esi_steps_column *columns;   /* of traces with steps */
    struct esi_steps_pattern *patterns; /* patterns that occur, with the steps of their
                                           columns */
    uint32_t *slots; /* hash table of patterns by their heads; 0 = free */
    /* Set by the caller: entries of all traces, which exist as long as the block, with
     * numbers of events near the values; or NULL. */
    const struct esi_snapshot_entry *reference;
    size_t tally_room, trace_room, earlier_room, step_room, pattern_room, slot_room;
    uint32_t earlier_count;
    uint32_t trace_count;
    uint32_t pattern_count;
    uint32_t slot_mask;
    bool has_bits; /* heads are stored as one bit each; false if there are too many of
                      them or a trace has two steps at one head */
};

void esi_sorting_fini(struct esi_sorting *sorting);
uint64_t esi_sorting_bytes(const struct esi_sorting *sorting);

/* Makes room for `traces` traces; tallies of traces without steps are empty.  Returns 0
 * or -ENOMEM, as do the following ones. */
int esi_sorting_reserve_traces(struct esi_sorting *sorting, uint32_t traces);
/* Makes room for `steps` steps; forgets those that are there. */
int esi_sorting_reserve_steps(struct esi_sorting *sorting, size_t steps);
/* Makes room for the patterns of the columns; there are none yet. */
int esi_sorting_reserve_patterns(struct esi_sorting *sorting);

/* Returns whether the block is of this kind. */
static inline bool esi_steps_is(const unsigned char *block)
{
    return block[0] == 0;
}

/* Returns whether the block only continues an earlier block. */
bool esi_steps_is_more(const unsigned char *block);

/* The part to pack: the first `heads` of a log.  `before` is the previous part in the
 * same epoch, or NULL; it ends at the event `last`. */
struct esi_steps_part {
    const struct esi_log *log;
    uint32_t heads;
    struct esi_block_place place;
    const unsigned char *before;
    bool is_before_near; /* `before` is in the arena of the new block */
    struct esi_block_place before_place;
    uint32_t last;
    uint32_t traces; /* number of traces */
};

/* Packs a part.  May take fewer heads than requested; then updates `part`.  Returns 0
 * or -ENOMEM. */
int esi_steps_pack(struct esi_steps_part *part,
                   struct esi_sorting *sorting,
                   struct esi_epoch_arena *arena,
                   const unsigned char **ret_block);

/* Returns the number of heads known at the event `own`. */
uint32_t esi_steps_head(const unsigned char *block,
                        const struct esi_block_place *place,
                        uint32_t own);
/* Returns whether this is the last head of the block.  If so, the block contains all
 * that is known. */
bool esi_steps_is_end(const unsigned char *block, uint32_t head);

#endif
