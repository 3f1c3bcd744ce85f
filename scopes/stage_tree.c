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
 *
 * Grouping works from the hosts upward: neighbours become children of a joint, and the
 * joint takes their place among its own neighbours.  Hosts come by gateway and cluster,
 * so neighbours are near each other.  Every pass looks at each piece once, and passes
 * that do not shrink the row are followed by one that does: O(n) in all.
 *
 * What stands in the consumer is never put below a joint elsewhere: it would travel
 * there and back.
 */
#include "config.h"

#include "scopes/stage_tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scopes/planner.h"

static bool is_same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* --- Where a joint stands ------------------------------------------------------ */

/* Of the hosts that a person listed the one with the fewest joints, if `place` is given
 * only if that is its host.  NULL: none. */
static const struct es_host_info **least_used(struct esi_planner *planner,
                                              const struct esi_host_location *place)
{
    const struct es_host_info **best = NULL;

    for (size_t i = 0; i < planner->joint_count; i++) {
        const struct es_host_info **joint = &planner->joints[i];

        if (place && place->site != *joint)
            continue;
        if (!best ||
            planner->joint_uses[i] < planner->joint_uses[best - planner->joints])
            best = joint;
    }
    return best;
}

/* A host that was listed: one of those the joint stands for, if possible. */
static const char *listed_host(struct esi_planner *planner, size_t first, size_t end)
{
    const struct es_host_info **best = NULL;

    for (size_t i = first; i < end; i++) {
        const struct es_host_info **found = least_used(planner, &planner->places[i]);

        if (found && (!best || planner->joint_uses[found - planner->joints] <
                                   planner->joint_uses[best - planner->joints]))
            best = found;
    }
    if (!best)
        best = least_used(planner, NULL);
    planner->joint_uses[best - planner->joints]++;
    return (*best)->host;
}

/* The host for a joint over these places: a listed one, else the first of them that has
 * a server.  NULL: none has, the joint stands with its parent. */
static const char *host_for(struct esi_planner *planner, size_t first, size_t end)
{
    if (planner->joint_count > 0)
        return listed_host(planner, first, end);
    for (size_t i = first; i < end; i++) {
        const struct esi_host_location *place = &planner->places[i];

        if (!place->here && place->site && place->site->has_server)
            return place->host;
    }
    return NULL;
}

/* --- Joints over pieces -------------------------------------------------------- */

/* The place that a piece is, NULL: it stands for several. */
static const struct esi_host_location *only_place(const struct esi_planner *planner,
                                                  const struct esi_tree_piece *piece)
{
    return piece->end == piece->first + 1 ? &planner->places[piece->first] : NULL;
}

/* Whether it stands where the consumer is: a host, or a joint of its cluster. */
static bool is_here(const struct esi_planner *planner,
                    const struct esi_tree_piece *piece)
{
    const char *here = planner->sites ? planner->sites->here : NULL;

    return here && is_same(piece->node->host, here);
}

int esi_arrange_add(const struct esi_planner *planner,
                    struct esi_stage_node *joint,
                    struct esi_tree_piece *piece)
{
    const struct esi_host_location *place = only_place(planner, piece);
    struct esi_stage_node *node = piece->node;
    bool together =
        place && (is_same(joint->host, place->host) ||
                  (place->direct && esi_host_tree_is_here(planner, joint->host)));
    int result = 0;

    piece->node = NULL;
    if (!together || !esi_host_tree_is_detour(planner, place))
        return esi_stage_node_add(joint, node);
    for (size_t i = 0; i < node->child_count; i++) {
        struct esi_stage_node *child = node->children[i];

        node->children[i] = NULL;
        if (result == 0)
            result = esi_stage_node_add(joint, child);
        else
            esi_stage_node_destroy(child);
    }
    esi_stage_node_destroy(node);
    return result;
}

