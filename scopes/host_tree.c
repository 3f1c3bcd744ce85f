/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* host_tree.c - plans the stages on one host: elements under threads, threads under
 * sockets or the host, and above them the stages that process tuples before they leave
 * the host: filters, batches, observing stages. */
#include "config.h"

#include "scopes/host_tree.h"

#include <stdio.h>
#include <string.h>

#include "eventspace/operation.h"
#include "scopes/scope_config.h"

/* --- Nodes -------------------------------------------------------------------- */

/* If everything is read in one process, stages have no host.  Functions that get NULL
 * fail, too. */
struct esi_stage_node *esi_host_tree_node(const struct esi_planner *planner,
                                          const char *type,
                                          const char *host,
                                          const char *label)
{
    struct esi_stage_node *node =
        esi_stage_node_create(type, esi_planner_stage_host(planner, host));

    if (!node)
        return NULL;
    snprintf(node->label, sizeof node->label, "%s", label);
    if (!esi_planner_is_here(planner, host)) {
        node->ahead = planner->config->tree.ahead;
        node->limit_ns = planner->config->tree.limit_ns;
    }
    return node;
}

/* Returns `node` if `result` is no error; otherwise frees it and returns NULL. */
static struct esi_stage_node *unless_failed(struct esi_stage_node *node, int result)
{
    if (result == 0)
        return node;
    esi_stage_node_destroy(node);
    return NULL;
}

/* Adds a stage of `type` above `node`, and takes ownership of it, even on failure.  It
 * has the same label, because for users it is the same part of the tree. */
static struct esi_stage_node *on_top(const struct esi_planner *planner,
                                     struct esi_stage_node *node,
                                     const char *type)
{
    struct esi_stage_node *top =
        node ? esi_host_tree_node(planner, type, node->host, node->label) : NULL;

    return unless_failed(top, esi_stage_node_add(top, node));
}

static void set_duration(struct esi_stage_node *node, const char *name, uint64_t ns)
{
    esi_stage_node_set_number(node, name, ES_PROPERTY_DURATION, (int64_t)ns);
}

static void set_number(struct esi_stage_node *node, const char *name, size_t number)
{
    esi_stage_node_set_number(node, name, ES_PROPERTY_INTEGER, (int64_t)number);
}

/* --- Stages on top ------------------------------------------------------------ */

struct esi_stage_node *esi_host_tree_observed_as(const struct esi_planner *planner,
                                                 struct esi_stage_node *node,
                                                 const char *name)
{
    struct esi_stage_node *top = on_top(planner, node, "observe");

    return unless_failed(top, esi_stage_node_set(top, "name", name));
}

struct esi_stage_node *esi_host_tree_observed(const struct esi_planner *planner,
                                              struct esi_stage_node *node,
                                              bool wanted)
{
    return wanted && node
               ? esi_host_tree_observed_as(planner, node, planner->observation.name)
               : node;
}

static struct esi_stage_node *filtered_by(const struct esi_planner *planner,
                                          struct esi_stage_node *node,
                                          const char *where)
{
    struct esi_stage_node *top;

    if (!where)
        return node;
    top = on_top(planner, node, "filter");
    return unless_failed(top, esi_stage_node_set(top, "where", where));
}

/* The view's own condition comes first: it costs less than the user's filters may. */
static struct esi_stage_node *filters_on_top(const struct esi_planner *planner,
                                             struct esi_stage_node *node)
{
    return filtered_by(planner, filtered_by(planner, node, planner->view_filter),
                       planner->config->view.filter);
}

/* Returns true if filters are below the reductions: conditions apply to operations, not
 * to summaries or results. */
static bool filters_threads(const struct esi_planner *planner)
{
    return planner->config->tree.reduce != NULL || planner->config->tree.nodes;
}

static bool has_filters(const struct esi_planner *planner)
{
    return planner->view_filter || planner->config->view.filter;
}

struct esi_stage_node *esi_host_tree_filtered(const struct esi_planner *planner,
                                              struct esi_stage_node *node)
{
    return filters_threads(planner) ? node : filters_on_top(planner, node);
}

