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
 * Receives whose vectors do not have the trace wait until all of the levels below are
 * done.  Then those of one cluster are asked together: of the events on a member's
 * trace that they know of the latest counts, for its latest receive knows no less than
 * those of the others.  So a member is asked once for each cluster that it was in, and
 * not once for each way that leads to it; and those that another knows of, most of
 * them, are not asked at all.
 *
 * Nothing is allocated; where more receives wait than there is room for, they are asked
 * before the others come.
 */
#include "config.h"

#include <stdbool.h>

#include "monitors/order/cluster/cluster_private.h"
#include "monitors/order/raise.h"

enum { WAITING = 128, BATCH = 16 };

/* An event that is reached, and its stamp. */
struct reached {
    struct es_event_id id;
    uint32_t number;
};

struct search {
    const struct esi_store *store;
    uint32_t trace;
    uint32_t enough; /* the search may end with this much */
    uint32_t found;
    struct waiting {
        uint32_t count;
        struct reached events[WAITING];
    } waiting[ES_ORDER_LEVELS]; /* by level, from 1 at 0 */
};

static uint32_t locate(const struct search *search, const struct esi_stamp *stamp)
{
    const struct esi_store *store = search->store;

    if (stamp->level > store->level_count)
        return search->trace < stamp->length ? search->trace : ESI_NOWHERE;
    return esi_levels_locate(&store->levels, stamp->level, stamp->cluster,
                             stamp->length, search->trace);
}

static void ask_level(struct search *search, unsigned level);

static void postpone(struct search *search, const struct reached *event, unsigned level)
{
    struct waiting *waiting = &search->waiting[level - 1];

    if (waiting->count == WAITING)
        ask_level(search, level);
    waiting->events[waiting->count++] = *event;
}

/* Finds what precedes a cluster receive, or is the other half of it: of use to those
 * that follow the receive. */
static void reach(struct search *search, const struct reached *receive)
{
    const struct esi_stamps *stamps = &search->store->stamps;
    const struct esi_stamp *stamp = esi_stamps_at(stamps, receive->number);
    uint32_t at = locate(search, stamp);
    uint32_t entry;

    if (at == ESI_NOWHERE) {
        if (stamp->level <= search->store->level_count)
            postpone(search, receive, stamp->level);
        return;
    }
    entry = esi_stamp_vector(stamps, stamp)[at];
    if (entry > 0 && search->trace != stamp->other)
        entry--;
    if (entry > search->found)
        search->found = entry;
}

/* --- Asking members --------------------------------------------------------------- */

/* Raises entries to those of members `begin` and on in an event's vector.  The entry of
 * its own trace is made to tell of the event itself, as if it were another's. */
static void raise_entries(const struct search *search,
                          const struct reached *event,
                          const uint32_t *members,
                          uint32_t begin,
                          uint32_t *entries)
{
    const struct esi_stamps *stamps = &search->store->stamps;
    const struct esi_stamp *stamp = esi_stamps_at(stamps, event->number);
    const uint32_t *vector = esi_stamp_vector(stamps, stamp);

    for (uint32_t i = begin; i < stamp->length && i < begin + BATCH; i++)
        esi_raise_entry(&entries[i - begin], members[i] == event->id.trace
                                                 ? event->id.index + 1
                                                 : vector[i]);
}

/* The latest receives above a level up to the events on members' traces that entries
 * tell of; returns how many.  Each step of all comes before the next of any, so that
 * they wait for memory together. */
static unsigned find_receives(const struct search *search,
                              unsigned level,
                              const uint32_t *members,
                              const uint32_t *entries,
                              struct reached *receives)
{
    const struct esi_stamps *stamps = &search->store->stamps;
    unsigned count = 0;

    for (unsigned i = 0; i < BATCH; i++)
        if (entries[i] > 1)
            receives[count++].id =
                (struct es_event_id){.trace = members[i], .index = entries[i] - 1};
    for (unsigned i = 0; i < count; i++) {
        receives[i].number = esi_stamps_of(stamps, receives[i].id);
        __builtin_prefetch(esi_stamps_at(stamps, receives[i].number));
    }
    for (unsigned i = 0; i < count; i++) {
        const struct esi_stamp *receive;

        receives[i].number =
            esi_stamp_receive(esi_stamps_at(stamps, receives[i].number), level);
        receive = esi_stamps_at(stamps, receives[i].number);
        __builtin_prefetch(receive);
        __builtin_prefetch(&esi_stamp_vector(stamps, receive)[search->trace]);
    }
    return count;
}

/* Whether an event knows of an earlier one of its cluster, and so of all that it knows.
 */
