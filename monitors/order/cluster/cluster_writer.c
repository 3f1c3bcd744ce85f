/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * cluster_writer.c - stamps the next event.
 *
 * Its level is the least from which on, on each level, all its immediate predecessors
 * (the one on its trace too) lie in the cluster of its trace, and each is of a higher
 * level or was stamped since that cluster last lost a member.  Why that is enough: let
 * N_k(f) be the cluster of level k of f's trace when f was stamped.  Then for every
 * event f and every level k from level(f) on, whatever precedes f from a trace outside
 * N_k(f) precedes (or is the other half of) an event r on a trace of N_k(f), of a level
 * above k, that is f or precedes f.  For, take an immediate predecessor h of f through
 * which it precedes.  Either level(h) > k, and h is such an r; or N_k(h) is part of
 * N_k(f), since the cluster has only grown in between, and h has such an r, which will
 * do for f.  Clusters that only grow make this Ward and Taylor's rule.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "monitors/order/cluster/cluster_private.h"

/* --- Predecessors ---------------------------------------------------------------- */

static struct esi_stamped stamped(const struct esi_store *store, struct es_event_id id)
{
    uint32_t number = esi_stamps_of(&store->stamps, id);

    return (struct esi_stamped){
        .id = id, .number = number, .stamp = esi_stamps_at(&store->stamps, number)};
}

static int reserve_predecessors(struct esi_gather *gather, size_t count)
{
    size_t capacity = gather->predecessor_capacity ? gather->predecessor_capacity : 16;
    struct esi_stamped *grown;

    if (count <= gather->predecessor_capacity)
        return 0;
    while (capacity < count)
        capacity *= 2;
    grown = realloc(gather->predecessors, capacity * sizeof *grown);
    if (!grown)
        return -ENOMEM;
    gather->predecessors = grown;
    gather->predecessor_capacity = capacity;
    return 0;
}

/* Adds the event before `id` on its trace, if there is one; returns how many there are
 * then. */
static size_t add_previous(struct esi_store *store, struct es_event_id id, size_t count)
{
    if (id.index == 1)
        return count;
    id.index--;
    store->gather.predecessors[count] = stamped(store, id);
    return count + 1;
}

/* --- The level ------------------------------------------------------------------- */

/* Whether an event that is stamped now in this trace's cluster needs no higher level
 * for the sake of a predecessor. */
