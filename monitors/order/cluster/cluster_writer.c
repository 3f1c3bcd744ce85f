/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* cluster_writer.c - computes the stamp of the next event. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "monitors/order/cluster/cluster_private.h"
#include "monitors/order/raise.h"

/* === The vector of the next event ================================================= */

/*
 * Computes the next event's vector from the stamps of its predecessors.
 *
 * No vector is kept per trace.  If a predecessor's stamp covers the cluster in
 * question, it is used directly.  Otherwise the missing entries are in the cluster
 * receives that it knows, as in a query (cluster.c), but here for all entries at once,
 * level by level.  Of the receives of one trace and level, the latest knows everything
 * that the others know.
 *
 * Whole vectors are used newest first, and a vector that an earlier used one knows is
 * skipped: only a handful remain.  Vectors of clusters wait until that is done, because
 * they know the receives, but not what the receives know.
 */

/* --- Memory ---------------------------------------------------------------------- */

int esi_gather_reserve(struct esi_gather *gather, uint32_t traces, unsigned levels)
{
    for (unsigned i = 0; i <= levels; i++) {
        struct esi_gathered *found = &gather->found[i];
        size_t before = found->capacity;

        if (ESI_ARRAY_RESERVE_PAIR(found->latest, found->traces, found->capacity,
                                   traces) < 0)
            return -ENOMEM;
        memset(&found->latest[before], 0,
               (found->capacity - before) * sizeof *found->latest);
    }
    return 0;
}

void esi_gather_fini(struct esi_gather *gather)
{
    for (unsigned i = 0; i < ESI_CLUSTER_HEIGHT; i++) {
        free(gather->found[i].latest);
        free(gather->found[i].traces);
    }
    esi_heap_fini(&gather->wholes);
    free(gather->predecessors);
}

uint64_t esi_gather_bytes(const struct esi_gather *gather, unsigned levels)
{
    return (levels + 1) * (uint64_t)gather->found[0].capacity * 2 * sizeof(uint32_t) +
           gather->wholes.capacity * sizeof *gather->wholes.entries +
           gather->predecessor_capacity * sizeof *gather->predecessors;
}

/* --- Raising --------------------------------------------------------------------- */

/* A vector under construction: of the members of a cluster, or, above the last level,
 * of all traces. */
struct gather_target {
    unsigned level;
    uint32_t cluster;
    uint32_t length;
    const uint32_t *members; /* NULL: the entry of trace i is at i */
};

static uint32_t gather_locate(const struct esi_cluster_store *store,
                              const struct gather_target *target,
                              uint32_t trace)
{
    return esi_cluster_locate(store, target->level, target->cluster, target->length,
                              trace);
}

static struct gather_target target_of(const struct esi_cluster_store *store,
                                      unsigned level,
                                      uint32_t cluster,
                                      uint32_t length)
{
    struct gather_target target = {
        .level = level, .cluster = cluster, .length = length};

    if (level <= store->level_count)
        target.members = esi_levels_members(&store->levels, level, cluster);
    return target;
}

static uint32_t gather_member(const struct gather_target *target, uint32_t at)
{
    return target->members ? target->members[at] : at;
}

/* Raises the entries whose traces are in both vectors, iterating over the shorter one;
 * returns their number. */
static uint32_t raise_common(const struct esi_cluster_store *store,
                             const struct gather_target *target,
                             uint32_t *vector,
                             const struct gather_target *range,
                             const uint32_t *other)
{
    bool by_range = range->length < target->length;
    uint32_t length = by_range ? range->length : target->length;
    uint32_t common = 0;

    for (uint32_t i = 0; i < length; i++) {
        uint32_t trace = gather_member(by_range ? range : target, i);
        uint32_t at = gather_locate(store, by_range ? target : range, trace);

        if (at == ESI_NOWHERE)
            continue;
        common++;
        esi_raise_entry(&vector[by_range ? at : i], other[by_range ? i : at]);
    }
    return common;
}

/* Raises a vector to FM' of an event as far as its stamp covers it.  Returns whether
 * that is everything that the event knows. */
static bool raise_to(const struct esi_cluster_store *store,
                     const struct gather_target *target,
                     uint32_t *vector,
                     const struct esi_stamped *event)
{
    const struct esi_cluster_stamp *stamp = event->stamp;
    const uint32_t *other = esi_stamp_vector(&store->stamps, stamp);
    struct gather_target range =
        target_of(store, stamp->level, stamp->cluster, stamp->length);
    uint32_t common = range.length;
    uint32_t at;

    if (range.level == target->level && range.cluster == target->cluster)
        esi_raise_vector(vector, other, range.length);
    else
        common = raise_common(store, target, vector, &range, other);
    at = gather_locate(store, target, event->id.trace);
    if (at != ESI_NOWHERE)
        esi_raise_entry(&vector[at], event->id.index + 1);
    if (stamp->other != ESI_NO_TRACE &&
        (at = gather_locate(store, target, stamp->other)) != ESI_NOWHERE)
        esi_raise_entry(&vector[at],
                        other[gather_locate(store, &range, stamp->other)] + 1);
    return common == target->length || stamp->level > store->level_count;
}

