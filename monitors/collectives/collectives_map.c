/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* collectives_map.c - the path map of the collective-operation monitor itself.
 *
 * A generated map is formatted as text and parsed like one written by a person, so that
 * there is only one parser. */
#include "config.h"

#include "monitors/collectives/collectives_map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/host.h"
#include "base/json_out.h"
#include "eventspace/operation.h"
#include "pathmap/pathmap.h"
#include "scopes/origin_process.h"

/* The threads not assigned to nodes: front end and contributions. */
enum { OWN_THREADS = 2 };

struct esi_collectives_map {
    struct esi_pathmap *map; /* owned */
    unsigned node_threads;   /* on the host with most of them */
};

void esi_collectives_map_destroy(struct esi_collectives_map *map)
{
    if (!map)
        return;
    esi_pathmap_destroy(map->map);
    free(map);
}

/* --- Generating ------------------------------------------------------------------- */

static size_t threads_of(const struct esi_collectives_host *host)
{
    return host->nodes < ES_COLLECTIVES_NODE_THREADS ? host->nodes
                                                     : ES_COLLECTIVES_NODE_THREADS;
}

static void write_application(struct esi_json_out *out,
                              const struct esi_collectives_host *hosts,
                              size_t count)
{
    size_t threads = OWN_THREADS;

    for (size_t i = 0; i < count; i++)
        threads += threads_of(&hosts[i]);
    esi_json_out_begin_object(out, "application");
    esi_json_out_string(out, "program", "eventspace collectives");
    esi_json_out_unsigned(out, "ranks", threads);
    esi_json_out_string(
        out, "comment",
        "the monitor's threads: 0 front end, 1 contributions, from 2 on "
        "internal nodes of their host");
    esi_json_out_end(out);
}

static void write_host(struct esi_json_out *out, const char *name)
{
    esi_json_out_begin_object(out, NULL);
    esi_json_out_string(out, "name", name);
    esi_json_out_end(out);
}

static void write_cluster(struct esi_json_out *out,
                          const struct esi_collectives_host *hosts,
                          size_t count,
                          const char *front)
{
    bool is_there = false;

    for (size_t i = 0; i < count; i++)
        is_there |= strcmp(hosts[i].name, front) == 0;
    esi_json_out_begin_object(out, "cluster");
    esi_json_out_begin_array(out, "hosts");
    if (!is_there)
        write_host(out, front);
    for (size_t i = 0; i < count; i++)
        write_host(out, hosts[i].name);
    esi_json_out_end(out);
    esi_json_out_end(out);
}

/* Threads from `first` to before `end`. */
static void write_placed(struct esi_json_out *out,
                         size_t first,
                         size_t end,
                         const char *host)
{
    char text[48];

    if (first == end)
        return;
    snprintf(text, sizeof text, "%zu-%zu", first, end - 1);
    if (end == first + 1)
        snprintf(text, sizeof text, "%zu", first);
    esi_json_out_begin_object(out, NULL);
    esi_json_out_string(out, "ranks", text);
    esi_json_out_string(out, "host", host);
    esi_json_out_end(out);
}

static void write_mapping(struct esi_json_out *out,
                          const struct esi_collectives_host *hosts,
                          size_t count,
                          const char *front)
{
    size_t thread = OWN_THREADS;

    esi_json_out_begin_object(out, "mapping");
    esi_json_out_begin_array(out, "ranks");
    write_placed(out, 0, OWN_THREADS, front);
    for (size_t i = 0; i < count; i++) {
        write_placed(out, thread, thread + threads_of(&hosts[i]), hosts[i].name);
        thread += threads_of(&hosts[i]);
    }
    esi_json_out_end(out);
    esi_json_out_end(out);
}

