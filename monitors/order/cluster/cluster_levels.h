/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Levels of clusters of traces.  Each level is a partition of the traces, and every
 * cluster is contained in a cluster of the next level.  Levels are numbered from 1, as
 * in the papers.  The top, one cluster of all traces, is not stored here.
 *
 * The members of a cluster have a fixed order, and new members are appended to it.
 * Therefore the pair (cluster, number of members) identifies a past state of the
 * cluster forever.  When clusters merge, one continues and the other is absorbed; the
 * number and members of the absorbed one do not change.  A trace can leave a cluster
 * only by closing it: the remaining members continue as a new cluster.
 *
 *   call                                  may run concurrently with
 *   esi_levels_members, _locate, _bytes   changes by another thread
 *   all others                            only these
 */
#ifndef ES_MONITORS_ORDER_CLUSTER_CLUSTER_LEVELS_H
#define ES_MONITORS_ORDER_CLUSTER_CLUSTER_LEVELS_H

#include <stdbool.h>
#include <stdint.h>

#include "monitors/order/order.h"
#include "monitors/eventset/segmented.h"

/* Marks a trace that has no place. */
#define ESI_NOWHERE UINT32_MAX

/* Private. */
struct esi_level {
    struct esi_segmented places;   /* _Atomic uint64_t per trace */
    struct esi_segmented clusters; /* struct cluster */
    struct esi_segmented members;  /* uint32_t: traces of clusters */
    struct esi_segmented clean;    /* uint32_t per trace; see esi_levels_clean() */
    _Atomic uint32_t changes;      /* odd while places change */
    _Atomic uint64_t count;        /* number of clusters that are neither absorbed nor
                                      closed */
    uint32_t max_size;
};

struct esi_levels {
    unsigned count;
    struct esi_level level[ES_ORDER_LEVELS]; /* level k is at k - 1 */
};

void esi_levels_init(struct esi_levels *levels,
                     unsigned count,
                     const uint32_t *max_sizes);
void esi_levels_fini(struct esi_levels *levels);

/* Adds a trace, which is alone on all levels.  Returns 0 or -ENOMEM, like the next two
 * functions. */
int esi_levels_add_trace(struct esi_levels *levels);

/* Appends the members of other's cluster to trace's cluster on one level.  The two must
 * be in the same cluster on the levels above.  Does nothing if they are in the same
 * cluster here. */
int esi_levels_join(struct esi_levels *levels,
                    unsigned level,
                    uint32_t trace,
                    uint32_t other);
/* Like esi_levels_join(), on `level` and all levels above. */
int esi_levels_merge(struct esi_levels *levels,
                     unsigned level,
                     uint32_t trace,
                     uint32_t other);
/* Returns whether, on `level` and all levels above, both are in the same cluster or
 * their clusters are small enough to be merged. */
bool esi_levels_can_merge(const struct esi_levels *levels,
                          unsigned level,
                          uint32_t trace,
                          uint32_t other);

/* Removes a trace from its clusters, on level 1 and on all levels above on which it is
 * not in the cluster of `other`.  `now` becomes the result of esi_levels_clean() for
 * the trace and for the members that it leaves. */
int esi_levels_leave(struct esi_levels *levels,
                     uint32_t trace,
                     uint32_t other,
                     uint32_t now);
/* Like esi_levels_leave(); then appends the trace to other's clusters on these
 * levels. */
int esi_levels_move(struct esi_levels *levels,
                    uint32_t trace,
                    uint32_t other,
                    uint32_t now);
/* Returns whether other's clusters have room for esi_levels_move(). */
bool esi_levels_can_move(const struct esi_levels *levels,
                         uint32_t trace,
                         uint32_t other);

/* Returns the current cluster of a trace. */
uint32_t esi_levels_cluster(const struct esi_levels *levels,
                            unsigned level,
                            uint32_t trace);
/* Returns the number of members of a cluster, or its last number if the cluster no
 * longer exists. */
uint32_t esi_levels_size(const struct esi_levels *levels,
                         unsigned level,
                         uint32_t cluster);
/* Returns the time since when the trace's cluster has only grown: the `now` of the last
 * move by which the cluster lost a member or the trace joined it; 0 if there was
 * none. */
uint32_t esi_levels_clean(const struct esi_levels *levels,
                          unsigned level,
                          uint32_t trace);

/* Returns the members in order, at least as many as any published stamp refers to. They
 * do not change; borrowed until esi_levels_fini(). */
const uint32_t *esi_levels_members(const struct esi_levels *levels,
                                   unsigned level,
                                   uint32_t cluster);

/* Returns the place of a trace among the first `length` members of a cluster, or
 * ESI_NOWHERE.  O(1); O(length) for a closed cluster or while clusters change. */
uint32_t esi_levels_locate(const struct esi_levels *levels,
                           unsigned level,
                           uint32_t cluster,
                           uint32_t length,
                           uint32_t trace);

/* Returns the number of bytes held. */
uint64_t esi_levels_bytes(const struct esi_levels *levels);

#endif
