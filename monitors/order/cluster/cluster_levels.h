/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Levels of clusters of traces: each level is a partition, and every cluster lies
 * inside one of the next level.  Levels are counted from 1 as in the papers; what lies
 * above the last is one cluster of all traces and not kept here.
 *
 * A cluster's members stand in an order to which others are appended, so what a
 * cluster was at some time is (cluster, number of members) for ever.  When clusters
 * merge, one goes on and the other is absorbed; its number and members stay as they
 * were.  A trace leaves a cluster only by closing it: those that stay go on as a new
 * cluster.
 *
 *   call                                  may run together with
 *   esi_levels_members, _locate, _bytes   all of another thread's changes
 *   all others                            nothing but these
 */
#ifndef ES_MONITORS_ORDER_CLUSTER_CLUSTER_LEVELS_H
#define ES_MONITORS_ORDER_CLUSTER_CLUSTER_LEVELS_H

#include <stdbool.h>
#include <stdint.h>

#include "monitors/order/order.h"
#include "monitors/eventset/segmented.h"

/* Not the place of any trace. */
#define ESI_NOWHERE UINT32_MAX

/* Private. */
struct esi_level {
    struct esi_segmented places;   /* _Atomic uint64_t of each trace */
    struct esi_segmented clusters; /* struct cluster */
    struct esi_segmented members;  /* uint32_t: traces of clusters */
    struct esi_segmented clean;    /* uint32_t of each trace; see esi_levels_clean() */
    _Atomic uint32_t changes;      /* odd while places change */
    _Atomic uint64_t count; /* of clusters that are neither absorbed nor closed */
    uint32_t max_size;
};

struct esi_levels {
    unsigned count;
    struct esi_level level[ES_ORDER_LEVELS]; /* level k at k - 1 */
};

void esi_levels_init(struct esi_levels *levels,
                     unsigned count,
                     const uint32_t *max_sizes);
void esi_levels_fini(struct esi_levels *levels);

/* One more trace, alone on all levels.  0 or -ENOMEM, as the next. */
int esi_levels_add_trace(struct esi_levels *levels);

/* Appends the members of other's cluster to trace's, on one level; on the levels above
 * they are in one already.  Nothing if they are in one here. */
int esi_levels_join(struct esi_levels *levels,
                    unsigned level,
                    uint32_t trace,
                    uint32_t other);
/* The same on `level` and on all levels above. */
int esi_levels_merge(struct esi_levels *levels,
                     unsigned level,
                     uint32_t trace,
                     uint32_t other);
/* Whether, on `level` and all above, the clusters of both are one or small enough
 * together. */
bool esi_levels_can_merge(const struct esi_levels *levels,
                          unsigned level,
                          uint32_t trace,
                          uint32_t other);

/* Takes a trace out of its cluster, on level 1 and on all above on which it is apart
 * from another.  `now` is what esi_levels_clean() says from now on of the trace and of
 * those it leaves. */
int esi_levels_leave(struct esi_levels *levels,
                     uint32_t trace,
                     uint32_t other,
                     uint32_t now);
/* The same, and appends it to other's clusters there. */
int esi_levels_move(struct esi_levels *levels,
                    uint32_t trace,
                    uint32_t other,
                    uint32_t now);
/* Whether other's clusters have room for it there. */
bool esi_levels_can_move(const struct esi_levels *levels,
                         uint32_t trace,
                         uint32_t other);

/* The cluster that a trace is in now. */
uint32_t esi_levels_cluster(const struct esi_levels *levels,
                            unsigned level,
                            uint32_t trace);
/* Members of a cluster, as many as it has now or had last. */
uint32_t esi_levels_size(const struct esi_levels *levels,
                         unsigned level,
                         uint32_t cluster);
/* Since when the trace's cluster has only grown: the `now` of the last move that its
 * cluster lost a member by, or it came by; 0. */
uint32_t esi_levels_clean(const struct esi_levels *levels,
                          unsigned level,
                          uint32_t trace);

/* The members in their order: at least as many as any stamp that was published names.
 * Borrowed for the levels' life; they do not change. */
const uint32_t *esi_levels_members(const struct esi_levels *levels,
                                   unsigned level,
                                   uint32_t cluster);

/* Where a trace stands among the first `length` members of a cluster, or ESI_NOWHERE.
 * O(1); of a cluster that was closed, or while clusters are changing, O(length). */
uint32_t esi_levels_locate(const struct esi_levels *levels,
                           unsigned level,
                           uint32_t cluster,
                           uint32_t length,
                           uint32_t trace);

/* Bytes that are held. */
uint64_t esi_levels_bytes(const struct esi_levels *levels);

#endif
