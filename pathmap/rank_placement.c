/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The placement of ranks: where each rank runs, and how many of its threads have paths.
 * Taken from the mapping; without mapping, ranks fill the slots of the hosts in turn,
 * repeatedly if necessary, as launchers do with a hostfile.
 */
#include "config.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "pathmap/validate.h"

enum { WAY = 96, NOBODY = -1 };

/* The cores of one entry of the mapping, assigned in turn. */
struct cores {
    struct esi_rank_range *ranges;
    size_t range_count;
    int64_t total;
    int64_t next;
};

/* Records for each rank which entry of the list at `path` names it; a second one is an
 * error. */
static int rank_placement_claim(const struct esi_check *check,
                                const char *ranges,
                                const char *path,
                                size_t entry,
                                int *owners)
{
    int64_t limit = check->map->application.ranks;
    struct esi_rank_range *parsed = NULL;
    char way[WAY];

    snprintf(way, sizeof(way), "%s[%zu].ranks", path, entry);
    int code = esi_check_ranges(check, ranges, limit, "ranks", way);
    if (code < 0)
        return code;

    int count = esi_rank_ranges_parse(ranges, NULL, &parsed);
    struct esi_rank_range all = {0, INT_MAX};
    if (count < 0)
        return esi_reader_fail_memory(check->reader);
    for (int i = 0; i < (count > 0 ? count : 1) && code == 0; i++) {
        const struct esi_rank_range *range = count > 0 ? &parsed[i] : &all;
        for (int64_t r = range->first; r <= range->last && r < limit && code == 0;
             r++) {
            if (owners[r] != NOBODY)
                code = esi_reader_fail_path(check->reader, way,
                                            "found rank %" PRId64 ", which %s[%d] "
                                            "already has, expected each rank once",
                                            r, path, owners[r]);
            owners[r] = (int)entry;
        }
    }
    free(parsed);
    return code;
}

static int *owners_create(const struct esi_check *check)
{
    int64_t count = check->map->application.ranks;
    int *owners = calloc((size_t)count, sizeof(*owners));

    for (int64_t r = 0; owners != NULL && r < count; r++)
        owners[r] = NOBODY;
    return owners;
}

static int fill_threads(const struct esi_check *check)
{
    const struct esi_application *application = &check->map->application;
    int *owners = owners_create(check);
    int code = 0;

    if (owners == NULL)
        return esi_reader_fail_memory(check->reader);
    for (size_t i = 0; i < application->group_count && code == 0; i++)
        code = rank_placement_claim(check, application->groups[i].ranks,
                                    "application.groups", i, owners);
    for (int64_t r = 0; r < application->ranks && code == 0; r++)
        check->map->placements[r].threads =
            (int)(owners[r] == NOBODY ? application->threads
                                      : application->groups[owners[r]].threads);
    free(owners);
    return code;
}

/* --- With a mapping --------------------------------------------------------------- */

static int open_cores(const struct esi_check *check, size_t entry, struct cores *cores)
{
    const struct esi_rank_mapping *mapping = &check->map->mapping.ranks[entry];
    char way[WAY];
    size_t host;

    snprintf(way, sizeof(way), "mapping.ranks[%zu].cores", entry);
    if (mapping->cores == NULL || !esi_names_find(&check->hosts, mapping->host, &host))
        return 0;
    int64_t known = check->map->cluster.hosts[host].cores;
    int code = esi_check_ranges(check, mapping->cores,
                                known > 0 ? known : ESI_MAX_CORES, "cores", way);
    if (code < 0)
        return code;
    int count = esi_rank_ranges_parse(mapping->cores, NULL, &cores->ranges);
    if (count < 0)
        return esi_reader_fail_memory(check->reader);
    cores->range_count = (size_t)count;
    for (int i = 0; i < count; i++) {
        struct esi_rank_range *range = &cores->ranges[i];
        if (range->last == INT_MAX && known == 0)
            return esi_reader_fail_path(
                check->reader, way,
                "found '%.60s', expected ranges with an end, because "
                "the cores of host '%s' are not known",
                mapping->cores, mapping->host);
        if (range->last == INT_MAX)
            range->last = (int)known - 1;
        cores->total += range->last - range->first + 1;
    }
    return 0;
}

