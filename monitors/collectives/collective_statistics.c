/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* collective_statistics.c - what many collective operations have in common. */
#include "config.h"

#include "monitors/collectives/collective_statistics.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_GROUPS = 16 };

struct esi_collective_statistics {
    struct esi_collective_group *groups; /* owned, in order of appearance */
    size_t count;
    size_t capacity;
    uint32_t *places;   /* 1 + index by hash, 0 = free; owned */
    size_t place_count; /* a power of two, more than twice `count` */
};

int esi_collective_statistics_create(struct esi_collective_statistics **ret_statistics)
{
    struct esi_collective_statistics *statistics = calloc(1, sizeof *statistics);

    if (!statistics)
        return -ENOMEM;
    *ret_statistics = statistics;
    return 0;
}

static void free_group(struct esi_collective_group *group)
{
    esi_measure_fini(&group->time);
    esi_measure_fini(&group->spread);
    esi_measure_fini(&group->lost);
    esi_measure_fini(&group->tree);
    esi_measure_fini(&group->departure);
    esi_measure_fini(&group->imbalance);
    free(group->ranks);
}

void esi_collective_statistics_destroy(struct esi_collective_statistics *statistics)
{
    int saved_errno = errno;

    if (!statistics)
        return;
    for (size_t i = 0; i < statistics->count; i++)
        free_group(&statistics->groups[i]);
    free(statistics->groups);
    free(statistics->places);
    free(statistics);
    errno = saved_errno;
}

/* --- Groups ----------------------------------------------------------------------- */

/* What tells a group from the others. */
struct group_name {
    const uint64_t *key;
    uint16_t operation;
    bool tree;
    uint32_t version;
    int size;
    unsigned size_class;
};

static size_t hash_of(const struct group_name *name)
{
    uint64_t mixed = name->key[0] ^ (name->key[1] << 1);

    mixed ^= (uint64_t)name->operation << 32 ^ (uint64_t)name->tree << 63;
    mixed ^= name->version ^ (uint64_t)name->size_class << 48;
    mixed *= UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(mixed >> 32);
}

static bool has_name(const struct esi_collective_group *group,
                     const struct group_name *name)
{
    return group->key[0] == name->key[0] && group->key[1] == name->key[1] &&
           group->operation == name->operation && group->by_tree == name->tree &&
           group->version == name->version && group->size == name->size &&
           group->size_class == name->size_class;
}

/* The place of a group, or the free one where it belongs. */
static uint32_t *find_place(const struct esi_collective_statistics *statistics,
                            const struct group_name *name)
{
    size_t mask = statistics->place_count - 1;
    size_t at = hash_of(name) & mask;

    while (statistics->places[at] &&
           !has_name(&statistics->groups[statistics->places[at] - 1], name))
        at = (at + 1) & mask;
    return &statistics->places[at];
}

static struct group_name name_of(const struct esi_collective_group *group)
{
    return (struct group_name){group->key,     group->operation, group->by_tree,
                               group->version, group->size,      group->size_class};
}

static int grow_groups(struct esi_collective_statistics *statistics)
{
    size_t capacity = statistics->capacity ? statistics->capacity * 2 : FIRST_GROUPS;
    struct esi_collective_group *groups;
    uint32_t *places;

    if (statistics->count < statistics->capacity)
        return 0;
    groups = realloc(statistics->groups, capacity * sizeof *groups);
    if (!groups)
        return -ENOMEM;
    statistics->groups = groups;
    places = calloc(capacity * 4, sizeof *places);
    if (!places)
        return -ENOMEM;
    free(statistics->places);
    statistics->places = places;
    statistics->place_count = capacity * 4;
    statistics->capacity = capacity;
    for (size_t i = 0; i < statistics->count; i++) {
        struct group_name name = name_of(&statistics->groups[i]);

        *find_place(statistics, &name) = (uint32_t)i + 1;
    }
    return 0;
}

/* NULL without memory. */
static struct esi_collective_group *find_group(
    struct esi_collective_statistics *statistics,
    const struct group_name *name)
{
    struct esi_collective_group *group;
    uint32_t *place;

    if (grow_groups(statistics) < 0)
        return NULL;
    place = find_place(statistics, name);
    if (*place)
        return &statistics->groups[*place - 1];
    group = &statistics->groups[statistics->count];
    *group = (struct esi_collective_group){
        .key = {name->key[0], name->key[1]},
        .operation = name->operation,
        .by_tree = name->tree,
        .version = name->version,
        .size_class = name->size_class,
        .size = name->size,
        .ranks = calloc((size_t)name->size, sizeof *group->ranks),
    };
    if (!group->ranks)
        return NULL;
    for (int rank = 0; rank < name->size; rank++)
        group->ranks[rank].world_rank = -1;
    *place = (uint32_t)++statistics->count;
    return group;
}

/* --- Adding ----------------------------------------------------------------------- */

static uint64_t add_up(uint64_t a, uint64_t b)
{
    return a + b < a ? UINT64_MAX : a + b;
}

static void widen_group(struct esi_collective_group *group,
                        uint64_t first_ns,
                        uint64_t last_ns)
{
    if (group->first_ns == 0 || first_ns < group->first_ns)
        group->first_ns = first_ns;
    if (last_ns > group->last_ns)
        group->last_ns = last_ns;
}

