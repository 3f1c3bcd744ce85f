/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* map_scope.c - converts the scopes of a pathmap to views and settings. */
#include "config.h"

#include "scopes/map_scope.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scopes/remote/run_files.h"

/* --- Loading -------------------------------------------------------------------- */

int esi_map_scope_load(const char *run,
                       struct es_servers *servers,
                       struct es_error *error,
                       struct esi_map_scope *ret_scope)
{
    *ret_scope = (struct esi_map_scope){.map = NULL};
    return esi_run_map_load(run, servers, error, &ret_scope->map);
}

void esi_map_scope_fini(struct esi_map_scope *scope)
{
    esi_pathmap_destroy(scope->map);
    free(scope->stages);
    *scope = (struct esi_map_scope){.map = NULL};
}

/* --- Views ---------------------------------------------------------------------- */

static bool is_pattern(const char *text)
{
    return text && strpbrk(text, "*?[\\");
}

static int apply_view(const struct esi_pathmap_view *from,
                      struct es_view *view,
                      struct es_error *error)
{
    struct es_selection *selection = &view->selection;
    char *end;

    if (is_pattern(from->hosts) || is_pattern(from->collectors) ||
        is_pattern(from->communicator))
        return es_error_set(error, -EINVAL,
                            "its view has a pattern of hosts, collectors or "
                            "communicators: only names are supported");
    if (from->threads) {
        selection->thread = (int)strtol(from->threads, &end, 10);
        if (*end)
            return es_error_set(error, -EINVAL,
                                "its view has the threads '%s': only one thread is "
                                "supported",
                                from->threads);
    }
    selection->ranks = from->ranks;
    selection->host = from->hosts;
    selection->collector = from->collectors;
    selection->name = from->elements;
    selection->classes = from->classes;
    view->communicator = from->communicator;
    return 0;
}

/* --- Trees ---------------------------------------------------------------------- */

/* The tree is checked when the scope is opened: only then are the servers known. */
static int apply_tree(struct esi_map_scope *scope,
                      const struct esi_pathmap_scope *from,
                      struct es_scope_config *config)
{
    free(scope->stages);
    scope->stages = NULL;
    config->tree.shape = ES_SHAPE_STAGES;
    if (esi_pathmap_stages_format(scope->map, from, &scope->stages) < 0)
        return -ENOMEM;
    config->tree.stages = scope->stages;
    return 0;
}

int esi_map_scope_apply(struct esi_map_scope *scope,
                        const char *name,
                        struct es_scope_config *config,
                        struct es_error *error)
{
    const struct esi_pathmap_scope *from = esi_pathmap_find_scope(scope->map, name);
    int result;

    if (!from)
        return es_error_set(error, -ENOENT, "the run's map has no scope '%s'", name);
    result = apply_view(&from->view, &config->view, error);
    if (result == 0)
        result = apply_tree(scope, from, config);
    for (size_t i = 0; i < from->property_count && result == 0; i++)
        result = es_scope_config_set(config, from->properties[i].name,
                                     from->properties[i].text, error);
    return result;
}
