/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* described_tree.c - plans the tree that the setting `stages` describes.
 *
 * The description is a chain of stages as in a pathmap (docs/pathmap.md).  Each of them
 * exists once for each group of elements that its `per` names; the last one reads the
 * elements of its group. */
#include "config.h"

#include "scopes/described_tree.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "pathmap/pathmap.h"
#include "scopes/host_tree.h"
#include "scopes/run_map.h"
#include "scopes/scope_config.h"

/* The source of the description in errors. */
static const char source[] = "stages";

/* Elements: all of the locations [from .. to), or those in the slots [first .. end) of
 * planner->order if this is one location. */
struct element_group {
    size_t from;
    size_t to;
    size_t first;
    size_t end;
};

/* --- The description -------------------------------------------------------------- */

static bool is_element(const struct esi_pathmap_stage *stage)
{
    return strcmp(stage->type, "element") == 0;
}

static const char *property_of(const struct esi_pathmap_stage *stage, const char *name)
{
    const struct esi_pathmap_property *property =
        esi_pathmap_stage_property(stage, name);

    return property ? property->text : "";
}

/* Whether a stage reduces to the latest tuple, and `per` of the lowest such stage. */
struct reduction {
    bool is_latest;
    int per;
};

/* The scope determines what its elements deliver.  They may read the latest tuples of a
 * scope that takes every tuple if a stage above reduces to these. */
static int check_element(const struct esi_pathmap_stage *stage,
                         const struct es_scope_config *config,
                         const struct reduction *above,
                         struct es_error *error)
{
    bool every = esi_scope_config_reads_every(config);
    const char *read = property_of(stage, "read");

    if (stage->host || stage->collector)
        return es_error_set(error, -EINVAL,
                            "%s: an element is read on its own host, without a "
                            "collector: give '%s' to the stage above",
                            source, stage->host ? "host" : "collector");
    for (size_t i = 0; i < stage->property_count; i++)
        if (strcmp(stage->properties[i].name, "read") != 0)
            return es_error_set(error, -EINVAL,
                                "%s: '%s' of an element is determined by the scope",
                                source, stage->properties[i].name);
    if (strcmp(read, "latest") == 0 && every && !above->is_latest)
        return es_error_set(
            error, -EINVAL,
            "%s: an element reads the latest tuple, but the scope takes "
            "every tuple, and no stage reduces them",
            source);
    if (strcmp(read, "every") == 0 && !every)
        return es_error_set(
            error, -EINVAL,
            "%s: an element reads every tuple, but the scope takes only "
            "the latest",
            source);
    return 0;
}

static int check_take(const struct es_scope_config *config,
                      const struct reduction *found,
                      struct es_error *error)
{
    if (config->take != ES_TAKE_LATEST_OF_THREAD ||
        (found->is_latest && found->per == ES_PER_THREAD))
        return 0;
    return es_error_set(error, -EINVAL,
                        "%s: the scope takes the latest tuple of each thread: expected "
                        "a stage 'reduce' to the latest, per thread",
                        source);
}

/* Notes whether a stage reduces by call site, or to the latest tuple. */
static int check_described(struct esi_planner *planner,
                           const struct esi_pathmap_stage *stage,
                           struct reduction *above,
                           struct es_error *error)
{
    if (stage->child_count > 1)
        return es_error_set(error, -EINVAL,
                            "%s: stage '%s' has several children, which would read the "
                            "same elements",
                            source, stage->name ? stage->name : stage->type);
    if (is_element(stage))
        return check_element(stage, planner->config, above, error);
    if (strcmp(stage->type, "reduce") == 0) {
        const char *to = property_of(stage, "to");

        if (!*to || strcmp(to, "latest") == 0) /* the default */
            *above = (struct reduction){.is_latest = true, .per = stage->per};
        planner->sites |= strcmp(property_of(stage, "by"), "site") == 0;
    }
    return stage->child_count > 0
               ? check_described(planner, stage->children, above, error)
               : 0;
}

/* The tree has no place for what other settings add to a tree. */
static int check_settings(const struct es_scope_config *config, struct es_error *error)
{
    const struct es_tree_config *tree = &config->tree;
    const char *setting = tree->reduce                         ? "reduce"
                          : config->sorting != ES_SORTING_NONE ? "sort"
                          : tree->nodes                        ? "nodes"
                          : tree->threads                      ? "threads"
                          : tree->batch                        ? "batch"
                          : tree->observe                      ? "observe"
                                                               : NULL;

    if (!tree->stages)
        return es_error_set(error, -EINVAL,
                            "the shape 'stages' needs the setting 'stages'");
    if (setting)
        return es_error_set(error, -EINVAL,
                            "'%s' is not for the shape 'stages': describe a stage",
                            setting);
    return 0;
}

