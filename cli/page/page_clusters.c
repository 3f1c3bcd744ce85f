/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* page_clusters.c - clusters of hosts, from path maps and tuple servers. */
#include "config.h"

#include "cli/page/page_clusters.h"

#include <stdlib.h>
#include <string.h>

#include "monitors/archive/archive_read.h"
#include "scopes/remote/run_files.h"

static void take_map(const struct esi_pathmap *map, struct esi_diagram *diagram)
{
    for (size_t i = 0; i < esi_pathmap_host_count(map); i++) {
        const struct esi_pathmap_host *host = esi_pathmap_host(map, i);

        if (host->cluster)
            esi_diagram_set_cluster(diagram, host->name, host->cluster);
    }
}

void esi_page_clusters_of_archive(const char *directory, struct esi_diagram *diagram)
{
    struct esi_archive_reader *reader;
    struct esi_pathmap *map;
    char *text;

    if (esi_archive_open(directory, NULL, &reader) < 0)
        return;
    if (esi_archive_read_map(reader, &text) == 0) {
        if (esi_pathmap_parse(text, strlen(text), directory, NULL, &map) == 0) {
            take_map(map, diagram);
            esi_pathmap_destroy(map);
        }
        free(text);
    }
    esi_archive_read_close(reader);
}

void esi_page_clusters_of_run(const struct esi_consumer *consumer,
                              struct esi_diagram *diagram)
{
    struct esi_pathmap *map;

    if (esi_run_map_load(es_run_name(consumer->run), consumer->servers, NULL, &map) < 0)
        return;
    take_map(map, diagram);
    esi_pathmap_destroy(map);
}

void esi_page_clusters_of_servers(const struct esi_consumer *consumer,
                                  struct esi_diagram *diagram)
{
    struct es_server_info info;

    for (size_t i = 0; consumer->servers; i++) {
        if (es_servers_at(consumer->servers, i, &info) < 0)
            return;
        if (info.cluster[0])
            esi_diagram_set_cluster(diagram, info.host, info.cluster);
    }
}
