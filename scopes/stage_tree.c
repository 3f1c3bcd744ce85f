/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* stage_tree.c - computes gather trees.
 *
 * The shape of views is that of figure 2a of the EventSpace paper: elements under their
 * thread, which reduces or gathers them, threads under their host, hosts under the
 * root.  The filters of a host are above its part, so that unwanted tuples do not leave
 * the host.  If the tuples are to be sorted, each host merges its elements, and each
 * aggregator above merges the hosts below it.
 *
 * All shapes are computed alike: they start with a row of pieces, one per host, which
 * are grouped below aggregators as described by the table of shapes; the remaining
 * pieces are placed below the root.
 *
 * Grouping works from the hosts upward: neighbours become children of an aggregator,
 * which replaces them in the row.  Hosts are ordered by gateway and cluster, so
 * neighbours are close to each other.  Every pass visits each piece once, and a pass
 * that does not shrink the row is followed by one that does: O(n) in total.
 *
 * Pieces in the consumer are never placed below an aggregator on another host, because
 * their tuples would be sent there and back. */
#include "config.h"

#include "scopes/stage_tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scopes/described_tree.h"
#include "scopes/host_tree.h"

static bool is_same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* A subtree, and the facts required to place it. */
struct tree_piece {
    struct esi_stage_node *node; /* owned */
    size_t first;                /* the locations it covers */
    size_t end;
};

/* --- Where an aggregator stands ------------------------------------------------ */

/* The less used of two hosts; NULL if there is none. */
static struct esi_listed_host *less_used(struct esi_listed_host *best,
                                         struct esi_listed_host *other)
{
    return best && best->uses <= other->uses ? best : other;
}

/* The listed host with the fewest aggregators, preferably one that the aggregator
 * covers. */
static const char *listed_host(struct esi_planner *planner, size_t first, size_t end)
{
    struct esi_listed_host *near = NULL;
    struct esi_listed_host *best = NULL;

    for (size_t i = 0; i < planner->listed_count; i++)
        best = less_used(best, &planner->listed[i]);
    for (size_t at = first; at < end; at++)
        for (size_t i = 0; i < planner->listed_count; i++)
            if (planner->listed[i].info == planner->locations[at].info)
                near = less_used(near, &planner->listed[i]);
    best = near ? near : best;
    best->uses++;
    return best->info->host;
}

/* The host for an aggregator over these locations: a listed one, otherwise the first of
 * them that has a server.  NULL if none has: the aggregator is placed with its
 * parent. */
static const char *host_for(struct esi_planner *planner, size_t first, size_t end)
{
    if (planner->listed_count > 0)
        return listed_host(planner, first, end);
    for (size_t i = first; i < end; i++) {
        const struct esi_host_location *location = &planner->locations[i];

        if (!location->here && location->info && location->info->has_server)
            return location->host;
    }
    return NULL;
}

/* --- Joints over pieces -------------------------------------------------------- */

/* The location of a piece; NULL if it covers several. */
static const struct esi_host_location *only_location(const struct esi_planner *planner,
                                                     const struct tree_piece *piece)
{
    return piece->end == piece->first + 1 ? &planner->locations[piece->first] : NULL;
}

/* Returns true if it is on the consumer's host, or an aggregator of its cluster. */
static bool is_here(const struct esi_planner *planner, const struct tree_piece *piece)
{
    const char *here = planner->infos ? planner->infos->here : NULL;

    return here && is_same(piece->node->host, here);
}

static int add_piece(const struct esi_planner *planner,
                     struct esi_stage_node *aggregator,
                     struct tree_piece *piece)
{
    const struct esi_host_location *location = only_location(planner, piece);
    struct esi_stage_node *node = piece->node;
    bool together =
        location && esi_host_tree_is_together(planner, aggregator->host, location);
    int result = 0;

    piece->node = NULL;
    if (!together || !esi_host_tree_is_detour(planner, location))
        return esi_stage_node_add(aggregator, node);
    for (size_t i = 0; i < node->child_count; i++) {
        struct esi_stage_node *child = node->children[i];

        node->children[i] = NULL;
        if (result == 0)
            result = esi_stage_node_add(aggregator, child);
        else
            esi_stage_node_destroy(child);
    }
    esi_stage_node_destroy(node);
    return result;
}

