/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* sockets.c - finds a rank's socket: the map says the core, counted through the
 * packages of its host. */
#include "config.h"

#include "scopes/sockets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/pathmap.h"
#include "scopes/servers.h"
#include "tuplespace/run_directory.h"

#define ASK_NS UINT64_C(2000000000)

struct es_sockets {
    struct es_pathmap *map;
};

static int load_here(const char *run, struct es_pathmap **ret_map)
{
    char path[ES_RUN_PATH_BYTES];
    int result = es_run_directory_path(run, "map.json", NULL, path);

    return result < 0 ? result : es_pathmap_load(path, NULL, ret_map);
}

static int load_from_home(struct es_servers *servers, struct es_pathmap **ret_map)
{
    static const char request[] = "{\"request\": \"file\", \"name\": \"map.json\"}";
    struct es_message *reply;
    const char *text;
    int result = es_servers_request(servers, NULL, request, strlen(request), ASK_NS,
                                    NULL, &reply);

    if (result < 0)
        return result;
    result = es_member_text(es_message_root(reply), "text", NULL, &text);
    if (result == 0)
        result = es_pathmap_parse(text, strlen(text), "map.json", NULL, ret_map);
    es_message_destroy(reply);
    return result;
}

int es_sockets_load(struct es_servers *servers, struct es_sockets **ret_sockets)
{
    struct es_sockets *sockets = calloc(1, sizeof *sockets);
    int result;

    if (!sockets)
        return -ENOMEM;
    result = load_here(es_servers_run(servers), &sockets->map);
    if (result < 0)
        result = load_from_home(servers, &sockets->map);
    if (result < 0) {
        free(sockets);
        return result;
    }
    *ret_sockets = sockets;
    return 0;
}

void es_sockets_destroy(struct es_sockets *sockets)
{
    if (!sockets)
        return;
    es_pathmap_destroy(sockets->map);
    free(sockets);
}

int es_sockets_find(void *data, int rank)
{
    const struct es_sockets *sockets = data;
    const struct es_pathmap_host *host;
    int core;

    if (rank < 0 || rank >= es_pathmap_rank_count(sockets->map))
        return -1;
    host = es_pathmap_rank_host(sockets->map, rank);
    core = es_pathmap_rank_core(sockets->map, rank);
    if (!host || core < 0)
        return -1;
    for (size_t i = 0; i < host->package_count; i++) {
        if ((size_t)core < host->packages[i].core_count)
            return (int)i;
        core -= (int)host->packages[i].core_count;
    }
    return -1;
}
