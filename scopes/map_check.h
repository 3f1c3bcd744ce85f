/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* map_check.h - whether the stages that a pathmap names can be. */
#ifndef ES_SCOPES_MAP_CHECK_H
#define ES_SCOPES_MAP_CHECK_H

#include "eventspace/error.h"
#include "pathmap/pathmap.h"

/* Compares the types, properties and children of all scopes' stages with the registry.
 * -EINVAL or -ENOENT with the place in the map's text; -ENOMEM. */
int esi_map_check_stages(const struct esi_pathmap *map, struct es_error *error);

#endif