/* Creates an aggregator over the pieces [from .. to), and takes ownership of their
 * nodes.  Returns NULL if out of memory. */
static struct esi_stage_node *aggregate_pieces(const struct esi_planner *planner,
                                               struct tree_piece *pieces,
                                               size_t from,
                                               size_t to,
                                               const char *host,
                                               const char *label)
{
    struct esi_stage_node *node = esi_hosts_aggregator(planner, host, label);
    int result = node ? 0 : -ENOMEM;

    for (size_t i = from; i < to && result == 0; i++)
        result = add_piece(planner, node, &pieces[i]);
    if (result == 0)
        return node;
    esi_stage_node_destroy(node);
    return NULL;
}

/* Replaces the pieces [from .. to) by an aggregator over them, at `from`. */
static int join_pieces(struct esi_planner *planner,
                       struct tree_piece *pieces,
                       size_t from,
                       size_t to,
                       const char *host,
                       const char *label)
{
    struct tree_piece joined = {.first = SIZE_MAX};

    for (size_t i = from; i < to; i++) {
        if (pieces[i].first < joined.first)
            joined.first = pieces[i].first;
        if (pieces[i].end > joined.end)
            joined.end = pieces[i].end;
    }
    joined.node = esi_host_tree_observed(
        planner, aggregate_pieces(planner, pieces, from, to, host, label),
        planner->observation.joints);
    if (!joined.node)
        return -ENOMEM;
    pieces[from] = joined;
    return 0;
}

/* --- Groups -------------------------------------------------------------------- */

static const char *cluster_of(const struct esi_planner *planner, size_t index)
{
    return esi_host_location_cluster(&planner->locations[index]);
}

/* Returns true if the piece is within one cluster, which is that of the location. */
static bool is_within(const struct esi_planner *planner,
                      const struct tree_piece *piece,
                      size_t index)
{
    const char *cluster = cluster_of(planner, index);

    return is_same(cluster_of(planner, piece->first), cluster) &&
           is_same(cluster_of(planner, piece->end - 1), cluster);
}

/* First piece after `from` that is in another cluster. */
static size_t end_of_cluster(const struct esi_planner *planner,
                             const struct tree_piece *pieces,
                             size_t from,
                             size_t count)
{
    size_t at = from + 1;

    if (!is_within(planner, &pieces[from], pieces[from].first))
        return at;
    while (at < count && is_within(planner, &pieces[at], pieces[from].first))
        at++;
    return at;
}

static int join_group(struct esi_planner *planner,
                      struct tree_piece *pieces,
                      size_t from,
                      size_t to)
{
    size_t first = pieces[from].first;
    size_t end = pieces[to - 1].end;
    char label[96];

    if (to == from + 1)
        return 0;
    snprintf(label, sizeof label, "hosts %.40s to %.40s",
             planner->locations[first].host, planner->locations[end - 1].host);
    return join_pieces(planner, pieces, from, to, host_for(planner, first, end), label);
}

/* Divides [from .. to) into groups of similar size and joins each; moves them to *out,
 * which advances. */
static int join_run(struct esi_planner *planner,
                    struct tree_piece *pieces,
                    size_t from,
                    size_t to,
                    size_t fan_out,
                    size_t *out)
{
    size_t groups = (to - from + fan_out - 1) / fan_out;

    for (size_t group = 0; group < groups; group++) {
        size_t next = from + (to - from) / (groups - group);
        int result = join_group(planner, pieces, from, next);
        struct tree_piece joined = pieces[from];

        if (result < 0)
            return result;
        pieces[from].node = NULL;
        pieces[(*out)++] = joined;
        from = next;
    }
    return 0;
}

/* Does one pass over the pieces; groups do not cross clusters unless allowed. */
static int join_once(struct esi_planner *planner,
                     struct tree_piece *pieces,
                     size_t *count,
                     size_t fan_out,
                     bool may_straddle)
{
    size_t out = 0;
    int result = 0;

    for (size_t from = 0, to; from < *count && result == 0; from = to) {
        to = may_straddle ? *count : end_of_cluster(planner, pieces, from, *count);
        result = join_run(planner, pieces, from, to, fan_out, &out);
    }
    if (result == 0)
        *count = out;
    return result;
}

