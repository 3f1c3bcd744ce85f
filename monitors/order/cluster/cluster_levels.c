/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * cluster_levels.c - nested partitions of traces that keep their past states.
 *
 * The location of a trace in a former cluster is found without a table per cluster.
 * Every trace and every absorbed cluster has a place, (root, offset), in the cluster
 * that it now belongs to.  Since members are only appended, the location of a trace in
 * a cluster is the difference of the two offsets, whatever has been absorbed since.  If
 * the roots differ, the trace was never in the cluster.  An absorption assigns new
 * places to all traces and clusters that it moves.
 *
 * Readers may see one place before such a change and another one after it.  Then the
 * roots differ, because an absorbed root does not come back.  So places with the same
 * root are always consistent, and only the result "the roots differ" must be checked
 * against the count of changes (odd during a change) or, if that fails, by searching
 * the members.
 */
#include "config.h"

#include "monitors/order/cluster/cluster_levels.h"

#include <errno.h>
#include <string.h>

struct cluster {
    _Atomic uint64_t place;
    _Atomic(uint32_t *) members;
    _Atomic uint32_t is_closed;
    uint32_t length; /* for the writer, like `next` */
    uint32_t capacity;
    uint32_t next; /* circular list of a root and everything that it has absorbed */
};

/* --- Places ---------------------------------------------------------------------- */

static uint64_t place_at(uint32_t root, uint32_t offset)
{
    return (uint64_t)root << 32 | offset;
}

static uint32_t root_of(uint64_t place)
{
    return (uint32_t)(place >> 32);
}

static const struct esi_level *level_of(const struct esi_levels *levels, unsigned level)
{
    return &levels->level[level - 1];
}

static struct cluster *cluster_of(const struct esi_level *level, uint32_t cluster)
{
    return esi_segmented_at(&level->clusters, cluster);
}

static _Atomic uint64_t *place_of(const struct esi_level *level, uint32_t trace)
{
    return esi_segmented_at(&level->places, trace);
}

/* Pairs with set_place(): a thread that sees a new place sees the change that it
 * belongs to. */
static uint64_t get_place(const _Atomic uint64_t *place)
{
    return atomic_load_explicit(place, memory_order_acquire);
}

static void set_place(_Atomic uint64_t *place, uint64_t value)
{
    atomic_store_explicit(place, value, memory_order_release);
}

/* Called before and after changes of places; pairs with the loads in
 * esi_levels_locate(). */
static void change_level(struct esi_level *level)
{
    atomic_fetch_add_explicit(&level->changes, 1, memory_order_release);
}

static void add_count(struct esi_level *level, int more)
{
    uint64_t count = atomic_load_explicit(&level->count, memory_order_relaxed);

    atomic_store_explicit(&level->count, count + (uint64_t)(int64_t)more,
                          memory_order_relaxed);
}

/* --- Creation and destruction ---------------------------------------------------- */

void esi_levels_init(struct esi_levels *levels,
                     unsigned count,
                     const uint32_t *max_sizes)
{
    memset(levels, 0, sizeof *levels);
    levels->count = count;
    for (unsigned i = 0; i < count; i++) {
        struct esi_level *level = &levels->level[i];

        level->max_size = max_sizes[i];
        esi_segmented_init(&level->places, sizeof(_Atomic uint64_t), 4);
        esi_segmented_init(&level->clusters, sizeof(struct cluster), 4);
        esi_segmented_init(&level->members, sizeof(uint32_t), 6);
        esi_segmented_init(&level->clean, sizeof(uint32_t), 4);
    }
}

void esi_levels_fini(struct esi_levels *levels)
{
    for (unsigned i = 0; i < levels->count; i++) {
        esi_segmented_fini(&levels->level[i].places);
        esi_segmented_fini(&levels->level[i].clusters);
        esi_segmented_fini(&levels->level[i].members);
        esi_segmented_fini(&levels->level[i].clean);
    }
}