static int read_description(struct esi_planner *planner,
                            struct es_error *error,
                            struct esi_pathmap_stage **ret_stages)
{
    const char *text = planner->config->tree.stages;
    struct reduction reduction = {.is_latest = false};
    int result = check_settings(planner->config, error);

    if (result == 0)
        result =
            esi_pathmap_stages_parse(text, strlen(text), source, error, ret_stages);
    if (result == 0)
        result = esi_run_map_check_tree(source, *ret_stages, error);
    if (result == 0)
        result = check_described(planner, *ret_stages, &reduction, error);
    return result == 0 ? check_take(planner->config, &reduction, error) : result;
}

/* --- Stages ----------------------------------------------------------------------- */

/* Where the stage runs; `above` is the host of the stage above. */
static int find_host(const struct esi_planner *planner,
                     const struct esi_pathmap_stage *stage,
                     const struct element_group *group,
                     const char *above,
                     struct es_error *error,
                     const char **ret_host)
{
    const struct es_host_info *info = NULL;
    int result = 0;

    if (stage->host)
        result = esi_planner_find_host(planner, source, stage->host, error, &info);
    *ret_host = info                        ? info->host
                : stage->per >= ES_PER_HOST ? planner->locations[group->from].host
                                            : above;
    return result;
}

static void label_stage(const struct esi_planner *planner,
                        const struct esi_pathmap_stage *stage,
                        const struct element_group *group,
                        char out[96])
{
    const struct esi_host_location *location;
    const struct es_origin *origin;
    const char *cluster;

    if (stage->per == ES_PER_SCOPE) {
        snprintf(out, 96, "%.95s", stage->name ? stage->name : "scope");
        return;
    }
    location = &planner->locations[group->from];
    cluster = esi_host_location_cluster(location);
    origin = &planner->origins[planner->order[group->first]];
    if (stage->per == ES_PER_CLUSTER)
        snprintf(out, 96, "cluster %.80s", cluster ? cluster : "none");
    else if (stage->per == ES_PER_HOST)
        snprintf(out, 96, "host %.80s", location->host);
    else if (stage->per == ES_PER_RANK)
        snprintf(out, 96, "rank %d", origin->rank);
    else if (stage->per == ES_PER_THREAD)
        snprintf(out, 96, "thread %d.%d", origin->rank, origin->thread);
    else
        snprintf(out, 96, "%.95s", origin->name);
}

static int set_properties(struct esi_stage_node *node,
                          const struct esi_pathmap_stage *stage)
{
    int result = 0;

    for (size_t i = 0; i < stage->property_count && result == 0; i++) {
        const struct esi_pathmap_property *property = &stage->properties[i];

        result = esi_stage_node_set(
            node, esi_stage_property_find(stage->type, property->name)->name,
            property->text);
    }
    return result;
}

/* --- Groups ----------------------------------------------------------------------- */

static int add_stages(const struct esi_planner *planner,
                      const struct esi_pathmap_stage *stage,
                      const struct element_group *group,
                      struct esi_stage_node *parent,
                      struct es_error *error);

static struct element_group location_group(const struct esi_planner *planner,
                                           size_t from,
                                           size_t to)
{
    const struct esi_host_location *location = &planner->locations[from];

    return (struct element_group){
        .from = from, .to = to, .first = location->first, .end = location->end};
}

/* The part of the group at a location. */
static struct element_group part_at(const struct esi_planner *planner,
                                    const struct element_group *group,
                                    size_t index)
{
    return group->to == group->from + 1 ? *group
                                        : location_group(planner, index, index + 1);
}

/* Adds the elements of the group.  Those of another host than the parent's are gathered
 * on theirs. */
static int add_elements(const struct esi_planner *planner,
                        const struct element_group *group,
                        struct esi_stage_node *parent)
{
    int result = 0;

    for (size_t i = group->from; i < group->to && result == 0; i++) {
        const struct esi_host_location *location = &planner->locations[i];
        struct element_group part = part_at(planner, group, i);
        struct esi_stage_node *top = parent;

        if (!esi_host_tree_is_together(planner, parent->host, location)) {
            char label[96];

            snprintf(label, sizeof label, "host %.80s", location->host);
            top = esi_host_tree_node(planner, "gather", location->host, label);
            result = esi_stage_node_add(parent, top);
        }
        if (result == 0)
            result = esi_host_tree_add_elements(planner, top, part.first, part.end);
    }
    return result;
}

