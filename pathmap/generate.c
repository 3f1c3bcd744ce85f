/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Generators: the default map for a number of ranks on the available hosts. */
#include "config.h"

#include "pathmap/generate.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/host.h"
#include "pathmap/hostfile.h"
#include "pathmap/map.h"
#include "pathmap/path.h"
#include "pathmap/record.h"
#include "pathmap/topology.h"
#include "pathmap/validate.h"

static int fail_memory(struct es_error *error)
{
    return es_error_set(error, -ENOMEM, "no memory left for the pathmap");
}

/* --- Hosts ------------------------------------------------------------------------ */

/* This host may have several names in hostfiles: its own with or without domain, and
 * those of loopback. */
static bool is_local(const char *name, const char *local)
{
    static const char *const loops[] = {"localhost", "127.0.0.1", "::1"};
    size_t label = strcspn(local, ".");

    for (size_t i = 0; i < sizeof(loops) / sizeof(loops[0]); i++)
        if (strcmp(name, loops[i]) == 0)
            return true;
    if (strcmp(name, local) == 0)
        return true;
    /* "node1" and "node1.domain" are the same host, "node1.a" and "node1.b" are not. */
    return strcspn(name, ".") == label && strncmp(name, local, label) == 0 &&
           (name[label] == '\0' || local[label] == '\0');
}

static int fill_host(const struct esi_pathmap_request *request,
                     const struct esi_hostfile_line *line,
                     const char *local,
                     struct es_error *error,
                     struct esi_pathmap_host *host)
{
    bool here = is_local(line->name, local);

    host->name = strdup(here ? local : line->name);
    host->cluster = strdup("default");
    if (strcmp(line->name, host->name != NULL ? host->name : "") != 0)
        host->address = strdup(line->name);
    host->slots = line->slots;
    if (host->name == NULL || host->cluster == NULL ||
        (host->address == NULL && strcmp(line->name, host->name) != 0))
        return fail_memory(error);
    return here ? esi_topology_describe(request->synthetic, error, host) : 0;
}

/* One host under two names becomes one host with the slots of both. */
static void merge_local(struct esi_hostfile *hostfile, const char *local)
{
    struct esi_hostfile_line *first = NULL;
    size_t kept = 0;

    for (size_t i = 0; i < hostfile->count; i++) {
        struct esi_hostfile_line line = hostfile->hosts[i];
        bool here = is_local(line.name, local);
        if (here && first != NULL) {
            int64_t slots = (int64_t)first->slots + line.slots;
            first->slots = slots < ESI_MAX_RANKS ? (int)slots : ESI_MAX_RANKS;
            free(line.name);
            continue;
        }
        hostfile->hosts[kept] = line;
        if (here)
            first = &hostfile->hosts[kept];
        kept++;
    }
    hostfile->count = kept;
}

static int read_hosts(const struct esi_pathmap_request *request,
                      const char *local,
                      struct es_error *error,
                      struct esi_hostfile *ret_hostfile)
{
    if (request->hostfile == NULL)
        return esi_hostfile_parse("localhost\n", "", error, ret_hostfile);
    int code = esi_hostfile_load(request->hostfile, error, ret_hostfile);
    if (code == 0)
        merge_local(ret_hostfile, local);
    return code;
}

static int fill_cluster(const struct esi_pathmap_request *request,
                        const struct esi_hostfile *hostfile,
                        const char *local,
                        struct es_error *error,
                        struct esi_cluster_map *cluster)
{
    int code = 0;

    cluster->clusters = calloc(1, sizeof(*cluster->clusters));
    cluster->hosts = calloc(hostfile->count, sizeof(*cluster->hosts));
    if (cluster->clusters == NULL || cluster->hosts == NULL)
        return fail_memory(error);
    cluster->cluster_count = 1;
    cluster->host_count = hostfile->count;
    cluster->clusters[0].name = strdup("default");
    if (cluster->clusters[0].name == NULL)
        return fail_memory(error);
    for (size_t i = 0; i < hostfile->count && code == 0; i++)
        code =
            fill_host(request, &hostfile->hosts[i], local, error, &cluster->hosts[i]);
    return code;
}

