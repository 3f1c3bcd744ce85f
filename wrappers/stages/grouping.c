/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* grouping.c - sums tuples up by groups.
 *
 * Groups are found through a hash table with open addressing, which is at most half
 * full.
 */
#include "config.h"

#include "wrappers/stages/grouping.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tuplespace/operation_table.h"

void esi_grouping_fini(struct esi_grouping *grouping)
{
    free(grouping->groups);
    free(grouping->slots);
}

/* --- Which group ------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static uint64_t hash_text(const char *text)
{
    uint64_t hash = 1;

    for (; *text; text++)
        hash = mix(hash, (unsigned char)*text);
    return hash;
}

static uint64_t hash_of(const struct esi_group *group, const struct es_origins *origins)
{
    const struct es_summary *summary = &group->summary;
    const struct es_origin *origin = &origins->items[group->mark.origin];
    uint64_t hash = mix((uint64_t)summary->kind, (uint64_t)summary->of);

    hash = mix(mix(hash, (uint64_t)summary->by), summary->bucket);
    switch (summary->by) {
    case ES_SUMMARY_BY_OPERATION:
        return mix(hash, summary->operation);
    case ES_SUMMARY_BY_ORIGIN:
        return mix(hash, group->mark.origin);
    case ES_SUMMARY_BY_THREAD:
        return mix(mix(hash, (uint64_t)origin->pid), (uint64_t)origin->thread);
    case ES_SUMMARY_BY_RANK:
        return mix(hash, (uint64_t)origin->rank);
    case ES_SUMMARY_BY_HOST:
        return mix(hash, hash_text(origin->host));
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

static bool same_group(const struct esi_group *a,
                       const struct esi_group *b,
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

/* The slot of the group, or the free one where it belongs. */
static uint32_t *find_slot(const struct esi_grouping *grouping,
                           const struct esi_group *group,
                           const struct es_origins *origins)
{
    size_t mask = grouping->slot_count - 1;
    size_t at = (size_t)hash_of(group, origins) & mask;

    while (grouping->slots[at] &&
           !same_group(&grouping->groups[grouping->slots[at] - 1], group, origins))
        at = (at + 1) & mask;
    return &grouping->slots[at];
}

/* Room for one more group. */
static int make_room(struct esi_grouping *grouping, const struct es_origins *origins)
{
    size_t capacity = grouping->capacity ? 2 * grouping->capacity : 64;
    struct esi_group *groups;
    uint32_t *slots;

    if (grouping->count < grouping->capacity)
        return 0;
    groups = realloc(grouping->groups, capacity * sizeof *groups);
    if (!groups)
        return -ENOMEM;
    grouping->groups = groups;
    slots = calloc(2 * capacity, sizeof *slots);
    if (!slots)
        return -ENOMEM;
    free(grouping->slots);
    grouping->slots = slots;
    grouping->slot_count = 2 * capacity;
    grouping->capacity = capacity;
    for (size_t i = 0; i < grouping->count; i++)
        *find_slot(grouping, &groups[i], origins) = (uint32_t)i + 1;
    return 0;
}

static bool is_before(const struct es_mark *a, const struct es_mark *b)
{
    return a->origin != b->origin ? a->origin < b->origin : a->position < b->position;
}

static int add(struct esi_grouping *grouping,
               const struct esi_group *group,
               const struct es_origins *origins)
{
    struct esi_group *found;
    uint32_t *slot;
    int result = make_room(grouping, origins);

    if (result < 0)
        return result;
    slot = find_slot(grouping, group, origins);
    if (!*slot) {
        grouping->groups[grouping->count++] = *group;
        *slot = (uint32_t)grouping->count;
        return 0;
    }
    found = &grouping->groups[*slot - 1];
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
                       struct esi_group *group,
                       const struct es_origins *origins)
{
    struct es_summary *summary = &group->summary;

    if (summary->kind == grouping->kind && summary->of == grouping->of &&
        is_wider(grouping->by, summary->by))
        summary->by = grouping->by;
    return add(grouping, group, origins);
}

static int add_tuple(struct esi_grouping *grouping,
                     const struct es_tuple *tuple,
                     const struct es_mark *mark,
                     const struct es_origins *origins)
{
    struct esi_group group = {.mark = *mark};

    if (es_mark_is_summary(mark))
        return es_summary_decode(tuple, mark, &group.summary) == 0
                   ? add_summary(grouping, &group, origins)
                   : 0;
    if (tuple->stop == 0)
        return 0;
    group.summary = first_summary(grouping, tuple, &origins->items[mark->origin]);
    group.mark.flags |= ES_MARK_SUMMARY;
    return add(grouping, &group, origins);
}

int esi_grouping_reduce(struct esi_grouping *grouping,
                        const struct es_origins *origins,
                        struct es_batch *batch,
                        size_t first)
{
    grouping->count = 0;
    if (grouping->slots)
        memset(grouping->slots, 0, grouping->slot_count * sizeof *grouping->slots);
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
