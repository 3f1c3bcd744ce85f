/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* What scopes must keep to: views that can be, trees whose parts fit, placements that
 * exist. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#include "pathmap/validate.h"

/* Names of all stages of a tree, in the order of the text, and the ways to them. */
struct tree {
    const struct esi_check *check;
    size_t count;
    size_t room;
    struct {
        const char *name;
    } * stages;
};

static int check_view(const struct esi_check *check,
                      const struct esi_pathmap_view *view,
                      const char *path)
{
    bool own = check->map != NULL && !check->map->observes;
    int64_t ranks = own ? check->map->application.ranks : ESI_MAX_RANKS;
    char way[ESI_PATH_BYTES];

    esi_way(way, "%sview.ranks", path);
    int code = esi_check_ranges(check, view->ranks, ranks, "ranks", way);
    esi_way(way, "%sview.threads", path);
    if (code == 0)
        code = esi_check_ranges(check, view->threads, ESI_MAX_THREADS, "threads", way);
    return code;
}

static int note_name(struct tree *tree, const char *name)
{
    if (name == NULL)
        return 0;
    if (ESI_ARRAY_RESERVE(tree->stages, tree->room, tree->count + 1) < 0)
        return esi_reader_fail_memory(tree->check->reader);
    tree->stages[tree->count++].name = name;
    return 0;
}

static int check_stage_collector(const struct esi_check *check,
                                 const struct esi_pathmap_stage *stage,
                                 const char *path)
{
    char way[ESI_PATH_BYTES];
    size_t index;

    if (stage->collector == NULL || check->map == NULL ||
        esi_names_find(&check->collectors, stage->collector, &index))
        return 0;
    esi_way(way, "%s.collector", path);
    return esi_reader_fail_path(
        check->reader, way,
        "found \"%s\", expected the name of a collector in collectors",
        stage->collector);
}

static int check_per(const struct esi_check *check,
                     const struct esi_pathmap_stage *stage,
                     int parent_per,
                     const char *path)
{
    static const char *const names[] = {"scope", "cluster", "host",
                                        "rank",  "thread",  "element"};
    char way[ESI_PATH_BYTES];

    if (stage->per >= parent_per)
        return 0;
    esi_way(way, "%s.per", path);
    return esi_reader_fail_path(
        check->reader, way,
        "found \"%s\" below a stage per %s, expected \"%s\" or narrower",
        names[stage->per], names[parent_per], names[parent_per]);
}

/* `path` has room for the ways to the children: ESI_PATH_BYTES. */
static int check_stage(struct tree *tree,
                       const struct esi_pathmap_stage *stage,
                       int parent_per,
                       int depth,
                       const char *path)
{
    char way[ESI_PATH_BYTES];

    if (depth > ESI_MAX_DEPTH)
        return esi_reader_fail_path(tree->check->reader, path,
                                    "nested deeper than %d stages", ESI_MAX_DEPTH);
    int code = check_per(tree->check, stage, parent_per, path);
    if (code == 0)
        code = check_stage_collector(tree->check, stage, path);
    esi_way(way, "%s.host", path);
    if (code == 0)
        code = esi_check_host(tree->check, stage->host, way);
    if (code == 0)
        code = note_name(tree, stage->name);
    for (size_t i = 0; i < stage->child_count && code == 0; i++) {
        esi_way(way, "%s.children[%zu]", path, i);
        code = check_stage(tree, &stage->children[i], stage->per, depth + 1, way);
    }
    return code;
}

/* A name that two stages have cannot place either of them. */
static int check_stage_names(const struct tree *tree, const char *path)
{
    struct esi_names names;
    char way[ESI_PATH_BYTES];
    size_t index, earlier;

    if (esi_names_init(&names, tree->stages, tree->count, sizeof(*tree->stages), 0,
                       false) < 0)
        return esi_reader_fail_memory(tree->check->reader);
    bool repeated = esi_names_repeat(&names, &index, &earlier);
    esi_names_fini(&names);
    if (!repeated)
        return 0;
    esi_way(way, "%stree", path);
    return esi_reader_fail_path(
        tree->check->reader, way,
        "found two stages named \"%s\", expected each name once",
        tree->stages[index].name);
}

