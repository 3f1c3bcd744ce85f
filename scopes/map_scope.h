/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* map_scope.h - the scopes of a run's pathmap, as views and settings. */
#ifndef ES_SCOPES_MAP_SCOPE_H
#define ES_SCOPES_MAP_SCOPE_H

#include "eventspace/scope.h"
#include "pathmap/pathmap.h"

/* Owns the texts of the settings. */
struct esi_map_scope {
    struct esi_pathmap *map; /* owned */
    char reduction[160];
};

/* Loads the pathmap of a run from its directory, or from its home server (may be
 * NULL). */
int esi_map_scope_load(const char *run,
                       struct es_servers *servers,
                       struct es_error *error,
                       struct esi_map_scope *ret_scope);
void esi_map_scope_fini(struct esi_map_scope *scope);

/* Copies a scope's view and tree to `config`.  Returns 0; -ENOENT if the map has no
 * such scope; -EINVAL with a text if its tree has no known shape, or its view is not
 * supported. */
int esi_map_scope_apply(struct esi_map_scope *scope,
                        const char *name,
                        struct es_scope_config *config,
                        struct es_error *error);

#endif
