/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * epoch.c - the store "epoch": clocks relative to the last global cut (docs/epochs.md).
 * Creation, queries and hubs.
 */
#include "config.h"

#include "monitors/order/epoch/epoch_private.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "monitors/order/epoch/epoch_tuning.h"

/* === Hubs ========================================================================= */

/* Returns a hub's number + 1; 0 = end of list. */
static uint32_t hub_number(const struct esi_epoch_trace *trace, unsigned i)
{
    return atomic_load_explicit(&trace->hubs[i], memory_order_acquire);
}

bool esi_hub_is_adopted(const struct esi_epoch_trace *trace, uint32_t hub)
{
    for (unsigned i = 0; i < ESI_HUBS; i++)
        if (hub_number(trace, i) == hub + 1)
            return true;
    return false;
}

void esi_hub_adopt(struct esi_epoch_trace *trace, uint32_t hub)
{
    unsigned i = 0;

    while (i < ESI_HUBS && atomic_load_explicit(&trace->hubs[i], memory_order_relaxed))
        i++;
    /* Release: a reader of an event that relies on the hub also sees the hub. */
    if (i < ESI_HUBS)
        atomic_store_explicit(&trace->hubs[i], hub + 1, memory_order_release);
}

struct es_event_id esi_hub_at(const struct esi_epoch_store *store,
                              struct es_event_id event,
                              unsigned i)
{
    const struct esi_epoch_trace *trace = esi_epoch_trace_at(store, event.trace);
    uint32_t number = hub_number(trace, i), known;

    if (number == 0 || event.index <= esi_trace_forgotten(trace))
        return (struct es_event_id){0, 0};
    /* The table describes only events since the last sealed event. */
    if (event.index > esi_trace_sealed(trace) && event.index >= trace->known.since &&
        !trace->is_table_gone)
        known = esi_table_get(&trace->known, number - 1);
    else
        known = esi_trace_learnt(trace, &store->cuts, event.index, number - 1);
    return (struct es_event_id){number - 1, known};
}

uint32_t esi_hubs_know(const struct esi_epoch_store *store,
                       const struct esi_epoch_trace *trace,
                       uint32_t of)
{
    uint32_t most = 0, number;

    for (unsigned i = 0; i < ESI_HUBS && (number = hub_number(trace, i)) != 0; i++) {
        const struct esi_epoch_trace *hub = esi_epoch_trace_at(store, number - 1);
        uint32_t at = esi_table_get(&trace->known, number - 1), known;

        if (at == 0 || at < hub->known.since)
            continue;
        known = esi_table_get(&hub->known, of);
        most = known > most ? known : most;
    }
    return most;
}

/* Returns the greatest index on `of` that is known at an event, including what its hubs
 * knew, except their forgotten parts.  May return a smaller value if that already shows
 * whether the exact one is at least `enough`. */
static uint32_t epoch_known(const struct esi_epoch_store *store,
                            struct es_event_id event,
                            uint32_t of,
                            uint32_t enough)
{
    const struct esi_epoch_trace *trace = esi_epoch_trace_at(store, event.trace);
    uint32_t most = esi_trace_known(trace, &store->cuts, event.index, of, enough);
    uint32_t number;

    for (unsigned i = 0;
         i < ESI_HUBS && most < enough && (number = hub_number(trace, i)) != 0; i++) {
        const struct esi_epoch_trace *hub = esi_epoch_trace_at(store, number - 1);
        uint32_t at, known;

        if (number - 1 == of)
            continue;
        at = esi_trace_learnt(trace, &store->cuts, event.index, number - 1);
        /* Must be read after the reader has entered. */
        if (at <= atomic_load_explicit(&hub->forgotten, memory_order_seq_cst))
            continue;
        known = esi_trace_known(hub, &store->cuts, at, of, enough);
        most = known > most ? known : most;
    }
    return most;
}

/* === The store ==================================================================== */

enum { FIRST_PAGES = 4096 }; /* bytes of the first chunks if memory is limited */

/* --- Creation and destruction ----------------------------------------------------- */

static int epoch_init(void *data,
                      const struct esi_order_config *config,
                      struct es_error *error)
{
    struct esi_epoch_store *store = data;
    const struct esi_epoch_tuning *tuning = config->tuning;
    size_t page_bytes = config->memory_bytes ? FIRST_PAGES : 0;

    if (esi_cuts_init(&store->cuts, page_bytes) < 0)
        return -ENOMEM;
    esi_arena_use_pages(&store->blocks, page_bytes);
    esi_segmented_init(&store->traces, sizeof(struct esi_epoch_trace), 4);
    esi_snapshots_init(&store->snapshots);
    store->seal_entries = tuning->seal_entries;
    store->is_tight = tuning->is_tight;
    return esi_memory_create(config, error, &store->memory);
}

static void epoch_fini(void *data)
{
    struct esi_epoch_store *store = data;

    for (uint32_t i = 0; i < store->trace_count; i++)
        esi_table_fini(&esi_epoch_trace_at(store, i)->known);
    esi_segmented_fini(&store->traces);
    esi_snapshots_fini(&store->snapshots);
    esi_cuts_fini(&store->cuts);
    esi_arena_fini(&store->blocks);
    esi_arena_fini(&store->logs.arena);
    esi_memory_destroy(store->memory);
    esi_sorting_fini(&store->sorting);
    free(store->live);
    free(store->scratch);
    free(store->aside);
}

