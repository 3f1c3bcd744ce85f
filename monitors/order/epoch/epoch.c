/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * epoch.c - the store "epoch": clocks relative to the last global cut (docs/epochs.md).
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "monitors/order/epoch/epoch_private.h"

enum { FIRST_PAGES = 4096 }; /* bytes of the first chunks, where memory is limited */

/* --- Life ------------------------------------------------------------------------- */

static int epoch_create(const struct es_order_config *config,
                        struct es_error *error,
                        struct esi_store **ret_store)
{
    struct esi_store *store = calloc(1, sizeof *store);
    size_t page_bytes = config->memory_bytes ? FIRST_PAGES : 0;
    int code;

    if (!store || esi_cuts_init(&store->cuts, page_bytes) < 0) {
        free(store);
        return es_error_set(error, -ENOMEM, "out of memory");
    }
    esi_arena_use_pages(&store->blocks, page_bytes);
    code = esi_memory_create(config, error, &store->memory);
    if (code < 0) {
        esi_cuts_fini(&store->cuts);
        free(store);
        return code;
    }
    es_rows_init(&store->traces, sizeof(struct esi_epoch_trace), 4);
    store->seal_entries = config->seal_entries;
    store->is_tight = config->is_tight;
    *ret_store = store;
    return 0;
}

static void epoch_destroy(struct esi_store *store)
{
    for (uint32_t i = 0; i < store->trace_count; i++)
        esi_table_fini(&esi_epoch_trace_at(store, i)->known);
    es_rows_fini(&store->traces);
    esi_cuts_fini(&store->cuts);
    esi_arena_fini(&store->blocks);
    esi_arena_fini(&store->logs.arena);
    esi_memory_destroy(store->memory);
    esi_sorting_fini(&store->sorting);
    free(store->live);
    free(store->scratch);
    free(store->aside);
    free(store);
}

/* All traces may be live. */
static int reserve_live(struct esi_store *store)
{
    uint32_t room = store->live_room ? store->live_room * 2 : 16;
    uint32_t *larger;

    if (store->trace_count < store->live_room)
        return 0;
    larger = realloc(store->live, room * sizeof *larger);
    if (!larger)
        return -ENOMEM;
    store->live = larger;
    store->live_room = room;
    atomic_store_explicit(&store->live_bytes, room * sizeof *larger,
                          memory_order_relaxed);
    return 0;
}

static int epoch_add_trace(struct esi_store *store)
{
    if (reserve_live(store) < 0 || !es_rows_extend(&store->traces, 1, NULL))
        return -ENOMEM;
    store->trace_count++;
    return 0;
}

static int epoch_append(struct esi_store *store,
                        struct es_event_id id,
                        enum es_event_kind kind,
                        const struct es_event_id *partners,
                        size_t partner_count)
{
    if (store->memory)
        esi_memory_tend(store);
    return esi_epoch_append(store, id, kind, partners, partner_count);
}

static int epoch_append_sync(struct esi_store *store,
                             struct es_event_id id,
                             struct es_event_id other)
{
    if (store->memory)
        esi_memory_tend(store);
    return esi_epoch_append_sync(store, id, other);
}

/* --- Asking ----------------------------------------------------------------------- */

/* Of an event that is forgotten, nothing. */
static uint32_t known(const struct esi_store *store,
                      struct es_event_id event,
                      uint32_t of,
                      uint32_t enough)
{
    const struct esi_epoch_trace *trace = esi_epoch_trace_at(store, event.trace);
    uint32_t found = 0;
    unsigned side;

    if (!store->memory)
        return esi_epoch_known(store, event, of, enough);
    side = esi_memory_enter(store->memory);
    /* Not before it has entered. */
    if (event.index > atomic_load_explicit(&trace->forgotten, memory_order_seq_cst))
        found = esi_epoch_known(store, event, of, enough);
    esi_memory_leave(store->memory, side);
    return found;
}

static int64_t epoch_greatest_predecessor(const struct esi_store *store,
                                          struct es_event_id event,
                                          uint32_t trace)
{
    return known(store, event, trace, UINT32_MAX);
}

static int epoch_precedes(const struct esi_store *store,
                          struct es_event_id a,
                          struct es_event_id b)
{
    return known(store, b, a.trace, a.index) >= a.index;
}

static uint32_t epoch_forgotten(const struct esi_store *store, uint32_t trace)
{
    return atomic_load_explicit(&esi_epoch_trace_at(store, trace)->announced,
                                memory_order_acquire);
}

void esi_epoch_statistics(const struct esi_store *store,
                          struct es_order_statistics *statistics)
{
    statistics->cuts = atomic_load_explicit(&store->cut_count, memory_order_relaxed);
    statistics->derived_cuts =
        atomic_load_explicit(&store->derived_cuts, memory_order_relaxed);
    statistics->actual_elements =
        atomic_load_explicit(&store->entries, memory_order_relaxed);
    statistics->communication_actual_elements = statistics->actual_elements;
    statistics->stored_bytes +=
        es_rows_bytes(&store->traces) + esi_cuts_bytes(&store->cuts) +
        esi_arena_bytes(&store->blocks) + esi_arena_bytes(&store->logs.arena);
    if (store->memory)
        esi_memory_statistics(store->memory, statistics);
    statistics->writer_bytes +=
        atomic_load_explicit(&store->table_bytes, memory_order_relaxed) +
        atomic_load_explicit(&store->live_bytes, memory_order_relaxed) +
        atomic_load_explicit(&store->scratch_bytes, memory_order_relaxed) +
        atomic_load_explicit(&store->draft_bytes, memory_order_relaxed) +
        atomic_load_explicit(&store->sorting_bytes, memory_order_relaxed);
}

const struct esi_store_ops esi_store_epoch = {
    .name = "epoch",
    .help = "clocks relative to the last global cut; the default",
    .create = epoch_create,
    .destroy = epoch_destroy,
    .add_trace = epoch_add_trace,
    .append = epoch_append,
    .append_sync = epoch_append_sync,
    .precedes = epoch_precedes,
    .greatest_predecessor = epoch_greatest_predecessor,
    .forgotten = epoch_forgotten,
    .statistics = esi_epoch_statistics,
};
