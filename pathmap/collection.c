/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Creates the collection plan of the observed processes from the map.
 *
 * The plan distinguishes ranks but not threads.  A collector becomes one line of the
 * plan; if an expanded map gives it different properties on some ranks, one for each
 * set of ranks with the same properties.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "eventspace/operation.h"
#include "pathmap/map.h"
#include "pathmap/path.h"
#include "tuplespace/layout.h"
#include "tuplespace/plan/plan.h"

/* What a collector records on one rank. */
struct slot {
    bool wanted;
    bool done;
    struct esi_path_settings settings;
};

struct draft {
    const struct esi_pathmap *map;
    struct slot *slots; /* one per rank */
    struct es_plan plan;
};

/* --- Slots ------------------------------------------------------------------------ */

/* NULL for the rank's own host. */
static const char *host_of(const struct esi_pathmap_collector *collector)
{
    return collector->plan.host[0] != '\0' ? collector->plan.host : NULL;
}

static void slots_from_collector(struct draft *draft,
                                 const struct esi_pathmap_collector *collector)
{
    const struct esi_collector_plan *plan = &collector->plan;

    for (int rank = 0; rank < draft->map->application.ranks; rank++)
        draft->slots[rank] = (struct slot){
            .wanted = esi_collector_plan_has_rank(plan, rank),
            .settings = {.enabled = plan->enabled,
                         .polls = plan->polls,
                         .threshold = plan->threshold,
                         .full = (int)plan->on_full,
                         .host = host_of(collector)},
        };
}

/* The rank's own host counts as no placement, unless the collector names it, so that
 * all its ranks are on one line. */
static const char *collection_placement(const struct esi_pathmap_path *path,
                                        const struct esi_pathmap_collector *collector,
                                        const char *found)
{
    const char *element = path->stages[1].host, *host = host_of(collector);

    return host != NULL && element != NULL && strcmp(host, element) == 0 ? host : found;
}

static void slots_from_paths(struct draft *draft,
                             const struct esi_pathmap_collector *collector)
{
    memset(draft->slots, 0,
           (size_t)draft->map->application.ranks * sizeof(*draft->slots));
    for (size_t i = 0; i < draft->map->path_count; i++) {
        const struct esi_pathmap_path *path = &draft->map->paths[i];
        if (strcmp(path->collector, collector->plan.name) != 0)
            continue;
        struct slot *slot = &draft->slots[path->rank];
        slot->wanted = true;
        esi_path_settings(path, &slot->settings);
        slot->settings.host =
            collection_placement(path, collector, slot->settings.host);
    }
}

static void slots_of_host(struct draft *draft, const char *host)
{
    for (int rank = 0; host != NULL && rank < draft->map->application.ranks; rank++) {
        const struct esi_pathmap_host *own = esi_pathmap_rank_host(draft->map, rank);
        if (own != NULL && strcmp(own->name, host) != 0)
            draft->slots[rank].wanted = false;
    }
}

/* --- Lines of the plan ------------------------------------------------------------ */

static struct esi_collector_plan *add_line(
    struct draft *draft,
    const struct esi_pathmap_collector *collector,
    const struct esi_path_settings *settings)
{
    struct es_plan *plan = &draft->plan;

    if (ESI_ARRAY_RESERVE(plan->collectors, plan->capacity, plan->count + 1) < 0)
        return NULL;
    struct esi_collector_plan *line = &plan->collectors[plan->count++];
    *line = collector->plan;
    line->ranges = NULL;
    line->range_count = 0;
    line->threshold = (uint32_t)settings->threshold;
    line->on_full = (enum esi_on_full)settings->full;
    line->enabled = settings->enabled;
    line->polls = settings->polls;
    snprintf(line->host, sizeof(line->host), "%s",
             settings->host != NULL ? settings->host : "");
    return line;
}

/* Takes the ranks starting at `from` that have the same properties. */
static int take_ranks(struct draft *draft, int from, struct esi_collector_plan *line)
{
    const struct esi_path_settings settings = draft->slots[from].settings;
    int count = (int)draft->map->application.ranks;
    size_t room = 0;
    bool in_range = false;

    for (int rank = from; rank < count; rank++) {
        struct slot *slot = &draft->slots[rank];
        if (!slot->wanted || slot->done ||
            !esi_path_settings_equal(&slot->settings, &settings)) {
            in_range = false;
            continue;
        }
        slot->done = true;
        if (in_range) {
            line->ranges[line->range_count - 1].last = rank;
            continue;
        }
        if (ESI_ARRAY_RESERVE(line->ranges, room, line->range_count + 1) < 0)
            return -ENOMEM;
        line->ranges[line->range_count++] = (struct esi_rank_range){rank, rank};
        in_range = true;
    }
    return 0;
}