static bool is_inside(const struct esi_store *store,
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

static unsigned find_level(const struct esi_store *store,
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

static struct esi_target find_target(const struct esi_store *store,
                                     uint32_t trace,
                                     unsigned level)
{
    struct esi_target target = {.level = level, .length = store->trace_count};

    if (level > store->level_count)
        return target;
    target.cluster = esi_levels_cluster(&store->levels, level, trace);
    target.length = esi_levels_size(&store->levels, level, target.cluster);
    target.members = esi_levels_members(&store->levels, level, target.cluster);
    return target;
}

/* --- The stamp ------------------------------------------------------------------- */

static void add_relaxed(_Atomic uint64_t *sum, uint64_t more)
{
    uint64_t before = atomic_load_explicit(sum, memory_order_relaxed);

    atomic_store_explicit(sum, before + more, memory_order_relaxed);
}

static void count_event(struct esi_store *store,
                        const struct esi_target *target,
                        bool communicates)
{
    add_relaxed(&store->sums.elements, target->length);
    add_relaxed(&store->sums.events[target->level - 1], 1);
    if (!communicates)
        return;
    add_relaxed(&store->communication_sums.elements, target->length);
    add_relaxed(&store->communication_sums.events[target->level - 1], 1);
}

/* Makes a stamp, all but its vector. */
static struct esi_stamp *make_stamp(struct esi_store *store,
                                    struct es_event_id id,
                                    const struct esi_target *target,
                                    uint32_t *ret_number)
{
    struct esi_stamp *stamp =
        esi_stamps_make(&store->stamps, target->length, ret_number);
    struct es_event_id previous = {.trace = id.trace, .index = id.index - 1};

    if (!stamp)
        return NULL;
    stamp->index = id.index;
    stamp->cluster = target->cluster;
    stamp->level = target->level & 0xf;
    if (id.index > 1)
        memcpy(stamp->words, stamped(store, previous).stamp->words,
               store->level_count * sizeof stamp->words[0]);
    for (unsigned k = 1; k < target->level; k++)
        stamp->words[k - 1] = *ret_number;
    return stamp;
}

static uint32_t *vector_of(const struct esi_store *store, struct esi_stamp *stamp)
{
    return &stamp->words[store->level_count];
}

static uint32_t locate(const struct esi_store *store,
                       const struct esi_target *target,
                       uint32_t trace)
{
    return target->members ? esi_levels_locate(&store->levels, target->level,
                                               target->cluster, target->length, trace)
                           : trace;
}

/* Whether an event without partners may have the stamp of the one before it. */
static bool can_share(const struct esi_stamped *previous,
                      const struct esi_target *target)
{
    const struct esi_stamp *stamp = previous->stamp;

    return target->level == 1 && stamp->level == 1 && stamp->other == ESI_NO_TRACE &&
           stamp->cluster == target->cluster && stamp->length == target->length;
}

static int communicate(struct esi_store *store,
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

static int begin_event(struct esi_store *store)
{
    return store->strategy->begin_event
               ? store->strategy->begin_event(store->clustering, &store->levels)
               : 0;
}

int esi_cluster_append(struct esi_store *store,
                       struct es_event_id id,
                       enum es_event_kind kind,
                       const struct es_event_id *partners,
                       size_t partner_count)
{
    struct esi_gather *gather = &store->gather;
    size_t count;
    struct esi_target target;
    struct esi_stamp *stamp;
    uint32_t number;

    if (esi_stamps_reserve(&store->stamps, id) < 0 ||
        reserve_predecessors(gather, partner_count + 1) < 0 || begin_event(store) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < partner_count; i++)
        if (communicate(store, id.trace, partners[i].trace, 1) < 0)
            return -ENOMEM;
    count = add_previous(store, id, 0);
    for (size_t i = 0; i < partner_count; i++)
        gather->predecessors[count++] = stamped(store, partners[i]);
    target =
        find_target(store, id.trace, find_level(store, id.trace, ESI_NO_TRACE, count));
    if (partner_count == 0 && count == 1 &&
        can_share(&gather->predecessors[0], &target)) {
        number = gather->predecessors[0].number;
    } else {
        stamp = make_stamp(store, id, &target, &number);
        if (!stamp)
            return -ENOMEM;
        esi_cluster_gather(store, &target, gather->predecessors, count,
                           vector_of(store, stamp));
        vector_of(store, stamp)[locate(store, &target, id.trace)] = id.index;
    }
    esi_stamps_set(&store->stamps, id, number);
    count_event(store, &target, kind != ES_EVENT_UNARY);
    esi_cluster_note_bytes(store);
    return 0;
}

int esi_cluster_append_sync(struct esi_store *store,
                            struct es_event_id id,
                            struct es_event_id other)
{
    struct esi_gather *gather = &store->gather;
    struct esi_target target;
    struct esi_stamp *stamp, *other_stamp;
    uint32_t number, other_number;
    uint32_t *vector;
    size_t count;

    if (esi_stamps_reserve(&store->stamps, id) < 0 ||
        esi_stamps_reserve(&store->stamps, other) < 0 ||
        reserve_predecessors(gather, 2) < 0 || begin_event(store) < 0 ||
        communicate(store, id.trace, other.trace, 2) < 0)
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
    esi_cluster_gather(store, &target, gather->predecessors, count, vector);
    vector[locate(store, &target, id.trace)] = id.index;
    vector[locate(store, &target, other.trace)] = other.index;
    memcpy(vector_of(store, other_stamp), vector, target.length * sizeof *vector);
    esi_stamps_set(&store->stamps, id, number);
    esi_stamps_set(&store->stamps, other, other_number);
    count_event(store, &target, true);
    count_event(store, &target, true);
    esi_cluster_note_bytes(store);
    return 0;
}