/* Moves the piece in the consumer to the front.  Returns the number of such pieces: 0
 * or 1. */
static size_t bring_here_forward(const struct esi_planner *planner,
                                 struct tree_piece *pieces,
                                 size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct tree_piece piece = pieces[i];

        if (!is_here(planner, &piece))
            continue;
        memmove(pieces + 1, pieces, i * sizeof *pieces);
        pieces[0] = piece;
        return 1;
    }
    return 0;
}

static int arrange_groups(struct esi_planner *planner,
                          struct tree_piece *pieces,
                          size_t *count,
                          size_t fan_out)
{
    size_t kept = *count > fan_out ? bring_here_forward(planner, pieces, *count) : 0;
    size_t rest = *count - kept;
    int result = 0;

    while (result == 0 && rest + kept > fan_out) {
        size_t before = rest;

        result = join_once(planner, pieces + kept, &rest, fan_out, false);
        if (result == 0 && rest == before)
            result = join_once(planner, pieces + kept, &rest, fan_out, true);
    }
    if (result == 0)
        *count = rest + kept;
    return result;
}

/* --- Levels -------------------------------------------------------------------- */

/* Processes the pieces of one cluster, or behind one gateway. */
typedef int (*run_fn)(struct esi_planner *planner,
                      struct tree_piece *pieces,
                      size_t *count);
/* The common key of the pieces of one run; NULL if they are left unchanged. */
typedef const char *(*key_fn)(const struct esi_host_location *location);

static int arrange_runs(struct esi_planner *planner,
                        struct tree_piece *pieces,
                        size_t *count,
                        key_fn key_of,
                        run_fn arrange)
{
    size_t out = 0;
    int result = 0;

    for (size_t from = 0, to; from < *count && result == 0; from = to) {
        const char *key = key_of(&planner->locations[pieces[from].first]);
        size_t left = 1;

        for (to = from + 1; key && to < *count; to++, left++)
            if (!is_same(key, key_of(&planner->locations[pieces[to].first])))
                break;
        if (key)
            result = arrange(planner, &pieces[from], &left);
        for (size_t i = 0; i < left && result == 0; i++) {
            struct tree_piece piece = pieces[from + i];

            pieces[from + i].node = NULL;
            pieces[out++] = piece;
        }
    }
    if (result == 0)
        *count = out;
    return result;
}

/* The consumer's host if the pieces cover it, otherwise NULL. */
static const char *consumers_host(const struct esi_planner *planner,
                                  const struct tree_piece *pieces,
                                  size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t at = pieces[i].first; at < pieces[i].end; at++)
            if (planner->locations[at].here)
                return planner->locations[at].host;
    return NULL;
}

static int bound_fan_out(struct esi_planner *planner,
                         struct tree_piece *pieces,
                         size_t *count)
{
    unsigned fan_out = planner->config->tree.fan_out;

    return fan_out ? arrange_groups(planner, pieces, count, fan_out) : 0;
}

/* The consumer's own cluster is joined on the consumer's host. */
static int arrange_cluster(struct esi_planner *planner,
                           struct tree_piece *pieces,
                           size_t *count)
{
    const char *host = consumers_host(planner, pieces, *count);
    size_t first = pieces[0].first;
    size_t end = pieces[*count - 1].end;
    char label[96];
    int result;

    if (*count == 1)
        return 0;
    result = bound_fan_out(planner, pieces, count);
    if (result < 0)
        return result;
    snprintf(label, sizeof label, "cluster %.80s", cluster_of(planner, first));
    if (!host)
        host = host_for(planner, first, end);
    result = join_pieces(planner, pieces, 0, *count, host, label);
    if (result == 0)
        *count = 1;
    return result;
}

/* The gateway host of a location's cluster, if stages can run there. */
static const char *gateway_host(const struct esi_planner *planner,
                                const struct esi_host_location *location)
{
    const char *gateway = esi_host_location_gateway(location);
    const struct es_host_info *info =
        gateway ? esi_planner_host_info(planner, gateway) : NULL;

    return info && info->has_server ? info->host : NULL;
}

