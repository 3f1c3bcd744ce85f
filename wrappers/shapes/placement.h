/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Where the ranks of a communicator run, for trees by level.  Each rank finds out
 * its own host, socket and core; all exchange them once; then they are joined with
 * the clusters and gateways that the rules name.
 */
#ifndef ES_WRAPPERS_SHAPES_PLACEMENT_H
#define ES_WRAPPERS_SHAPES_PLACEMENT_H

#include <stdint.h>

#include "tuplespace/plan/tree_rules.h"
#include "wrappers/shapes/shape.h"

/* What a rank knows of the place where it runs. */
struct esi_host_info {
    char host[64];
    int32_t socket; /* as the system numbers it; -1 = may run on several */
    int32_t core;   /* the same, within the socket */
};

/* Where this thread may run. */
void esi_host_info_find(struct esi_host_info *ret_info);

/* The locations of all ranks, numbered by first appearance.  Caller frees
 * *ret_locations.  -ENOMEM.  O(ranks * hosts). */
int esi_placement_create(const struct esi_host_info *infos,
                         int size,
                         const struct esi_tree_plan *plan,
                         struct esi_location **ret_locations);

#endif
