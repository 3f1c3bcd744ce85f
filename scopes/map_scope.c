/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* map_scope.c - converts the scopes of a pathmap to settings.
 *
 * A tree is supported if it is one chain of stages on the hosts that the planner would
 * choose; the values of `per` are the levels of the shape. */
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
    scope->map = NULL;
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
                            "communicators: only names can be asked for");
    if (from->threads) {
        selection->thread = (int)strtol(from->threads, &end, 10);
        if (*end)
            return es_error_set(error, -EINVAL,
                                "its view has the threads '%s': only one thread can "
                                "be asked for",
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

/* Properties that become settings, by stage. */
static const struct {
    const char *type;
    const char *property;
    const char *setting;
} mapped[] = {
    {"gather", "mode", "mode"},   {"reduce", "mode", "mode"},
    {"sort", "mode", "mode"},     {"sort", "by", "sort"},
    {"sort", "window", "window"}, {"threads", "count", "threads"},
};

static const char *text_of(const struct esi_pathmap_stage *stage, const char *name)
{
    const struct esi_pathmap_property *property =
        esi_pathmap_stage_property(stage, name);

    return property ? property->text : NULL;
}

static int refuse_stage(const struct esi_pathmap_stage *stage,
                        const char *why,
                        struct es_error *error)
{
    return es_error_set(error, -EINVAL,
                        "its stage '%s' %s: trees that can be chosen have the shapes "
                        "and settings of eventspace-scope(1)",
                        stage->name ? stage->name : stage->type, why);
}

static int apply_property(const struct esi_pathmap_stage *stage,
                          const struct esi_pathmap_property *property,
                          struct es_scope_config *config,
                          struct es_error *error)
{
    for (size_t i = 0; i < sizeof mapped / sizeof *mapped; i++)
        if (strcmp(mapped[i].type, stage->type) == 0 &&
            strcmp(mapped[i].property, property->name) == 0)
            return es_scope_config_set(config, mapped[i].setting, property->text,
                                       error);
    return refuse_stage(stage, "has a property that is no setting", error);
}

/* The text of a reduction is combined from three properties. */
static int apply_reduction(const struct esi_pathmap_stage *stage,
                           struct es_scope_config *config,
                           char *reduction,
                           size_t size,
                           struct es_error *error)
{
    const char *to = text_of(stage, "to");
    const char *of = text_of(stage, "of");
    const char *by = text_of(stage, "by");

    if (stage->per != ES_PER_THREAD)
        return config->tree.reduce
                   ? 0
                   : refuse_stage(stage, "reduces not for each thread", error);
    snprintf(reduction, size, "%s%s%s%s%s", to ? to : "latest", of ? " of=" : "",
             of ? of : "", by ? " by=" : "", by ? by : "");
    config->tree.reduce = reduction;
    return 0;
}

static int apply_element(const struct esi_pathmap_stage *stage,
                         const struct es_scope_config *config,
                         struct es_error *error)
{
    const char *read = text_of(stage, "read");

    if (read && strcmp(read, "latest") == 0 &&
        (!config->tree.reduce || strcmp(config->tree.reduce, "latest") != 0))
        return refuse_stage(stage, "reads the latest tuples, which no stage reduces",
                            error);
    return 0;
}

static int apply_filter(const struct esi_pathmap_stage *stage,
                        struct es_scope_config *config,
                        struct es_error *error)
{
    if (config->view.filter)
        return refuse_stage(stage, "is a second filter", error);
    config->view.filter = text_of(stage, "where");
    return 0;
}

static int apply_stage(const struct esi_pathmap_scope *from,
                       const struct esi_pathmap_stage *stage,
                       struct es_scope_config *config,
                       struct esi_map_scope *scope,
                       struct es_error *error)
{
    int result = 0;

    if (esi_pathmap_stage_host(scope->map, from, stage))
        return refuse_stage(stage, "is placed on a host", error);
    if (stage->collector)
        return refuse_stage(stage, "has a collector", error);
    if (stage->per == ES_PER_RANK || stage->child_count > 1)
        return refuse_stage(stage, "is made for each rank, or has several children",
                            error);
    if (strcmp(stage->type, "element") == 0)
        return apply_element(stage, config, error);
    if (strcmp(stage->type, "filter") == 0)
        return apply_filter(stage, config, error);
    if (strcmp(stage->type, "reduce") == 0)
        return apply_reduction(stage, config, scope->reduction, sizeof scope->reduction,
                               error);
    if (strcmp(stage->type, "gather") != 0 && strcmp(stage->type, "sort") != 0 &&
        strcmp(stage->type, "threads") != 0)
        return refuse_stage(stage, "is of a type that no setting makes", error);
    for (size_t i = 0; i < stage->property_count && result == 0; i++)
        result = apply_property(stage, &stage->properties[i], config, error);
    return result;
}

/* Sets the shape that has joints for the values of `per`. */
static void apply_shape(const bool per[ES_PER_ELEMENT + 1],
                        struct es_scope_config *config)
{
    struct es_tree_config *tree = &config->tree;

    if (!per[ES_PER_CLUSTER] && per[ES_PER_HOST]) {
        tree->shape = per[ES_PER_THREAD] ? ES_SHAPE_VIEWS : ES_SHAPE_HOSTS;
    } else if (!per[ES_PER_CLUSTER] && !per[ES_PER_THREAD]) {
        tree->shape = ES_SHAPE_FLAT;
    } else {
        tree->shape = ES_SHAPE_LEVELS;
        tree->levels = (per[ES_PER_CLUSTER] ? (unsigned)ES_LEVEL_CLUSTER : 0) |
                       (per[ES_PER_HOST] ? (unsigned)ES_LEVEL_HOST : 0) |
                       (per[ES_PER_THREAD] ? (unsigned)ES_LEVEL_THREAD : 0);
    }
}

int esi_map_scope_apply(struct esi_map_scope *scope,
                        const char *name,
                        struct es_scope_config *config,
                        struct es_error *error)
{
    const struct esi_pathmap_scope *from = esi_pathmap_find_scope(scope->map, name);
    bool per[ES_PER_ELEMENT + 1] = {false};
    int result = 0;

    if (!from)
        return es_error_set(error, -ENOENT, "the run's map has no scope '%s'", name);
    result = apply_view(&from->view, &config->view, error);
    for (const struct esi_pathmap_stage *stage = &from->tree; stage && result == 0;
         stage = stage->child_count ? stage->children : NULL) {
        per[stage->per] = true;
        result = apply_stage(from, stage, config, scope, error);
    }
    apply_shape(per, config);
    for (size_t i = 0; i < from->property_count && result == 0; i++)
        result = es_scope_config_set(config, from->properties[i].name,
                                     from->properties[i].text, error);
    return result;
}
