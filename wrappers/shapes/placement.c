/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Where ranks run, and the numbers that shapes reckon with. */
#include "config.h"

#include "wrappers/shapes/placement.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/host.h"

/* --- This thread ---------------------------------------------------------------- */

/* A number that the system tells of a processor; -1 = it does not. */
static int topology(int processor, const char *what)
{
    char path[128];
    FILE *file;
    int number = -1;

    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/%s", processor,
             what);
    file = fopen(path, "re");
    if (file == NULL)
        return -1;
    if (fscanf(file, "%d", &number) != 1)
        number = -1;
    fclose(file);
    return number;
}

/* -1 once two processors differ. */
static int in_common(int number, int other, bool is_first)
{
    return is_first || number == other ? other : -1;
}

void esi_host_info_find(struct esi_host_info *ret_whereabouts)
{
    cpu_set_t allowed;
    bool is_first = true;

    memset(ret_whereabouts, 0, sizeof *ret_whereabouts);
    ret_whereabouts->socket = -1;
    ret_whereabouts->core = -1;
    es_host_name(ret_whereabouts->host);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    for (int i = 0; i < CPU_SETSIZE; i++) {
        if (!CPU_ISSET((size_t)i, &allowed))
            continue;
        ret_whereabouts->socket = in_common(
            ret_whereabouts->socket, topology(i, "physical_package_id"), is_first);
        ret_whereabouts->core =
            in_common(ret_whereabouts->core, topology(i, "core_id"), is_first);
        is_first = false;
    }
    if (ret_whereabouts->socket < 0)
        ret_whereabouts->core = -1;
}

/* --- All ranks ------------------------------------------------------------------ */

static const struct es_tree_host *find_host(const struct es_tree_plan *plan,
                                            const char *name)
{
    for (size_t i = 0; i < plan->host_count; i++)
        if (strcmp(plan->hosts[i].name, name) == 0)
            return &plan->hosts[i];
    return NULL;
}

/* Names in order of their first appearance. */
struct names {
    const char **list;
    int count;
};

static int number_of(const struct names *names, const char *name)
{
    for (int i = 0; i < names->count; i++)
        if (strcmp(names->list[i], name) == 0)
            return i;
    return -1;
}

static int enter(struct names *names, const char *name)
{
    int number = number_of(names, name);

    if (number >= 0)
        return number;
    names->list[names->count] = name;
    return names->count++;
}

static void make_places(const struct esi_host_info *whereabouts,
                        int size,
                        const struct es_tree_plan *plan,
                        struct names names[2],
                        struct esi_location *places)
{
    struct names *hosts = &names[0];
    struct names *clusters = &names[1];

    for (int i = 0; i < size; i++) {
        const struct es_tree_host *host = find_host(plan, whereabouts[i].host);

        places[i] = (struct esi_location){
            .cluster = host != NULL && host->cluster[0] != '\0'
                           ? enter(clusters, host->cluster)
                           : -1,
            .gateway_host = -1,
            .host = enter(hosts, whereabouts[i].host),
            .socket = whereabouts[i].socket,
            .core = whereabouts[i].core,
        };
    }
    for (int i = 0; i < size; i++) { /* now all hosts have numbers */
        const struct es_tree_host *host = find_host(plan, whereabouts[i].host);

        if (host != NULL && host->gateway[0] != '\0')
            places[i].gateway_host = number_of(hosts, host->gateway);
    }
}

int esi_placement_create(const struct esi_host_info *whereabouts,
                         int size,
                         const struct es_tree_plan *plan,
                         struct esi_location **ret_places)
{
    struct esi_location *places = calloc((size_t)size, sizeof *places);
    const char **lists = calloc((size_t)size * 2, sizeof *lists);
    struct names names[2] = {{.list = lists},
                             {.list = lists != NULL ? lists + size : NULL}};

    if (places == NULL || lists == NULL) {
        free(places);
        free(lists);
        return -ENOMEM;
    }
    make_places(whereabouts, size, plan, names, places);
    free(lists);
    *ret_places = places;
    return 0;
}
