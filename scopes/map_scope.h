/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* map_scope.h - the scopes of a run's pathmap, as views and settings. */
#ifndef ES_SCOPES_MAP_SCOPE_H
#define ES_SCOPES_MAP_SCOPE_H

#include "eventspace/scope.h"
#include "pathmap/pathmap.h"

/* Owns the map and the texts of the settings. */
struct esi_map_scope {
    struct esi_pathmap *map;
    char *stages; /* the tree of the scope applied last */
};

/* Loads the pathmap of a run from its directory, or from its home server (may be
 * NULL). */
int esi_map_scope_load(const char *run,
                       struct es_servers *servers,
                       struct es_error *error,
                       struct esi_map_scope *ret_scope);
void esi_map_scope_fini(struct esi_map_scope *scope);

/* Sets the view and tree of `config` to those of a scope; the texts are borrowed from
 * `scope` until it is applied again.  Returns 0; -ENOENT if the map has no such scope;
 * -EINVAL with a text if its view is not supported, or a setting is wrong; or -ENOMEM.
 * Whether the tree is possible is checked when the scope is opened. */
int esi_map_scope_apply(struct esi_map_scope *scope,
                        const char *name,
                        struct es_scope_config *config,
                        struct es_error *error);

#endif