/* Makes a cluster with the given first members and returns its number; NULL: no
 * memory. */
static struct cluster *make_cluster(struct esi_level *level,
                                    const uint32_t *members,
                                    uint32_t length,
                                    uint32_t *ret_number)
{
    uint32_t *list = esi_segmented_extend(&level->members, length, NULL);
    uint64_t number;
    struct cluster *cluster =
        list ? esi_segmented_extend(&level->clusters, 1, &number) : NULL;

    if (!cluster)
        return NULL;
    memcpy(list, members, length * sizeof *list);
    cluster->length = length;
    cluster->capacity = length;
    cluster->next = (uint32_t)number;
    atomic_store_explicit(&cluster->members, list, memory_order_release);
    set_place(&cluster->place, place_at((uint32_t)number, 0));
    *ret_number = (uint32_t)number;
    return cluster;
}

static int add_trace(struct esi_level *level)
{
    uint32_t trace = (uint32_t)esi_segmented_count(&level->clean);
    uint32_t none = 0;
    uint32_t number;
    uint64_t place;

    /* Reuses what a call that ran out of memory has left. */
    if (esi_segmented_count(&level->places) == trace) {
        if (!make_cluster(level, &trace, 1, &number))
            return -ENOMEM;
        place = place_at(number, 0);
        if (esi_segmented_push(&level->places, &place) < 0)
            return -ENOMEM;
    }
    if (esi_segmented_push(&level->clean, &none) < 0)
        return -ENOMEM;
    add_count(level, 1);
    return 0;
}

int esi_levels_add_trace(struct esi_levels *levels)
{
    uint64_t traces = esi_segmented_count(&levels->level[levels->count - 1].clean);

    for (unsigned i = 0; i < levels->count; i++)
        if (esi_segmented_count(&levels->level[i].clean) == traces &&
            add_trace(&levels->level[i]) < 0)
            return -ENOMEM;
    return 0;
}

/* --- Merging --------------------------------------------------------------------- */

static uint32_t *members_of(const struct cluster *cluster)
{
    /* Pairs with the release store of a new list. */
    return atomic_load_explicit(&cluster->members, memory_order_acquire);
}

/* Makes room for more members.  Readers may still use the old list. */
static int reserve_traces(struct esi_level *level,
                          struct cluster *cluster,
                          uint32_t more)
{
    uint32_t capacity = cluster->capacity * 2;
    uint32_t *list;

    if (cluster->length + more <= cluster->capacity)
        return 0;
    if (capacity < cluster->length + more)
        capacity = cluster->length + more;
    list = esi_segmented_extend(&level->members, capacity, NULL);
    if (!list)
        return -ENOMEM;
    memcpy(list, members_of(cluster), cluster->length * sizeof *list);
    cluster->capacity = capacity;
    atomic_store_explicit(&cluster->members, list, memory_order_release);
    return 0;
}

/* Assigns places in another cluster to a root and everything that it has absorbed. */
static void replace_ring(const struct esi_level *level,
                         uint32_t root,
                         uint32_t into,
                         uint32_t by)
{
    uint32_t number = root;

    do {
        struct cluster *cluster = cluster_of(level, number);
        uint32_t offset = (uint32_t)get_place(&cluster->place);

        set_place(&cluster->place, place_at(into, offset + by));
        number = cluster->next;
    } while (number != root);
}

static int absorb_cluster(struct esi_level *level, uint32_t into, uint32_t from)
{
    struct cluster *cluster = cluster_of(level, into);
    struct cluster *other = cluster_of(level, from);
    const uint32_t *traces = members_of(other);
    uint32_t *list;
    uint32_t next = cluster->next;

    if (reserve_traces(level, cluster, other->length) < 0)
        return -ENOMEM;
    list = members_of(cluster) + cluster->length;
    memcpy(list, traces, other->length * sizeof *list);
    change_level(level);
    for (uint32_t i = 0; i < other->length; i++)
        set_place(place_of(level, traces[i]), place_at(into, cluster->length + i));
    replace_ring(level, from, into, cluster->length);
    change_level(level);
    cluster->next = other->next;
    other->next = next;
    cluster->length += other->length;
    add_count(level, -1);
    return 0;
}