static void set_batch(const struct esi_planner *planner,
                      struct esi_stage_node *node,
                      const char *name)
{
    const struct es_tree_config *tree = &planner->config->tree;

    set_number(node, name, tree->batch);
    if (tree->batch_wait_ns)
        set_duration(node, "wait", tree->batch_wait_ns);
}

static struct esi_stage_node *batch_on_top(const struct esi_planner *planner,
                                           struct esi_stage_node *node)
{
    struct esi_stage_node *top = on_top(planner, node, "batch");

    set_batch(planner, top, "tuples");
    return top;
}

/* --- Elements ----------------------------------------------------------------- */

static int set_element_properties(const struct esi_planner *planner,
                                  struct esi_stage_node *node)
{
    bool every = esi_scope_config_reads_every(planner->config);
    int result = esi_stage_node_set(node, "read", every ? "every" : "latest");

    if (result == 0 && planner->config->open)
        esi_stage_node_set_number(node, "open", ES_PROPERTY_BOOLEAN, 1);
    if (result == 0 && planner->config->counters)
        esi_stage_node_set_number(node, "counters", ES_PROPERTY_BOOLEAN, 1);
    if (result == 0 && planner->sites)
        esi_stage_node_set_number(node, "sites", ES_PROPERTY_BOOLEAN, 1);
    return result;
}

static struct esi_stage_node *plan_element(const struct esi_planner *planner,
                                           size_t slot)
{
    const struct es_origin *origin = &planner->origins[planner->order[slot]];
    struct esi_stage_node *node =
        esi_host_tree_node(planner, "element", origin->host, origin->name);

    if (node)
        node->origin = (uint32_t)planner->order[slot];
    return unless_failed(node, set_element_properties(planner, node));
}

static int add_elements(const struct esi_planner *planner,
                        struct esi_stage_node *parent,
                        size_t first,
                        size_t end)
{
    int result = 0;

    for (size_t slot = first; slot < end && result == 0; slot++)
        result = esi_stage_node_add(parent, plan_element(planner, slot));
    return result;
}

/* --- Aggregators -------------------------------------------------------------- */

static int set_reduction(const struct esi_planner *planner, struct esi_stage_node *node)
{
    const struct esi_reduction *reduction = &planner->reduction;
    int result = esi_stage_node_set(node, "to", reduction->to);

    if (result == 0 && reduction->of)
        result = esi_stage_node_set(node, "of", reduction->of);
    if (result == 0 && reduction->by)
        result = esi_stage_node_set(node, "by", reduction->by);
    return result;
}

static int set_sorting(const struct esi_planner *planner, struct esi_stage_node *node)
{
    const struct es_scope_config *config = planner->config;
    int result = esi_stage_node_set(
        node, "by", config->sorting == ES_SORTING_STOP ? "stop" : "start");

    if (result == 0)
        set_duration(node, "window", config->window_ns);
    return result;
}

struct esi_stage_node *esi_host_tree_aggregator(const struct esi_planner *planner,
                                                const char *host,
                                                const char *label)
{
    bool reduces = planner->reduction.summarizes;
    bool sorts = !reduces && planner->config->sorting != ES_SORTING_NONE;
    const char *type = reduces ? "reduce" : sorts ? "sort" : "gather";
    struct esi_stage_node *node = esi_host_tree_node(planner, type, host, label);
    int result = 0;

    if (reduces)
        result = set_reduction(planner, node);
    else if (sorts)
        result = set_sorting(planner, node);
    return unless_failed(node, result);
}

struct esi_stage_node *esi_hosts_aggregator(const struct esi_planner *planner,
                                            const char *host,
                                            const char *label)
{
    struct esi_stage_node *node = esi_host_tree_aggregator(planner, host, label);

    if (planner->config->tree.mode != ES_MODE_SEQUENTIAL)
        return node;
    return unless_failed(node, esi_stage_node_set(node, "mode", "sequential"));
}

/* --- Threads ------------------------------------------------------------------ */

