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

#include "eventspace/event.h"
#include "monitors/eventset/segmented.h"
#include "monitors/order/epoch/epoch_arena.h"
#include "monitors/order/epoch/epoch_cut.h"
#include "monitors/order/epoch/epoch_memory.h"
#include "monitors/order/epoch/epoch_snapshot.h"
#include "monitors/order/epoch/epoch_source.h"
#include "monitors/order/epoch/epoch_trace.h"
#include "monitors/order/order_private.h"

/*
 * Logs that are kept once for all who know them.
 *
 * A *hub* is a trace whose first event is a receive of several: that of a communicator.
 * A trace that hears of one directly may *adopt* it: from then on it copies nothing of
 * the hub's log, and its entry (hub, k) stands for all that the hub knew at k.  Hubs
 * adopt nobody, so that no more than one other log is to be looked into.
 *
 *   call                        may run together with
 *   questions                   all others, about published events that are not
 *                               forgotten before the reader has left (epoch_memory.h)
 *   others                      not with each other
 */

struct esi_epoch_store;

/* --- For the writer --------------------------------------------------------------- */

bool esi_hub_is_adopted(const struct esi_epoch_trace *trace, uint32_t hub);

/* Adopts a hub where there is room. */
void esi_hub_adopt(struct esi_epoch_trace *trace, uint32_t hub);

/* The event up to which an event, or the next one of its trace, knows hub number `i` of
 * that trace beyond the cut; index 0 = it does not. */
struct es_event_id esi_hub_at(const struct esi_epoch_store *store,
                              struct es_event_id event,
                              unsigned i);

/* What hubs tell a trace of another now: perhaps less than they knew, never more. */
uint32_t esi_hubs_know(const struct esi_epoch_store *store,
                       const struct esi_epoch_trace *trace,
                       uint32_t of);

struct esi_epoch_store {
    struct esi_segmented traces; /* struct esi_epoch_trace */
    struct esi_cuts cuts;
    struct esi_epoch_arena blocks; /* what is sealed, with the segments */
    struct esi_words logs;
    struct esi_memory *memory;      /* NULL: without a limit */
    struct esi_snapshots snapshots; /* none where there is a limit */

    /* The writer's. */
    uint32_t trace_count;
    /* Traces with events that the last cut does not know; perhaps some others. */
    uint32_t *live;
    uint32_t live_count;
    size_t live_room;
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
    _Atomic uint64_t room_bytes;  /* of the writer's other memory */
};

static inline struct esi_epoch_trace *esi_epoch_trace_at(
    const struct esi_epoch_store *store,
    uint32_t trace)
{
    return esi_segmented_at(&store->traces, trace);
}

/* What a trace knows of another now, for the writer; `cut` is its own or one that it
 * is about to pass.  All are taken to know what is forgotten. */
static inline uint32_t esi_epoch_knows(const struct esi_epoch_store *store,
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

/* Notes what the writer holds beside tables, after some of it has grown. */
void esi_epoch_note_room(struct esi_epoch_store *store);

/* As the store's operation; for the writer, too. */
void esi_epoch_statistics(const void *data, struct esi_order_statistics *statistics);

/* --- epoch_writer.c --------------------------------------------------------------- */

int esi_epoch_append(struct esi_epoch_store *store,
                     struct es_event_id id,
                     enum es_event_kind kind,
                     const struct es_event_id *partners,
                     size_t partner_count);
int esi_epoch_append_sync(struct esi_epoch_store *store,
                          struct es_event_id id,
                          struct es_event_id other);

/* --- epoch_bound.c ---------------------------------------------------------------- */

/* Does the store take nearly as much as vectors would? */
bool esi_epoch_is_tight(const struct esi_epoch_store *store);

/* Packs the log and drops the table of a trace whose event was appended, where the
 * store is tight and they are large for the events that they are of. */
void esi_epoch_squeeze(struct esi_epoch_store *store, uint32_t trace);

/* Makes the table again that was dropped.  0 or -ENOMEM. */
int esi_epoch_remember(struct esi_epoch_store *store, struct esi_epoch_trace *trace);

/* Fills an empty table with what the log of this epoch says; there is room. */
void esi_epoch_recall(const struct esi_epoch_store *store,
                      struct esi_epoch_trace *trace);

/* --- epoch_cutting.c -------------------------------------------------------------- */

/* Appends a receive as the event of a new cut, after the cut `last` of those that it
 * and its partners have passed.  1 when that is done, 0 when it is none, -ENOMEM. */
int esi_epoch_try_cut(struct esi_epoch_store *store,
                      struct es_event_id id,
                      const struct es_event_id *partners,
                      size_t partner_count,
                      uint32_t last);

#endif
