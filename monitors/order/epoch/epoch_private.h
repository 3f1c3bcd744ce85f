/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * epoch_private.h - the store "epoch", as shared by its files (docs/epochs.md).
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
 * Logs that are stored once for all traces that know them.
 *
 * A *hub* is a trace whose first event is a receive of several sends: the trace of a
 * communicator.  A trace that receives from a hub directly may *adopt* it: from then on
 * it no longer copies the hub's log, and its entry (hub, k) stands for everything that
 * the hub knew at k.  Hubs themselves do not adopt, so a lookup never continues from a
 * hub to another log.
 *
 *   call                        may run concurrently with
 *   queries                     all others, about published events that are not
 *                               forgotten before the reader has left (epoch_memory.h)
 *   others                      not with each other
 */

struct esi_epoch_store;

/* --- For the writer --------------------------------------------------------------- */

bool esi_hub_is_adopted(const struct esi_epoch_trace *trace, uint32_t hub);

/* Adopts a hub if there is room. */
void esi_hub_adopt(struct esi_epoch_trace *trace, uint32_t hub);

/* Returns the last event of hub number `i` of the event's trace that the event, or the
 * next event of the trace, knows beyond the cut; index 0 = none. */
struct es_event_id esi_hub_at(const struct esi_epoch_store *store,
                              struct es_event_id event,
                              unsigned i);

/* Returns the greatest index of `of` that the trace knows through its hubs now.  May be
 * less than the hubs knew, never more. */
uint32_t esi_hubs_know(const struct esi_epoch_store *store,
                       const struct esi_epoch_trace *trace,
                       uint32_t of);

struct esi_epoch_store {
    struct esi_segmented traces; /* struct esi_epoch_trace */
    struct esi_cuts cuts;
    struct esi_epoch_arena blocks; /* sealed blocks and the segments */
    struct esi_words logs;
    struct esi_memory *memory;      /* NULL if there is no limit */
    struct esi_snapshots snapshots; /* empty if there is a limit */

    /* For the writer. */
    uint32_t trace_count;
    /* Traces with events that are not in the last cut, and possibly some others. */
    uint32_t *live;
    uint32_t live_count;
    size_t live_room;
    uint64_t *scratch; /* for entries */
    size_t scratch_room;
    _Atomic uint64_t *aside; /* entries for which the log has no room yet */
    size_t aside_room;
    uint64_t dense_bytes; /* that the vectors of all events would take */
    bool has_grown;       /* a log or table of a trace of the present event has grown */
    struct esi_sorting sorting;
    uint32_t seal_entries; /* as configured */
    bool is_tight;         /* always, as configured */

    /* For statistics, which readers may request. */
    _Atomic uint64_t cut_count, derived_cuts;
    _Atomic uint64_t entries;     /* stored in logs and base vectors */
    _Atomic uint64_t table_bytes; /* sum over all traces */
    _Atomic uint64_t room_bytes;  /* of the writer's other memory */
};

static inline struct esi_epoch_trace *esi_epoch_trace_at(
    const struct esi_epoch_store *store,
    uint32_t trace)
{
    return esi_segmented_at(&store->traces, trace);
}

/* Returns the greatest index of `of` that a trace knows now; for the writer.  `cut` is
 * the trace's cut or one that it is about to pass.  Forgotten events count as known to
 * all. */
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

/* Updates the size of the writer's memory other than tables. */
void esi_epoch_note_room(struct esi_epoch_store *store);

/* The operation of the store; may also be called by the writer. */
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

/* Before parts of a trace's log are packed: selects what their values are relative
 * to. */
static inline void esi_epoch_refer(struct esi_epoch_store *store, uint32_t trace)
{
    struct es_event_id first = {trace,
                                esi_trace_sealed(esi_epoch_trace_at(store, trace)) + 1};

    store->sorting.reference =
        esi_snapshots_near(&store->snapshots, first, store->trace_count);
}

/* --- epoch_bound.c ---------------------------------------------------------------- */

/* Returns whether the store takes nearly as much memory as vectors would. */
bool esi_epoch_is_tight(const struct esi_epoch_store *store);

/* If the store is tight, packs the log and drops the table of a trace to which an event
 * was appended, provided they are large compared to the number of its events. */
void esi_epoch_squeeze(struct esi_epoch_store *store, uint32_t trace);

/* Rebuilds a dropped table.  Returns 0 or -ENOMEM. */
int esi_epoch_remember(struct esi_epoch_store *store, struct esi_epoch_trace *trace);

/* Fills an empty table, which must have room, from the log of this epoch. */
void esi_epoch_recall(const struct esi_epoch_store *store,
                      struct esi_epoch_trace *trace);

/* --- epoch_cutting.c -------------------------------------------------------------- */

/* Tries to append a receive as the event of a new cut, which follows `last`, the last
 * cut that it or its partners have passed.  Returns 1 if it was appended, 0 if it does
 * not make a cut, or -ENOMEM. */
int esi_epoch_try_cut(struct esi_epoch_store *store,
                      struct es_event_id id,
                      const struct es_event_id *partners,
                      size_t partner_count,
                      uint32_t last);

#endif