void esi_epoch_note_room(struct esi_epoch_store *store)
{
    uint64_t bytes =
        store->live_room * sizeof *store->live +
        store->scratch_room * sizeof *store->scratch +
        store->aside_room * sizeof *store->aside + esi_cuts_draft_bytes(&store->cuts) +
        esi_snapshots_room(&store->snapshots) + esi_sorting_bytes(&store->sorting);

    atomic_store_explicit(&store->room_bytes, bytes, memory_order_relaxed);
}

static int epoch_add_trace(void *data)
{
    struct esi_epoch_store *store = data;

    /* Room for the case that all traces are live. */
    if (ESI_ARRAY_RESERVE(store->live, store->live_room, store->trace_count + 1u) < 0 ||
        !esi_segmented_extend(&store->traces, 1, NULL))
        return -ENOMEM;
    esi_epoch_note_room(store);
    store->trace_count++;
    return 0;
}

static int epoch_append(void *data,
                        struct es_event_id id,
                        enum es_event_kind kind,
                        const struct es_event_id *partners,
                        size_t partner_count)
{
    struct esi_epoch_store *store = data;
    int code;

    if (store->memory)
        esi_memory_tend(store);
    code = esi_epoch_append(store, id, kind, partners, partner_count);
    if (code == 0 && !store->memory)
        esi_snapshots_count(store, 1);
    return code;
}

static int epoch_append_sync(void *data,
                             struct es_event_id id,
                             struct es_event_id other)
{
    struct esi_epoch_store *store = data;
    int code;

    if (store->memory)
        esi_memory_tend(store);
    code = esi_epoch_append_sync(store, id, other);
    if (code == 0 && !store->memory)
        esi_snapshots_count(store, 2);
    return code;
}

/* --- Queries ---------------------------------------------------------------------- */

/* Returns 0 for a forgotten event. */
static uint32_t store_known(const struct esi_epoch_store *store,
                            struct es_event_id event,
                            uint32_t of,
                            uint32_t enough)
{
    const struct esi_epoch_trace *trace = esi_epoch_trace_at(store, event.trace);
    uint32_t found = 0;
    unsigned side;

    if (!store->memory)
        return epoch_known(store, event, of, enough);
    side = esi_memory_enter(store->memory);
    /* Must be read after the reader has entered. */
    if (event.index > atomic_load_explicit(&trace->forgotten, memory_order_seq_cst))
        found = epoch_known(store, event, of, enough);
    esi_memory_leave(store->memory, side);
    return found;
}

static int64_t epoch_greatest_predecessor(const void *store,
                                          struct es_event_id event,
                                          uint32_t trace)
{
    return store_known(store, event, trace, ESI_EXACTLY);
}

static int epoch_precedes(const void *data, struct es_event_id a, struct es_event_id b)
{
    const struct esi_epoch_store *store = data;
    enum esi_judgement judgement;

    /* This cache miss overlaps those of the snapshots. */
    __builtin_prefetch(atomic_load_explicit(&esi_epoch_trace_at(store, b.trace)->run,
                                            memory_order_relaxed));
    judgement = esi_snapshots_judge(&store->snapshots, a, b);
    if (judgement != ESI_JUDGED_OPEN)
        return judgement == ESI_JUDGED_BEFORE;
    return store_known(store, b, a.trace, a.index) >= a.index;
}

static uint32_t epoch_forgotten(const void *data, uint32_t trace)
{
    const struct esi_epoch_store *store = data;

    if (!store->memory)
        return 0;
    return atomic_load_explicit(&esi_epoch_trace_at(store, trace)->announced,
                                memory_order_acquire);
}

void esi_epoch_statistics(const void *data, struct esi_order_statistics *statistics)
{
    const struct esi_epoch_store *store = data;

    statistics->cuts = atomic_load_explicit(&store->cut_count, memory_order_relaxed);
    statistics->derived_cuts =
        atomic_load_explicit(&store->derived_cuts, memory_order_relaxed);
    statistics->actual_elements =
        atomic_load_explicit(&store->entries, memory_order_relaxed);
    statistics->communication_actual_elements = statistics->actual_elements;
    statistics->stored_bytes +=
        esi_segmented_bytes(&store->traces) + esi_cuts_bytes(&store->cuts) +
        esi_snapshots_bytes(&store->snapshots) + esi_arena_bytes(&store->blocks) +
        esi_arena_bytes(&store->logs.arena);
    if (store->memory)
        esi_memory_statistics(store->memory, statistics);
    statistics->writer_bytes +=
        atomic_load_explicit(&store->table_bytes, memory_order_relaxed) +
        atomic_load_explicit(&store->room_bytes, memory_order_relaxed);
}

static const struct esi_epoch_tuning defaults = {.seal_entries = 0};

const struct esi_store_ops esi_store_epoch = {
    .name = "epoch",
    .defaults = &defaults,
    .store_bytes = sizeof(struct esi_epoch_store),
    .init = epoch_init,
    .fini = epoch_fini,
    .add_trace = epoch_add_trace,
    .append = epoch_append,
    .append_sync = epoch_append_sync,
    .precedes = epoch_precedes,
    .greatest_predecessor = epoch_greatest_predecessor,
    .forgotten = epoch_forgotten,
    .statistics = esi_epoch_statistics,
};
