/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Generates the cluster map from a hostfile and the topology of this host. */
#ifndef ES_PATHMAP_GENERATE_H
#define ES_PATHMAP_GENERATE_H

#include "pathmap/map.h"

/* --- Defaults --------------------------------------------------------------------- */

/* Completes a map: adds the collectors of esi_plan_default() if there is no list, and
 * "*" for ranks and communicators of collectors.  Returns 0 or -ENOMEM. */
int esi_map_complete(struct esi_pathmap *map);

/* Sets members that tree rules may omit, and that maps contain, to their defaults. */
void esi_rules_complete(struct esi_rules *rules);

#endif