/* Fills an empty cluster map with at least one host.  On failure it remains empty. */
static int cluster_generate(const struct esi_pathmap_request *request,
                            struct es_error *error,
                            struct esi_cluster_map *cluster)
{
    struct esi_pathmap scratch = {0}; /* its tables can free a cluster map */
    struct esi_hostfile hostfile;
    char name[ES_HOST_NAME_BYTES];
    const char *local = request->local_name;

    if (local == NULL)
        local = esi_host_name(name);
    int code = read_hosts(request, local, error, &hostfile);
    if (code < 0)
        return code == -ENOMEM ? fail_memory(error) : code;
    code = fill_cluster(request, &hostfile, local, error, &scratch.cluster);
    esi_hostfile_fini(&hostfile);
    if (code < 0) {
        esi_record_fini(&esi_map_fields, &scratch);
        return code;
    }
    /* The number of ranks for this host was not given: one per core. */
    struct esi_pathmap_host *first = &scratch.cluster.hosts[0];
    if (request->hostfile == NULL && first->cores > 0)
        first->slots = first->cores;
    *cluster = scratch.cluster;
    return 0;
}

/* --- The map ---------------------------------------------------------------------- */

/* Formats the ranks of a host: "0-1,4-5". */
static int format_ranks(const struct esi_pathmap *map, int host, char **ret_text)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    int count = (int)map->application.ranks;
    const char *separator = "";

    if (out == NULL)
        return -ENOMEM;
    for (int first = 0, last; first < count; first = last + 1) {
        last = first;
        if (map->placements[first].host != host)
            continue;
        while (last + 1 < count && map->placements[last + 1].host == host)
            last++;
        fprintf(out, "%s%d", separator, first);
        if (last > first)
            fprintf(out, "-%d", last);
        separator = ",";
    }
    bool failed = ferror(out) != 0;
    if (fclose(out) != 0 || failed) {
        free(text);
        return -ENOMEM;
    }
    *ret_text = text;
    return 0;
}

/* Adds an entry for each host with ranks. */
static int add_mapping(struct esi_pathmap *map)
{
    struct esi_mapping *mapping = &map->mapping;

    mapping->ranks = calloc(map->cluster.host_count, sizeof(*mapping->ranks));
    if (mapping->ranks == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < map->cluster.host_count; i++) {
        struct esi_rank_mapping *entry = &mapping->ranks[mapping->rank_count];
        int code = format_ranks(map, (int)i, &entry->ranks);
        mapping->rank_count++;
        if (code < 0)
            return code;
        if (*entry->ranks == '\0') {
            free(entry->ranks);
            entry->ranks = NULL;
            mapping->rank_count--;
            continue;
        }
        entry->host = strdup(map->cluster.hosts[i].name);
        if (entry->host == NULL)
            return -ENOMEM;
    }
    return 0;
}

static int count_slots(const struct esi_cluster_map *cluster)
{
    int64_t slots = 0;

    for (size_t i = 0; i < cluster->host_count; i++)
        slots += cluster->hosts[i].slots;
    return slots < ESI_MAX_RANKS ? (int)slots : ESI_MAX_RANKS;
}

static int check_request(const struct esi_pathmap_request *request,
                         struct es_error *error)
{
    if (request->ranks < 0 || request->ranks > ESI_MAX_RANKS)
        return es_error_set(error, -ERANGE, "ranks: found %d, expected 1 to %d",
                            request->ranks, (int)ESI_MAX_RANKS);
    if (request->threads < 0 || request->threads > ESI_MAX_THREADS)
        return es_error_set(error, -ERANGE, "threads: found %d, expected 1 to %d",
                            request->threads, (int)ESI_MAX_THREADS);
    return 0;
}

/* Adds the scopes "heartbeat" and "events" to a map without scopes.  Returns 0 or
 * -ENOMEM. */
static int map_add_scopes(struct esi_pathmap *map);