/* Sorted elements are direct children of their host, which has a lane for each. */
static bool has_threads(const struct esi_planner *planner)
{
    const struct es_tree_config *tree = &planner->config->tree;

    if (planner->reduction.to)
        return true;
    if (planner->config->sorting != ES_SORTING_NONE)
        return false;
    return tree->shape == ES_SHAPE_VIEWS ||
           (tree->shape == ES_SHAPE_LEVELS && (tree->levels & ES_LEVEL_THREAD));
}

static struct esi_stage_node *new_thread(const struct esi_planner *planner,
                                         const char *type,
                                         size_t first)
{
    const struct es_origin *origin = &planner->origins[planner->order[first]];
    char label[48];

    snprintf(label, sizeof label, "thread %d.%d", origin->rank, origin->thread);
    return esi_host_tree_node(planner, type, origin->host, label);
}

/* The elements of a thread as one child, above which a filter can be placed. */
static struct esi_stage_node *plan_filtered_elements(const struct esi_planner *planner,
                                                     size_t first,
                                                     size_t end)
{
    struct esi_stage_node *node;

    if (end == first + 1)
        return filters_on_top(planner, plan_element(planner, first));
    node = new_thread(planner, "gather", first);
    node = unless_failed(node, add_elements(planner, node, first, end));
    return filters_on_top(planner, node);
}

int esi_host_tree_add_elements(const struct esi_planner *planner,
                               struct esi_stage_node *parent,
                               size_t first,
                               size_t end)
{
    return has_filters(planner)
               ? esi_stage_node_add(parent, plan_filtered_elements(planner, first, end))
               : add_elements(planner, parent, first, end);
}

/* The stage of a thread, which reduces or gathers its elements. */
static struct esi_stage_node *plan_thread(const struct esi_planner *planner,
                                          size_t first,
                                          size_t end)
{
    bool reduces = planner->reduction.to != NULL;
    struct esi_stage_node *node =
        new_thread(planner, reduces ? "reduce" : "gather", first);
    int result = reduces ? set_reduction(planner, node) : 0;

    if (result == 0 && filters_threads(planner))
        result = esi_host_tree_add_elements(planner, node, first, end);
    else if (result == 0)
        result = add_elements(planner, node, first, end);
    return esi_host_tree_observed(planner, unless_failed(node, result),
                                  planner->observation.threads);
}

/* --- Nodes of collective trees ------------------------------------------------- */

static bool has_edges(const struct esi_planner *planner, size_t first, size_t end)
{
    uint32_t classes = 0;

    for (size_t slot = first; slot < end; slot++)
        classes |= planner->origins[planner->order[slot]].classes;
    return (classes & ES_CLASSES_TREE) != 0;
}

/* Adds the stage that analyses a node above its elements, and takes ownership of them.
 * It batches by itself, because results are counted, not the tuples from which they are
 * computed. */
static struct esi_stage_node *analysis_on_top(const struct esi_planner *planner,
                                              struct esi_stage_node *node)
{
    struct esi_stage_node *top = on_top(planner, node, "tree-node");

    if (planner->config->tree.batch > 0)
        set_batch(planner, top, "batch");
    return top;
}

/* The elements of one process, and their analysis. */
static struct esi_stage_node *plan_tree_node(const struct esi_planner *planner,
                                             size_t first,
                                             size_t end)
{
    const struct es_origin *origin = &planner->origins[planner->order[first]];
    struct esi_stage_node *node;
    char label[32];

    snprintf(label, sizeof label, "rank %d", origin->rank);
    node = esi_host_tree_node(planner, "gather", origin->host, label);
    node = unless_failed(node, add_elements(planner, node, first, end));
    return esi_host_tree_observed(
        planner, analysis_on_top(planner, filters_on_top(planner, node)),
        planner->observation.threads);
}

/* Skips ranks that have no tuples of collective trees. */
static int add_tree_nodes(const struct esi_planner *planner,
                          struct esi_stage_node *parent,
                          size_t first,
                          size_t end)
{
    int result = 0;

    for (size_t next; first < end && result == 0; first = next) {
        next = esi_planner_group_end(planner, ESI_GROUP_PROCESS, first, end);
        if (has_edges(planner, first, next))
            result = esi_stage_node_add(parent, plan_tree_node(planner, first, next));
    }
    return result;
}

