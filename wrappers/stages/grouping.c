/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* grouping.c - sums tuples up by groups.
 *
 * The groups are in an array, in the order in which they came; a hash table finds them.
 */
#include "config.h"

#include "wrappers/stages/grouping.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "tuplespace/operation_table.h"

void esi_grouping_fini(struct esi_grouping *grouping)
{
    free(grouping->groups);
    esi_hash_fini(&grouping->by_hash);
}

/* --- Which group ------------------------------------------------------------- */

static uint64_t hash_of(const struct esi_tuple_group *group,
                        const struct es_origins *origins)
{
    const struct es_summary *summary = &group->summary;
    const struct es_origin *origin = &origins->items[group->mark.origin];
    uint64_t hash = esi_hash_mix((uint64_t)summary->kind, (uint64_t)summary->of);

    hash = esi_hash_mix(esi_hash_mix(hash, (uint64_t)summary->by), summary->bucket);
    switch (summary->by) {
    case ES_SUMMARY_BY_OPERATION:
        return esi_hash_mix(hash, summary->operation);
    case ES_SUMMARY_BY_ORIGIN:
        return esi_hash_mix(hash, group->mark.origin);
    case ES_SUMMARY_BY_THREAD:
        return esi_hash_mix(esi_hash_mix(hash, (uint64_t)origin->pid),
                            (uint64_t)origin->thread);
    case ES_SUMMARY_BY_RANK:
        return esi_hash_mix(hash, (uint64_t)origin->rank);
    case ES_SUMMARY_BY_HOST:
        return esi_hash_mix_text(hash, origin->host);
    default:
        return hash;
    }
}

static bool same_origins(enum es_summary_group by,
                         const struct es_origin *a,
                         const struct es_origin *b)
{
    switch (by) {
    case ES_SUMMARY_BY_ORIGIN:
        return a == b;
    case ES_SUMMARY_BY_THREAD:
        return a->thread == b->thread && a->pid == b->pid &&
               strcmp(a->host, b->host) == 0;
    case ES_SUMMARY_BY_RANK:
        return a->rank == b->rank;
    case ES_SUMMARY_BY_HOST:
        return strcmp(a->host, b->host) == 0;
    default:
        return true;
    }
}

static bool same_group(const struct esi_tuple_group *a,
                       const struct esi_tuple_group *b,
                       const struct es_origins *origins)
{
    const struct es_summary *one = &a->summary;
    const struct es_summary *other = &b->summary;

    if (one->kind != other->kind || one->of != other->of || one->by != other->by ||
        one->bucket != other->bucket)
        return false;
    if (one->by == ES_SUMMARY_BY_OPERATION)
        return one->operation == other->operation;
    return a->mark.origin == b->mark.origin ||
           same_origins(one->by, &origins->items[a->mark.origin],
                        &origins->items[b->mark.origin]);
}

/* Whether groups of one kind are parts of groups of the other. */
static bool is_wider(enum es_summary_group wide, enum es_summary_group narrow)
{
    if (wide == narrow || wide == ES_SUMMARY_BY_NONE)
        return true;
    return wide > narrow && narrow >= ES_SUMMARY_BY_ORIGIN;
}

bool esi_grouping_takes(const struct esi_grouping *grouping,
                        const struct esi_grouping *below)
{
    return grouping->kind == below->kind && grouping->of == below->of &&
           is_wider(grouping->by, below->by);
}

/* --- The table --------------------------------------------------------------- */

/* The group that takes the tuples of `group`; NULL when there is none yet. */
static struct esi_tuple_group *find_group(const struct esi_grouping *grouping,
                                          const struct esi_tuple_group *group,
                                          uint64_t hash,
                                          const struct es_origins *origins)
{
    ESI_HASH_FOREACH(slot, &grouping->by_hash, hash) {
        struct esi_tuple_group *found =
            &grouping->groups[esi_hash_index(&grouping->by_hash, slot)];

        if (same_group(found, group, origins))
            return found;
    }
    return NULL;
}

static int append_group(struct esi_grouping *grouping,
                        const struct esi_tuple_group *group,
                        uint64_t hash)
{
    size_t count = grouping->count;

    if (ESI_ARRAY_RESERVE(grouping->groups, grouping->capacity, count + 1) < 0 ||
        esi_hash_reserve(&grouping->by_hash, count + 1) < 0)
        return -ENOMEM;
    grouping->groups[grouping->count++] = *group;
    esi_hash_insert(&grouping->by_hash, hash, count);
    return 0;
}

