/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* stage_tree.c - computes gather trees.
 *
 * The shape of views is that of figure 2a of the EventSpace paper: elements under their
 * thread, which reduces or gathers them, threads under their host, hosts under the
 * root.  A host's filters stand on top of its part, so that what is not wanted does not
 * leave the host.  Where the tuples are to be sorted, each host merges its elements,
 * and each joint above the hosts below it.
 *
 * Every shape is made alike: a row of pieces, one for each host, that a row of the
 * table of shapes groups below joints; what is left hangs below the root.
 */
#include "config.h"

#include "scopes/stage_tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scopes/stage_tree_private.h"

enum { FAN_OUT = 8 }; /* of ES_SHAPE_KARY, where nothing is said */

/* --- Shapes ------------------------------------------------------------------- */

/* Groups the pieces below joints.  On failure those that still have a node are freed by
 * the caller. */
typedef int (*arrange_fn)(struct esi_planner *planner,
                          struct esi_tree_piece *pieces,
                          size_t *count);

static int arrange_not(struct esi_planner *planner,
                       struct esi_tree_piece *pieces,
                       size_t *count)
{
    (void)planner;
    (void)pieces;
    (void)count;
    return 0;
}

static int arrange_kary(struct esi_planner *planner,
                        struct esi_tree_piece *pieces,
                        size_t *count)
{
    unsigned fan_out = planner->config->tree.fan_out;

    return esi_arrange_groups(planner, pieces, count, fan_out ? fan_out : FAN_OUT);
}

static const arrange_fn shapes[] = {
    [ES_SHAPE_VIEWS] = arrange_not,         [ES_SHAPE_FLAT] = arrange_not,
    [ES_SHAPE_HOSTS] = arrange_not,         [ES_SHAPE_KARY] = arrange_kary,
    [ES_SHAPE_LEVELS] = esi_arrange_levels,
};

static int check_shape(const struct es_tree_config *tree, struct es_error *error)
{
    if ((size_t)tree->shape >= sizeof shapes / sizeof *shapes)
        return es_error_set(error, -EINVAL, "shape: there is no shape %d", tree->shape);
    if (tree->fan_out == 1)
        return es_error_set(error, -EINVAL,
                            "fan-out: joints of one child make no tree: expected 2 or "
                            "more");
    return 0;
}

/* --- The root ----------------------------------------------------------------- */

/* A flat tree of what is read here alone: its filters stand on top of the root. */
static struct esi_stage_node *plan_flat(const struct esi_planner *planner)
{
    struct esi_stage_node *root = esi_host_tree_aggregator(planner, NULL, "scope");
    int result = root ? 0 : -ENOMEM;

    for (size_t i = 0; i < planner->place_count && result == 0; i++)
        result = esi_host_tree_fill(planner, root, &planner->places[i]);
    if (result < 0) {
        esi_stage_node_destroy(root);
        return NULL;
    }
    return esi_host_tree_filtered(planner, root);
}

static bool is_all_direct(const struct esi_planner *planner)
{
    for (size_t i = 0; i < planner->place_count; i++)
        if (!planner->places[i].direct)
            return false;
    return true;
}

/* A joint over one child is only a detour. */
static struct esi_stage_node *without_single_root(struct esi_stage_node *root)
{
    struct esi_stage_node *child;

    if (root->child_count != 1 || root->children[0]->type == NULL ||
        strcmp(root->children[0]->type, "element") == 0)
        return root;
    child = root->children[0];
    root->child_count = 0;
    esi_stage_node_destroy(root);
    return child;
}

static void free_pieces(struct esi_tree_piece *pieces, size_t count)
{
    for (size_t i = 0; i < count; i++)
        esi_stage_node_destroy(pieces[i].node);
    free(pieces);
}

static int plan_pieces(const struct esi_planner *planner, struct esi_tree_piece *pieces)
{
    for (size_t i = 0; i < planner->place_count; i++) {
        pieces[i] = (struct esi_tree_piece){
            .node = esi_host_tree_plan(planner, &planner->places[i]),
            .first = i,
            .end = i + 1,
        };
        if (!pieces[i].node)
            return -ENOMEM;
    }
    return 0;
}

/* Hangs the pieces below the root. */
static struct esi_stage_node *plan_root(const struct esi_planner *planner,
                                        struct esi_tree_piece *pieces,
                                        size_t count)
{
    struct esi_stage_node *root = esi_hosts_aggregator(planner, NULL, "scope");
    int result = root ? 0 : -ENOMEM;

    for (size_t i = 0; i < count && result == 0; i++)
        result = esi_arrange_add(planner, root, &pieces[i]);
    if (result < 0) {
        esi_stage_node_destroy(root);
        return NULL;
    }
    return root;
}

