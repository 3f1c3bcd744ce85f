/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* epoch_hubs.c - logs that are kept once for all who know them: see epoch_hubs.h. */
#include "config.h"

#include "monitors/order/epoch/epoch_hubs.h"

#include "monitors/order/epoch/epoch_private.h"

/* A hub's number + 1; 0 = no more. */
static uint32_t hub_number(const struct esi_epoch_trace *trace, unsigned i)
{
    return atomic_load_explicit(&trace->hubs.numbers[i], memory_order_acquire);
}

bool esi_hub_is_adopted(const struct esi_epoch_trace *trace, uint32_t hub)
{
    for (unsigned i = 0; i < ESI_HUBS; i++)
        if (hub_number(trace, i) == hub + 1)
            return true;
    return false;
}

void esi_hub_adopt(struct esi_trace_hubs *hubs, uint32_t hub)
{
    unsigned i = 0;

    while (i < ESI_HUBS &&
           atomic_load_explicit(&hubs->numbers[i], memory_order_relaxed))
        i++;
    /* Readers of an event that relies on it see it with the event. */
    if (i < ESI_HUBS)
        atomic_store_explicit(&hubs->numbers[i], hub + 1, memory_order_release);
}

struct es_event_id esi_hub_at(const struct esi_store *store,
                              struct es_event_id event,
                              unsigned i)
{
    const struct esi_epoch_trace *trace = esi_epoch_trace_at(store, event.trace);
    uint32_t number = hub_number(trace, i), known;

    if (number == 0 || event.index <= esi_trace_forgotten(trace))
        return (struct es_event_id){0, 0};
    /* The table has been emptied at the last sealed event, if ever since. */
    if (event.index > esi_trace_sealed(trace) && event.index >= trace->known.since &&
        !trace->is_table_gone)
        known = esi_table_get(&trace->known, number - 1);
    else
        known = esi_trace_learnt(trace, &store->cuts, event.index, number - 1);
    return (struct es_event_id){number - 1, known};
}

uint32_t esi_hubs_know(const struct esi_store *store,
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

uint32_t esi_epoch_known(const struct esi_store *store,
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
        /* Not before the reader has entered. */
        if (at <= atomic_load_explicit(&hub->forgotten, memory_order_seq_cst))
            continue;
        known = esi_trace_known(hub, &store->cuts, at, of, enough);
        most = known > most ? known : most;
    }
    return most;
}
