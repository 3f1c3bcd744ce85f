/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * epoch_cutting.c - finds cuts: a receive with many partners that knows the last cut
 * and all later events of most traces.
 *
 * The choice of cuts affects only the memory use: the base vector is what the receive
 * knows, of any traces, and traces pass the cut when they know the receive.  A cut
 * costs one entry per trace once; without it, each trace that learns of the receive
 * would store that many entries.
 */
#include "config.h"

#include <errno.h>

#include "monitors/order/epoch/epoch_private.h"

enum { FEWEST_PARTNERS = 2 };

static bool is_covered(const struct esi_epoch_store *store, uint32_t trace)
{
    return esi_cuts_draft(&store->cuts, trace) >=
           esi_epoch_trace_at(store, trace)->count;
}

static uint32_t covered_traces(const struct esi_epoch_store *store)
{
    uint32_t covered = 0;

    for (uint32_t i = 0; i < store->live_count; i++)
        covered += is_covered(store, store->live[i]);
    return covered;
}

/* Raises the draft to everything in an event's own log that its trace did not know at
 * `known`. */
static void raise_by(struct esi_epoch_store *store,
                     struct es_event_id event,
                     uint32_t known)
{
    const struct esi_epoch_trace *trace = esi_epoch_trace_at(store, event.trace);
    uint32_t forgotten = esi_trace_forgotten(trace);
    struct esi_epoch_source source;
    struct esi_epoch_span span;

    known = known > forgotten ? known : forgotten;
    if (known >= event.index)
        return;
    esi_source_init(&source, &store->cuts, trace, known, event.index);
    while (esi_source_next(&source, &span))
        while (span.from < span.to) {
            uint64_t entry = esi_span_take(&span);

            esi_cuts_raise(&store->cuts, (uint32_t)(entry >> 32), (uint32_t)entry);
        }
}

/* Raises the draft to what the trace's own hubs know. */
static void raise_by_own_hubs(struct esi_epoch_store *store,
                              struct es_event_id id,
                              uint32_t last)
{
    for (unsigned i = 0; i < ESI_HUBS; i++) {
        struct es_event_id hub = esi_hub_at(store, id, i);

        raise_by(store, hub, esi_cut_base(&store->cuts, last, hub.trace));
    }
}

/* Raises the draft to what a partner knew.  A hub that other traces have adopted needs
 * no special case: its log was merged before the entry for it. */
static void raise_by_partner(struct esi_epoch_store *store,
                             const struct esi_epoch_trace *trace,
                             struct es_event_id partner,
                             uint32_t last)
{
    uint32_t known = esi_epoch_knows(store, trace, last, partner.trace);

    if (known >= partner.index)
        return;
    for (unsigned i = 0; i < ESI_HUBS; i++) {
        struct es_event_id hub = esi_hub_at(store, partner, i);

        if (hub.index > esi_cuts_draft(&store->cuts, hub.trace))
            raise_by(store, hub, esi_epoch_knows(store, trace, last, hub.trace));
    }
    raise_by(store, partner, known);
}

/* Makes the draft what the event `id` knows; returns false if that is not a cut. */
static bool draft_cut(struct esi_epoch_store *store,
                      struct es_event_id id,
                      const struct es_event_id *partners,
                      size_t partner_count,
                      uint32_t last)
{
    const struct esi_epoch_trace *trace = esi_epoch_trace_at(store, id.trace);
    uint32_t place = 0, of, value, covered;

    while (esi_table_next(&trace->known, &place, &of, &value))
        esi_cuts_raise(&store->cuts, of, value);
    for (size_t i = 0; i < partner_count; i++)
        esi_cuts_raise(&store->cuts, partners[i].trace, partners[i].index);
    esi_cuts_raise(&store->cuts, id.trace, id.index);
    covered = covered_traces(store);
    if ((uint64_t)covered * 2 < store->live_count)
        return false;
    /* If all live traces are covered, nothing more can be known: a trace that is not
     * live has no event after the last cut. */
    if (covered == store->live_count)
        return true;
    raise_by_own_hubs(store, id, last);
    for (size_t i = 0; i < partner_count; i++)
        raise_by_partner(store, trace, partners[i], last);
    return true;
}

static void drop_covered(struct esi_epoch_store *store)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < store->live_count; i++) {
        uint32_t trace = store->live[i];

        if (is_covered(store, trace))
            esi_epoch_trace_at(store, trace)->is_live = false;
        else
            store->live[kept++] = trace;
    }
    store->live_count = kept;
}

static void make_cut(struct esi_epoch_store *store,
                     struct es_event_id id,
                     const struct esi_cut *cut,
                     const unsigned char *block)
{
    struct esi_epoch_trace *trace = esi_epoch_trace_at(store, id.trace);

    esi_trace_seal(trace, block, esi_cuts_accept(&store->cuts, cut));
    esi_table_clear(&trace->known);
    trace->count = id.index;
    drop_covered(store);
    esi_store_add(&store->entries, esi_cuts_draft_entries(&store->cuts));
    esi_store_add(trace->is_hub ? &store->cut_count : &store->derived_cuts, 1);
}

int esi_epoch_try_cut(struct esi_epoch_store *store,
                      struct es_event_id id,
                      const struct es_event_id *partners,
                      size_t partner_count,
                      uint32_t last)
{
    struct esi_epoch_trace *trace = esi_epoch_trace_at(store, id.trace);
    const unsigned char *block;
    struct esi_cut cut;
    int code;

    if (id.index == 1)
        trace->is_hub = partner_count >= FEWEST_PARTNERS;
    if (partner_count < FEWEST_PARTNERS || last != esi_cuts_last(&store->cuts) ||
        (partner_count + 1) * 2 < store->live_count)
        return 0;
    code = esi_cuts_begin(&store->cuts, last, store->trace_count);
    esi_epoch_note_room(store);
    if (code < 0)
        return code;
    if (!draft_cut(store, id, partners, partner_count, last))
        return 0;
    code = esi_cuts_prepare(&store->cuts, &cut);
    if (code >= 0)
        code = esi_trace_prepare(trace, &store->cuts, &store->blocks, &block);
    if (code < 0)
        return code;
    make_cut(store, id, &cut, block);
    return 1;
}
