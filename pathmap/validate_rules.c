/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* What rules of collective trees must keep to: members that their shape has, and edges
 * that make a tree. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "pathmap/validate.h"

enum { WAY = 96 };

static int validate_rules_fail(const struct esi_check *check,
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
        return validate_rules_fail(
            check, index, "fan_out",
            "expected only where \"shape\" is \"kary\" or \"levels\"");
    if (rule->levels != 0 && rule->shape != ES_TREE_LEVELS)
        return validate_rules_fail(check, index, "levels",
                                   "expected only where \"shape\" is \"levels\"");
    if (rule->edges != NULL && rule->shape != ES_TREE_EXPLICIT)
        return validate_rules_fail(check, index, "edges",
                                   "expected only where \"shape\" is \"explicit\"");
    if (rule->edges == NULL && rule->shape == ES_TREE_EXPLICIT)
        return validate_rules_fail(
            check, index, "shape",
            "found \"explicit\", expected a member \"edges\" with it");
    if (rule->max_bytes >= rule->min_bytes)
        return 0;
    snprintf(way, sizeof(way), "collectives[%zu].max_bytes", index);
    return esi_reader_fail_path(check->reader, way,
                                "found %" PRIu64 ", expected at least the %" PRIu64
                                " of \"min_bytes\"",
                                rule->max_bytes, rule->min_bytes);
}

static int check_levels(const struct esi_check *check,
                        const struct esi_tree_rule *rule,
                        size_t index)
{
    if ((rule->levels & ES_TREE_LEVEL_GATEWAY) != 0 &&
        (rule->levels & ES_TREE_LEVEL_CLUSTER) == 0)
        return validate_rules_fail(
            check, index, "levels",
            "found \"gateway\" alone, expected \"cluster\" with it");
    if ((rule->levels & ES_TREE_LEVEL_CLUSTER) != 0 && check->map != NULL &&
        check->map->cluster.cluster_count == 0)
        return validate_rules_fail(
            check, index, "levels",
            "found \"cluster\", but the map names no clusters: expected "
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
    code = esi_check_unique(check, &names, "collectives", "name");
    for (size_t i = 0; i < rules->collective_count && code == 0; i++)
        code = check_rule(check, &rules->collectives[i].rule, i);
    esi_names_fini(&names);
    return code;
}

int esi_check_map_rules(const struct esi_check *check)
{
    return esi_check_rules(check, &check->map->rules);
}
