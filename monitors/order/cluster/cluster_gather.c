/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * cluster_gather.c - the next event's vector, out of the stamps of its predecessors.
 *
 * No vector is kept per trace.  A predecessor's stamp that covers the cluster at hand
 * is read as it is; where it does not, what it lacks is in the cluster receives that it
 * knows of, as in a query (cluster_precedes.c), here for all entries at once and level
 * by level.  Of the receives of one trace and level the latest knows all that the
 * others do.
 *
 * Whole vectors are taken newest first, and one that an earlier taken one knows of is
 * left out: a handful of all remains.  Vectors of clusters wait until that is done,
 * for they know of the receives and not of what these know.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "monitors/order/cluster/cluster_private.h"
#include "monitors/order/raise.h"

/* --- Room ------------------------------------------------------------------------ */

static int grow(uint32_t **array, uint32_t capacity, uint32_t larger)
{
    uint32_t *grown = realloc(*array, larger * sizeof *grown);

    if (!grown)
        return -ENOMEM;
    memset(&grown[capacity], 0, (larger - capacity) * sizeof *grown);
    *array = grown;
    return 0;
}

int esi_gather_reserve(struct esi_gather *gather, uint32_t traces, unsigned levels)
{
    uint32_t larger = gather->capacity ? gather->capacity : 16;

    if (traces <= gather->capacity)
        return 0;
    while (larger < traces)
        larger *= 2;
    for (unsigned i = 0; i <= levels; i++)
        if (grow(&gather->found[i].latest, gather->capacity, larger) < 0 ||
            grow(&gather->found[i].traces, gather->capacity, larger) < 0)
            return -ENOMEM;
    gather->capacity = larger;
    return 0;
}

void esi_gather_fini(struct esi_gather *gather)
{
    for (unsigned i = 0; i < ESI_CLUSTER_HEIGHT; i++) {
        free(gather->found[i].latest);
        free(gather->found[i].traces);
    }
    free(gather->predecessors);
}

uint64_t esi_gather_bytes(const struct esi_gather *gather, unsigned levels)
{
    return (levels + 1) * (uint64_t)gather->capacity * 2 * sizeof(uint32_t) +
           gather->predecessor_capacity * sizeof *gather->predecessors;
}

/* --- Raising --------------------------------------------------------------------- */

static uint32_t locate(const struct esi_store *store,
                       const struct esi_target *target,
                       uint32_t trace)
{
    if (!target->members)
        return trace < target->length ? trace : ESI_NOWHERE;
    return esi_levels_locate(&store->levels, target->level, target->cluster,
                             target->length, trace);
}

/* What a stamp's vector ranges over. */
static struct esi_target range_of(const struct esi_store *store,
                                  const struct esi_stamp *stamp)
{
    struct esi_target range = {
        .level = stamp->level, .cluster = stamp->cluster, .length = stamp->length};

    if (stamp->level <= store->level_count)
        range.members =
            esi_levels_members(&store->levels, stamp->level, stamp->cluster);
    return range;
}

static uint32_t member(const struct esi_target *target, uint32_t at)
{
    return target->members ? target->members[at] : at;
}

/* Raises by those entries whose traces are in both, walking the one with fewer; returns
 * how many they are. */
static uint32_t raise_common(const struct esi_store *store,
                             const struct esi_target *target,
                             uint32_t *vector,
                             const struct esi_target *range,
                             const uint32_t *other)
{
    bool by_range = range->length < target->length;
    uint32_t length = by_range ? range->length : target->length;
    uint32_t common = 0;

    for (uint32_t i = 0; i < length; i++) {
        uint32_t trace = member(by_range ? range : target, i);
        uint32_t at = locate(store, by_range ? target : range, trace);

        if (at == ESI_NOWHERE)
            continue;
        common++;
        esi_raise_entry(&vector[by_range ? at : i], other[by_range ? i : at]);
    }
    return common;
}

