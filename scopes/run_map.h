/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* run_map.h - queries of scopes to a pathmap. */
#ifndef ES_SCOPES_RUN_MAP_H
#define ES_SCOPES_RUN_MAP_H

#include "eventspace/error.h"
#include "pathmap/pathmap.h"

/* Checks the types, properties and children of all scopes' stages against the registry.
 * Returns 0; -EINVAL or -ENOENT with the location in the map's text; or -ENOMEM. */
int esi_run_map_check_stages(const struct esi_pathmap *map, struct es_error *error);

/* The same for one tree; its text comes from `source`. */
int esi_run_map_check_tree(const char *source,
                           const struct esi_pathmap_stage *tree,
                           struct es_error *error);

/* The socket (package) of its host on which a rank runs; -1 if not known.  A callback
 * of struct es_host_infos; `data` is a struct esi_pathmap *. */
int esi_run_map_socket(void *data, int rank);

#endif
