/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * cluster_precedes.c - the greatest predecessor of an event on a trace, from stored
 * stamps alone.
 *
 * Inside the event's cluster its vector says it.  Otherwise, at the last place where a
 * causal path enters the cluster there is a receive whose stamp is of a higher level
 * (cluster_writer.c sees to that): so the answer is the greatest of those of the latest
 * such receives that the event knows of, one on each member's trace.  Their levels rise
 * with each step, and the top level has all traces (Ward & Taylor, figure 6, with
 * errata 17).
 *
 * Nothing is allocated.  With several levels the same receives are met on many ways: a
 * small table remembers which were looked at, by trace and level.  An earlier receive
 * of the same trace and level knows no more than a later one, so it is left out too.
 */
#include "config.h"

#include <string.h>

#include "monitors/order/cluster_private.h"

enum { SEEN_SLOTS = 256, BATCH = 16 };

struct search {
    const struct esi_store *store;
    uint32_t trace;
    uint32_t enough; /* the search may end with this much */
    uint32_t found;
    struct seen {
        uint32_t trace;
        uint32_t level;
        uint32_t number; /* ESI_NO_STAMP: nothing yet */
    } seen[SEEN_SLOTS];
};

static uint32_t locate(const struct search *search, const struct esi_stamp *stamp)
{
    const struct esi_store *store = search->store;

    if (stamp->level > store->level_count)
        return search->trace < stamp->length ? search->trace : ESI_NOWHERE;
    return esi_levels_locate(&store->levels, stamp->level, stamp->cluster,
                             stamp->length, search->trace);
}

static void find(struct search *search, uint32_t count)
{
    if (count > search->found)
        search->found = count;
}

/* Whether a cluster receive, or one that knows no less, was looked at. */
static bool was_seen(struct search *search, uint32_t trace, uint32_t number)
{
    uint32_t level = esi_stamps_at(&search->store->stamps, number)->level;
    struct seen *seen =
        &search->seen[(trace * (ES_ORDER_LEVELS + 1) + level) % SEEN_SLOTS];

    if (seen->trace == trace && seen->level == level && seen->number >= number)
        return true;
    *seen = (struct seen){.trace = trace, .level = level, .number = number};
    return false;
}

static void visit(struct search *search, struct es_event_id id, uint32_t number);

/* The events that a stamp knows of on the traces of some of its members; returns how
 * many they are. */
static unsigned collect_known(const struct search *search,
                              struct es_event_id id,
                              const struct esi_stamp *stamp,
                              uint32_t begin,
                              struct es_event_id *known)
{
    const struct esi_stamps *stamps = &search->store->stamps;
    const uint32_t *vector = esi_stamp_vector(stamps, stamp);
    const uint32_t *members =
        esi_levels_members(&search->store->levels, stamp->level, stamp->cluster);
    unsigned count = 0;

    for (uint32_t i = begin; i < stamp->length && i < begin + BATCH; i++) {
        struct es_event_id event = {.trace = members[i], .index = id.index};

        if (event.trace != id.trace) {
            if (vector[i] <= 1)
                continue;
            event.index = vector[i] - 1;
        }
        known[count++] = event;
    }
    return count;
}

/* Looks at the latest cluster receives that an event knows of on some members' traces.
 * Each step of all comes before the next of any, so that they wait for memory together.
 */
static void visit_batch(struct search *search,
                        struct es_event_id id,
                        const struct esi_stamp *stamp,
                        uint32_t begin)
{
    const struct esi_stamps *stamps = &search->store->stamps;
    struct es_event_id known[BATCH];
    uint32_t numbers[BATCH];
    unsigned count = collect_known(search, id, stamp, begin, known);

    for (unsigned i = 0; i < count; i++) {
        numbers[i] = esi_stamps_of(stamps, known[i]);
        __builtin_prefetch(esi_stamps_at(stamps, numbers[i]));
    }
    for (unsigned i = 0; i < count; i++) {
        const struct esi_stamp *receive;

        numbers[i] = esi_stamp_receive(esi_stamps_at(stamps, numbers[i]), stamp->level);
        receive = esi_stamps_at(stamps, numbers[i]);
        __builtin_prefetch(receive);
        __builtin_prefetch(&esi_stamp_vector(stamps, receive)[search->trace]);
    }
    for (unsigned i = 0; i < count && search->found < search->enough; i++) {
        if (numbers[i] == ESI_NO_STAMP ||
            (search->store->level_count > 1 &&
             was_seen(search, known[i].trace, numbers[i])))
            continue;
        known[i].index = esi_stamps_at(stamps, numbers[i])->index;
        visit(search, known[i], numbers[i]);
    }
}

static void visit_receives(struct search *search,
                           struct es_event_id id,
                           uint32_t number)
{
    const struct esi_stamp *stamp = esi_stamps_at(&search->store->stamps, number);

    if (stamp->level > search->store->level_count)
        return;
    for (uint32_t i = 0; i < stamp->length && search->found < search->enough;
         i += BATCH)
        visit_batch(search, id, stamp, i);
}

/* Finds what precedes a cluster receive, or is the other half of it: of use to those
 * that follow the receive. */
static void visit(struct search *search, struct es_event_id id, uint32_t number)
{
    const struct esi_stamps *stamps = &search->store->stamps;
    const struct esi_stamp *stamp = esi_stamps_at(stamps, number);
    uint32_t at = locate(search, stamp);
    uint32_t entry;

    if (at == ESI_NOWHERE) {
        visit_receives(search, id, number);
        return;
    }
    entry = esi_stamp_vector(stamps, stamp)[at];
    if (entry > 0)
        find(search, search->trace == stamp->other ? entry : entry - 1);
}

/* Greatest predecessor on a trace, or one that is `enough`; 0: none. */
static uint32_t search_before(const struct esi_store *store,
                              struct es_event_id event,
                              uint32_t trace,
                              uint32_t enough)
{
    uint32_t number = esi_stamps_of(&store->stamps, event);
    const struct esi_stamp *stamp = esi_stamps_at(&store->stamps, number);
    struct search search;
    uint32_t at;

    search.store = store;
    search.trace = trace;
    search.enough = enough;
    search.found = 0;
    at = locate(&search, stamp);
    if (at != ESI_NOWHERE) {
        uint32_t entry = esi_stamp_vector(&store->stamps, stamp)[at];

        return entry > 0 ? entry - 1 : 0;
    }
    if (store->level_count > 1)
        memset(search.seen, 0, sizeof search.seen);
    visit_receives(&search, event, number);
    return search.found;
}

int esi_cluster_precedes(const struct esi_store *store,
                         struct es_event_id a,
                         struct es_event_id b)
{
    return search_before(store, b, a.trace, a.index) >= a.index;
}

int64_t esi_cluster_greatest_predecessor(const struct esi_store *store,
                                         struct es_event_id event,
                                         uint32_t trace)
{
    return search_before(store, event, trace, UINT32_MAX);
}
