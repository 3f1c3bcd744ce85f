/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* What a pathmap must keep to: hosts, clusters, collectors, and the order of the
 * checks. */
#include "config.h"

#include "pathmap/validate.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WAY = 96 }; /* bytes of a way to a member outside of trees */

int esi_check_host(const struct esi_check *check, const char *host, const char *path)
{
    size_t index;

    if (host == NULL || check->map == NULL ||
        esi_names_find(&check->hosts, host, &index))
        return 0;
    return esi_reader_fail_path(
        check->reader, path,
        "found \"%s\", expected the name of a host in cluster.hosts", host);
}

/* `text` is what was written. */
static int check_bounds(const struct esi_check *check,
                        const struct esi_rank_range *ranges,
                        size_t count,
                        const char *text,
                        int64_t limit,
                        const char *what,
                        const char *path)
{
    for (size_t i = 0; i < count; i++) {
        int last = ranges[i].last == INT_MAX ? ranges[i].first : ranges[i].last;
        if (last >= limit)
            return esi_reader_fail_path(
                check->reader, path, "found \"%.60s\", expected %s from 0 to %" PRId64,
                text, what, limit - 1);
    }
    return 0;
}

int esi_check_ranges(const struct esi_check *check,
                     const char *ranges,
                     int64_t limit,
                     const char *what,
                     const char *path)
{
    struct esi_rank_range *parsed = NULL;
    int count = ranges == NULL ? 0 : esi_rank_ranges_parse(ranges, NULL, &parsed);

    if (count < 0)
        return esi_reader_fail_memory(check->reader);
    int code = check_bounds(check, parsed, (size_t)count, ranges, limit, what, path);
    free(parsed);
    return code;
}

int esi_check_unique(const struct esi_check *check,
                     const struct esi_names *names,
                     const char *path,
                     const char *member)
{
    char way[ESI_PATH_BYTES];
    size_t index, earlier;

    if (!esi_names_repeat(names, &index, &earlier))
        return 0;
    snprintf(way, sizeof(way), "%s[%zu].%s", path, index, member);
    for (size_t i = 0; i < names->count; i++)
        if (names->items[i].index == index)
            return esi_reader_fail_path(check->reader, way,
                                        "found \"%s\", which %s[%zu] has already, "
                                        "expected each %s once",
                                        names->items[i].text, path, earlier, member);
    return 0;
}

/* --- Cluster map ------------------------------------------------------------------ */

static int check_total(const struct esi_check *check,
                       size_t host,
                       const char *member,
                       int64_t said,
                       int64_t counted)
{
    char way[WAY];

    if (said == 0 || said == counted)
        return 0;
    snprintf(way, sizeof(way), "cluster.hosts[%zu].%s", host, member);
    return esi_reader_fail_path(check->reader, way,
                                "found %" PRId64 ", expected %" PRId64
                                " as counted in the packages",
                                said, counted);
}

static int compare_numbers(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

    return (left > right) - (left < right);
}

/* No processing unit is in two cores. */
static int check_pus(const struct esi_check *check, size_t index, size_t count)
{
    const struct esi_pathmap_host *host = &check->map->cluster.hosts[index];
    int64_t *all = calloc(count + 1, sizeof(*all));
    size_t used = 0;
    int code = 0;

    if (all == NULL)
        return esi_reader_fail_memory(check->reader);
    for (size_t p = 0; p < host->package_count; p++)
        for (size_t c = 0; c < host->packages[p].core_count; c++)
            for (size_t u = 0; u < host->packages[p].cores[c].pu_count; u++)
                all[used++] = host->packages[p].cores[c].pus[u];
    qsort(all, used, sizeof(*all), compare_numbers);
    for (size_t i = 1; i < used && code == 0; i++) {
        char way[WAY];
        if (all[i] != all[i - 1])
            continue;
        snprintf(way, sizeof(way), "cluster.hosts[%zu].packages", index);
        code = esi_reader_fail_path(check->reader, way,
                                    "found processing unit %" PRId64
                                    " twice, expected each in one core",
                                    all[i]);
    }
    free(all);
    return code;
}

static int check_topology(const struct esi_check *check, size_t index)
{
    const struct esi_pathmap_host *host = &check->map->cluster.hosts[index];
    int64_t cores = 0, pus = 0;

    if (host->package_count == 0)
        return 0;
    for (size_t p = 0; p < host->package_count; p++) {
        cores += (int64_t)host->packages[p].core_count;
        for (size_t c = 0; c < host->packages[p].core_count; c++)
            pus += (int64_t)host->packages[p].cores[c].pu_count;
    }
    int code = check_total(check, index, "cores", host->cores, cores);
    if (code == 0)
        code = check_total(check, index, "pus", host->pus, pus);
    if (code == 0)
        code = check_pus(check, index, (size_t)pus);
    return code;
}

