/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* run_map.c - queries of scopes to a pathmap: whether its stages are valid, and the
 * socket on which a rank runs. */
#include "config.h"

#include "scopes/run_map.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "scopes/stage_node.h"

/* Adds the location of the stage if the error has none. */
static int fail_at(const char *source,
                   const struct esi_pathmap_stage *stage,
                   const struct es_error *fault,
                   int code,
                   struct es_error *error)
{
    bool has_place = fault->line > 0;

    return es_error_set_at(error, code, source, has_place ? fault->line : stage->line,
                           has_place ? fault->column : stage->column, "%s",
                           fault->text[0] ? fault->text : "the stage is invalid");
}

static int check_children(const struct esi_pathmap_stage *stage, struct es_error *error)
{
    const struct es_stage_ops *ops = es_stage_find(stage->type);

    if (stage->child_count > ops->max_children)
        return es_error_set(error, -EINVAL, "%s takes at most %zu children, has %zu",
                            ops->name, ops->max_children, stage->child_count);
    return 0;
}

/* The location of a property: of its name if it is unknown, otherwise of its value. */
static struct es_property property_of(const char *source,
                                      const struct esi_pathmap_stage *stage,
                                      const struct esi_pathmap_property *written)
{
    bool is_known = esi_stage_property_find(stage->type, written->name) != NULL;

    return (struct es_property){
        .name = written->name,
        .value = written->text,
        .source = source,
        .line = is_known ? written->line : written->name_line,
        .column = is_known ? written->column : written->name_column,
    };
}

/* Unknown types are reported by es_stage_check(). */
static int check_type(const struct esi_pathmap_stage *stage, struct es_error *error)
{
    const struct es_stage_ops *ops = es_stage_find(stage->type);

    if (!ops || ops->pull)
        return 0;
    return es_error_set(error, -EINVAL,
                        "%s belongs to the writing side: it has no place in a scope",
                        ops->name);
}

static int check_properties(const char *source,
                            const struct esi_pathmap_stage *stage,
                            struct es_error *error)
{
    struct es_property *properties =
        calloc(stage->property_count + 1, sizeof *properties);
    int result;

    if (!properties)
        return -ENOMEM;
    for (size_t i = 0; i < stage->property_count; i++)
        properties[i] = property_of(source, stage, &stage->properties[i]);
    result = es_stage_check(stage->type, properties, stage->property_count, error);
    free(properties);
    return result;
}

int esi_run_map_check_tree(const char *source,
                           const struct esi_pathmap_stage *stage,
                           struct es_error *error)
{
    struct es_error fault = {.text = ""};
    int result = check_type(stage, &fault);

    if (result == 0)
        result = check_properties(source, stage, &fault);
    if (result == 0)
        result = check_children(stage, &fault);
    if (result < 0)
        return fail_at(source, stage, &fault, result, error);
    for (size_t i = 0; i < stage->child_count && result == 0; i++)
        result = esi_run_map_check_tree(source, &stage->children[i], error);
    return result;
}

int esi_run_map_check_stages(const struct esi_pathmap *map, struct es_error *error)
{
    int result = 0;

    for (size_t i = 0; i < esi_pathmap_scope_count(map) && result == 0; i++)
        result = esi_run_map_check_tree(esi_pathmap_source(map),
                                        &esi_pathmap_scope(map, i)->tree, error);
    return result;
}

/* The map has the core, numbered through all packages of its host. */
int esi_run_map_socket(void *data, int rank)
{
    const struct esi_pathmap *map = data;
    const struct esi_pathmap_host *host;
    int core;

    if (rank < 0 || rank >= esi_pathmap_rank_count(map))
        return -1;
    host = esi_pathmap_rank_host(map, rank);
    core = esi_pathmap_rank_core(map, rank);
    if (!host || core < 0)
        return -1;
    for (size_t i = 0; i < host->package_count; i++) {
        if ((size_t)core < host->packages[i].core_count)
            return (int)i;
        core -= (int)host->packages[i].core_count;
    }
    return -1;
}
