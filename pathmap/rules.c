/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* From the map to the rules of collective trees that the observed processes read. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/map.h"

int esi_rules_fill(const struct esi_rules *said, struct esi_tree_plan *plan)
{
    int code = 0;

    plan->rules.rules = calloc(said->collective_count + 1, sizeof(*plan->rules.rules));
    if (plan->rules.rules == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < said->collective_count && code == 0; i++) {
        struct esi_tree_rule *rule = &plan->rules.rules[i];
        code = esi_tree_rule_copy(&said->collectives[i].rule, rule);
        if (code == 0) {
            esi_tree_rule_complete(rule);
            plan->rules.count++;
        }
    }
    return code;
}

static const char *gateway_of(const struct esi_pathmap *map, const char *cluster)
{
    for (size_t i = 0; i < map->cluster.cluster_count; i++)
        if (strcmp(map->cluster.clusters[i].name, cluster) == 0)
            return map->cluster.clusters[i].gateway;
    return NULL;
}

/* Hosts in no cluster say nothing that a process does not know. */
static int fill_hosts(const struct esi_pathmap *map, struct esi_tree_plan *plan)
{
    plan->hosts = calloc(map->cluster.host_count + 1, sizeof(*plan->hosts));
    if (plan->hosts == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < map->cluster.host_count; i++) {
        const struct esi_pathmap_host *said = &map->cluster.hosts[i];
        struct esi_tree_host *host = &plan->hosts[plan->host_count];
        if (said->cluster == NULL)
            continue;
        const char *gateway = gateway_of(map, said->cluster);
        snprintf(host->name, sizeof(host->name), "%s", said->name);
        snprintf(host->cluster, sizeof(host->cluster), "%s", said->cluster);
        snprintf(host->gateway, sizeof(host->gateway), "%s",
                 gateway != NULL ? gateway : "");
        plan->host_count++;
    }
    return 0;
}

int esi_pathmap_tree_plan(const struct esi_pathmap *map,
                          struct es_error *error,
                          struct esi_tree_plan *ret_plan)
{
    struct esi_tree_plan plan = {.hosts = NULL};
    int code = fill_hosts(map, &plan);

    if (code == 0)
        code = esi_rules_fill(&map->rules, &plan);
    if (code < 0) {
        esi_tree_plan_fini(&plan);
        return es_error_set(error, code, "no memory left for the rules of trees");
    }
    *ret_plan = plan;
    return 0;
}