/* --- Cluster receives ------------------------------------------------------------ */

static void gather_note(struct esi_cluster_store *store,
                        uint32_t trace,
                        uint32_t number)
{
    const struct esi_cluster_stamp *stamp = esi_stamps_at(&store->stamps, number);
    struct esi_gathered *found = &store->gather.found[stamp->level - 1];

    if (found->latest[trace] == ESI_NO_STAMP)
        found->traces[found->count++] = trace;
    if (number > found->latest[trace])
        found->latest[trace] = number;
}

/* Notes the latest cluster receives that an event knows.  Prefetches all stamps needed
 * before reading them. */
static void note_receives(struct esi_cluster_store *store,
                          const struct esi_stamped *event)
{
    enum { BATCH = 16 };
    const struct esi_stamps *stamps = &store->stamps;
    const struct esi_cluster_stamp *stamp = event->stamp;
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
                gather_note(store, members[i], receive);
        }
    }
}

static struct esi_stamped found_event(const struct esi_cluster_store *store,
                                      const struct esi_gathered *found,
                                      uint32_t trace)
{
    uint32_t number = found->latest[trace];
    const struct esi_cluster_stamp *stamp = esi_stamps_at(&store->stamps, number);

    return (struct esi_stamped){.id = {.trace = trace, .index = stamp->index},
                                .number = number,
                                .stamp = stamp};
}

/* --- A cluster's vector ---------------------------------------------------------- */

static void gather_one(struct esi_cluster_store *store,
                       const struct gather_target *target,
                       const struct esi_stamped *event,
                       uint32_t *vector)
{
    if (!raise_to(store, target, vector, event))
        note_receives(store, event);
}