static int add_below(const struct esi_planner *planner,
                     const struct esi_pathmap_stage *stage,
                     const struct element_group *group,
                     struct esi_stage_node *node,
                     struct es_error *error)
{
    return stage->child_count > 0
               ? add_stages(planner, stage->children, group, node, error)
               : add_elements(planner, group, node);
}

/* A stage that takes one child has a gather below it. */
static int fill_stage(const struct esi_planner *planner,
                      const struct esi_pathmap_stage *stage,
                      const struct element_group *group,
                      struct esi_stage_node *node,
                      struct es_error *error)
{
    struct esi_stage_node *gather;
    int result;

    if (es_stage_find(stage->type)->max_children > 1)
        return add_below(planner, stage, group, node, error);
    gather = esi_host_tree_node(planner, "gather", node->host, node->label);
    if (!gather)
        return -ENOMEM;
    result = add_below(planner, stage, group, gather, error);
    if (esi_stage_node_add(node, esi_stage_node_unwrap(gather)) < 0)
        result = -ENOMEM;
    return result;
}

static int add_stage(const struct esi_planner *planner,
                     const struct esi_pathmap_stage *stage,
                     const struct element_group *group,
                     struct esi_stage_node *parent,
                     struct es_error *error)
{
    struct esi_stage_node *node;
    const char *host;
    char label[96];
    int result;

    if (is_element(stage))
        return add_elements(planner, group, parent);
    result = find_host(planner, stage, group, parent->host, error, &host);
    if (result < 0)
        return result;
    label_stage(planner, stage, group, label);
    node = esi_host_tree_node(planner, es_stage_find(stage->type)->name, host, label);
    if (!node)
        return -ENOMEM;
    result = set_properties(node, stage);
    if (result == 0)
        result = fill_stage(planner, stage, group, node, error);
    if (stage->collector)
        node = esi_host_tree_observed_as(planner, node, stage->collector);
    if (esi_stage_node_add(parent, node) < 0)
        result = -ENOMEM;
    return result;
}

/* Adds the stage for each group of the elements of one host. */
static int add_within_host(const struct esi_planner *planner,
                           const struct esi_pathmap_stage *stage,
                           const struct element_group *group,
                           struct esi_stage_node *parent,
                           struct es_error *error)
{
    struct element_group part = *group;
    int result = 0;

    if (stage->per == ES_PER_HOST)
        return add_stage(planner, stage, group, parent, error);
    for (; part.first < group->end && result == 0; part.first = part.end) {
        part.end = part.first + 1;
        if (stage->per != ES_PER_ELEMENT)
            part.end = esi_planner_group_end(
                planner,
                stage->per == ES_PER_RANK ? ESI_GROUP_PROCESS : ESI_GROUP_THREAD,
                part.first, group->end);
        result = add_stage(planner, stage, &part, parent, error);
    }
    return result;
}

/* Adds the stage for each group of elements that its `per` names. */
static int add_stages(const struct esi_planner *planner,
                      const struct esi_pathmap_stage *stage,
                      const struct element_group *group,
                      struct esi_stage_node *parent,
                      struct es_error *error)
{
    int result = 0;

    if (stage->per == ES_PER_SCOPE)
        return add_stage(planner, stage, group, parent, error);
    for (size_t from = group->from, to; from < group->to && result == 0; from = to) {
        struct element_group part;

        to = stage->per == ES_PER_CLUSTER
                 ? esi_planner_cluster_end(planner, from, group->to)
                 : from + 1;
        part = to == from + 1 ? part_at(planner, group, from)
                              : location_group(planner, from, to);
        result = stage->per == ES_PER_CLUSTER
                     ? add_stage(planner, stage, &part, parent, error)
                     : add_within_host(planner, stage, &part, parent, error);
    }
    return result;
}

int esi_described_tree_plan(struct esi_planner *planner,
                            struct es_error *error,
                            struct esi_stage_node **ret_root)
{
    struct esi_pathmap_stage *stages = NULL;
    struct esi_stage_node *root = NULL;
    struct element_group all = {.to = planner->location_count};
    int result = read_description(planner, error, &stages);

    if (result == 0 && all.to > 0)
        all = location_group(planner, 0, all.to);
    if (result == 0)
        root = esi_host_tree_node(planner, "gather", NULL, "scope");
    if (result == 0)
        result = root ? add_stages(planner, stages, &all, root, error) : -ENOMEM;
    esi_pathmap_stages_destroy(stages);
    if (result < 0) {
        esi_stage_node_destroy(root);
        return result;
    }
    *ret_root = root;
    return 0;
}