/* All ranks: includes those unknown to the map. */
static void collection_widen(const struct draft *draft, struct esi_collector_plan *line)
{
    if (line->range_count != 1 || line->ranges[0].first != 0 ||
        line->ranges[0].last != draft->map->application.ranks - 1)
        return;
    free(line->ranges);
    line->ranges = NULL;
    line->range_count = 0;
}

static int add_lines(struct draft *draft, const struct esi_pathmap_collector *collector)
{
    for (int rank = 0; rank < draft->map->application.ranks; rank++) {
        const struct slot *slot = &draft->slots[rank];
        if (!slot->wanted || slot->done)
            continue;
        struct esi_collector_plan *line = add_line(draft, collector, &slot->settings);
        if (line == NULL || take_ranks(draft, rank, line) < 0)
            return -ENOMEM;
        collection_widen(draft, line);
    }
    return 0;
}

int esi_pathmap_plan(const struct esi_pathmap *map,
                     const char *host,
                     struct es_error *error,
                     struct es_plan *ret_plan)
{
    struct draft draft = {.map = map};
    int code = 0;

    if (host != NULL && map->cluster.hosts != NULL &&
        esi_pathmap_find_host(map, host) == NULL)
        return es_error_set(error, -ENOENT,
                            "host '%s': not in the pathmap's cluster.hosts", host);
    draft.slots = calloc((size_t)map->application.ranks, sizeof(*draft.slots));
    if (draft.slots == NULL)
        return es_error_set(error, -ENOMEM, "no memory left for the plan");
    for (size_t i = 0; i < map->collector_count && code == 0; i++) {
        if (map->paths != NULL)
            slots_from_paths(&draft, &map->collectors[i]);
        else
            slots_from_collector(&draft, &map->collectors[i]);
        slots_of_host(&draft, host);
        if (code == 0)
            code = add_lines(&draft, &map->collectors[i]);
    }
    free(draft.slots);
    if (code < 0) {
        esi_plan_fini(&draft.plan);
        return es_error_set(error, code, "no memory left for the plan");
    }
    *ret_plan = draft.plan;
    return 0;
}

/* --- Rules of collective trees ---------------------------------------------------- */

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

/* Hosts in no cluster add no information for a process. */
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

static int tree_plan(const struct esi_pathmap *map,
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

/* Only the hosts of the plan are kept. */
static int replace_rules(struct esi_tree_plan *plan, const struct esi_tree_rule *rule)
{
    struct esi_tree_rules rules = {.rules = calloc(1, sizeof *rules.rules), .count = 1};

    if (!rules.rules)
        return -ENOMEM;
    if (esi_tree_rule_copy(rule, rules.rules) < 0) {
        free(rules.rules);
        return -ENOMEM;
    }
    for (size_t i = 0; i < plan->rules.count; i++)
        esi_tree_rule_fini(&plan->rules.rules[i]);
    free(plan->rules.rules);
    plan->rules = rules;
    return 0;
}

int esi_pathmap_tree_text(const struct esi_pathmap *map,
                          const struct esi_tree_rule *rule,
                          struct es_error *error,
                          char **ret_text)
{
    struct esi_tree_plan plan;
    int code = tree_plan(map, error, &plan);

    if (code < 0)
        return code;
    if (rule)
        code = replace_rules(&plan, rule);
    if (code == 0)
        code = esi_tree_plan_format(&plan, ret_text);
    esi_tree_plan_fini(&plan);
    return code;
}

static bool records_trees(const struct es_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++) {
        const struct esi_collector_plan *collector = &plan->collectors[i];
        if ((collector->classes & ES_CLASSES_TREE) != 0 ||
            es_class_by_name(collector->name) >= ES_CLASS_CONTRIBUTE)
            return true;
    }
    return false;
}

int esi_pathmap_add_trees(struct es_plan *plan, uint32_t threshold)
{
    size_t count = plan->count;

    if (records_trees(plan))
        return 0;
    int code = esi_plan_add_trees(plan);
    for (size_t i = count; code == 0 && threshold && i < plan->count; i++)
        plan->collectors[i].threshold = threshold;
    return code;
}
