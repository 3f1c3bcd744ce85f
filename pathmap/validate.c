/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Validates a pathmap: hosts, clusters, collectors, and the order of the checks. */
#include "config.h"

#include "pathmap/validate.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { WAY = 96 }; /* maximum length of a path to a member outside of trees */

int esi_check_host(const struct esi_check *check, const char *host, const char *path)
{
    size_t index;

    if (host == NULL || check->map == NULL ||
        esi_names_find(&check->hosts, host, &index))
        return 0;
    return esi_reader_fail_path(
        check->reader, path, "found '%s', expected the name of a host in cluster.hosts",
        host);
}

/* `text` is the original text. */
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
            return esi_reader_fail_path(check->reader, path,
                                        "found '%.60s', expected %s from 0 to %" PRId64,
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

/* Checks that no two records of the list at `path` have the same name. */
static int check_unique(const struct esi_check *check,
                        const struct esi_names *names,
                        const char *path)
{
    char way[ESI_PATH_BYTES];
    size_t index, earlier;

    if (!esi_names_repeat(names, &index, &earlier))
        return 0;
    snprintf(way, sizeof(way), "%s[%zu].name", path, index);
    for (size_t i = 0; i < names->count; i++)
        if (names->items[i].index == index)
            return esi_reader_fail_path(check->reader, way,
                                        "found '%s', which %s[%zu] already has, "
                                        "expected each name once",
                                        names->items[i].text, path, earlier);
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

/* Checks that no processing unit is in two cores. */
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
        "found '%s', expected the name of a cluster in cluster.clusters",
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
    code = check_unique(check, &clusters, "cluster.clusters");
    if (code == 0)
        code = check_unique(check, &check->hosts, "cluster.hosts");
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
    int code = check_unique(check, &check->collectors, "collectors");
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

/* --- Rules of collective trees ---------------------------------------------------- */

/* Checks the members required by the shape, and that edges form a tree. */

static int fail_rule(const struct esi_check *check,
                     size_t index,
                     const char *member,
                     const char *words)
{
    char way[WAY];

    snprintf(way, sizeof(way), "collectives[%zu].%s", index, member);
    return esi_reader_fail_path(check->reader, way, "%s", words);
}

static int check_members(const struct esi_check *check,
                         const struct esi_tree_rule *rule,
                         size_t index)
{
    char way[WAY];

    if (rule->fan_out != 0 && rule->shape != ES_TREE_KARY &&
        rule->shape != ES_TREE_LEVELS)
        return fail_rule(check, index, "fan_out",
                         "expected only where 'shape' is 'kary' or 'levels'");
    if (rule->levels != 0 && rule->shape != ES_TREE_LEVELS)
        return fail_rule(check, index, "levels",
                         "expected only where 'shape' is 'levels'");
    if (rule->edges != NULL && rule->shape != ES_TREE_EXPLICIT)
        return fail_rule(check, index, "edges",
                         "expected only where 'shape' is 'explicit'");
    if (rule->edges == NULL && rule->shape == ES_TREE_EXPLICIT)
        return fail_rule(check, index, "shape",
                         "found 'explicit', expected a member 'edges' with it");
    if (rule->max_bytes >= rule->min_bytes)
        return 0;
    snprintf(way, sizeof(way), "collectives[%zu].max_bytes", index);
    return esi_reader_fail_path(check->reader, way,
                                "found %" PRIu64 ", expected at least the %" PRIu64
                                " of 'min_bytes'",
                                rule->max_bytes, rule->min_bytes);
}

static int check_levels(const struct esi_check *check,
                        const struct esi_tree_rule *rule,
                        size_t index)
{
    if ((rule->levels & ES_TREE_LEVEL_GATEWAY) != 0 &&
        (rule->levels & ES_TREE_LEVEL_CLUSTER) == 0)
        return fail_rule(check, index, "levels",
                         "found 'gateway' alone, expected 'cluster' with it");
    if ((rule->levels & ES_TREE_LEVEL_CLUSTER) != 0 && check->map != NULL &&
        check->map->cluster.cluster_count == 0)
        return fail_rule(check, index, "levels",
                         "found 'cluster', but the map names no clusters: expected "
                         "cluster.clusters");
    return 0;
}

static int check_edges(const struct esi_check *check,
                       const struct esi_tree_rule *rule,
                       size_t index)
{
    const char *expected;
    size_t fault;
    char way[WAY];
    int code = esi_tree_edges_check(rule->edges, rule->edge_count, &fault, &expected);

    if (code == -ENOMEM)
        return esi_reader_fail_memory(check->reader);
    if (code == 0)
        return 0;
    snprintf(way, sizeof(way), "collectives[%zu].edges[%zu]", index, fault);
    return esi_reader_fail_path(check->reader, way, "found [%d, %d], expected %s",
                                rule->edges[fault].parent, rule->edges[fault].child,
                                expected);
}

static int check_rule(const struct esi_check *check,
                      const struct esi_tree_rule *rule,
                      size_t index)
{
    int code = check_members(check, rule, index);

    if (code == 0)
        code = check_levels(check, rule, index);
    return code == 0 && rule->edges != NULL ? check_edges(check, rule, index) : code;
}

int esi_check_rules(const struct esi_check *check, const struct esi_rules *rules)
{
    struct esi_names names;
    int code = esi_names_init(&names, rules->collectives, rules->collective_count,
                              sizeof(*rules->collectives),
                              offsetof(struct esi_pathmap_collective, rule.name), true);

    if (code < 0)
        return esi_reader_fail_memory(check->reader);
    code = check_unique(check, &names, "collectives");
    for (size_t i = 0; i < rules->collective_count && code == 0; i++)
        code = check_rule(check, &rules->collectives[i].rule, i);
    esi_names_fini(&names);
    return code;
}

static int check_map_rules(const struct esi_check *check)
{
    return esi_check_rules(check, &check->map->rules);
}

/* --- Scopes ----------------------------------------------------------------------- */

/* Checks that views are possible, trees are consistent, and placements exist. */

/* Names of all stages of a tree, in the order of the text, and the paths to them. */
struct tree {
    const struct esi_check *check;
    size_t count;
    size_t room;
    struct {
        const char *name;
    } * stages;
};

static int check_view(const struct esi_check *check,
                      const struct esi_pathmap_view *view,
                      const char *path)
{
    int64_t ranks =
        check->map->observes ? ESI_MAX_RANKS : check->map->application.ranks;
    char way[ESI_PATH_BYTES];

    esi_way(way, "%s.view.ranks", path);
    int code = esi_check_ranges(check, view->ranks, ranks, "ranks", way);
    esi_way(way, "%s.view.threads", path);
    if (code == 0)
        code = esi_check_ranges(check, view->threads, ESI_MAX_THREADS, "threads", way);
    return code;
}

static int note_name(struct tree *tree, const char *name)
{
    if (name == NULL)
        return 0;
    if (ESI_ARRAY_RESERVE(tree->stages, tree->room, tree->count + 1) < 0)
        return esi_reader_fail_memory(tree->check->reader);
    tree->stages[tree->count++].name = name;
    return 0;
}

/* The separator between a path and a member; the path to a tree alone is empty. */
static const char *dot_behind(const char *path)
{
    return *path != '\0' ? "." : "";
}

static int check_stage_collector(const struct esi_check *check,
                                 const struct esi_pathmap_stage *stage,
                                 const char *path)
{
    char way[ESI_PATH_BYTES];
    size_t index;

    if (stage->collector == NULL || check->map == NULL ||
        esi_names_find(&check->collectors, stage->collector, &index))
        return 0;
    esi_way(way, "%s%scollector", path, dot_behind(path));
    return esi_reader_fail_path(
        check->reader, way,
        "found '%s', expected the name of a collector in collectors", stage->collector);
}

static int check_per(const struct esi_check *check,
                     const struct esi_pathmap_stage *stage,
                     int parent_per,
                     const char *path)
{
    static const char *const names[] = {"scope", "cluster", "host",
                                        "rank",  "thread",  "element"};
    char way[ESI_PATH_BYTES];

    if (stage->per >= parent_per)
        return 0;
    esi_way(way, "%s%sper", path, dot_behind(path));
    return esi_reader_fail_path(
        check->reader, way,
        "found '%s' below a stage per %s, expected '%s' or narrower", names[stage->per],
        names[parent_per], names[parent_per]);
}

/* `path` has room for the paths to the children: ESI_PATH_BYTES. */
static int check_stage(struct tree *tree,
                       const struct esi_pathmap_stage *stage,
                       int parent_per,
                       int depth,
                       const char *path)
{
    char way[ESI_PATH_BYTES];

    if (depth > ESI_MAX_DEPTH)
        return esi_reader_fail_path(tree->check->reader, path,
                                    "nested deeper than %d stages", ESI_MAX_DEPTH);
    int code = check_per(tree->check, stage, parent_per, path);
    if (code == 0)
        code = check_stage_collector(tree->check, stage, path);
    esi_way(way, "%s%shost", path, dot_behind(path));
    if (code == 0)
        code = esi_check_host(tree->check, stage->host, way);
    if (code == 0)
        code = note_name(tree, stage->name);
    for (size_t i = 0; i < stage->child_count && code == 0; i++) {
        esi_way(way, "%s%schildren[%zu]", path, dot_behind(path), i);
        code = check_stage(tree, &stage->children[i], stage->per, depth + 1, way);
    }
    return code;
}

/* A name shared by two stages cannot place either of them. */
static int check_stage_names(const struct tree *tree, const char *path)
{
    struct esi_names names;
    size_t index, earlier;

    if (esi_names_init(&names, tree->stages, tree->count, sizeof(*tree->stages), 0,
                       false) < 0)
        return esi_reader_fail_memory(tree->check->reader);
    bool repeated = esi_names_repeat(&names, &index, &earlier);
    esi_names_fini(&names);
    if (!repeated)
        return 0;
    return esi_reader_fail_path(tree->check->reader, path,
                                "found two stages named '%s', expected each name once",
                                tree->stages[index].name);
}

static int check_tree(const struct esi_check *check,
                      const struct esi_pathmap_stage *root,
                      const char *path)
{
    struct tree tree = {.check = check};
    int code = check_stage(&tree, root, ES_PER_SCOPE, 1, path);

    if (code == 0)
        code = check_stage_names(&tree, path);
    free(tree.stages);
    return code;
}

int esi_check_stages(const struct esi_reader *reader,
                     const struct esi_pathmap_stage *stages)
{
    const struct esi_check check = {.reader = reader};

    return check_tree(&check, stages, "");
}

static int check_scope(const struct esi_check *check,
                       const struct esi_pathmap_scope *scope,
                       const char *path)
{
    char way[ESI_PATH_BYTES];
    int code = check_view(check, &scope->view, path);

    esi_way(way, "%s.tree", path);
    return code == 0 ? check_tree(check, &scope->tree, way) : code;
}

/* --- Placement of stages ---------------------------------------------------------- */

static bool has_stage(const struct esi_pathmap_stage *stage, const char *name)
{
    if (stage->name != NULL && strcmp(stage->name, name) == 0)
        return true;
    for (size_t i = 0; i < stage->child_count; i++)
        if (has_stage(&stage->children[i], name))
            return true;
    return false;
}

static int check_placement(const struct esi_check *check,
                           const struct esi_names *scopes,
                           size_t index)
{
    const struct esi_stage_mapping *mapping = &check->map->mapping.stages[index];
    char way[ESI_PATH_BYTES];
    size_t scope;

    if (!esi_names_find(scopes, mapping->scope, &scope)) {
        esi_way(way, "mapping.stages[%zu].scope", index);
        return esi_reader_fail_path(
            check->reader, way, "found '%s', expected the name of a scope in scopes",
            mapping->scope);
    }
    if (!has_stage(&check->map->scopes[scope].tree, mapping->stage)) {
        esi_way(way, "mapping.stages[%zu].stage", index);
        return esi_reader_fail_path(
            check->reader, way,
            "found '%s', expected the name of a stage in scope '%s'", mapping->stage,
            mapping->scope);
    }
    esi_way(way, "mapping.stages[%zu].host", index);
    return esi_check_host(check, mapping->host, way);
}

static int check_placements(const struct esi_check *check,
                            const struct esi_names *scopes)
{
    const struct esi_mapping *mapping = &check->map->mapping;

    for (size_t i = 0; i < mapping->stage_count; i++) {
        int code = check_placement(check, scopes, i);
        if (code < 0)
            return code;
        for (size_t j = 0; j < i; j++) {
            char way[ESI_PATH_BYTES];
            if (strcmp(mapping->stages[i].scope, mapping->stages[j].scope) != 0 ||
                strcmp(mapping->stages[i].stage, mapping->stages[j].stage) != 0)
                continue;
            esi_way(way, "mapping.stages[%zu]", i);
            return esi_reader_fail_path(
                check->reader, way,
                "found stage '%s', which mapping.stages[%zu] already has, expected "
                "each stage once",
                mapping->stages[i].stage, j);
        }
    }
    return 0;
}

static int check_scopes(const struct esi_check *check)
{
    const struct esi_pathmap *map = check->map;
    struct esi_names names;
    char way[ESI_PATH_BYTES];

    if (esi_names_init(&names, map->scopes, map->scope_count, sizeof(*map->scopes),
                       offsetof(struct esi_pathmap_scope, name), false) < 0)
        return esi_reader_fail_memory(check->reader);
    int code = check_unique(check, &names, "scopes");
    for (size_t i = 0; i < map->scope_count && code == 0; i++) {
        esi_way(way, "scopes[%zu]", i);
        code = check_scope(check, &map->scopes[i], way);
    }
    if (code == 0)
        code = check_placements(check, &names);
    esi_names_fini(&names);
    return code;
}

/* --- The map ---------------------------------------------------------------------- */

static int check_map(const struct esi_check *check)
{
    static int (*const checks[])(const struct esi_check *) = {
        check_cluster, esi_rank_placements_fill, check_collectors, check_map_rules,
        check_scopes,  esi_check_paths,
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