static const char scopes[] =
    "[{\"name\":\"contributions\",\"view\":{\"classes\":[\"collective\"]},"
    "\"tree\":{\"type\":\"gather\",\"per\":\"scope\","
    "\"children\":[{\"type\":\"gather\",\"per\":\"host\","
    "\"children\":[{\"type\":\"element\",\"per\":\"element\"}]}]}},"
    "{\"name\":\"nodes\",\"view\":{\"classes\":"
    "[\"collective\",\"contribute\",\"arrival\",\"departure\"]},"
    "\"tree\":{\"type\":\"gather\",\"per\":\"scope\","
    "\"children\":[{\"type\":\"threads\",\"per\":\"host\","
    "\"children\":[{\"type\":\"tree-node\",\"per\":\"rank\","
    "\"children\":[{\"type\":\"gather\",\"per\":\"rank\","
    "\"children\":[{\"type\":\"element\",\"per\":\"element\"}]}]}]}]}}]";

int esi_collectives_map_generate(const struct esi_collectives_host *hosts,
                                 size_t count,
                                 const char *front,
                                 struct es_error *error,
                                 struct esi_collectives_map **ret_map)
{
    struct esi_json_text json;
    char *text;
    size_t size;
    int result;

    if (esi_json_text_begin(&json) < 0)
        return -ENOMEM;
    esi_json_out_begin_object(&json.out, NULL);
    esi_json_out_unsigned(&json.out, "version", ES_PATHMAP_VERSION);
    esi_json_out_string(&json.out, "name", "collective-operation monitor");
    write_application(&json.out, hosts, count);
    write_cluster(&json.out, hosts, count, front);
    write_mapping(&json.out, hosts, count, front);
    esi_json_out_raw(&json.out, "scopes", scopes);
    esi_json_out_end(&json.out);
    result = esi_json_text_finish(&json, &text, &size);
    if (result == 0)
        result = esi_collectives_map_parse(text, size, "generated map", error, ret_map);
    free(text);
    return result;
}

/* --- Discovering ------------------------------------------------------------------ */

struct host_list {
    struct esi_collectives_host *hosts; /* owned */
    size_t count;
    size_t capacity;
};

/* Elements of one process are usually adjacent. */
static bool was_counted(const struct es_scope *scope, uint32_t index)
{
    const struct es_origin *origin = es_scope_origin(scope, index);

    for (uint32_t i = index; i > 0; i--) {
        const struct es_origin *other = es_scope_origin(scope, i - 1);

        if (other->classes & 1u << ES_CLASS_ARRIVAL &&
            esi_origin_is_same_process(origin, other))
            return true;
    }
    return false;
}

static int count_node(struct host_list *list, const char *host, bool is_node)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->hosts[i].name, host) == 0) {
            list->hosts[i].nodes += is_node;
            return 0;
        }
    if (ESI_ARRAY_RESERVE(list->hosts, list->capacity, list->count + 1) < 0)
        return -ENOMEM;
    list->hosts[list->count++] =
        (struct esi_collectives_host){.name = host, .nodes = is_node};
    return 0;
}

static int count_nodes(const struct es_scope *scope, struct host_list *list)
{
    int result = 0;

    for (uint32_t i = 0; i < es_scope_origin_count(scope) && result == 0; i++) {
        const struct es_origin *origin = es_scope_origin(scope, i);
        bool is_node =
            origin->classes & 1u << ES_CLASS_ARRIVAL && !was_counted(scope, i);

        result = count_node(list, origin->host, is_node);
    }
    return result;
}

int esi_collectives_map_discover(const char *run,
                                 struct es_servers *servers,
                                 struct es_error *error,
                                 struct esi_collectives_map **ret_map)
{
    struct es_scope_config config;
    struct es_scope *scope = NULL;
    struct es_run *opened = NULL;
    struct host_list list = {.count = 0};
    char front[ES_HOST_NAME_BYTES];
    int result = servers ? es_run_open_empty(run, error, &opened)
                         : es_run_open(run, error, &opened);