static int add_threads(const struct esi_planner *planner,
                       struct esi_stage_node *parent,
                       size_t first,
                       size_t end)
{
    int result = 0;

    if (planner->config->tree.nodes)
        return add_tree_nodes(planner, parent, first, end);
    if (!has_threads(planner))
        return add_elements(planner, parent, first, end);
    for (size_t next; first < end && result == 0; first = next) {
        next = esi_planner_group_end(planner, ESI_GROUP_THREAD, first, end);
        result = esi_stage_node_add(parent, plan_thread(planner, first, next));
    }
    return result;
}

/* --- Sockets and hosts -------------------------------------------------------- */

static struct esi_stage_node *plan_socket(const struct esi_planner *planner,
                                          const struct esi_host_location *location,
                                          size_t first,
                                          size_t end)
{
    char label[32];
    struct esi_stage_node *node;

    snprintf(label, sizeof label, "socket %d", planner->sockets[planner->order[first]]);
    node = esi_host_tree_aggregator(planner, location->host, label);
    node = unless_failed(node, add_threads(planner, node, first, end));
    return esi_host_tree_observed(planner, node, planner->observation.threads);
}

/* Ranks whose socket is not known are direct children of their host; so are all ranks
 * if there is only one socket. */
int esi_host_tree_fill(const struct esi_planner *planner,
                       struct esi_stage_node *parent,
                       const struct esi_host_location *location)
{
    size_t end = esi_planner_group_end(planner, ESI_GROUP_SOCKET, location->first,
                                       location->end);
    bool is_one = end == location->end;
    int result = 0;

    for (size_t first = location->first; first < location->end && result == 0;
         first = end) {
        end = esi_planner_group_end(planner, ESI_GROUP_SOCKET, first, location->end);
        if (is_one || planner->sockets[planner->order[first]] < 0)
            result = add_threads(planner, parent, first, end);
        else
            result =
                esi_stage_node_add(parent, plan_socket(planner, location, first, end));
    }
    return result;
}

static bool is_batched(const struct esi_planner *planner,
                       const struct esi_host_location *location)
{
    return planner->config->tree.batch > 0 && !location->direct &&
           !planner->config->tree.nodes;
}

bool esi_host_tree_is_together(const struct esi_planner *planner,
                               const char *host,
                               const struct esi_host_location *location)
{
    return (host && strcmp(host, location->host) == 0) ||
           (location->direct && esi_planner_is_here(planner, host));
}

bool esi_host_tree_is_detour(const struct esi_planner *planner,
                             const struct esi_host_location *location)
{
    const struct es_tree_config *tree = &planner->config->tree;

    if (tree->nodes && tree->node_threads)
        return false;
    if (tree->shape != ES_SHAPE_FLAT &&
        (tree->shape != ES_SHAPE_LEVELS || (tree->levels & ES_LEVEL_HOST)))
        return false;
    return (!has_filters(planner) || filters_threads(planner)) &&
           !is_batched(planner, location) && !planner->observation.hosts;
}

struct esi_stage_node *esi_host_tree_plan(const struct esi_planner *planner,
                                          const struct esi_host_location *location)
{
    char label[96];
    struct esi_stage_node *node;

    snprintf(label, sizeof label, "host %s", location->host);
    node = esi_host_tree_aggregator(planner, location->host, label);
    node = unless_failed(node, esi_host_tree_fill(planner, node, location));
    if (node && node->child_count > 0 && planner->config->tree.nodes &&
        planner->config->tree.node_threads) {
        node->type = "threads";
        set_number(node, "count", planner->config->tree.node_threads);
    }
    node = esi_host_tree_filtered(planner, node);
    if (is_batched(planner, location))
        node = batch_on_top(planner, node);
    return esi_host_tree_observed(planner, node, planner->observation.hosts);
}