/* Replaces the pieces [from .. to) by a joint over them, at `from`. */
static int stage_tree_arrange_join(struct esi_planner *planner,
                                   struct esi_tree_piece *pieces,
                                   size_t from,
                                   size_t to,
                                   const char *host,
                                   const char *label)
{
    struct esi_tree_piece joined = {.first = SIZE_MAX};
    struct esi_stage_node *joint = esi_hosts_aggregator(planner, host, label);
    int result = joint ? 0 : -ENOMEM;

    for (size_t i = from; i < to && result == 0; i++) {
        if (pieces[i].first < joined.first)
            joined.first = pieces[i].first;
        if (pieces[i].end > joined.end)
            joined.end = pieces[i].end;
        result = esi_arrange_add(planner, joint, &pieces[i]);
    }
    if (result < 0) {
        esi_stage_node_destroy(joint);
        return result;
    }
    joined.node = esi_host_tree_observed(planner, joint, planner->observation.joints);
    pieces[from] = joined;
    return joined.node ? 0 : -ENOMEM;
}

/* --- Groups -------------------------------------------------------------------- */

static const char *cluster_of(const struct esi_planner *planner, size_t place)
{
    return esi_host_location_cluster(&planner->places[place]);
}

/* Whether a piece lies in one cluster, and that is the one of `place`. */
static bool is_within(const struct esi_planner *planner,
                      const struct esi_tree_piece *piece,
                      size_t place)
{
    const char *cluster = cluster_of(planner, place);

    return is_same(cluster_of(planner, piece->first), cluster) &&
           is_same(cluster_of(planner, piece->end - 1), cluster);
}

/* First piece behind `from` that lies in another cluster. */
static size_t end_of_cluster(const struct esi_planner *planner,
                             const struct esi_tree_piece *pieces,
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
                      struct esi_tree_piece *pieces,
                      size_t from,
                      size_t to)
{
    size_t first = pieces[from].first;
    size_t end = pieces[to - 1].end;
    char label[96];

    if (to == from + 1)
        return 0;
    snprintf(label, sizeof label, "hosts %.40s to %.40s", planner->places[first].host,
             planner->places[end - 1].host);
    return stage_tree_arrange_join(planner, pieces, from, to,
                                   host_for(planner, first, end), label);
}

/* Joins [from .. to) to groups of much the same size; they are moved to *out, which
 * moves on. */
static int join_run(struct esi_planner *planner,
                    struct esi_tree_piece *pieces,
                    size_t from,
                    size_t to,
                    size_t fan_out,
                    size_t *out)
{
    size_t groups = (to - from + fan_out - 1) / fan_out;

    for (size_t group = 0; group < groups; group++) {
        size_t next = from + (to - from) / (groups - group);
        int result = join_group(planner, pieces, from, next);
        struct esi_tree_piece joined = pieces[from];

        if (result < 0)
            return result;
        pieces[from].node = NULL;
        pieces[(*out)++] = joined;
        from = next;
    }
    return 0;
}

/* One pass over the pieces; groups stay within clusters unless they may straddle. */
static int join_once(struct esi_planner *planner,
                     struct esi_tree_piece *pieces,
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

/* Moves what stands in the consumer to the front.  Returns how many: 0 or 1. */
static size_t bring_here_forward(const struct esi_planner *planner,
                                 struct esi_tree_piece *pieces,
                                 size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct esi_tree_piece piece = pieces[i];

        if (!is_here(planner, &piece))
            continue;
        memmove(pieces + 1, pieces, i * sizeof *pieces);
        pieces[0] = piece;
        return 1;
    }
    return 0;
}

int esi_arrange_groups(struct esi_planner *planner,
                       struct esi_tree_piece *pieces,
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

/* Does something about the pieces of one cluster, or behind one gateway. */
typedef int (*run_fn)(struct esi_planner *planner,
                      struct esi_tree_piece *pieces,
                      size_t *count);
/* What pieces of one run have in common; NULL = they are left as they are. */
typedef const char *(*key_fn)(const struct esi_host_location *place);

static int arrange_runs(struct esi_planner *planner,
                        struct esi_tree_piece *pieces,
                        size_t *count,
                        key_fn key_of,
                        run_fn arrange)
{
    size_t out = 0;
    int result = 0;

    for (size_t from = 0, to; from < *count && result == 0; from = to) {
        const char *key = key_of(&planner->places[pieces[from].first]);
        size_t left = 1;

        for (to = from + 1; key && to < *count; to++, left++)
            if (!is_same(key, key_of(&planner->places[pieces[to].first])))
                break;
        if (key)
            result = arrange(planner, &pieces[from], &left);
        for (size_t i = 0; i < left && result == 0; i++) {
            struct esi_tree_piece piece = pieces[from + i];

            pieces[from + i].node = NULL;
            pieces[out++] = piece;
        }
    }
    if (result == 0)
        *count = out;
    return result;
}

/* The consumer's host if it is among those the pieces stand for, else NULL. */
static const char *consumers_host(const struct esi_planner *planner,
                                  const struct esi_tree_piece *pieces,
                                  size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t place = pieces[i].first; place < pieces[i].end; place++)
            if (planner->places[place].here)
                return planner->places[place].host;
    return NULL;
}

