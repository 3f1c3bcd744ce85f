/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* collective_statistics.c - groups of collective operations. */
#include "config.h"

#include "monitors/collectives/collective_statistics.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

struct esi_collective_statistics {
    struct esi_collective_group *groups; /* owned, in order of appearance */
    size_t count;
    size_t capacity;
    struct esi_hash by_name;
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
    esi_hash_fini(&statistics->by_name);
    free(statistics);
    errno = saved_errno;
}

/* --- Groups ----------------------------------------------------------------------- */

/* The key of a group. */
struct group_name {
    const uint64_t *key;
    uint16_t operation;
    bool tree;
    uint32_t version;
    int size;
    unsigned size_class;
};

static uint64_t hash_of(const struct group_name *name)
{
    uint64_t hash = esi_hash_mix(name->key[0], name->key[1]);

    hash = esi_hash_mix(hash, (uint64_t)name->operation << 32 | name->version);
    return esi_hash_mix(hash, (uint64_t)name->size_class << 1 | name->tree);
}

static bool has_name(const struct esi_collective_group *group,
                     const struct group_name *name)
{
    return group->key[0] == name->key[0] && group->key[1] == name->key[1] &&
           group->operation == name->operation && group->by_tree == name->tree &&
           group->version == name->version && group->size == name->size &&
           group->size_class == name->size_class;
}

static struct group_name name_of(const struct esi_collective_group *group)
{
    return (struct group_name){group->key,     group->operation, group->by_tree,
                               group->version, group->size,      group->size_class};
}

/* NULL if out of memory. */
static struct esi_collective_group *add_group(
    struct esi_collective_statistics *statistics,
    const struct group_name *name)
{
    struct esi_collective_group *group;
    struct esi_collective_rank *ranks;

    if (esi_hash_reserve(&statistics->by_name, statistics->count + 1) < 0 ||
        ESI_ARRAY_RESERVE(statistics->groups, statistics->capacity,
                          statistics->count + 1) < 0)
        return NULL;
    ranks = calloc((size_t)name->size, sizeof *ranks);
    if (!ranks)
        return NULL;
    for (int rank = 0; rank < name->size; rank++)
        ranks[rank].world_rank = -1;
    esi_hash_insert(&statistics->by_name, hash_of(name), statistics->count);
    group = &statistics->groups[statistics->count++];
    *group = (struct esi_collective_group){
        .key = {name->key[0], name->key[1]},
        .operation = name->operation,
        .by_tree = name->tree,
        .version = name->version,
        .size_class = name->size_class,
        .size = name->size,
        .ranks = ranks,
    };
    return group;
}

/* NULL if out of memory. */
static struct esi_collective_group *find_group(
    struct esi_collective_statistics *statistics,
    const struct group_name *name)
{
    ESI_HASH_FOREACH(slot, &statistics->by_name, hash_of(name)) {
        uint32_t index = esi_hash_index(&statistics->by_name, slot);

        if (has_name(&statistics->groups[index], name))
            return &statistics->groups[index];
    }
    return add_group(statistics, name);
}

/* --- Lines ------------------------------------------------------------------------ */

/* A line without an entry replaces the cheapest one and inherits its cost (Metwally et
 * al., "Efficient computation of frequent and top-k elements in data streams", 2005): a
 * line with more than a quarter of the total cost is guaranteed an entry, and its cost
 * is overestimated by at most that of the cheapest. */
static void add_line(struct esi_collective_rank *rank,
                     const char *site,
                     uint64_t debt_ns)
{
    struct esi_collective_line *least = &rank->lines[0];

    if (debt_ns == 0 || !site || !*site)
        return;
    for (int i = 0; i < ESI_COLLECTIVE_LINES; i++) {
        if (rank->lines[i].site == site) {
            rank->lines[i].debt_ns += debt_ns;
            return;
        }
        if (rank->lines[i].debt_ns < least->debt_ns)
            least = &rank->lines[i];
    }
    *least = (struct esi_collective_line){site, least->debt_ns + debt_ns};
}

struct esi_collective_line esi_collective_rank_worst(
    const struct esi_collective_rank *rank)
{
    struct esi_collective_line worst = {.site = NULL};

    for (int i = 0; i < ESI_COLLECTIVE_LINES; i++)
        if (rank->lines[i].debt_ns > worst.debt_ns)
            worst = rank->lines[i];
    return worst;
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
        add_line(sums, arrival->site, arrival->debt_ns);
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
        for (int i = 0; i < ESI_COLLECTIVE_LINES; i++)
            add_line(sums, more->lines[i].site, more->lines[i].debt_ns);
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
