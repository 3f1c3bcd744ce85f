/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * clustering_merge.c - clusters that merge when they communicate, for the first time or
 * often enough for their size (Ward & Taylor, 3; Ward, Huang & Taylor, 3.2, with errata
 * 1, 9 and 21), and that traces leave when they turn out to belong elsewhere.
 *
 * Sizes only increase by merging, so communications between two clusters that are too
 * large together for their level are no longer counted.
 */
#include "config.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/array.h"
#include "monitors/order/cluster/clustering.h"

/* === Merging ====================================================================== */

struct merging {
    struct esi_communications
        *counts[ES_ORDER_LEVELS]; /* between clusters; NULL: not counted */
    double threshold;
};

static int merge_nth_init(void *state,
                          const struct esi_cluster_tuning *tuning,
                          struct es_error *error)
{
    struct merging *merging = state;

    merging->threshold = tuning->threshold;
    /* Also rejects NaN. */
    if (!(tuning->threshold >= 0.0))
        return es_error_set(error, -EINVAL,
                            "a threshold of %g; expected one that is not negative",
                            tuning->threshold);
    for (unsigned i = 0; tuning->threshold > 0.0 && i < tuning->levels; i++)
        if (esi_communications_create(&merging->counts[i]) < 0)
            return -ENOMEM;
    return 0;
}

static void merge_fini(void *state)
{
    struct merging *merging = state;

    for (unsigned i = 0; i < ES_ORDER_LEVELS; i++)
        esi_communications_destroy(merging->counts[i]);
}

/* Counts a communication between two clusters; returns 1 if they now have enough to
 * merge. */
static int count_message(struct merging *merging,
                         unsigned level,
                         uint32_t a,
                         uint32_t b,
                         uint32_t weight,
                         uint32_t size)
{
    struct esi_communications *counts = merging->counts[level - 1];
    int code;

    if (!counts)
        return 1;
    code = esi_communications_add(counts, a, b, weight);
    if (code < 0)
        return code;
    return (double)esi_communications_count(counts, a, b) / (double)size >
           merging->threshold;
}

/* Merges on a level and all levels above, including the counts. */
static int merge_clusters(struct merging *merging,
                          struct esi_levels *levels,
                          unsigned level,
                          const struct esi_communication *communication)
{
    for (unsigned k = levels->count; k >= level; k--) {
        uint32_t a = esi_levels_cluster(levels, k, communication->trace);
        uint32_t b = esi_levels_cluster(levels, k, communication->partner);

        if (a == b)
            continue;
        if ((merging->counts[k - 1] &&
             esi_communications_merge(merging->counts[k - 1], a, b) < 0) ||
            esi_levels_join(levels, k, communication->trace, communication->partner) <
                0)
            return -ENOMEM;
    }
    return 0;
}

/* Counts a communication and merges if counts and sizes allow it. */
static int merge_communicate(void *state,
                             struct esi_levels *levels,
                             const struct esi_communication *communication)
{
    struct merging *merging = state;

    for (unsigned k = 1; k <= levels->count; k++) {
        uint32_t a = esi_levels_cluster(levels, k, communication->trace);
        uint32_t b = esi_levels_cluster(levels, k, communication->partner);
        uint64_t size =
            (uint64_t)esi_levels_size(levels, k, a) + esi_levels_size(levels, k, b);
        int enough;

        if (a == b)
            return 0;
        if (size > levels->level[k - 1].max_size)
            continue;
        enough = count_message(merging, k, a, b, communication->weight, (uint32_t)size);
        if (enough < 0)
            return enough;
        if (enough && esi_levels_can_merge(levels, k, communication->trace,
                                           communication->partner))
            return merge_clusters(merging, levels, k, communication);
    }
    return 0;
}

static uint64_t merge_bytes(const void *state)
{
    const struct merging *merging = state;
    uint64_t bytes = 0;

    for (unsigned i = 0; i < ES_ORDER_LEVELS; i++)
        if (merging->counts[i])
            bytes += esi_communications_bytes(merging->counts[i]);
    return bytes;
}

const struct esi_clustering_ops esi_clustering_merge_first = {
    .name = "merge-first",
    .alias = "first",
    .takes_seeds = true,
    .state_bytes = sizeof(struct merging),
    .communicate = merge_communicate,
};

const struct esi_clustering_ops esi_clustering_merge_nth = {
    .name = "merge-nth",
    .alias = "nth",
    .number = ES_STRATEGY_THRESHOLD,
    .takes_seeds = true,
    .state_bytes = sizeof(struct merging),
    .init = merge_nth_init,
    .fini = merge_fini,
    .communicate = merge_communicate,
    .bytes = merge_bytes,
};

/* === Migration ==================================================================== */