static int fill_map(const struct esi_pathmap_request *request,
                    struct es_error *error,
                    struct esi_pathmap *map)
{
    struct esi_reader reader = {.source = "", .error = error};

    esi_fields_init(&esi_map_fields, map);
    map->version = ES_PATHMAP_VERSION;
    int code = cluster_generate(request, error, &map->cluster);
    if (code < 0)
        return code;
    map->application.ranks =
        request->ranks > 0 ? request->ranks : count_slots(&map->cluster);
    map->application.threads = request->threads > 0 ? request->threads : 1;
    if (esi_map_complete(map) < 0 || map_add_scopes(map) < 0)
        return fail_memory(error);
    if (request->threshold > 0)
        code = esi_pathmap_set_threshold(map, request->threshold, error);
    if (code == 0)
        code = esi_map_validate(&reader, map);
    if (code < 0)
        return code;
    return add_mapping(map) < 0 ? fail_memory(error) : 0;
}

int esi_pathmap_generate(const struct esi_pathmap_request *request,
                         struct es_error *error,
                         struct esi_pathmap **ret_map)
{
    int code = check_request(request, error);

    if (code < 0)
        return code;
    struct esi_pathmap *map = calloc(1, sizeof(*map));
    if (map == NULL)
        return fail_memory(error);
    code = fill_map(request, error, map);
    if (code < 0) {
        esi_pathmap_destroy(map);
        return code;
    }
    *ret_map = map;
    return 0;
}

/* --- Defaults --------------------------------------------------------------------- */

static int set_text(char **field, const char *text)
{
    if (*field != NULL)
        return 0;
    *field = strdup(text);
    return *field != NULL ? 0 : -ENOMEM;
}

static int add_collectors(struct esi_pathmap *map)
{
    struct es_plan plan = {.collectors = NULL};
    int code = esi_plan_default(&plan);

    if (code == 0 && esi_pathmap_has_collectives(map))
        code = esi_plan_add_trees(&plan);
    if (code < 0)
        goto free_plan;
    map->collectors = calloc(plan.count, sizeof(*map->collectors));
    if (map->collectors == NULL)
        code = -ENOMEM;
    else
        map->collector_count = plan.count;
    for (size_t i = 0; i < map->collector_count; i++)
        map->collectors[i].plan = plan.collectors[i]; /* they have no ranges */
free_plan:
    esi_plan_fini(&plan);
    return code;
}

int esi_map_complete(struct esi_pathmap *map)
{
    int code = map->collectors == NULL ? add_collectors(map) : 0;

    esi_rules_complete(&map->rules);
    return code;
}

void esi_rules_complete(struct esi_rules *rules)
{
    for (size_t i = 0; i < rules->collective_count; i++)
        if (rules->collectives[i].rule.operations == 0)
            rules->collectives[i].rule.operations = ES_TREE_ALL_BLOCKING;
}

/* --- Scopes ----------------------------------------------------------------------- */

/* The two shapes of the EventSpace paper, section 5: elements below their thread,
 * threads below their host, hosts below the consumer. */
struct complete_level {
    const char *type;
    int per;
    const char *property;
    const char *value;
};

enum { LEVELS = 4 };

static const struct {
    const char *name;
    const char *comment;
    struct complete_level levels[LEVELS];
} defaults[] = {
    {"heartbeat",
     "the newest event of each thread",
     {{"gather", ES_PER_SCOPE, NULL, NULL},
      {"gather", ES_PER_HOST, NULL, NULL},
      {"reduce", ES_PER_THREAD, "to", "latest"},
      {"element", ES_PER_ELEMENT, "read", "latest"}}},
    {"events",
     "every event as it was recorded",
     {{"gather", ES_PER_SCOPE, NULL, NULL},
      {"gather", ES_PER_HOST, NULL, NULL},
      {"gather", ES_PER_THREAD, NULL, NULL},
      {"element", ES_PER_ELEMENT, "read", "every"}}},
};