static void take_name(struct esi_collective_group *group, const char *name)
{
    if (!name || !*name)
        return;
    memset(group->communicator, 0, sizeof group->communicator);
    memcpy(group->communicator, name, strnlen(name, sizeof group->communicator - 1));
}

static void add_ranks(struct esi_collective_group *group,
                      const struct esi_collective_instance *instance)
{
    for (int rank = 0; rank < group->size; rank++) {
        const struct esi_collective_arrival *arrival = &instance->arrivals[rank];
        struct esi_collective_rank *sums = &group->ranks[rank];

        if (!arrival->known)
            continue;
        sums->world_rank = arrival->world_rank;
        sums->wait_ns += arrival->wait_ns;
        sums->debt_ns += arrival->debt_ns;
        sums->work_ns += arrival->work_ns;
    }
    if (instance->known < instance->size)
        return;
    if (instance->late == 1 && instance->size > 1) {
        group->ranks[instance->last].last++;
        if (instance->culprit == instance->last)
            group->ranks[instance->last].lead_ns += instance->lead_ns;
    }
    if (instance->culprit >= 0)
        group->ranks[instance->culprit].blamed++;
}

static int add_measures(struct esi_collective_group *group,
                        const struct esi_collective_instance *instance)
{
    int result = esi_measure_add(&group->time, instance->time_ns);

    result |= esi_measure_add(&group->spread, instance->spread_ns);
    result |= esi_measure_add(&group->tree, instance->tree_ns);
    result |= esi_measure_add(&group->departure, instance->departure_ns);
    if (instance->waits_known)
        result |= esi_measure_add(&group->lost, instance->lost_ns);
    if (instance->imbalance >= 0)
        result |=
            esi_measure_add(&group->imbalance, (uint64_t)(instance->imbalance * 1000));
    return result < 0 ? -ENOMEM : 0;
}

int esi_collective_statistics_add(struct esi_collective_statistics *statistics,
                                  const struct esi_collective_instance *instance)
{
    struct group_name name = {instance->key,  instance->operation,
                              instance->tree, instance->version,
                              instance->size, instance->size_class};
    struct esi_collective_group *group = find_group(statistics, &name);

    if (!group)
        return -ENOMEM;
    take_name(group, instance->communicator);
    widen_group(group, instance->first_enter_ns, instance->last_exit_ns);
    add_ranks(group, instance);
    if (instance->known < instance->size) {
        group->incomplete++;
        return 0;
    }
    group->complete++;
    group->judged += instance->waits_known;
    group->unsure +=
        instance->waits_known && instance->lost_ns > 0 && instance->culprit < 0;
    group->bytes = add_up(group->bytes, instance->bytes);
    if (instance->error_ns > group->worst_error_ns)
        group->worst_error_ns = instance->error_ns;
    return add_measures(group, instance);
}

/* --- Merging ---------------------------------------------------------------------- */

static void merge_ranks(struct esi_collective_group *group,
                        const struct esi_collective_group *other)
{
    for (int rank = 0; rank < group->size; rank++) {
        struct esi_collective_rank *sums = &group->ranks[rank];
        const struct esi_collective_rank *more = &other->ranks[rank];

        if (more->world_rank >= 0)
            sums->world_rank = more->world_rank;
        sums->last += more->last;
        sums->blamed += more->blamed;
        sums->debt_ns += more->debt_ns;
        sums->lead_ns += more->lead_ns;
        sums->wait_ns += more->wait_ns;
        sums->work_ns += more->work_ns;
    }
}

static int merge_group(struct esi_collective_group *group,
                       const struct esi_collective_group *other)
{
    int result = esi_measure_merge(&group->time, &other->time);

    result |= esi_measure_merge(&group->spread, &other->spread);
    result |= esi_measure_merge(&group->lost, &other->lost);
    result |= esi_measure_merge(&group->tree, &other->tree);
    result |= esi_measure_merge(&group->departure, &other->departure);
    result |= esi_measure_merge(&group->imbalance, &other->imbalance);
    take_name(group, other->communicator);
    widen_group(group, other->first_ns, other->last_ns);
    merge_ranks(group, other);
    group->complete += other->complete;
    group->incomplete += other->incomplete;
    group->judged += other->judged;
    group->unsure += other->unsure;
    group->bytes = add_up(group->bytes, other->bytes);
    if (other->worst_error_ns > group->worst_error_ns)
        group->worst_error_ns = other->worst_error_ns;
    return result < 0 ? -ENOMEM : 0;
}

int esi_collective_statistics_merge(struct esi_collective_statistics *statistics,
                                    const struct esi_collective_statistics *other)
{
    int result = 0;

    for (size_t i = 0; i < other->count; i++) {
        struct group_name name = name_of(&other->groups[i]);
        struct esi_collective_group *group = find_group(statistics, &name);

        if (!group || merge_group(group, &other->groups[i]) < 0)
            result = -ENOMEM;
    }
    return result;
}

size_t esi_collective_statistics_count(
    const struct esi_collective_statistics *statistics)
{
    return statistics->count;
}

const struct esi_collective_group *esi_collective_statistics_at(
    const struct esi_collective_statistics *statistics,
    size_t index)
{
    return index < statistics->count ? &statistics->groups[index] : NULL;
}