static int stage_tree_arrange_bound(struct esi_planner *planner,
                                    struct esi_tree_piece *pieces,
                                    size_t *count)
{
    unsigned fan_out = planner->config->tree.fan_out;

    return fan_out ? esi_arrange_groups(planner, pieces, count, fan_out) : 0;
}

/* A cluster that the consumer stands in is joined where the consumer is. */
static int arrange_cluster(struct esi_planner *planner,
                           struct esi_tree_piece *pieces,
                           size_t *count)
{
    const char *host = consumers_host(planner, pieces, *count);
    size_t first = pieces[0].first;
    size_t end = pieces[*count - 1].end;
    char label[96];
    int result;

    if (*count == 1)
        return 0;
    result = stage_tree_arrange_bound(planner, pieces, count);
    if (result < 0)
        return result;
    snprintf(label, sizeof label, "cluster %.80s", cluster_of(planner, first));
    if (!host)
        host = host_for(planner, first, end);
    result = stage_tree_arrange_join(planner, pieces, 0, *count, host, label);
    if (result == 0)
        *count = 1;
    return result;
}

/* The host that leads into the cluster of `place`, if stages can stand there. */
static const char *gateway_host(const struct esi_planner *planner,
                                const struct esi_host_location *place)
{
    const char *gateway = esi_host_location_gateway(place);
    const struct es_host_info *site =
        gateway ? esi_locations_host_info(planner, gateway) : NULL;

    return site && site->has_server ? site->host : NULL;
}

/* Nothing has to lead into a cluster for a consumer that is in it, or is the gateway.
 * A joint over one child relays what comes from another host; on the same host it is
 * left out. */
static int arrange_gateway(struct esi_planner *planner,
                           struct esi_tree_piece *pieces,
                           size_t *count)
{
    const struct esi_host_location *place = &planner->places[pieces[0].first];
    const char *host = planner->joint_count ? NULL : gateway_host(planner, place);
    const char *gateway = esi_host_location_gateway(place);
    char label[96];
    int result;

    if (consumers_host(planner, pieces, *count) ||
        (planner->sites->here && is_same(gateway, planner->sites->here)))
        return 0;
    if (!host)
        host = host_for(planner, pieces[0].first, pieces[*count - 1].end);
    result = stage_tree_arrange_bound(planner, pieces, count);
    if (result < 0 || (*count == 1 && (!host || is_same(host, pieces[0].node->host))))
        return result;
    snprintf(label, sizeof label, "gateway %.80s",
             gateway ? gateway : esi_host_location_cluster(place));
    result = stage_tree_arrange_join(planner, pieces, 0, *count, host, label);
    if (result == 0)
        *count = 1;
    return result;
}

/* Behind one gateway there may be several clusters; one without stands for itself. */
static const char *gateway_key(const struct esi_host_location *place)
{
    const char *gateway = esi_host_location_gateway(place);

    return gateway ? gateway : esi_host_location_cluster(place);
}

int esi_arrange_levels(struct esi_planner *planner,
                       struct esi_tree_piece *pieces,
                       size_t *count)
{
    unsigned levels = planner->config->tree.levels;
    int result = 0;

    if (levels & ES_LEVEL_CLUSTER)
        result = arrange_runs(planner, pieces, count, esi_host_location_cluster,
                              arrange_cluster);
    if (result == 0 && (levels & ES_LEVEL_GATEWAY))
        result = arrange_runs(planner, pieces, count, gateway_key, arrange_gateway);
    return result ? result : stage_tree_arrange_bound(planner, pieces, count);
}

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
