/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* sockets.c - finds a rank's socket: the map says the core, counted through the
 * packages of its host. */
#include "config.h"

#include "scopes/sockets.h"

#include <errno.h>
#include <stdlib.h>

#include "scopes/remote/run_files.h"

struct esi_sockets {
    struct esi_pathmap *map;
};

int esi_sockets_load(struct es_servers *servers, struct esi_sockets **ret_sockets)
{
    struct esi_sockets *sockets = calloc(1, sizeof *sockets);
    int result;

    if (!sockets)
        return -ENOMEM;
    result = esi_run_map_load(es_servers_run(servers), servers, NULL, &sockets->map);
    if (result < 0) {
        free(sockets);
        return result;
    }
    *ret_sockets = sockets;
    return 0;
}

void esi_sockets_destroy(struct esi_sockets *sockets)
{
    if (!sockets)
        return;
    esi_pathmap_destroy(sockets->map);
    free(sockets);
}

int esi_sockets_find(void *data, int rank)
{
    const struct esi_sockets *sockets = data;
    const struct esi_pathmap_host *host;
    int core;

    if (rank < 0 || rank >= esi_pathmap_rank_count(sockets->map))
        return -1;
    host = esi_pathmap_rank_host(sockets->map, rank);
    core = esi_pathmap_rank_core(sockets->map, rank);
    if (!host || core < 0)
        return -1;
    for (size_t i = 0; i < host->package_count; i++) {
        if ((size_t)core < host->packages[i].core_count)
            return (int)i;
        core -= (int)host->packages[i].core_count;
    }
    return -1;
}