    esi_host_name(front);
    es_scope_config_init(&config);
    config.view.selection.classes = ES_CLASSES_TREE | 1u << ES_CLASS_COLLECTIVE;
    config.servers = servers;
    if (result == 0)
        result = es_scope_open(opened, &config, error, &scope);
    if (result == 0)
        result = count_nodes(scope, &list);
    if (result == 0)
        result =
            esi_collectives_map_generate(list.hosts, list.count, front, error, ret_map);
    free(list.hosts);
    es_scope_close(scope);
    es_run_close(opened);
    return result;
}

/* --- Applying --------------------------------------------------------------------- */

/* The first stage of this type in the chain from `stage` on; NULL if there is none. */
static const struct esi_pathmap_stage *find_stage(const struct esi_pathmap_stage *stage,
                                                  const char *type)
{
    while (strcmp(stage->type, type) != 0) {
        if (stage->child_count == 0)
            return NULL;
        stage = &stage->children[0];
    }
    return stage;
}

static int set_from(const struct esi_collectives_map *map,
                    const char *setting,
                    const struct esi_pathmap_property *property,
                    struct es_scope_config *config,
                    struct es_error *error)
{
    struct es_error found = {.text = ""};
    int result = es_scope_config_set(config, setting, property->text, &found);

    if (result < 0)
        return es_error_set_at(error, result, esi_pathmap_source(map->map),
                               property->line, property->column, "%s", found.text);
    return 0;
}

/* Properties of stages that are settings of the scope. */
static const struct {
    const char *type;
    const char *property;
    const char *setting;
} mapped[] = {
    {"threads", "count", "node-threads"},
    {"tree-node", "batch", "batch"},
    {"tree-node", "wait", "batch-wait"},
};

static int apply_stages(const struct esi_collectives_map *map,
                        const struct esi_pathmap_scope *scope,
                        struct es_scope_config *config,
                        struct es_error *error)
{
    int result = 0;

    for (size_t i = 0; i < sizeof mapped / sizeof *mapped && result == 0; i++) {
        const struct esi_pathmap_stage *stage =
            find_stage(&scope->tree, mapped[i].type);
        const struct esi_pathmap_property *property =
            stage ? esi_pathmap_stage_property(stage, mapped[i].property) : NULL;

        if (property)
            result = set_from(map, mapped[i].setting, property, config, error);
    }
    return result;
}

static int apply_scope(const struct esi_collectives_map *map,
                       const struct esi_pathmap_scope *scope,
                       struct es_scope_config *config,
                       struct es_error *error)
{
    struct es_selection *selection = &config->view.selection;
    int result = 0;

    selection->ranks = scope->view.ranks;
    selection->host = scope->view.hosts;
    selection->collector = scope->view.collectors;
    selection->name = scope->view.elements;
    selection->classes = scope->view.classes;
    config->view.communicator = scope->view.communicator;
    for (size_t i = 0; i < scope->property_count && result == 0; i++)
        result = set_from(map, scope->properties[i].name, &scope->properties[i], config,
                          error);
    return result;
}

static int apply_nodes(const struct esi_collectives_map *map,
                       const struct esi_pathmap_scope *scope,
                       struct es_scope_config *config,
                       struct es_error *error)
{
    uint32_t classes = ES_CLASSES_TREE | 1u << ES_CLASS_COLLECTIVE;
    int result;

    config->tree.node_threads = map->node_threads;
    config->tree.through_server = true;
    result = apply_scope(map, scope, config, error);
    if (result == 0)
        result = apply_stages(map, scope, config, error);
    /* The analysis of nodes needs all of these classes. */
    config->view.selection.classes = classes;
    config->tree.nodes = true;
    return result;
}

static const struct esi_pathmap_scope *find_scope(const struct esi_collectives_map *map,
                                                  const char *name)
{
    return esi_pathmap_find_scope(map->map, name);
}

bool esi_collectives_map_contributions(const struct esi_collectives_map *map,
                                       struct es_scope_config *config)
{
    const struct esi_pathmap_scope *scope = find_scope(map, "contributions");