/* A consumer in the cluster or on the gateway needs no gateway stage.  An aggregator
 * over one child relays data from another host; it is omitted if the child is on the
 * same host. */
static int arrange_gateway(struct esi_planner *planner,
                           struct tree_piece *pieces,
                           size_t *count)
{
    const struct esi_host_location *location = &planner->locations[pieces[0].first];
    const char *host = planner->listed_count ? NULL : gateway_host(planner, location);
    const char *gateway = esi_host_location_gateway(location);
    char label[96];
    int result;

    if (consumers_host(planner, pieces, *count) ||
        (planner->infos->here && is_same(gateway, planner->infos->here)))
        return 0;
    if (!host)
        host = host_for(planner, pieces[0].first, pieces[*count - 1].end);
    result = bound_fan_out(planner, pieces, count);
    if (result < 0 || (*count == 1 && (!host || is_same(host, pieces[0].node->host))))
        return result;
    snprintf(label, sizeof label, "gateway %.80s",
             gateway ? gateway : esi_host_location_cluster(location));
    result = join_pieces(planner, pieces, 0, *count, host, label);
    if (result == 0)
        *count = 1;
    return result;
}

/* There may be several clusters behind one gateway; a cluster without one is its own
 * key. */
static const char *gateway_key(const struct esi_host_location *location)
{
    const char *gateway = esi_host_location_gateway(location);

    return gateway ? gateway : esi_host_location_cluster(location);
}

static int arrange_levels(struct esi_planner *planner,
                          struct tree_piece *pieces,
                          size_t *count)
{
    unsigned levels = planner->config->tree.levels;
    int result = 0;

    if (levels & ES_LEVEL_CLUSTER)
        result = arrange_runs(planner, pieces, count, esi_host_location_cluster,
                              arrange_cluster);
    if (result == 0 && (levels & ES_LEVEL_GATEWAY))
        result = arrange_runs(planner, pieces, count, gateway_key, arrange_gateway);
    return result ? result : bound_fan_out(planner, pieces, count);
}

enum { FAN_OUT = 8 }; /* default for ES_SHAPE_KARY */

/* --- Shapes ------------------------------------------------------------------- */

/* Groups the pieces below aggregators.  On failure, the caller frees the pieces that
 * still have a node. */
typedef int (*arrange_fn)(struct esi_planner *planner,
                          struct tree_piece *pieces,
                          size_t *count);

static int arrange_kary(struct esi_planner *planner,
                        struct tree_piece *pieces,
                        size_t *count)
{
    unsigned fan_out = planner->config->tree.fan_out;

    return arrange_groups(planner, pieces, count, fan_out ? fan_out : FAN_OUT);
}

