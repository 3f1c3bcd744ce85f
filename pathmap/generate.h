/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The cluster map out of a hostfile and what this host says of itself. */
#ifndef ES_PATHMAP_GENERATE_H
#define ES_PATHMAP_GENERATE_H

#include "pathmap/map.h"

/* --- What a map says when it says nothing ----------------------------------------- */

/* Puts the collectors of esi_plan_default() where the list is left out, and "*" where
 * ranks and communicators of collectors are.  -ENOMEM. */
int esi_map_complete(struct esi_pathmap *map);

/* Fills what rules of trees leave out and maps write. */
void esi_rules_complete(struct esi_rules *rules);

#endif