    return scope && apply_scope(map, scope, config, NULL) == 0;
}

bool esi_collectives_map_nodes(const struct esi_collectives_map *map,
                               struct es_scope_config *config)
{
    const struct esi_pathmap_scope *scope = find_scope(map, "nodes");

    return scope && apply_nodes(map, scope, config, NULL) == 0;
}

/* --- Reading ---------------------------------------------------------------------- */

unsigned esi_collectives_map_threads(const struct esi_collectives_map *map,
                                     const char *host)
{
    unsigned count = 0;

    for (int i = OWN_THREADS; i < esi_pathmap_rank_count(map->map); i++) {
        const struct esi_pathmap_host *placed = esi_pathmap_rank_host(map->map, i);

        count += placed && strcmp(placed->name, host) == 0;
    }
    return count;
}

/* The largest number of node threads on a host. */
static unsigned most_threads(const struct esi_collectives_map *map)
{
    unsigned most = 0;

    for (size_t i = 0; i < esi_pathmap_host_count(map->map); i++) {
        unsigned count =
            esi_collectives_map_threads(map, esi_pathmap_host(map->map, i)->name);

        if (count > most)
            most = count;
    }
    return most < 256 ? most : 256;
}

/* Unknown scopes and settings are errors. */
static int check_scopes(const struct esi_collectives_map *map, struct es_error *error)
{
    int result = 0;

    for (size_t i = 0; i < esi_pathmap_scope_count(map->map) && result == 0; i++) {
        const struct esi_pathmap_scope *scope = esi_pathmap_scope(map->map, i);
        struct es_scope_config config;

        es_scope_config_init(&config);
        if (strcmp(scope->name, "contributions") == 0)
            result = apply_scope(map, scope, &config, error);
        else if (strcmp(scope->name, "nodes") == 0)
            result = apply_nodes(map, scope, &config, error);
        else
            result = es_error_set_at(
                error, -EINVAL, esi_pathmap_source(map->map), scope->tree.line,
                scope->tree.column,
                "the monitor has no scope '%s': expected contributions or nodes",
                scope->name);
    }
    return result;
}

/* Takes the pathmap. */
static int take_map(struct esi_pathmap *pathmap,
                    struct es_error *error,
                    struct esi_collectives_map **ret_map)
{
    struct esi_collectives_map *map = calloc(1, sizeof *map);
    int result = map ? 0 : -ENOMEM;

    if (!map) {
        esi_pathmap_destroy(pathmap);
        return result;
    }
    map->map = pathmap;
    if (esi_pathmap_rank_count(pathmap) < OWN_THREADS)
        result = es_error_set(error, -EINVAL,
                              "%s: application.ranks: the monitor has two threads at "
                              "least, the front end's and the contributions'",
                              esi_pathmap_source(pathmap));
    map->node_threads = most_threads(map);
    if (result == 0)
        result = check_scopes(map, error);
    if (result < 0) {
        esi_collectives_map_destroy(map);
        return result;
    }
    *ret_map = map;
    return 0;
}

int esi_collectives_map_load(const char *path,
                             struct es_error *error,
                             struct esi_collectives_map **ret_map)
{
    struct esi_pathmap *map;
    int result = esi_pathmap_load_observer(path, error, &map);

    return result < 0 ? result : take_map(map, error, ret_map);
}

int esi_collectives_map_parse(const char *text,
                              size_t length,
                              const char *source,
                              struct es_error *error,
                              struct esi_collectives_map **ret_map)
{
    struct esi_pathmap *map;
    int result = esi_pathmap_parse_observer(text, length, source, error, &map);

    return result < 0 ? result : take_map(map, error, ret_map);
}

int esi_collectives_map_format(const struct esi_collectives_map *map, char **ret_text)
{
    return esi_pathmap_format(map->map, ret_text);
}
