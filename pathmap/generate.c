/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Generators: the default map for a number of ranks on the hosts there are. */
#include "config.h"

#include "pathmap/generate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/host.h"
#include "pathmap/complete.h"
#include "pathmap/hostfile.h"
#include "pathmap/record.h"
#include "pathmap/topology.h"
#include "pathmap/validate.h"

static int fail_memory(struct es_error *error)
{
    return es_error_set(error, -ENOMEM, "no memory left for the pathmap");
}

/* --- Hosts ------------------------------------------------------------------------ */

/* This host has many names in hostfiles: its own with or without a domain, and the
 * loop's. */
static bool is_local(const char *name, const char *local)
{
    static const char *const loops[] = {"localhost", "127.0.0.1", "::1"};
    size_t label = strcspn(local, ".");

    for (size_t i = 0; i < sizeof(loops) / sizeof(loops[0]); i++)
        if (strcmp(name, loops[i]) == 0)
            return true;
    if (strcmp(name, local) == 0)
        return true;
    /* "node1" and "node1.domain" are one host, "node1.a" and "node1.b" are two. */
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

/* The same host under two names is one host with both's slots. */
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

int esi_cluster_generate(const struct esi_pathmap_request *request,
                         struct es_error *error,
                         struct esi_cluster_map *cluster)
{
    struct esi_pathmap scratch = {0}; /* whose tables know how to free a cluster map */
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
    /* Nobody said how many ranks this host should take: one for each core. */
    struct esi_pathmap_host *first = &scratch.cluster.hosts[0];
    if (request->hostfile == NULL && first->cores > 0)
        first->slots = first->cores;
    *cluster = scratch.cluster;
    return 0;
}

/* --- The map ---------------------------------------------------------------------- */

/* The ranks of a host as text: "0-1,4-5". */
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
        if (map->seats[first].host != host)
            continue;
        while (last + 1 < count && map->seats[last + 1].host == host)
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

/* One entry for each host that has ranks. */
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

static int fill_map(const struct esi_pathmap_request *request,
                    struct es_error *error,
                    struct esi_pathmap *map)
{
    struct esi_reader reader = {.source = "", .error = error};

    esi_fields_init(&esi_map_fields, map);
    map->version = ES_PATHMAP_VERSION;
    int code = esi_cluster_generate(request, error, &map->cluster);
    if (code < 0)
        return code;
    map->application.ranks =
        request->ranks > 0 ? request->ranks : count_slots(&map->cluster);
    map->application.threads = request->threads > 0 ? request->threads : 1;
    if (esi_map_complete(map) < 0 || esi_map_add_scopes(map) < 0)
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