static int add_property(struct esi_pathmap_stage *stage,
                        const struct complete_level *level)
{
    if (level->property == NULL)
        return 0;
    stage->properties = calloc(1, sizeof(*stage->properties));
    if (stage->properties == NULL)
        return -ENOMEM;
    stage->property_count = 1;
    stage->properties[0].kind = ES_PATHMAP_VALUE_STRING;
    int code = set_text(&stage->properties[0].name, level->property);
    return code == 0 ? set_text(&stage->properties[0].text, level->value) : code;
}

/* Fills a stage, and below it the stages of the remaining levels. */
static int fill_stage(struct esi_pathmap_stage *stage,
                      const struct complete_level *level,
                      int left)
{
    stage->per = level->per;
    if (set_text(&stage->type, level->type) < 0 || add_property(stage, level) < 0)
        return -ENOMEM;
    if (left == 1)
        return 0;
    stage->children = calloc(1, sizeof(*stage->children));
    if (stage->children == NULL)
        return -ENOMEM;
    stage->child_count = 1;
    return fill_stage(&stage->children[0], level + 1, left - 1);
}

static int add_scope(struct esi_pathmap_scope *scope, size_t index)
{
    if (set_text(&scope->name, defaults[index].name) < 0 ||
        set_text(&scope->comment, defaults[index].comment) < 0 ||
        set_text(&scope->tree.name, "root") < 0)
        return -ENOMEM;
    return fill_stage(&scope->tree, defaults[index].levels, LEVELS);
}

static int map_add_scopes(struct esi_pathmap *map)
{
    const size_t count = sizeof(defaults) / sizeof(defaults[0]);
    int code = 0;

    if (map->scopes != NULL)
        return 0;
    map->scopes = calloc(count, sizeof(*map->scopes));
    if (map->scopes == NULL)
        return -ENOMEM;
    map->scope_count = count;
    for (size_t i = 0; i < count && code == 0; i++)
        code = add_scope(&map->scopes[i], i);
    return code;
}

/* --- Expanding: mapping and paths spelled out, one by one ------------------------- */

static size_t count_paths(const struct esi_pathmap *map)
{
    size_t count = 0;

    for (int rank = 0; rank < map->application.ranks; rank++)
        for (size_t c = 0; c < map->collector_count; c++)
            if (esi_collector_plan_has_rank(&map->collectors[c].plan, rank))
                count += (size_t)map->placements[rank].threads;
    return count;
}

static int fill_paths(struct esi_pathmap *map)
{
    for (int rank = 0; rank < map->application.ranks; rank++) {
        const struct esi_pathmap_host *host = esi_pathmap_rank_host(map, rank);
        for (int thread = 0; thread < map->placements[rank].threads; thread++)
            for (size_t c = 0; c < map->collector_count; c++) {
                if (!esi_collector_plan_has_rank(&map->collectors[c].plan, rank))
                    continue;
                int code = esi_path_init(&map->paths[map->path_count++], rank, thread,
                                         &map->collectors[c],
                                         host != NULL ? host->name : NULL);
                if (code < 0)
                    return code;
            }
    }
    return 0;
}

static int add_paths(struct esi_pathmap *map, struct es_error *error)
{
    size_t count = count_paths(map);
    if (count > ESI_MAX_PATHS)
        return es_error_set(
            error, -E2BIG,
            "%zu paths, expected at most %d: expand parts of the application", count,
            (int)ESI_MAX_PATHS);
    map->paths = calloc(count + 1, sizeof(*map->paths));
    return map->paths != NULL ? fill_paths(map) : -ENOMEM;
}

/* --- Mapping ---------------------------------------------------------------------- */

static int complete_rank(const struct esi_pathmap *map,
                         int rank,
                         struct esi_rank_mapping *entry)
{
    const struct esi_rank_placement *placement = &map->placements[rank];
    char number[16];

