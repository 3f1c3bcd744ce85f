/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* run_map.h - what scopes ask of a pathmap. */
#ifndef ES_SCOPES_RUN_MAP_H
#define ES_SCOPES_RUN_MAP_H

#include "eventspace/error.h"
#include "pathmap/pathmap.h"

/* Compares the types, properties and children of all scopes' stages with the registry.
 * -EINVAL or -ENOENT with the place in the map's text; -ENOMEM. */
int esi_run_map_check_stages(const struct esi_pathmap *map, struct es_error *error);

/* Socket (package) on its host that a rank runs on; -1: not known.  The function of
 * struct esi_host_infos; `data` is a struct esi_pathmap *. */
int esi_run_map_socket(void *data, int rank);

#endif
