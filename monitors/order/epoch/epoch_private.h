/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * epoch_private.h - the store "epoch": what its files share (docs/epochs.md).
 */
#ifndef ES_MONITORS_ORDER_EPOCH_EPOCH_PRIVATE_H
#define ES_MONITORS_ORDER_EPOCH_EPOCH_PRIVATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitors/order/epoch/epoch_arena.h"
#include "monitors/order/epoch/epoch_cut.h"
#include "monitors/order/epoch/epoch_hubs.h"
#include "monitors/order/epoch/epoch_memory.h"
#include "monitors/order/epoch/epoch_trace.h"
#include "monitors/order/order_private.h"
#include "monitors/eventset/rows.h"

struct esi_store {
    struct es_rows traces; /* struct esi_epoch_trace */
    struct esi_cuts cuts;
    struct esi_arena blocks; /* what is sealed, with the segments */
    struct esi_words logs;
    struct esi_memory *memory; /* NULL: without a limit */

    /* The writer's. */
    uint32_t trace_count;
    /* Traces with events that the last cut does not know; perhaps some others. */
    uint32_t *live;
    uint32_t live_count, live_room;
    uint64_t *scratch; /* entries */
    size_t scratch_room;
    _Atomic uint64_t *aside; /* entries that a log has no room for yet */
    size_t aside_room;
    uint64_t dense_bytes; /* that the vectors of all events would take */
    bool has_grown;       /* a log or table of the present event's traces */
    struct esi_sorting sorting;
    uint32_t seal_entries; /* as configured */
    bool is_tight;         /* always */

    /* For statistics, which readers may ask for. */
    _Atomic uint64_t cut_count, derived_cuts;
    _Atomic uint64_t entries;     /* stored, in logs and in base vectors */
    _Atomic uint64_t table_bytes; /* of all traces */
    _Atomic uint64_t live_bytes;
    _Atomic uint64_t scratch_bytes;
    _Atomic uint64_t draft_bytes;
    _Atomic uint64_t sorting_bytes;
};

static inline struct esi_epoch_trace *esi_epoch_trace_at(const struct esi_store *store,
                                                         uint32_t trace)
{
    return es_rows_at(&store->traces, trace);
}

/* What a trace knows of another now, for the writer; `cut` is its own or one that it
 * is about to pass.  All are taken to know what is forgotten. */
static inline uint32_t esi_epoch_knows(const struct esi_store *store,
                                       const struct esi_epoch_trace *trace,
                                       uint32_t cut,
                                       uint32_t of)
{
    uint32_t base = esi_cut_base(&store->cuts, cut, of);
    uint32_t known = esi_table_get(&trace->known, of);
    uint32_t forgotten = esi_trace_forgotten(esi_epoch_trace_at(store, of));

    known = known > base ? known : base;
    base = esi_hubs_know(store, trace, of);
    known = known > base ? known : base;
    return known > forgotten ? known : forgotten;
}

static inline void esi_epoch_add(_Atomic uint64_t *figure, uint64_t more)
{
    atomic_store_explicit(figure,
                          atomic_load_explicit(figure, memory_order_relaxed) + more,
                          memory_order_relaxed);
}

/* As the store's operation; for the writer, too. */
void esi_epoch_statistics(const struct esi_store *store,
                          struct es_order_statistics *statistics);

/* --- epoch_writer.c --------------------------------------------------------------- */

int esi_epoch_append(struct esi_store *store,
                     struct es_event_id id,
                     enum es_event_kind kind,
                     const struct es_event_id *partners,
                     size_t partner_count);
int esi_epoch_append_sync(struct esi_store *store,
                          struct es_event_id id,
                          struct es_event_id other);

/* --- epoch_bound.c ---------------------------------------------------------------- */

/* Does the store take nearly as much as vectors would? */
bool esi_epoch_is_tight(const struct esi_store *store);

/* Packs the log and drops the table of a trace whose event was appended, where the
 * store is tight and they are large for the events that they are of. */
void esi_epoch_squeeze(struct esi_store *store, uint32_t trace);

/* Makes the table again that was dropped.  0 or -ENOMEM. */
int esi_epoch_remember(struct esi_store *store, struct esi_epoch_trace *trace);

/* Fills an empty table with what the log of this epoch says; there is room. */
void esi_epoch_recall(const struct esi_store *store, struct esi_epoch_trace *trace);

/* --- epoch_cutting.c -------------------------------------------------------------- */

/* Appends a receive as the event of a new cut, after the cut `last` of those that it
 * and its partners have passed.  1 when that is done, 0 when it is none, -ENOMEM. */
int esi_epoch_try_cut(struct esi_store *store,
                      struct es_event_id id,
                      const struct es_event_id *partners,
                      size_t partner_count,
                      uint32_t last);

#endif