static void gather_cluster(struct esi_cluster_store *store,
                           const struct gather_target *target,
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

/* Uses whole vectors newest first, unless they are known already. */
static int gather_wholes(struct esi_cluster_store *store,
                         const struct gather_target *target,
                         uint32_t *vector)
{
    const struct esi_gathered *found = &store->gather.found[store->level_count];
    struct esi_heap *wholes = &store->gather.wholes;

    if (esi_heap_reserve(wholes, found->count) < 0)
        return -ENOMEM;
    for (uint32_t i = 0; i < found->count; i++)
        esi_heap_push(wholes, UINT32_MAX - found->latest[found->traces[i]],
                      found->traces[i]);
    for (; wholes->count > 0; esi_heap_pop(wholes)) {
        uint32_t trace = (uint32_t)esi_heap_top(wholes).item;
        struct esi_stamped event = found_event(store, found, trace);

        if (vector[trace] <= event.id.index)
            raise_to(store, target, vector, &event);
    }
    return 0;
}

static int gather_all(struct esi_cluster_store *store,
                      const struct gather_target *target,
                      const struct esi_stamped *predecessors,
                      size_t count,
                      uint32_t *vector)
{
    for (size_t i = 0; i < count; i++) {
        if (predecessors[i].stamp->level > store->level_count)
            gather_note(store, predecessors[i].id.trace, predecessors[i].number);
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
    if (gather_wholes(store, target, vector) < 0)
        return -ENOMEM;
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
    return 0;
}

static void gather_clear(struct esi_cluster_store *store)
{
    for (unsigned k = 0; k <= store->level_count; k++) {
        struct esi_gathered *found = &store->gather.found[k];

        for (uint32_t i = 0; i < found->count; i++)
            found->latest[found->traces[i]] = ESI_NO_STAMP;
        found->count = 0;
    }
}

/* Raises a zeroed vector to the maximum of the FM' of the predecessors: what they know,
 * and themselves.  Returns 0 or -ENOMEM. */
static int gather_vector(struct esi_cluster_store *store,
                         const struct gather_target *target,
                         const struct esi_stamped *predecessors,
                         size_t count,
                         uint32_t *vector)
{
    int code = 0;

    if (target->level > store->level_count)
        code = gather_all(store, target, predecessors, count, vector);
    else
        gather_cluster(store, target, predecessors, count, vector);
    gather_clear(store);
    return code;
}

/* === The stamp of the next event ================================================== */

/*
 * Computes the stamp of the next event.
 *
 * Its level is the least one such that, on it and each level above, all its immediate
 * predecessors (including the one on its trace) are in the cluster of its trace, and
 * each either has a higher level or was stamped after that cluster last lost a member.
 * This is sufficient: let N_k(f) be the cluster of level k of f's trace when f was
 * stamped.  Then for every event f and every level k >= level(f), each event that
 * precedes f from a trace outside N_k(f) precedes (or is the other half of) an event r
 * on a trace of N_k(f), with a level above k, that is f or precedes f.  Proof: take an
 * immediate predecessor h of f through which the event precedes f.  If level(h) > k, h
 * is such an r.  Otherwise N_k(h) is part of N_k(f), since the cluster has only grown
 * in between, and h has such an r, which is also one for f.  If clusters only grow,
 * this is Ward and Taylor's rule.
 */

/* --- Predecessors ---------------------------------------------------------------- */

static struct esi_stamped writer_stamped(const struct esi_cluster_store *store,
                                         struct es_event_id id)
{
    uint32_t number = esi_stamps_of(&store->stamps, id);

    return (struct esi_stamped){
        .id = id, .number = number, .stamp = esi_stamps_at(&store->stamps, number)};
}

/* Adds the event before `id` on its trace, if there is one; returns the new number. */
static size_t add_previous(struct esi_cluster_store *store,
                           struct es_event_id id,
                           size_t count)
{
    if (id.index == 1)
        return count;
    id.index--;
    store->gather.predecessors[count] = writer_stamped(store, id);
    return count + 1;
}

/* --- The level ------------------------------------------------------------------- */

/* Returns whether an event that is stamped now in this trace's cluster can have this
 * level as far as a predecessor is concerned. */
static bool is_inside(const struct esi_cluster_store *store,
                      unsigned level,
                      uint32_t cluster,
                      const struct esi_stamped *predecessor)
{
    const struct esi_levels *levels = &store->levels;

    return esi_levels_cluster(levels, level, predecessor->id.trace) == cluster &&
           (predecessor->stamp->level > level ||
            predecessor->number >=
                esi_levels_clean(levels, level, predecessor->id.trace));
}

static unsigned find_level(const struct esi_cluster_store *store,
                           uint32_t trace,
                           uint32_t other,
                           size_t count)
{
    for (unsigned k = store->level_count; k >= 1; k--) {
        uint32_t cluster = esi_levels_cluster(&store->levels, k, trace);

        if (other != ESI_NO_TRACE &&
            esi_levels_cluster(&store->levels, k, other) != cluster)
            return k + 1;
        for (size_t i = 0; i < count; i++)
            if (!is_inside(store, k, cluster, &store->gather.predecessors[i]))
                return k + 1;
    }
    return 1;
}

static struct gather_target find_target(const struct esi_cluster_store *store,
                                        uint32_t trace,
                                        unsigned level)
{
    uint32_t cluster;

    if (level > store->level_count)
        return target_of(store, level, 0, store->trace_count);
    cluster = esi_levels_cluster(&store->levels, level, trace);
    return target_of(store, level, cluster,
                     esi_levels_size(&store->levels, level, cluster));
}

/* --- The stamp ------------------------------------------------------------------- */

static void count_event(struct esi_cluster_store *store,
                        const struct gather_target *target,
                        bool communicates)
{
    esi_store_add(&store->sums.elements, target->length);
    esi_store_add(&store->sums.events[target->level - 1], 1);
    if (!communicates)
        return;
    esi_store_add(&store->communication_sums.elements, target->length);
    esi_store_add(&store->communication_sums.events[target->level - 1], 1);
}

/* Makes a stamp, except for its vector. */
static struct esi_cluster_stamp *make_stamp(struct esi_cluster_store *store,
                                            struct es_event_id id,
                                            const struct gather_target *target,
                                            uint32_t *ret_number)
{
    struct esi_cluster_stamp *stamp =
        esi_stamps_make(&store->stamps, target->length, ret_number);
    struct es_event_id previous = {.trace = id.trace, .index = id.index - 1};

    if (!stamp)
        return NULL;
    stamp->index = id.index;
    stamp->cluster = target->cluster;
    stamp->level = target->level & 0xf;
    if (id.index > 1)
        memcpy(stamp->words, writer_stamped(store, previous).stamp->words,
               store->level_count * sizeof stamp->words[0]);
    for (unsigned k = 1; k < target->level; k++)
        stamp->words[k - 1] = *ret_number;
    return stamp;
}

static uint32_t *vector_of(const struct esi_cluster_store *store,
                           struct esi_cluster_stamp *stamp)
{
    return &stamp->words[store->level_count];
}

/* Returns whether an event without partners may share the stamp of the previous
 * event. */
static bool can_share(const struct esi_stamped *previous,
                      const struct gather_target *target)
{
    const struct esi_cluster_stamp *stamp = previous->stamp;

    return target->level == 1 && stamp->level == 1 && stamp->other == ESI_NO_TRACE &&
           stamp->cluster == target->cluster && stamp->length == target->length;
}

static int writer_communicate(struct esi_cluster_store *store,
                              uint32_t trace,
                              uint32_t partner,
                              uint32_t weight)
{
    struct esi_communication communication = {.trace = trace,
                                              .partner = partner,
                                              .weight = weight,
                                              .now = esi_stamps_now(&store->stamps)};

    if (trace == partner || !store->strategy->communicate)
        return 0;
    return store->strategy->communicate(store->clustering, &store->levels,
                                        &communication);
}

static int begin_event(struct esi_cluster_store *store)
{
    return store->strategy->begin_event
               ? store->strategy->begin_event(store->clustering, &store->levels)
               : 0;
}

int esi_cluster_append(void *data,
                       struct es_event_id id,
                       enum es_event_kind kind,
                       const struct es_event_id *partners,
                       size_t partner_count)
{
    struct esi_cluster_store *store = data;
    struct esi_gather *gather = &store->gather;
    size_t count;
    struct gather_target target;
    struct esi_cluster_stamp *stamp;
    uint32_t number;

    if (esi_stamps_reserve(&store->stamps, id) < 0 ||
        ESI_ARRAY_RESERVE(gather->predecessors, gather->predecessor_capacity,
                          partner_count + 1) < 0 ||
        begin_event(store) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < partner_count; i++)
        if (writer_communicate(store, id.trace, partners[i].trace, 1) < 0)
            return -ENOMEM;
    count = add_previous(store, id, 0);
    for (size_t i = 0; i < partner_count; i++)
        gather->predecessors[count++] = writer_stamped(store, partners[i]);
    target =
        find_target(store, id.trace, find_level(store, id.trace, ESI_NO_TRACE, count));
    if (partner_count == 0 && count == 1 &&
        can_share(&gather->predecessors[0], &target)) {
        number = gather->predecessors[0].number;
    } else {
        stamp = make_stamp(store, id, &target, &number);
        if (!stamp)
            return -ENOMEM;
        if (gather_vector(store, &target, gather->predecessors, count,
                          vector_of(store, stamp)) < 0)
            return -ENOMEM;
        vector_of(store, stamp)[gather_locate(store, &target, id.trace)] = id.index;
    }
    esi_stamps_set(&store->stamps, id, number);
    count_event(store, &target, kind != ES_EVENT_UNARY);
    esi_cluster_note_bytes(store);
    return 0;
}

int esi_cluster_append_sync(void *data, struct es_event_id id, struct es_event_id other)
{
    struct esi_cluster_store *store = data;
    struct esi_gather *gather = &store->gather;
    struct gather_target target;
    struct esi_cluster_stamp *stamp, *other_stamp;
    uint32_t number, other_number;
    uint32_t *vector;
    size_t count;

    if (esi_stamps_reserve(&store->stamps, id) < 0 ||
        esi_stamps_reserve(&store->stamps, other) < 0 ||
        ESI_ARRAY_RESERVE(gather->predecessors, gather->predecessor_capacity, 2) < 0 ||
        begin_event(store) < 0 ||
        writer_communicate(store, id.trace, other.trace, 2) < 0)
        return -ENOMEM;
    count = add_previous(store, other, add_previous(store, id, 0));
    target =
        find_target(store, id.trace, find_level(store, id.trace, other.trace, count));
    stamp = make_stamp(store, id, &target, &number);
    other_stamp = stamp ? make_stamp(store, other, &target, &other_number) : NULL;
    if (!other_stamp)
        return -ENOMEM;
    stamp->other = other.trace;
    other_stamp->other = id.trace;
    vector = vector_of(store, stamp);
    if (gather_vector(store, &target, gather->predecessors, count, vector) < 0)
        return -ENOMEM;
    vector[gather_locate(store, &target, id.trace)] = id.index;
    vector[gather_locate(store, &target, other.trace)] = other.index;
    memcpy(vector_of(store, other_stamp), vector, target.length * sizeof *vector);
    esi_stamps_set(&store->stamps, id, number);
    esi_stamps_set(&store->stamps, other, other_number);
    count_event(store, &target, true);
    count_event(store, &target, true);
    esi_cluster_note_bytes(store);
    return 0;
}