static int next_core(struct cores *cores)
{
    if (cores->total == 0)
        return -1;
    int64_t left = cores->next++ % cores->total;
    for (size_t i = 0; i < cores->range_count; i++) {
        int64_t count = cores->ranges[i].last - cores->ranges[i].first + 1;
        if (left < count)
            return (int)(cores->ranges[i].first + left);
        left -= count;
    }
    return -1;
}

static int place_mapped(const struct esi_check *check,
                        const int *owners,
                        struct cores *cores)
{
    const struct esi_mapping *mapping = &check->map->mapping;

    for (int64_t r = 0; r < check->map->application.ranks; r++) {
        struct esi_rank_placement *placement = &check->map->placements[r];
        size_t host;
        if (owners[r] == NOBODY)
            return esi_reader_fail_path(check->reader, "mapping.ranks",
                                        "found no host for rank %" PRId64
                                        ", expected one for each of %" PRId64 " ranks",
                                        r, check->map->application.ranks);
        if (esi_names_find(&check->hosts, mapping->ranks[owners[r]].host, &host))
            placement->host = (int)host;
        placement->core = next_core(&cores[owners[r]]);
    }
    return 0;
}

static int read_mapping(const struct esi_check *check, int *owners, struct cores *cores)
{
    const struct esi_mapping *mapping = &check->map->mapping;
    char way[WAY];
    int code = 0;

    for (size_t i = 0; i < mapping->rank_count && code == 0; i++) {
        snprintf(way, sizeof(way), "mapping.ranks[%zu].host", i);
        code = esi_check_host(check, mapping->ranks[i].host, way);
        if (code == 0)
            code = rank_placement_claim(check, mapping->ranks[i].ranks, "mapping.ranks",
                                        i, owners);
        if (code == 0)
            code = open_cores(check, i, &cores[i]);
    }
    return code == 0 ? place_mapped(check, owners, cores) : code;
}

static int fill_mapped(const struct esi_check *check)
{
    size_t count = check->map->mapping.rank_count;
    struct cores *cores = calloc(count, sizeof(*cores));
    int *owners = owners_create(check);
    int code = cores != NULL && owners != NULL ? read_mapping(check, owners, cores)
                                               : esi_reader_fail_memory(check->reader);

    for (size_t i = 0; cores != NULL && i < count; i++)
        free(cores[i].ranges);
    free(cores);
    free(owners);
    return code;
}

/* --- Without a mapping ------------------------------------------------------------ */

static void fill_slots(struct esi_pathmap *map)
{
    size_t host = 0;
    int64_t taken = 0;

    if (map->cluster.host_count == 0)
        return;
    for (int64_t r = 0; r < map->application.ranks; r++) {
        if (taken == map->cluster.hosts[host].slots) {
            host = (host + 1) % map->cluster.host_count;
            taken = 0;
        }
        map->placements[r].host = (int)host;
        taken++;
    }
}

int esi_rank_placements_fill(const struct esi_check *check)
{
    struct esi_pathmap *map = check->map;

    free(map->placements);
    map->placements = calloc((size_t)map->application.ranks, sizeof(*map->placements));
    if (map->placements == NULL)
        return esi_reader_fail_memory(check->reader);
    for (int64_t r = 0; r < map->application.ranks; r++)
        map->placements[r] = (struct esi_rank_placement){.host = -1, .core = -1};

    int code = fill_threads(check);
    if (code < 0)
        return code;
    if (map->mapping.rank_count > 0)
        return fill_mapped(check);
    fill_slots(map);
    return 0;
}
