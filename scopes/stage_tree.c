/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* stage_tree.c - computes gather trees.
 *
 * The shape of views is that of figure 2a of the EventSpace paper: elements under their
 * thread, which reduces or gathers them, threads under their host, hosts under the
 * root.  A host's filters stand on top of its part, so that what is not wanted does not
 * leave the host.  Where the tuples are to be sorted, each host merges its elements and
 * the root merges the hosts.
 */
#include "config.h"

#include "scopes/stage_tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct planner {
    const struct es_origin *origins;
    size_t *order; /* indices of origins by host, rank, process, thread, index */
    size_t count;
    const struct es_scope_config *config;
    const char *view_filter;
};

/* --- Order of the elements --------------------------------------------------- */

static int compare_numbers(long a, long b)
{
    return (a > b) - (a < b);
}

static int compare_threads(const struct es_origin *a, const struct es_origin *b)
{
    int order = strcmp(a->host, b->host);

    if (order == 0)
        order = compare_numbers(a->rank, b->rank);
    if (order == 0)
        order = compare_numbers(a->pid, b->pid);
    return order ? order : compare_numbers(a->thread, b->thread);
}

static int compare_origins(const void *first, const void *second, void *data)
{
    const struct es_origin *origins = data;
    size_t a = *(const size_t *)first;
    size_t b = *(const size_t *)second;
    int order = compare_threads(&origins[a], &origins[b]);

    return order ? order : compare_numbers((long)a, (long)b);
}

static int order_origins(struct planner *planner)
{
    planner->order = calloc(planner->count + 1, sizeof *planner->order);
    if (!planner->order)
        return -ENOMEM;
    for (size_t i = 0; i < planner->count; i++)
        planner->order[i] = i;
    qsort_r(planner->order, planner->count, sizeof *planner->order, compare_origins,
            (void *)planner->origins);
    return 0;
}

static const struct es_origin *origin_at(const struct planner *planner, size_t place)
{
    return &planner->origins[planner->order[place]];
}

/* First place behind `from` whose thread (or host) is another one. */
static size_t end_of_thread(const struct planner *planner, size_t from, size_t end)
{
    size_t place = from + 1;

    while (place < end &&
           compare_threads(origin_at(planner, from), origin_at(planner, place)) == 0)
        place++;
    return place;
}

static size_t end_of_host(const struct planner *planner, size_t from)
{
    size_t place = from + 1;

    while (place < planner->count &&
           strcmp(origin_at(planner, from)->host, origin_at(planner, place)->host) == 0)
        place++;
    return place;
}

/* --- Stages ------------------------------------------------------------------ */

static bool takes_every(const struct planner *planner)
{
    return planner->config->take == ES_TAKE_EVERY ||
           planner->config->take == ES_TAKE_NEW;
}

static int set_element_properties(const struct planner *planner,
                                  struct es_stage_node *node)
{
    int result =
        es_stage_node_set(node, "read", takes_every(planner) ? "every" : "latest");

    if (result == 0 && planner->config->open)
        result = es_stage_node_set(node, "open", "yes");
    if (result == 0 && planner->config->counters)
        result = es_stage_node_set(node, "counters", "yes");
    return result;
}

static int add_element(const struct planner *planner,
                       struct es_stage_node *parent,
                       size_t place)
{
    const struct es_origin *origin = origin_at(planner, place);
    struct es_stage_node *node = es_stage_node_create("element", origin->host);

    if (!node)
        return -ENOMEM;
    node->origin = (uint32_t)planner->order[place];
    snprintf(node->label, sizeof node->label, "%s", origin->name);
    if (set_element_properties(planner, node) < 0) {
        es_stage_node_destroy(node);
        return -ENOMEM;
    }
    return es_stage_node_add(parent, node);
}

static int add_elements(const struct planner *planner,
                        struct es_stage_node *parent,
                        size_t first,
                        size_t end)
{
    int result = 0;

    for (size_t place = first; place < end && result == 0; place++)
        result = add_element(planner, parent, place);
    return result;
}

/* The stage that stands for a thread: reduces or gathers its elements. */
static int add_thread(const struct planner *planner,
                      struct es_stage_node *parent,
                      size_t first,
                      size_t end)
{
    const struct es_origin *origin = origin_at(planner, first);
    bool reduces = planner->config->take == ES_TAKE_LATEST_OF_THREAD;
    struct es_stage_node *node =
        es_stage_node_create(reduces ? "reduce" : "gather", origin->host);
    int result;

    if (!node)
        return -ENOMEM;
    snprintf(node->label, sizeof node->label, "thread %d.%d", origin->rank,
             origin->thread);
    result = reduces ? es_stage_node_set(node, "to", "latest") : 0;
    if (result == 0)
        result = add_elements(planner, node, first, end);
    if (result < 0) {
        es_stage_node_destroy(node);
        return result;
    }
    return es_stage_node_add(parent, node);
}

