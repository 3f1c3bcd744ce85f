/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * clustering_migrate.c - clusters that merge on the N-th communication, and that traces
 * leave when they turn out to belong elsewhere (the second variant that Ward, Huang &
 * Taylor announce in section 5).
 *
 * For each trace, its receives from inside its cluster of level 1 are counted since it
 * came, and of those from outside how many more come from one cluster than from all
 * others (Boyer and Moore's majority vote: one counter, and one trace that stands for
 * the cluster).  When these outnumber those from inside by the threshold, normalized by
 * both sizes as for merging, the trace moves there.  If there is no room it leaves all
 * the same, provided that they are twice those from inside: alone it is free to merge,
 * and makes room for others.  Those from inside count up to twice the threshold, so
 * that a trace can leave after any time.
 *
 * A move costs a stamp of a higher level for the next event of the trace and of each of
 * those that it leaves (cluster_writer.c), hence a threshold that grows with sizes.
 */
#include "config.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "monitors/order/cluster/clustering.h"

struct habit {
    uint64_t inside;
    uint64_t outside;
    uint32_t favourite; /* a trace of the cluster that `outside` is of, when not 0 */
};

struct esi_clustering {
    struct esi_merging merging;
    struct habit *habits; /* of each trace */
    uint32_t capacity;
};

static int migrate_create(const struct esi_order_config *config,
                          struct es_error *error,
                          struct esi_clustering **ret_clustering)
{
    struct esi_clustering *clustering = calloc(1, sizeof *clustering);
    int code;

    if (!clustering)
        return es_error_set(error, -ENOMEM, "out of memory");
    code = esi_merging_init(&clustering->merging, config->levels, config->threshold,
                            error);
    if (code < 0) {
        free(clustering);
        return code;
    }
    *ret_clustering = clustering;
    return 0;
}

static void migrate_destroy(struct esi_clustering *clustering)
{
    esi_merging_fini(&clustering->merging);
    free(clustering->habits);
    free(clustering);
}

static int migrate_add_trace(struct esi_clustering *clustering,
                             struct esi_levels *levels,
                             uint32_t trace)
{
    uint32_t capacity = clustering->capacity ? clustering->capacity * 2 : 16;
    struct habit *habits;

    (void)levels;
    if (trace >= clustering->capacity) {
        habits = realloc(clustering->habits, capacity * sizeof *habits);
        if (!habits)
            return -ENOMEM;
        clustering->habits = habits;
        clustering->capacity = capacity;
    }
    clustering->habits[trace] = (struct habit){.inside = 0};
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

/* Moves a trace if that is what its habit says. */
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

/* Whether a trace has communicated so much inside its cluster that more would only make
 * it cling to what has long been over. */
static bool is_settled(const struct esi_clustering *clustering,
                       const struct esi_levels *levels,
                       uint32_t trace)
{
    uint32_t size = esi_levels_size(levels, 1, esi_levels_cluster(levels, 1, trace));

    return (double)clustering->habits[trace].inside >
           2 * clustering->merging.threshold * size;
}

static int migrate_communicate(struct esi_clustering *clustering,
                               struct esi_levels *levels,
                               const struct esi_communication *communication)
{
    struct habit *habit = &clustering->habits[communication->trace];
    int code = esi_merging_communicate(&clustering->merging, levels, communication);

    if (code < 0)
        return code;
    if (esi_levels_cluster(levels, 1, communication->trace) ==
        esi_levels_cluster(levels, 1, communication->partner)) {
        if (!is_settled(clustering, levels, communication->trace))
            habit->inside += communication->weight;
        return 0;
    }
    note_outside(levels, habit, communication->partner, communication->weight);
    if (habit->outside == 0 || habit->favourite != communication->partner)
        return 0;
    return follow_habit(habit, clustering->merging.threshold, levels, communication);
}

static uint64_t migrate_bytes(const struct esi_clustering *clustering)
{
    return esi_merging_bytes(&clustering->merging) +
           clustering->capacity * sizeof *clustering->habits;
}

const struct esi_clustering_ops esi_clustering_migrate = {
    .name = "migrate",
    .takes_seeds = true,
    .create = migrate_create,
    .destroy = migrate_destroy,
    .add_trace = migrate_add_trace,
    .communicate = migrate_communicate,
    .bytes = migrate_bytes,
};