static struct esi_stage_node *plan_hosts(struct esi_planner *planner)
{
    struct esi_tree_piece *pieces = calloc(planner->place_count + 1, sizeof *pieces);
    struct esi_stage_node *root = NULL;
    size_t count = planner->place_count;
    int result = pieces ? plan_pieces(planner, pieces) : -ENOMEM;

    if (result == 0)
        result = shapes[planner->config->tree.shape](planner, pieces, &count);
    if (result == 0)
        root = plan_root(planner, pieces, count);
    if (pieces)
        free_pieces(pieces, planner->place_count);
    return root;
}

/* --- Threads ------------------------------------------------------------------ */

/* Makes `gather` a stage whose children are pulled by several threads. */
static void make_threads(const struct esi_planner *planner,
                         struct esi_stage_node *gather)
{
    for (size_t i = 0; i < gather->property_count; i++)
        free(gather->properties[i].value);
    gather->property_count = 0;
    gather->type = "threads";
    esi_stage_node_set_number(gather, "count", ES_PROPERTY_INTEGER,
                              planner->config->tree.threads);
}

/* Puts threads between a reduction and its children. */
static int insert_threads(const struct esi_planner *planner,
                          struct esi_stage_node *reduce)
{
    struct esi_stage_node *threads = esi_stage_node_create("threads", reduce->host);

    if (!threads)
        return -ENOMEM;
    snprintf(threads->label, sizeof threads->label, "threads");
    threads->children = reduce->children;
    threads->child_count = reduce->child_count;
    threads->child_capacity = reduce->child_capacity;
    reduce->children = NULL;
    reduce->child_count = 0;
    reduce->child_capacity = 0;
    if (esi_stage_node_add(reduce, threads) < 0)
        return -ENOMEM;
    make_threads(planner, threads);
    return 0;
}

/* The highest joint in the consumer pulls its children by threads.  A sort does not: it
 * needs its children apart, and has asked them all before it waits for the first. */
static int use_threads(const struct esi_planner *planner, struct esi_stage_node *root)
{
    struct esi_stage_node *joint = root;

    while (joint->child_count == 1 && esi_host_tree_is_here(planner, joint->host) &&
           strcmp(joint->type, "tree-node") != 0)
        joint = joint->children[0];
    if (planner->config->tree.threads == 0 || joint->child_count < 2 ||
        !esi_host_tree_is_here(planner, joint->host))
        return 0;
    if (strcmp(joint->type, "gather") == 0) {
        make_threads(planner, joint);
        return 0;
    }
    return strcmp(joint->type, "reduce") == 0 ? insert_threads(planner, joint) : 0;
}

/* --- All of it ---------------------------------------------------------------- */

static struct esi_stage_node *stage_tree_plan(struct esi_planner *planner)
{
    bool is_flat = planner->config->tree.shape == ES_SHAPE_FLAT;
    struct esi_stage_node *whole;
    struct esi_stage_node *root;

    whole =
        is_flat && is_all_direct(planner) ? plan_flat(planner) : plan_hosts(planner);
    if (!whole)
        return NULL;
    root = is_flat ? whole : without_single_root(whole);
    if (use_threads(planner, root) < 0) {
        esi_stage_node_destroy(root);
        return NULL;
    }
    /* The child that took the root's place is observed already, if it is a joint. */
    return esi_host_tree_observed(planner, root,
                                  planner->observation.joints && root == whole);
}

static void free_planner(struct esi_planner *planner)
{
    free(planner->order);
    free(planner->sockets);
    free(planner->hosts_sorted);
    free(planner->places);
    free(planner->joints);
    free(planner->joint_uses);
}

int esi_stage_tree_plan(const struct es_origin *origins,
                        size_t count,
                        const struct es_scope_config *config,
                        const struct esi_host_infos *sites,
                        const char *view_filter,
                        struct es_error *error,
                        struct esi_stage_node **ret_root)
{
    struct esi_planner planner = {.origins = origins,
                                  .count = count,
                                  .config = config,
                                  .sites = sites,
                                  .view_filter = view_filter};
    struct esi_stage_node *root = NULL;
    int result = check_shape(&config->tree, error);

    if (result == 0)
        result = esi_locations_find(&planner);
    if (result == 0)
        result = esi_settings_read(&planner, error);
    if (result == 0) {
        root = stage_tree_plan(&planner);
        result = root ? 0 : -ENOMEM;
    }
    free_planner(&planner);
    if (result == 0)
        *ret_root = root;
    return result;
}