static int check_host_cluster(const struct esi_check *check,
                              const struct esi_names *clusters,
                              size_t index)
{
    const struct esi_pathmap_host *host = &check->map->cluster.hosts[index];
    char way[WAY];
    size_t found;

    if (host->cluster == NULL || esi_names_find(clusters, host->cluster, &found))
        return 0;
    snprintf(way, sizeof(way), "cluster.hosts[%zu].cluster", index);
    return esi_reader_fail_path(
        check->reader, way,
        "found \"%s\", expected the name of a cluster in cluster.clusters",
        host->cluster);
}

static int check_hosts(const struct esi_check *check, const struct esi_names *clusters)
{
    const struct esi_cluster_map *map = &check->map->cluster;
    char way[WAY];
    int code = 0;

    if (map->hosts != NULL && map->host_count == 0)
        return esi_reader_fail_path(check->reader, "cluster.hosts",
                                    "found no host, expected one at least");
    for (size_t i = 0; i < map->cluster_count && code == 0; i++) {
        snprintf(way, sizeof(way), "cluster.clusters[%zu].gateway", i);
        code = esi_check_host(check, map->clusters[i].gateway, way);
    }
    for (size_t i = 0; i < map->host_count && code == 0; i++) {
        code = check_host_cluster(check, clusters, i);
        if (code == 0)
            code = check_topology(check, i);
    }
    return code;
}

static int check_cluster(const struct esi_check *check)
{
    const struct esi_cluster_map *map = &check->map->cluster;
    struct esi_names clusters;
    int code = esi_names_init(&clusters, map->clusters, map->cluster_count,
                              sizeof(*map->clusters),
                              offsetof(struct esi_pathmap_cluster, name), false);

    if (code < 0)
        return esi_reader_fail_memory(check->reader);
    code = esi_check_unique(check, &clusters, "cluster.clusters", "name");
    if (code == 0)
        code = esi_check_unique(check, &check->hosts, "cluster.hosts", "name");
    if (code == 0)
        code = check_hosts(check, &clusters);
    esi_names_fini(&clusters);
    return code;
}

/* --- Collectors ------------------------------------------------------------------- */

static int check_collector_ranks(const struct esi_check *check,
                                 const struct esi_collector_plan *plan,
                                 const char *path)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (out == NULL)
        return esi_reader_fail_memory(check->reader);
    esi_rank_ranges_format(plan->ranges, plan->range_count, out);
    int code = fclose(out) != 0
                   ? esi_reader_fail_memory(check->reader)
                   : check_bounds(check, plan->ranges, plan->range_count, text,
                                  check->map->application.ranks, "ranks", path);
    free(text);
    return code;
}

static int check_collectors(const struct esi_check *check)
{
    const struct esi_pathmap *map = check->map;
    int code = esi_check_unique(check, &check->collectors, "collectors", "name");
    char way[WAY];

    for (size_t i = 0; i < map->collector_count && code == 0; i++) {
        const struct esi_collector_plan *plan = &map->collectors[i].plan;
        snprintf(way, sizeof(way), "collectors[%zu].ranks", i);
        code = check_collector_ranks(check, plan, way);
        if (code < 0)
            break;
        snprintf(way, sizeof(way), "collectors[%zu].host", i);
        code = esi_check_host(check, plan->host[0] != '\0' ? plan->host : NULL, way);
    }
    return code;
}

/* --- The map ---------------------------------------------------------------------- */

static int check_map(const struct esi_check *check)
{
    static int (*const checks[])(const struct esi_check *) = {
        check_cluster,       esi_rank_placements_fill, check_collectors,
        esi_check_map_rules, esi_check_scopes,         esi_check_paths,
    };

    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
        int code = checks[i](check);
        if (code < 0)
            return code;
    }
    return 0;
}

int esi_map_validate(const struct esi_reader *reader, struct esi_pathmap *map)
{
    struct esi_check check = {.reader = reader, .map = map};
    int code = esi_names_init(&check.hosts, map->cluster.hosts, map->cluster.host_count,
                              sizeof(*map->cluster.hosts),
                              offsetof(struct esi_pathmap_host, name), false);

    if (code == 0)
        code = esi_names_init(&check.collectors, map->collectors, map->collector_count,
                              sizeof(*map->collectors),
                              offsetof(struct esi_pathmap_collector, plan.name), true);
    if (code == 0)
        code = check_map(&check);
    else
        code = esi_reader_fail_memory(reader);
    esi_names_fini(&check.collectors);
    esi_names_fini(&check.hosts);
    return code;
}
