/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Where the ranks of a communicator run, for trees by level.  Each rank determines its
 * own host, socket and core; all exchange them once; then they are combined with the
 * clusters and gateways named by the rules.
 */
#ifndef ES_WRAPPERS_SHAPES_PLACEMENT_H
#define ES_WRAPPERS_SHAPES_PLACEMENT_H

#include <stdint.h>

#include "tuplespace/plan/tree_rules.h"
#include "wrappers/shapes/shape.h"

/* Where a rank runs. */
struct esi_host_info {
    char host[64];
    int32_t socket; /* system's number; -1 if it may run on several */
    int32_t core;   /* core within the socket, likewise */
};

/* Determines where this thread may run. */
void esi_host_info_find(struct esi_host_info *ret_info);

/* Computes the locations of all ranks, numbered by first appearance.  Returns 0 or
 * -ENOMEM.  The caller frees *ret_locations.  O(ranks * hosts). */
int esi_placement_create(const struct esi_host_info *infos,
                         int size,
                         const struct esi_tree_plan *plan,
                         struct esi_location **ret_locations);

#endif