    snprintf(number, sizeof(number), "%d", rank);
    entry->ranks = strdup(number);
    entry->host = strdup(map->cluster.hosts[placement->host].name);
    if (placement->core >= 0) {
        snprintf(number, sizeof(number), "%d", placement->core);
        entry->cores = strdup(number);
    }
    bool whole = entry->ranks != NULL && entry->host != NULL &&
                 (placement->core < 0 || entry->cores != NULL);
    return whole ? 0 : -ENOMEM;
}

static int complete_mapping(struct esi_pathmap *map)
{
    size_t count = (size_t)map->application.ranks;
    int code = 0;

    map->mapping.ranks = calloc(count, sizeof(*map->mapping.ranks));
    if (map->mapping.ranks == NULL)
        return -ENOMEM;
    map->mapping.rank_count = count;
    for (size_t r = 0; r < count && code == 0; r++)
        code = complete_rank(map, (int)r, &map->mapping.ranks[r]);
    return code;
}

/* --- The map ---------------------------------------------------------------------- */

/* A map without a cluster is for this host. */
static int add_host(struct esi_pathmap *map, struct es_error *error)
{
    const struct esi_pathmap_request request = {.ranks = (int)map->application.ranks};

    if (map->cluster.hosts != NULL)
        return 0;
    int code = cluster_generate(&request, error, &map->cluster);
    for (int64_t r = 0; r < map->application.ranks && code == 0; r++)
        map->placements[r].host = 0;
    return code;
}

static int expand_parts(struct esi_pathmap *map, struct es_error *error)
{
    int code = add_host(map, error);

    if (code == 0)
        code = complete_mapping(map);
    if (code == 0 && map->paths == NULL)
        code = add_paths(map, error);
    return code;
}

/* Works on new data, and discards it on failure. */
int esi_pathmap_expand(struct esi_pathmap *map, struct es_error *error)
{
    struct esi_pathmap before = *map;
    bool had_hosts = map->cluster.hosts != NULL, had_paths = map->paths != NULL;
    int code = expand_parts(map, error);
    struct esi_pathmap waste = {0};

    if (code < 0) {
        waste.mapping.ranks =
            map->mapping.ranks != before.mapping.ranks ? map->mapping.ranks : NULL;
        waste.mapping.rank_count =
            waste.mapping.ranks != NULL ? map->mapping.rank_count : 0;
        if (!had_hosts)
            waste.cluster = map->cluster;
        if (!had_paths) {
            waste.paths = map->paths;
            waste.path_count = map->path_count;
        }
        *map = before;
        for (int64_t r = 0; !had_hosts && r < map->application.ranks; r++)
            map->placements[r].host = -1;
        es_error_set(error, code, "the pathmap cannot be expanded: %s",
                     strerror(-code));
    } else {
        waste.mapping.ranks = before.mapping.ranks;
        waste.mapping.rank_count = before.mapping.rank_count;
    }
    esi_record_fini(&esi_map_fields, &waste);
    return code;
}

int esi_pathmap_set_threshold(struct esi_pathmap *map,
                              uint32_t threshold,
                              struct es_error *error)
{
    if (threshold < 1 || threshold > ES_PLAN_THRESHOLD_MAX)
        return es_error_set(error, -ERANGE,
                            "threshold: found %" PRIu32 ", expected 1 to %u", threshold,
                            ES_PLAN_THRESHOLD_MAX);
    for (size_t i = 0; i < map->path_count; i++) {
        int code = esi_path_set_threshold(&map->paths[i], threshold);
        if (code < 0)
            return es_error_set(error, code, "threshold: no memory left");
    }
    for (size_t i = 0; i < map->collector_count; i++)
        map->collectors[i].plan.threshold = threshold;
    return 0;
}

int esi_pathmap_set_block(struct esi_pathmap *map, bool block, struct es_error *error)
{
    for (size_t i = 0; i < map->path_count; i++) {
        int code = esi_path_set_block(&map->paths[i], block);
        if (code < 0)
            return es_error_set(error, code, "on_full: no memory left");
    }
    for (size_t i = 0; i < map->collector_count; i++)
        map->collectors[i].plan.on_full = block ? ES_ON_FULL_BLOCK : ES_ON_FULL_DISCARD;
    return 0;
}