static bool is_before(const struct es_mark *a, const struct es_mark *b)
{
    return a->origin != b->origin ? a->origin < b->origin : a->position < b->position;
}

static int grouping_add(struct esi_grouping *grouping,
                        const struct esi_tuple_group *group,
                        const struct es_origins *origins)
{
    uint64_t hash = hash_of(group, origins);
    struct esi_tuple_group *found = find_group(grouping, group, hash, origins);

    if (!found)
        return append_group(grouping, group, hash);
    es_summary_merge(&found->summary, &group->summary);
    if (is_before(&group->mark, &found->mark))
        found->mark = group->mark;
    return 0;
}

/* --- Tuples ------------------------------------------------------------------ */

/* A summary of one tuple. */
static struct es_summary first_summary(const struct esi_grouping *grouping,
                                       const struct es_tuple *tuple,
                                       const struct es_origin *origin)
{
    uint64_t value = tuple->bytes;

    if (grouping->of == ES_SUMMARY_DURATION)
        value = tuple->stop > tuple->start
                    ? es_clock_span_ns(origin->clock, tuple->stop - tuple->start)
                    : 0;
    return (struct es_summary){
        .kind = grouping->kind,
        .of = grouping->of,
        .by = grouping->by,
        .bucket = grouping->kind == ES_SUMMARY_HISTOGRAM ? es_summary_bucket(value) : 0,
        .operation = tuple->operation & (uint16_t)~ES_OPERATION_ANY_SOURCE,
        .count = 1,
        .value = grouping->kind == ES_SUMMARY_COUNT ? 0 : value,
        .first_ns = es_origin_run_ns(origin, tuple->start, NULL),
        .last_ns = es_origin_run_ns(origin, tuple->stop, NULL),
    };
}

/* Summaries from below join this stage's groups where these are as wide, and are merged
 * among themselves where not. */
static int add_summary(struct esi_grouping *grouping,
                       struct esi_tuple_group *group,
                       const struct es_origins *origins)
{
    struct es_summary *summary = &group->summary;

    if (summary->kind == grouping->kind && summary->of == grouping->of &&
        is_wider(grouping->by, summary->by))
        summary->by = grouping->by;
    return grouping_add(grouping, group, origins);
}

static int add_tuple(struct esi_grouping *grouping,
                     const struct es_tuple *tuple,
                     const struct es_mark *mark,
                     const struct es_origins *origins)
{
    struct esi_tuple_group group = {.mark = *mark};

    if (es_mark_is_summary(mark))
        return es_summary_decode(tuple, mark, &group.summary) == 0
                   ? add_summary(grouping, &group, origins)
                   : 0;
    if (tuple->stop == 0)
        return 0;
    group.summary = first_summary(grouping, tuple, &origins->items[mark->origin]);
    group.mark.flags |= ES_MARK_SUMMARY;
    return grouping_add(grouping, &group, origins);
}

int esi_grouping_reduce(struct esi_grouping *grouping,
                        const struct es_origins *origins,
                        struct es_batch *batch,
                        size_t first)
{
    grouping->count = 0;
    esi_hash_clear(&grouping->by_hash);
    for (size_t i = first; i < batch->count; i++) {
        int result = add_tuple(grouping, &batch->tuples[i], &batch->marks[i], origins);

        if (result < 0)
            return result;
    }
    for (size_t i = 0; i < grouping->count; i++) {
        es_summary_encode(&grouping->groups[i].summary, &batch->tuples[first + i]);
        batch->marks[first + i] = grouping->groups[i].mark;
    }
    batch->count = first + grouping->count;
    return 0;
}

size_t esi_grouping_bound(const struct esi_grouping *grouping,
                          const struct es_origins *origins)
{
    size_t groups = origins->count;

    if (grouping->by == ES_SUMMARY_BY_NONE)
        groups = 1;
    else if (grouping->by == ES_SUMMARY_BY_OPERATION)
        groups = esi_operation_count;
    return grouping->kind == ES_SUMMARY_HISTOGRAM ? groups * ES_SUMMARY_BUCKETS
                                                  : groups;
}