/* NULL: hosts are direct children of the root. */
static const arrange_fn shapes[] = {
    [ES_SHAPE_VIEWS] = NULL,
    [ES_SHAPE_FLAT] = NULL,
    [ES_SHAPE_HOSTS] = NULL,
    [ES_SHAPE_KARY] = arrange_kary,
    [ES_SHAPE_LEVELS] = arrange_levels,
    [ES_SHAPE_STAGES] = NULL,
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

/* A flat tree of elements that are only read here: its filters are above the root. */
static struct esi_stage_node *plan_flat(const struct esi_planner *planner)
{
    struct esi_stage_node *root = esi_host_tree_aggregator(planner, NULL, "scope");
    int result = root ? 0 : -ENOMEM;

    for (size_t i = 0; i < planner->location_count && result == 0; i++)
        result = esi_host_tree_fill(planner, root, &planner->locations[i]);
    if (result < 0) {
        esi_stage_node_destroy(root);
        return NULL;
    }
    return esi_host_tree_filtered(planner, root);
}

static bool is_all_direct(const struct esi_planner *planner)
{
    for (size_t i = 0; i < planner->location_count; i++)
        if (!planner->locations[i].direct)
            return false;
    return true;
}

static void free_pieces(struct tree_piece *pieces, size_t count)
{
    for (size_t i = 0; i < count; i++)
        esi_stage_node_destroy(pieces[i].node);
    free(pieces);
}

static int plan_pieces(const struct esi_planner *planner, struct tree_piece *pieces)
{
    for (size_t i = 0; i < planner->location_count; i++) {
        pieces[i] = (struct tree_piece){
            .node = esi_host_tree_plan(planner, &planner->locations[i]),
            .first = i,
            .end = i + 1,
        };
        if (!pieces[i].node)
            return -ENOMEM;
    }
    return 0;
}

static struct esi_stage_node *plan_hosts(struct esi_planner *planner)
{
    struct tree_piece *pieces = calloc(planner->location_count + 1, sizeof *pieces);
    struct esi_stage_node *root = NULL;
    arrange_fn arrange = shapes[planner->config->tree.shape];
    size_t count = planner->location_count;
    int result = pieces ? plan_pieces(planner, pieces) : -ENOMEM;

    if (result == 0 && arrange)
        result = arrange(planner, pieces, &count);
    if (result == 0)
        root = aggregate_pieces(planner, pieces, 0, count, NULL, "scope");
    if (pieces)
        free_pieces(pieces, planner->location_count);
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

/* Inserts threads between a reduction and its children. */
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

/* The highest aggregator in the consumer pulls its children with threads, except a
 * sort: it needs separate children, and asks them all before it waits for the first. */
static int use_threads(const struct esi_planner *planner, struct esi_stage_node *root)
{
    struct esi_stage_node *aggregator = root;

    while (aggregator->child_count == 1 &&
           esi_planner_is_here(planner, aggregator->host) &&
           strcmp(aggregator->type, "tree-node") != 0)
        aggregator = aggregator->children[0];
    if (planner->config->tree.threads == 0 || aggregator->child_count < 2 ||
        !esi_planner_is_here(planner, aggregator->host))
        return 0;
    if (strcmp(aggregator->type, "gather") == 0) {
        make_threads(planner, aggregator);
        return 0;
    }
    return strcmp(aggregator->type, "reduce") == 0 ? insert_threads(planner, aggregator)
                                                   : 0;
}

/* --- All of it ---------------------------------------------------------------- */

static struct esi_stage_node *plan_shape(struct esi_planner *planner)
{
    bool is_flat = planner->config->tree.shape == ES_SHAPE_FLAT;
    struct esi_stage_node *whole;
    struct esi_stage_node *root;

    whole =
        is_flat && is_all_direct(planner) ? plan_flat(planner) : plan_hosts(planner);
    if (!whole)
        return NULL;
    root = is_flat ? whole : esi_stage_node_unwrap(whole);
    if (use_threads(planner, root) < 0) {
        esi_stage_node_destroy(root);
        return NULL;
    }
    /* A child that replaced the root is already observed. */
    return esi_host_tree_observed(planner, root,
                                  planner->observation.joints && root == whole);
}

static int stage_tree_plan(struct esi_planner *planner,
                           struct es_error *error,
                           struct esi_stage_node **ret_root)
{
    struct esi_stage_node *root;
    int result;

    if (planner->config->tree.shape != ES_SHAPE_STAGES) {
        *ret_root = plan_shape(planner);
        return *ret_root ? 0 : -ENOMEM;
    }
    result = esi_described_tree_plan(planner, error, &root);
    if (result == 0)
        *ret_root = esi_stage_node_unwrap(root);
    return result;
}

int esi_stage_tree_plan(const struct es_origin *origins,
                        size_t count,
                        const struct es_scope_config *config,
                        const struct esi_host_infos *infos,
                        const char *view_filter,
                        struct es_error *error,
                        struct esi_stage_node **ret_root)
{
    struct esi_planner planner = {.origins = origins,
                                  .count = count,
                                  .config = config,
                                  .infos = infos,
                                  .view_filter = view_filter};
    int result = check_shape(&config->tree, error);

    if (result == 0)
        result = esi_planner_init(&planner, error);
    if (result == 0)
        result = stage_tree_plan(&planner, error, ret_root);
    esi_planner_fini(&planner);
    return result;
}