static bool has_threads(const struct planner *planner)
{
    const struct es_scope_config *config = planner->config;

    return config->take == ES_TAKE_LATEST_OF_THREAD ||
           (config->tree.shape == ES_SHAPE_VIEWS && config->sorting == ES_SORTING_NONE);
}

/* What lies below a host or the root of a flat tree. */
static int add_part(const struct planner *planner,
                    struct es_stage_node *parent,
                    size_t first,
                    size_t end)
{
    int result = 0;

    if (!has_threads(planner))
        return add_elements(planner, parent, first, end);
    for (size_t next; first < end && result == 0; first = next) {
        next = end_of_thread(planner, first, end);
        result = add_thread(planner, parent, first, next);
    }
    return result;
}

/* A gather, or a sort where the tuples are to be in order. */
static struct es_stage_node *new_joint(const struct planner *planner, const char *host)
{
    const struct es_scope_config *config = planner->config;
    bool sorts = config->sorting != ES_SORTING_NONE;
    struct es_stage_node *node = es_stage_node_create(sorts ? "sort" : "gather", host);
    char window[32];
    int result = 0;

    if (node && sorts) {
        snprintf(window, sizeof window, "%lluns",
                 (unsigned long long)config->window_ns);
        result = es_stage_node_set(
            node, "by", config->sorting == ES_SORTING_STOP ? "stop" : "start");
        if (result == 0)
            result = es_stage_node_set(node, "window", window);
    }
    if (result < 0) {
        es_stage_node_destroy(node);
        return NULL;
    }
    if (node)
        snprintf(node->label, sizeof node->label, "%s%s", host ? "host " : "scope",
                 host ? host : "");
    return node;
}

/* Puts a filter on top of `node`, which it takes, also on failure.  NULL: no memory. */
static struct es_stage_node *filtered(struct es_stage_node *node, const char *where)
{
    struct es_stage_node *filter;

    if (!node || !where)
        return node;
    filter = es_stage_node_create("filter", node->host);
    if (!filter) {
        es_stage_node_destroy(node);
        return NULL;
    }
    snprintf(filter->label, sizeof filter->label, "filter");
    if (es_stage_node_add(filter, node) < 0 ||
        es_stage_node_set(filter, "where", where) < 0) {
        es_stage_node_destroy(filter);
        return NULL;
    }
    return filter;
}

/* The subtree of one host, or with host NULL the flat tree of all. */
static struct es_stage_node *plan_part(const struct planner *planner,
                                       const char *host,
                                       size_t first,
                                       size_t end)
{
    struct es_stage_node *node = new_joint(planner, host);

    if (!node)
        return NULL;
    if (add_part(planner, node, first, end) < 0) {
        es_stage_node_destroy(node);
        return NULL;
    }
    /* The view's own condition first: it costs less than what a person may have
     * written. */
    return filtered(filtered(node, planner->view_filter), planner->config->view.filter);
}

static int plan_hosts(const struct planner *planner, struct es_stage_node **ret_root)
{
    struct es_stage_node *root = new_joint(planner, NULL);
    int result = root ? 0 : -ENOMEM;

    for (size_t first = 0, next; first < planner->count && result == 0; first = next) {
        next = end_of_host(planner, first);
        result = es_stage_node_add(
            root, plan_part(planner, origin_at(planner, first)->host, first, next));
    }
    if (result < 0) {
        es_stage_node_destroy(root);
        return result;
    }
    *ret_root = root;
    return 0;
}

/* A joint over one child is only a detour. */
static void drop_single_root(struct es_stage_node **root)
{
    struct es_stage_node *node = *root;

    if (node->child_count != 1 || node->host)
        return;
    *root = node->children[0];
    node->child_count = 0;
    es_stage_node_destroy(node);
}

int es_stage_tree_plan(const struct es_origin *origins,
                       size_t count,
                       const struct es_scope_config *config,
                       const struct es_sites *sites,
                       const char *view_filter,
                       struct es_error *error,
                       struct es_stage_node **ret_root)
{
    struct planner planner = {.origins = origins,
                              .count = count,
                              .config = config,
                              .view_filter = view_filter};
    struct es_stage_node *root = NULL;
    int result = order_origins(&planner);

    (void)sites;
    (void)error;

    if (result == 0 && config->tree.shape == ES_SHAPE_FLAT) {
        root = plan_part(&planner, NULL, 0, count);
        result = root ? 0 : -ENOMEM;
    } else if (result == 0) {
        result = plan_hosts(&planner, &root);
        if (result == 0)
            drop_single_root(&root);
    }
    free(planner.order);
    if (result == 0)
        *ret_root = root;
    return result;
}
