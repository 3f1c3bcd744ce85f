/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The cluster map out of a hostfile and what this host says of itself. */
#ifndef ES_PATHMAP_GENERATE_H
#define ES_PATHMAP_GENERATE_H

#include "pathmap/map.h"

/* Fills an empty cluster map with one host at least.  On failure nothing is in it. */
int esi_cluster_generate(const struct esi_pathmap_request *request,
                         struct es_error *error,
                         struct esi_cluster_map *cluster);

/* --- What a map says when it says nothing ----------------------------------------- */

/* Puts the collectors of esi_plan_default() where the list is left out, and "*" where
 * ranks and communicators of collectors are.  -ENOMEM. */
int esi_map_complete(struct esi_pathmap *map);

/* Puts the scopes "heartbeat" and "events" into a map that has none.  -ENOMEM. */
int esi_map_add_scopes(struct esi_pathmap *map);

/* Fills what rules of trees leave out and maps write. */
void esi_rules_complete(struct esi_rules *rules);

#endif
