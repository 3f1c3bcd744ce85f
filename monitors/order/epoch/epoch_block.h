/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * epoch_block.h - a part of a trace's log that nothing is added to any more, packed.
 *
 * A *record* keeps the log as it was: heads, then entries in their order, each array as
 * narrow as its largest number allows.  Values are differences to the cut's base, which
 * are small.  A trace is found by looking through the entries from the end.
 */
#ifndef ES_MONITORS_ORDER_EPOCH_EPOCH_BLOCK_H
#define ES_MONITORS_ORDER_EPOCH_EPOCH_BLOCK_H

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
                   struct esi_arena *arena,
                   const unsigned char **ret_block);

enum { ESI_BLOCK_NOWHERE = -1 };

/* What is known of `trace` at the event `own` beyond the cut; 0 = nothing in this
 * block; ESI_BLOCK_NOWHERE = nor in those before. */
int64_t esi_block_find(const unsigned char *block,
                       const struct esi_block_place *place,
                       uint32_t own,
                       uint32_t trace);

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

#endif
