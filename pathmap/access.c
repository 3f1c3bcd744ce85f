/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Accessors of a pathmap, and the summary. */
#include "config.h"

#include <string.h>

#include "pathmap/map.h"
#include "pathmap/path.h"

bool esi_pathmap_has_collectives(const struct esi_pathmap *map)
{
    return map->rules.collectives != NULL;
}

int esi_pathmap_rank_count(const struct esi_pathmap *map)
{
    return (int)map->application.ranks;
}

static const struct esi_rank_placement *placement_of(const struct esi_pathmap *map,
                                                     int rank)
{
    return rank >= 0 && rank < map->application.ranks ? &map->placements[rank] : NULL;
}

size_t esi_pathmap_cluster_count(const struct esi_pathmap *map)
{
    return map->cluster.cluster_count;
}

const struct esi_pathmap_cluster *esi_pathmap_cluster(const struct esi_pathmap *map,
                                                      size_t index)
{
    return index < map->cluster.cluster_count ? &map->cluster.clusters[index] : NULL;
}

size_t esi_pathmap_host_count(const struct esi_pathmap *map)
{
    return map->cluster.host_count;
}

const struct esi_pathmap_host *esi_pathmap_host(const struct esi_pathmap *map,
                                                size_t index)
{
    return index < map->cluster.host_count ? &map->cluster.hosts[index] : NULL;
}

const struct esi_pathmap_host *esi_pathmap_find_host(const struct esi_pathmap *map,
                                                     const char *name)
{
    for (size_t i = 0; i < map->cluster.host_count; i++)
        if (strcmp(map->cluster.hosts[i].name, name) == 0)
            return &map->cluster.hosts[i];
    return NULL;
}

const struct esi_pathmap_host *esi_pathmap_rank_host(const struct esi_pathmap *map,
                                                     int rank)
{
    const struct esi_rank_placement *placement = placement_of(map, rank);

    return placement != NULL && placement->host >= 0
               ? &map->cluster.hosts[placement->host]
               : NULL;
}

int esi_pathmap_rank_core(const struct esi_pathmap *map, int rank)
{
    const struct esi_rank_placement *placement = placement_of(map, rank);

    return placement != NULL ? placement->core : -1;
}

const char *esi_pathmap_stage_host(const struct esi_pathmap *map,
                                   const struct esi_pathmap_scope *scope,
                                   const struct esi_pathmap_stage *stage)
{
    for (size_t i = 0; i < map->mapping.stage_count && stage->name != NULL; i++)
        if (strcmp(map->mapping.stages[i].scope, scope->name) == 0 &&
            strcmp(map->mapping.stages[i].stage, stage->name) == 0)
            return map->mapping.stages[i].host;
    return stage->host;
}

size_t esi_pathmap_scope_count(const struct esi_pathmap *map)
{
    return map->scope_count;
}

const struct esi_pathmap_scope *esi_pathmap_scope(const struct esi_pathmap *map,
                                                  size_t index)
{
    return index < map->scope_count ? &map->scopes[index] : NULL;
}

const struct esi_pathmap_scope *esi_pathmap_find_scope(const struct esi_pathmap *map,
                                                       const char *name)
{
    for (size_t i = 0; i < map->scope_count; i++)
        if (strcmp(map->scopes[i].name, name) == 0)
            return &map->scopes[i];
    return NULL;
}

const struct esi_pathmap_property *esi_pathmap_stage_property(
    const struct esi_pathmap_stage *stage,
    const char *name)
{
    for (size_t i = 0; i < stage->property_count; i++)
        if (strcmp(stage->properties[i].name, name) == 0)
            return &stage->properties[i];
    return NULL;
}

const char *esi_pathmap_source(const struct esi_pathmap *map)
{
    return map->source != NULL ? map->source : "";
}

/* --- Summary ---------------------------------------------------------------------- */

/* Like the size of a ring in the tuple space: a power of two above the threshold. */
static uint64_t ring_bytes(int64_t threshold)
{
    uint64_t slots = 1;

    while (slots <= (uint64_t)threshold)
        slots *= 2;
    return slots * sizeof(struct es_tuple);
}

void esi_pathmap_summarize(const struct esi_pathmap *map,
                           struct esi_pathmap_summary *ret_summary)
{
    *ret_summary = (struct esi_pathmap_summary){
        .hosts = map->cluster.host_count,
        .ranks = (size_t)map->application.ranks,
        .collectors = map->collector_count,
        .collectives = map->rules.collective_count,
        .paths = map->path_count,
        .scopes = map->scope_count,
        .expanded = map->paths != NULL,
    };
    for (int64_t r = 0; r < map->application.ranks; r++)
        ret_summary->threads += (size_t)map->placements[r].threads;
    for (size_t i = 0; i < map->path_count; i++) {
        struct esi_path_settings settings;
        esi_path_settings(&map->paths[i], &settings);
        ret_summary->ring_bytes += ring_bytes(settings.threshold);
    }
}