uint32_t esi_levels_cluster(const struct esi_levels *levels,
                            unsigned level,
                            uint32_t trace)
{
    return root_of(get_place(place_of(level_of(levels, level), trace)));
}

uint32_t esi_levels_size(const struct esi_levels *levels,
                         unsigned level,
                         uint32_t cluster)
{
    return cluster_of(level_of(levels, level), cluster)->length;
}

int esi_levels_join(struct esi_levels *levels,
                    unsigned level,
                    uint32_t trace,
                    uint32_t other)
{
    uint32_t into = esi_levels_cluster(levels, level, trace);
    uint32_t from = esi_levels_cluster(levels, level, other);

    return into == from ? 0 : absorb_cluster(&levels->level[level - 1], into, from);
}

int esi_levels_merge(struct esi_levels *levels,
                     unsigned level,
                     uint32_t trace,
                     uint32_t other)
{
    for (unsigned k = levels->count; k >= level; k--) {
        int code = esi_levels_join(levels, k, trace, other);

        if (code < 0)
            return code;
    }
    return 0;
}

bool esi_levels_can_merge(const struct esi_levels *levels,
                          unsigned level,
                          uint32_t trace,
                          uint32_t other)
{
    for (unsigned k = level; k <= levels->count; k++) {
        uint32_t a = esi_levels_cluster(levels, k, trace);
        uint32_t b = esi_levels_cluster(levels, k, other);

        if (a == b)
            return true;
        if (esi_levels_size(levels, k, a) + esi_levels_size(levels, k, b) >
            level_of(levels, k)->max_size)
            return false;
    }
    return true;
}

/* --- Moving ---------------------------------------------------------------------- */

static void set_clean(const struct esi_level *level, uint32_t trace, uint32_t now)
{
    *(uint32_t *)esi_segmented_at(&level->clean, trace) = now;
}

uint32_t esi_levels_clean(const struct esi_levels *levels,
                          unsigned level,
                          uint32_t trace)
{
    return *(const uint32_t *)esi_segmented_at(&level_of(levels, level)->clean, trace);
}

/* Assigns places to all members of a new cluster; their old cluster is closed. */
static void finalize_level(const struct esi_level *level, uint32_t number, uint32_t now)
{
    const struct cluster *cluster = cluster_of(level, number);

    for (uint32_t i = 0; i < cluster->length; i++) {
        uint32_t trace = members_of(cluster)[i];

        set_place(place_of(level, trace), place_at(number, i));
        set_clean(level, trace, now);
    }
}

/* Closes a trace's cluster: the trace becomes alone, the others become a new
 * cluster. */
static int split_cluster(struct esi_level *level, uint32_t trace, uint32_t now)
{
    uint32_t old = root_of(get_place(place_of(level, trace)));
    struct cluster *cluster = cluster_of(level, old);
    uint32_t at = (uint32_t)get_place(place_of(level, trace));
    uint32_t alone, others;
    struct cluster *rest;

    if (cluster->length == 1)
        return 0;
    rest = make_cluster(level, members_of(cluster), cluster->length, &others);
    if (!rest || !make_cluster(level, &trace, 1, &alone))
        return -ENOMEM;
    rest->length--;
    memmove(&members_of(rest)[at], &members_of(rest)[at + 1],
            (rest->length - at) * sizeof(uint32_t));
    change_level(level);
    /* A thread that sees one of the following places sees that the cluster is
     * closed. */
    atomic_store_explicit(&cluster->is_closed, 1, memory_order_relaxed);
    finalize_level(level, others, now);
    finalize_level(level, alone, now);
    change_level(level);
    add_count(level, 1);
    return 0;
}

