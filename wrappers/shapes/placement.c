/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Where ranks run, as the numbers used by shapes. */
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

/* A number of a processor in the system's topology; -1 if not available. */
static int read_topology(int processor, const char *what)
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

/* -1 if two processors differ. */
static int common_number(int number, int other, bool is_first)
{
    return is_first || number == other ? other : -1;
}

void esi_host_info_find(struct esi_host_info *ret_info)
{
    cpu_set_t allowed;
    bool is_first = true;

    memset(ret_info, 0, sizeof *ret_info);
    ret_info->socket = -1;
    ret_info->core = -1;
    esi_host_name(ret_info->host);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    for (int i = 0; i < CPU_SETSIZE; i++) {
        if (!CPU_ISSET((size_t)i, &allowed))
            continue;
        ret_info->socket = common_number(
            ret_info->socket, read_topology(i, "physical_package_id"), is_first);
        ret_info->core =
            common_number(ret_info->core, read_topology(i, "core_id"), is_first);
        is_first = false;
    }
    if (ret_info->socket < 0)
        ret_info->core = -1;
}

/* --- All ranks ------------------------------------------------------------------ */

static const struct esi_tree_host *find_host(const struct esi_tree_plan *plan,
                                             const char *name)
{
    for (size_t i = 0; i < plan->host_count; i++)
        if (strcmp(plan->hosts[i].name, name) == 0)
            return &plan->hosts[i];
    return NULL;
}

/* Names in the order of their first appearance. */
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

static int add_name(struct names *names, const char *name)
{
    int number = number_of(names, name);

    if (number >= 0)
        return number;
    names->list[names->count] = name;
    return names->count++;
}

static void fill_locations(const struct esi_host_info *infos,
                           int size,
                           const struct esi_tree_plan *plan,
                           struct names names[2],
                           struct esi_location *locations)
{
    struct names *hosts = &names[0];
    struct names *clusters = &names[1];

    for (int i = 0; i < size; i++) {
        const struct esi_tree_host *host = find_host(plan, infos[i].host);

        locations[i] = (struct esi_location){
            .cluster = host != NULL && host->cluster[0] != '\0'
                           ? add_name(clusters, host->cluster)
                           : -1,
            .gateway_host = -1,
            .host = add_name(hosts, infos[i].host),
            .socket = infos[i].socket,
            .core = infos[i].core,
        };
    }
    for (int i = 0; i < size; i++) { /* now all hosts have numbers */
        const struct esi_tree_host *host = find_host(plan, infos[i].host);

        if (host != NULL && host->gateway[0] != '\0')
            locations[i].gateway_host = number_of(hosts, host->gateway);
    }
}

int esi_placement_create(const struct esi_host_info *infos,
                         int size,
                         const struct esi_tree_plan *plan,
                         struct esi_location **ret_locations)
{
    struct esi_location *locations = calloc((size_t)size, sizeof *locations);
    const char **lists = calloc((size_t)size * 2, sizeof *lists);
    struct names names[2] = {{.list = lists},
                             {.list = lists != NULL ? lists + size : NULL}};

    if (locations == NULL || lists == NULL) {
        free(locations);
        free(lists);
        return -ENOMEM;
    }
    fill_locations(infos, size, plan, names, locations);
    free(lists);
    *ret_locations = locations;
    return 0;
}