static bool knows(const struct search *search,
                  unsigned level,
                  const struct reached *event,
                  const struct reached *earlier)
{
    const struct esi_store *store = search->store;
    const struct esi_stamp *stamp = esi_stamps_at(&store->stamps, event->number);
    uint32_t trace = earlier->id.trace;
    uint32_t at;

    if (trace == event->id.trace)
        return event->id.index >= earlier->id.index;
    at = esi_levels_locate(&store->levels, level, stamp->cluster, stamp->length, trace);
    return at != ESI_NOWHERE &&
           esi_stamp_vector(&store->stamps, stamp)[at] > earlier->id.index;
}

/* Leaves out events of a cluster that a later one knows of; returns how many stay. */
static uint32_t keep_latest(const struct search *search,
                            unsigned level,
                            struct reached *events,
                            uint32_t count)
{
    for (uint32_t kept = 0; kept < count; kept++) {
        uint32_t latest = kept;
        struct reached event;

        for (uint32_t i = kept + 1; i < count; i++)
            if (events[i].number > events[latest].number)
                latest = i;
        event = events[latest];
        events[latest] = events[kept];
        events[kept] = event;
        for (uint32_t i = kept + 1; i < count;)
            if (knows(search, level, &event, &events[i]))
                events[i] = events[--count];
            else
                i++;
    }
    return count;
}

/* Events of one cluster, and the most members that one of them knew. */
static void ask_members(struct search *search,
                        unsigned level,
                        const struct reached *events,
                        uint32_t count,
                        uint32_t length)
{
    const struct esi_stamps *stamps = &search->store->stamps;
    const uint32_t *members =
        esi_levels_members(&search->store->levels, level,
                           esi_stamps_at(stamps, events[0].number)->cluster);

    for (uint32_t begin = 0; begin < length && search->found < search->enough;
         begin += BATCH) {
        uint32_t entries[BATCH] = {0};
        struct reached receives[BATCH];
        unsigned receive_count;

        for (uint32_t i = 0; i < count; i++)
            raise_entries(search, &events[i], members, begin, entries);
        receive_count =
            find_receives(search, level, &members[begin], entries, receives);
        for (unsigned i = 0; i < receive_count && search->found < search->enough; i++)
            if (receives[i].number != ESI_NO_STAMP) {
                receives[i].id.index = esi_stamps_at(stamps, receives[i].number)->index;
                reach(search, &receives[i]);
            }
    }
}

/* --- Levels ----------------------------------------------------------------------- */

/* Puts those of the last one's cluster last; returns how many they are. */
static uint32_t gather_cluster(const struct search *search,
                               struct waiting *waiting,
                               uint32_t *ret_length)
{
    const struct esi_stamps *stamps = &search->store->stamps;
    uint32_t first = waiting->count - 1;
    const struct esi_stamp *last = esi_stamps_at(stamps, waiting->events[first].number);
    uint32_t cluster = last->cluster;

    *ret_length = last->length;
    for (uint32_t i = first; i-- > 0;) {
        struct reached event = waiting->events[i];
        const struct esi_stamp *stamp = esi_stamps_at(stamps, event.number);

        if (stamp->cluster != cluster)
            continue;
        esi_raise_entry(ret_length, stamp->length);
        waiting->events[i] = waiting->events[--first];
        waiting->events[first] = event;
    }
    return waiting->count - first;
}

/* Asks all that wait.  What they lead to is of higher levels. */
static void ask_level(struct search *search, unsigned level)
{
    struct waiting *waiting = &search->waiting[level - 1];

    while (waiting->count > 0 && search->found < search->enough) {
        uint32_t length;
        uint32_t count = gather_cluster(search, waiting, &length);
        struct reached *events = &waiting->events[waiting->count - count];

        waiting->count -= count;
        count = keep_latest(search, level, events, count);
        ask_members(search, level, events, count, length);
    }
    waiting->count = 0;
}

/* Greatest predecessor on a trace, or one that is `enough`; 0: none. */
static uint32_t search_before(const struct esi_store *store,
                              struct es_event_id id,
                              uint32_t trace,
                              uint32_t enough)
{
    struct reached event = {.id = id, .number = esi_stamps_of(&store->stamps, id)};
    const struct esi_stamp *stamp = esi_stamps_at(&store->stamps, event.number);
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
    if (stamp->level > store->level_count)
        return 0;
    for (unsigned k = stamp->level; k <= store->level_count; k++)
        search.waiting[k - 1].count = 0;
    postpone(&search, &event, stamp->level);
    for (unsigned k = stamp->level; k <= store->level_count; k++)
        ask_level(&search, k);
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