/* Raises a vector to FM' of an event as far as its stamp goes.  Whether that is all
 * that there is to know of the event. */
static bool raise_to(const struct esi_store *store,
                     const struct esi_target *target,
                     uint32_t *vector,
                     const struct esi_stamped *event)
{
    const struct esi_stamp *stamp = event->stamp;
    const uint32_t *other = esi_stamp_vector(&store->stamps, stamp);
    struct esi_target range = range_of(store, stamp);
    uint32_t common = range.length;
    uint32_t at;

    if (range.level == target->level && range.cluster == target->cluster)
        esi_raise_vector(vector, other, range.length);
    else
        common = raise_common(store, target, vector, &range, other);
    at = locate(store, target, event->id.trace);
    if (at != ESI_NOWHERE)
        esi_raise_entry(&vector[at], event->id.index + 1);
    if (stamp->other != ESI_NO_TRACE &&
        (at = locate(store, target, stamp->other)) != ESI_NOWHERE)
        esi_raise_entry(&vector[at], other[locate(store, &range, stamp->other)] + 1);
    return common == target->length || stamp->level > store->level_count;
}

/* --- Cluster receives ------------------------------------------------------------ */

static void note(struct esi_store *store, uint32_t trace, uint32_t number)
{
    const struct esi_stamp *stamp = esi_stamps_at(&store->stamps, number);
    struct esi_gathered *found = &store->gather.found[stamp->level - 1];

    if (found->latest[trace] == ESI_NO_STAMP)
        found->traces[found->count++] = trace;
    if (number > found->latest[trace])
        found->latest[trace] = number;
}

/* Notes the latest cluster receives that an event knows of.  First all stamps that this
 * needs are asked of memory, then they are read. */
static void note_receives(struct esi_store *store, const struct esi_stamped *event)
{
    enum { BATCH = 16 };
    const struct esi_stamps *stamps = &store->stamps;
    const struct esi_stamp *stamp = event->stamp;
    const uint32_t *vector = esi_stamp_vector(stamps, stamp);
    const uint32_t *members =
        esi_levels_members(&store->levels, stamp->level, stamp->cluster);
    uint32_t numbers[BATCH];

    for (uint32_t begin = 0; begin < stamp->length; begin += BATCH) {
        uint32_t end = begin + BATCH < stamp->length ? begin + BATCH : stamp->length;

        for (uint32_t i = begin; i < end; i++) {
            bool is_own = members[i] == event->id.trace;
            struct es_event_id known = {
                .trace = members[i], .index = is_own ? event->id.index : vector[i] - 1};

            numbers[i - begin] = ESI_NO_STAMP;
            if (!is_own && vector[i] <= 1)
                continue;
            numbers[i - begin] = esi_stamps_of(stamps, known);
            __builtin_prefetch(esi_stamps_at(stamps, numbers[i - begin]));
        }
        for (uint32_t i = begin; i < end; i++) {
            uint32_t receive = ESI_NO_STAMP;

            if (numbers[i - begin] != ESI_NO_STAMP)
                receive = esi_stamp_receive(esi_stamps_at(stamps, numbers[i - begin]),
                                            stamp->level);
            if (receive != ESI_NO_STAMP)
                note(store, members[i], receive);
        }
    }
}

static struct esi_stamped found_event(const struct esi_store *store,
                                      const struct esi_gathered *found,
                                      uint32_t trace)
{
    uint32_t number = found->latest[trace];
    const struct esi_stamp *stamp = esi_stamps_at(&store->stamps, number);

    return (struct esi_stamped){.id = {.trace = trace, .index = stamp->index},
                                .number = number,
                                .stamp = stamp};
}

/* --- A cluster's vector ---------------------------------------------------------- */

static void gather_one(struct esi_store *store,
                       const struct esi_target *target,
                       const struct esi_stamped *event,
                       uint32_t *vector)
{
    if (!raise_to(store, target, vector, event))
        note_receives(store, event);
}