/* Returns the lowest level on which both are in one cluster; if there is none, the
 * level above the last. */
static unsigned common_level(const struct esi_levels *levels,
                             uint32_t trace,
                             uint32_t other)
{
    unsigned level = 1;

    while (level <= levels->count && esi_levels_cluster(levels, level, trace) !=
                                         esi_levels_cluster(levels, level, other))
        level++;
    return level;
}

int esi_levels_leave(struct esi_levels *levels,
                     uint32_t trace,
                     uint32_t other,
                     uint32_t now)
{
    unsigned common = common_level(levels, trace, other);

    /* Leave clusters from the lowest level upwards and join clusters from the highest
     * level downwards, so that the levels are nested at each step. */
    for (unsigned k = 1; k < common; k++)
        if (split_cluster(&levels->level[k - 1], trace, now) < 0)
            return -ENOMEM;
    return 0;
}

int esi_levels_move(struct esi_levels *levels,
                    uint32_t trace,
                    uint32_t other,
                    uint32_t now)
{
    int code = esi_levels_leave(levels, trace, other, now);

    for (unsigned k = levels->count; code >= 0 && k >= 1; k--)
        code = esi_levels_join(levels, k, other, trace);
    return code;
}

bool esi_levels_can_move(const struct esi_levels *levels,
                         uint32_t trace,
                         uint32_t other)
{
    for (unsigned k = 1; k <= levels->count; k++) {
        uint32_t to = esi_levels_cluster(levels, k, other);

        if (esi_levels_cluster(levels, k, trace) == to)
            return true;
        if (esi_levels_size(levels, k, to) >= level_of(levels, k)->max_size)
            return false;
    }
    return true;
}

/* --- Queries --------------------------------------------------------------------- */

const uint32_t *esi_levels_members(const struct esi_levels *levels,
                                   unsigned level,
                                   uint32_t cluster)
{
    return members_of(cluster_of(level_of(levels, level), cluster));
}

static uint32_t search_members(const struct cluster *cluster,
                               uint32_t length,
                               uint32_t trace)
{
    const uint32_t *members = members_of(cluster);

    for (uint32_t i = 0; i < length; i++)
        if (members[i] == trace)
            return i;
    return ESI_NOWHERE;
}

uint32_t esi_levels_locate(const struct esi_levels *levels,
                           unsigned level,
                           uint32_t cluster,
                           uint32_t length,
                           uint32_t trace)
{
    const struct esi_level *of = level_of(levels, level);
    const struct cluster *record = cluster_of(of, cluster);
    /* Pairs with change_level(), like the last load. */
    uint32_t before = atomic_load_explicit(&of->changes, memory_order_acquire);
    uint64_t place = get_place(place_of(of, trace));
    uint64_t other = get_place(&record->place);
    uint32_t at = (uint32_t)place - (uint32_t)other;
    const struct cluster *root;

    if (root_of(place) == root_of(other))
        return at < length ? at : ESI_NOWHERE;
    root = cluster_of(of, root_of(other));
    if (!atomic_load_explicit(&root->is_closed, memory_order_relaxed) &&
        before % 2 == 0 &&
        atomic_load_explicit(&of->changes, memory_order_relaxed) == before)
        return ESI_NOWHERE;
    return search_members(record, length, trace);
}

uint64_t esi_levels_bytes(const struct esi_levels *levels)
{
    uint64_t bytes = 0;

    for (unsigned i = 0; i < levels->count; i++)
        bytes += esi_segmented_bytes(&levels->level[i].places) +
                 esi_segmented_bytes(&levels->level[i].clusters) +
                 esi_segmented_bytes(&levels->level[i].members) +
                 esi_segmented_bytes(&levels->level[i].clean);
    return bytes;
}
