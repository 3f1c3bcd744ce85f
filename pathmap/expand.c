/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Expansion: mapping and paths spelled out, one by one. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/generate.h"
#include "pathmap/map.h"
#include "pathmap/path.h"
#include "pathmap/record.h"

/* --- Paths ------------------------------------------------------------------------ */

static size_t count_paths(const struct esi_pathmap *map)
{
    size_t count = 0;

    for (int rank = 0; rank < map->application.ranks; rank++)
        for (size_t c = 0; c < map->collector_count; c++)
            if (esi_collector_plan_has_rank(&map->collectors[c].plan, rank))
                count += (size_t)map->seats[rank].threads;
    return count;
}

static int fill_paths(struct esi_pathmap *map)
{
    for (int rank = 0; rank < map->application.ranks; rank++) {
        const struct esi_pathmap_host *host = esi_pathmap_rank_host(map, rank);
        for (int thread = 0; thread < map->seats[rank].threads; thread++)
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

static int spell_seat(const struct esi_pathmap *map,
                      int rank,
                      struct esi_rank_mapping *entry)
{
    const struct esi_rank_placement *seat = &map->seats[rank];
    char number[16];

    snprintf(number, sizeof(number), "%d", rank);
    entry->ranks = strdup(number);
    entry->host = strdup(map->cluster.hosts[seat->host].name);
    if (seat->core >= 0) {
        snprintf(number, sizeof(number), "%d", seat->core);
        entry->cores = strdup(number);
    }
    bool whole = entry->ranks != NULL && entry->host != NULL &&
                 (seat->core < 0 || entry->cores != NULL);
    return whole ? 0 : -ENOMEM;
}

static int spell_mapping(struct esi_pathmap *map)
{
    size_t count = (size_t)map->application.ranks;
    int code = 0;

    map->mapping.ranks = calloc(count, sizeof(*map->mapping.ranks));
    if (map->mapping.ranks == NULL)
        return -ENOMEM;
    map->mapping.rank_count = count;
    for (size_t r = 0; r < count && code == 0; r++)
        code = spell_seat(map, (int)r, &map->mapping.ranks[r]);
    return code;
}

/* --- The map ---------------------------------------------------------------------- */

/* A map without a cluster is meant for this host. */
static int add_host(struct esi_pathmap *map, struct es_error *error)
{
    const struct esi_pathmap_request request = {.ranks = (int)map->application.ranks};

    if (map->cluster.hosts != NULL)
        return 0;
    int code = esi_cluster_generate(&request, error, &map->cluster);
    for (int64_t r = 0; r < map->application.ranks && code == 0; r++)
        map->seats[r].host = 0;
    return code;
}

static int expand_expand(struct esi_pathmap *map, struct es_error *error)
{
    int code = add_host(map, error);

    if (code == 0)
        code = spell_mapping(map);
    if (code == 0 && map->paths == NULL)
        code = add_paths(map, error);
    return code;
}

/* Works on what is new and takes it back when something fails. */
int esi_pathmap_expand(struct esi_pathmap *map, struct es_error *error)
{
    struct esi_pathmap before = *map;
    bool had_hosts = map->cluster.hosts != NULL, had_paths = map->paths != NULL;
    int code = expand_expand(map, error);
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
            map->seats[r].host = -1;
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