static void gather_cluster(struct esi_store *store,
                           const struct esi_target *target,
                           const struct esi_stamped *predecessors,
                           size_t count,
                           uint32_t *vector)
{
    for (size_t i = 0; i < count; i++)
        gather_one(store, target, &predecessors[i], vector);
    for (unsigned k = 0; k <= store->level_count; k++) {
        const struct esi_gathered *found = &store->gather.found[k];

        for (uint32_t i = 0; i < found->count; i++) {
            struct esi_stamped event = found_event(store, found, found->traces[i]);

            gather_one(store, target, &event, vector);
        }
    }
}

/* --- A vector of all traces ------------------------------------------------------ */

/* Restores the heap of traces below a place: those of later stamps are above. */
static void sift_down(struct esi_gathered *found, uint32_t at)
{
    uint32_t trace = found->traces[at];
    uint32_t child;

    while ((child = at * 2 + 1) < found->count) {
        if (child + 1 < found->count && found->latest[found->traces[child + 1]] >
                                            found->latest[found->traces[child]])
            child++;
        if (found->latest[found->traces[child]] <= found->latest[trace])
            break;
        found->traces[at] = found->traces[child];
        at = child;
    }
    found->traces[at] = trace;
}

/* Takes whole vectors newest first, those that are not yet known of. */
static void gather_wholes(struct esi_store *store,
                          const struct esi_target *target,
                          uint32_t *vector)
{
    struct esi_gathered *found = &store->gather.found[store->level_count];

    for (uint32_t i = found->count / 2; i > 0; i--)
        sift_down(found, i - 1);
    while (found->count > 0) {
        uint32_t trace = found->traces[0];
        struct esi_stamped event = found_event(store, found, trace);

        if (vector[trace] <= event.id.index)
            raise_to(store, target, vector, &event);
        found->latest[trace] = ESI_NO_STAMP;
        found->traces[0] = found->traces[--found->count];
        if (found->count > 0)
            sift_down(found, 0);
    }
}

static void gather_all(struct esi_store *store,
                       const struct esi_target *target,
                       const struct esi_stamped *predecessors,
                       size_t count,
                       uint32_t *vector)
{
    for (size_t i = 0; i < count; i++) {
        if (predecessors[i].stamp->level > store->level_count)
            note(store, predecessors[i].id.trace, predecessors[i].number);
        else
            note_receives(store, &predecessors[i]);
    }
    for (unsigned k = 0; k < store->level_count; k++) {
        const struct esi_gathered *found = &store->gather.found[k];

        for (uint32_t i = 0; i < found->count; i++) {
            struct esi_stamped event = found_event(store, found, found->traces[i]);

            note_receives(store, &event);
        }
    }
    gather_wholes(store, target, vector);
    for (size_t i = 0; i < count; i++)
        if (predecessors[i].stamp->level <= store->level_count)
            raise_to(store, target, vector, &predecessors[i]);
    for (unsigned k = 0; k < store->level_count; k++) {
        const struct esi_gathered *found = &store->gather.found[k];

        for (uint32_t i = 0; i < found->count; i++) {
            struct esi_stamped event = found_event(store, found, found->traces[i]);

            raise_to(store, target, vector, &event);
        }
    }
}

static void clear(struct esi_store *store)
{
    for (unsigned k = 0; k <= store->level_count; k++) {
        struct esi_gathered *found = &store->gather.found[k];

        for (uint32_t i = 0; i < found->count; i++)
            found->latest[found->traces[i]] = ESI_NO_STAMP;
        found->count = 0;
    }
}

void esi_cluster_gather(struct esi_store *store,
                        const struct esi_target *target,
                        const struct esi_stamped *predecessors,
                        size_t count,
                        uint32_t *vector)
{
    if (target->level > store->level_count)
        gather_all(store, target, predecessors, count, vector);
    else
        gather_cluster(store, target, predecessors, count, vector);
    clear(store);
}
