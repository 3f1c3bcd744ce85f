/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* map_scope.h - the scopes that a run's map names, as views and settings. */
#ifndef ES_SCOPES_MAP_SCOPE_H
#define ES_SCOPES_MAP_SCOPE_H

#include "eventspace/scope.h"
#include "pathmap/pathmap.h"

/* Whose texts the settings are. */
struct esi_map_scope {
    struct esi_pathmap *map; /* owned */
    char reduction[160];
};

/* Loads the map of a run, from its directory or from its home server (NULL = none). */
int esi_map_scope_load(const char *run,
                       struct es_servers *servers,
                       struct es_error *error,
                       struct esi_map_scope *ret_scope);
void esi_map_scope_fini(struct esi_map_scope *scope);

/* Puts a scope's view and tree into `config`.  -ENOENT:
 * the map has no such scope; -EINVAL with words: its tree is of none of the known
 * shapes, or its view cannot be asked for. */
int esi_map_scope_apply(struct esi_map_scope *scope,
                        const char *name,
                        struct es_scope_config *config,
                        struct es_error *error);

#endif