int esi_check_scope(const struct esi_check *check,
                    const struct esi_pathmap_scope *scope,
                    const char *path)
{
    struct tree tree = {.check = check};
    char prefix[ESI_PATH_BYTES], way[ESI_PATH_BYTES];

    esi_way(prefix, "%s%s", path, *path != '\0' ? "." : "");
    esi_way(way, "%stree", prefix);
    int code = check_view(check, &scope->view, prefix);
    if (code == 0)
        code = check_stage(&tree, &scope->tree, ES_PER_SCOPE, 1, way);
    if (code == 0)
        code = check_stage_names(&tree, prefix);
    free(tree.stages);
    return code;
}

/* --- Placement of stages ---------------------------------------------------------- */

static bool has_stage(const struct esi_pathmap_stage *stage, const char *name)
{
    if (stage->name != NULL && strcmp(stage->name, name) == 0)
        return true;
    for (size_t i = 0; i < stage->child_count; i++)
        if (has_stage(&stage->children[i], name))
            return true;
    return false;
}

static int check_placement(const struct esi_check *check,
                           const struct esi_names *scopes,
                           size_t index)
{
    const struct esi_stage_mapping *mapping = &check->map->mapping.stages[index];
    char way[ESI_PATH_BYTES];
    size_t scope;

    if (!esi_names_find(scopes, mapping->scope, &scope)) {
        esi_way(way, "mapping.stages[%zu].scope", index);
        return esi_reader_fail_path(
            check->reader, way, "found \"%s\", expected the name of a scope in scopes",
            mapping->scope);
    }
    if (!has_stage(&check->map->scopes[scope].tree, mapping->stage)) {
        esi_way(way, "mapping.stages[%zu].stage", index);
        return esi_reader_fail_path(
            check->reader, way,
            "found \"%s\", expected the name of a stage in scope \"%s\"",
            mapping->stage, mapping->scope);
    }
    esi_way(way, "mapping.stages[%zu].host", index);
    return esi_check_host(check, mapping->host, way);
}

static int check_placements(const struct esi_check *check,
                            const struct esi_names *scopes)
{
    const struct esi_mapping *mapping = &check->map->mapping;

    for (size_t i = 0; i < mapping->stage_count; i++) {
        int code = check_placement(check, scopes, i);
        if (code < 0)
            return code;
        for (size_t j = 0; j < i; j++) {
            char way[ESI_PATH_BYTES];
            if (strcmp(mapping->stages[i].scope, mapping->stages[j].scope) != 0 ||
                strcmp(mapping->stages[i].stage, mapping->stages[j].stage) != 0)
                continue;
            esi_way(way, "mapping.stages[%zu]", i);
            return esi_reader_fail_path(
                check->reader, way,
                "found stage \"%s\", which mapping.stages[%zu] has "
                "already, expected each stage once",
                mapping->stages[i].stage, j);
        }
    }
    return 0;
}

int esi_check_scopes(const struct esi_check *check)
{
    const struct esi_pathmap *map = check->map;
    struct esi_names names;
    char way[ESI_PATH_BYTES];

    if (esi_names_init(&names, map->scopes, map->scope_count, sizeof(*map->scopes),
                       offsetof(struct esi_pathmap_scope, name), false) < 0)
        return esi_reader_fail_memory(check->reader);
    int code = esi_check_unique(check, &names, "scopes", "name");
    for (size_t i = 0; i < map->scope_count && code == 0; i++) {
        esi_way(way, "scopes[%zu]", i);
        code = esi_check_scope(check, &map->scopes[i], way);
    }
    if (code == 0)
        code = check_placements(check, &names);
    esi_names_fini(&names);
    return code;
}