/*
 * Clusters that merge on the N-th communication, and that traces leave when they turn
 * out to belong elsewhere (the second variant that Ward, Huang & Taylor announce in
 * section 5).
 *
 * For each trace, two numbers are counted since it joined its cluster of level 1: its
 * receives from inside the cluster; and, of those from outside, by how many the
 * receives from one cluster exceed those from all others (Boyer and Moore's majority
 * vote: one counter, and one trace that represents the cluster).  When the second
 * number exceeds the first by the threshold, normalized by both sizes as for merging,
 * the trace moves to that cluster.  If there is no room, it still leaves, provided that
 * the second number is twice the first: alone, it is free to merge, and makes room for
 * others.  The first number is limited to twice the threshold, so that a trace can
 * leave however long it has been in the cluster.
 *
 * After a move, the next event of the trace and of each member that it leaves has a
 * stamp of a higher level (cluster_writer.c); therefore the threshold grows with the
 * sizes.
 */

struct habit {
    uint64_t inside;
    uint64_t outside;
    uint32_t favourite; /* a trace of the cluster that `outside` refers to, if that is
                           not 0 */
};

struct migration {
    struct merging merging; /* must be the first member: merge_nth_init() initializes
                               it */
    struct habit *habits;   /* by trace */
    size_t capacity;
};

static void migrate_fini(void *state)
{
    struct migration *migration = state;

    merge_fini(&migration->merging);
    free(migration->habits);
}

static int migrate_add_trace(void *state, struct esi_levels *levels, uint32_t trace)
{
    struct migration *migration = state;

    (void)levels;
    if (ESI_ARRAY_RESERVE(migration->habits, migration->capacity, trace + 1u) < 0)
        return -ENOMEM;
    migration->habits[trace] = (struct habit){.inside = 0};
    return 0;
}

static void note_outside(const struct esi_levels *levels,
                         struct habit *habit,
                         uint32_t partner,
                         uint32_t weight)
{
    if (habit->outside > 0 && esi_levels_cluster(levels, 1, habit->favourite) !=
                                  esi_levels_cluster(levels, 1, partner)) {
        habit->outside -= habit->outside < weight ? habit->outside : weight;
        return;
    }
    habit->outside += weight;
    habit->favourite = partner;
}

/* Moves a trace if its habit requires it. */
static int follow_habit(struct habit *habit,
                        double threshold,
                        struct esi_levels *levels,
                        const struct esi_communication *communication)
{
    uint32_t trace = communication->trace;
    uint32_t partner = communication->partner;
    uint64_t size =
        (uint64_t)esi_levels_size(levels, 1, esi_levels_cluster(levels, 1, trace)) +
        esi_levels_size(levels, 1, esi_levels_cluster(levels, 1, partner));
    double enough = (double)habit->inside + threshold * (double)size;

    if ((double)habit->outside <= enough)
        return 0;
    if (esi_levels_can_move(levels, trace, partner)) {
        *habit = (struct habit){.inside = 0};
        return esi_levels_move(levels, trace, partner, communication->now);
    }
    if ((double)habit->outside <= enough + (double)habit->inside)
        return 0;
    *habit = (struct habit){.inside = 0};
    return esi_levels_leave(levels, trace, partner, communication->now);
}

/* Returns whether a trace has communicated so much inside its cluster that counting
 * more would only delay a later move. */
static bool is_settled(const struct migration *migration,
                       const struct esi_levels *levels,
                       uint32_t trace)
{
    uint32_t size = esi_levels_size(levels, 1, esi_levels_cluster(levels, 1, trace));

    return (double)migration->habits[trace].inside >
           2 * migration->merging.threshold * size;
}

static int migrate_communicate(void *state,
                               struct esi_levels *levels,
                               const struct esi_communication *communication)
{
    struct migration *migration = state;
    struct habit *habit = &migration->habits[communication->trace];
    int code = merge_communicate(&migration->merging, levels, communication);

    if (code < 0)
        return code;
    if (esi_levels_cluster(levels, 1, communication->trace) ==
        esi_levels_cluster(levels, 1, communication->partner)) {
        if (!is_settled(migration, levels, communication->trace))
            habit->inside += communication->weight;
        return 0;
    }
    note_outside(levels, habit, communication->partner, communication->weight);
    if (habit->outside == 0 || habit->favourite != communication->partner)
        return 0;
    return follow_habit(habit, migration->merging.threshold, levels, communication);
}

static uint64_t migrate_bytes(const void *state)
{
    const struct migration *migration = state;

    return merge_bytes(&migration->merging) +
           migration->capacity * sizeof *migration->habits;
}

const struct esi_clustering_ops esi_clustering_migrate = {
    .name = "migrate",
    .number = ES_STRATEGY_THRESHOLD,
    .takes_seeds = true,
    .state_bytes = sizeof(struct migration),
    .init = merge_nth_init,
    .fini = migrate_fini,
    .add_trace = migrate_add_trace,
    .communicate = migrate_communicate,
    .bytes = migrate_bytes,
};
