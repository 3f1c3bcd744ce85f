/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Dispatch of an operation: by which rule, over which tree. */
#include "config.h"

#include "wrappers/trees/dispatch.h"

#include <errno.h>
#include <stdlib.h>

#include "wrappers/trees/argument_check.h"
#include "wrappers/trees/comm_trees.h"
#include "wrappers/mpi/call.h"

enum { TAGS = 32767 }; /* MPI promises as many */

/* --- Trees ---------------------------------------------------------------------- */

static void rooted_tree_destroy(struct esi_rooted_tree *rooted)
{
    esi_tree_destroy(rooted->tree);
    free(rooted);
}

void esi_rooted_tree_unref(struct esi_rooted_tree *rooted)
{
    /* The last one sees what the others did. */
    if (rooted != NULL &&
        atomic_fetch_sub_explicit(&rooted->references, 1, memory_order_acq_rel) == 1)
        rooted_tree_destroy(rooted);
}

/* The root of explicit edges; an operation without a root uses it. */
static int root_of_edges(const struct esi_tree_rule *rule, int size)
{
    int root = -1;

    for (size_t i = 0; i < rule->edge_count; i++) {
        size_t at = 0;

        while (at < rule->edge_count && rule->edges[at].child != rule->edges[i].parent)
            at++;
        if (at == rule->edge_count)
            root = rule->edges[i].parent;
    }
    return root >= 0 && root < size ? root : 0;
}

/* A tree by the rule; *ret_rooted has no tree if the rule does not suit the
 * communicator, which all ranks find alike. */
static int build_rooted_tree(const struct esi_comm_trees *trees,
                             const struct esi_tree_rule *rule,
                             int root,
                             struct esi_rooted_tree **ret_rooted)
{
    struct esi_rooted_tree *rooted = calloc(1, sizeof *rooted);
    int code;

    if (rooted == NULL)
        return -ENOMEM;
    *rooted = (struct esi_rooted_tree){.rule = rule, .root = root};
    atomic_init(&rooted->references, 1);
    if (root == ESI_ROOT_OF_RULE)
        root = rule->shape == ES_TREE_EXPLICIT ? root_of_edges(rule, trees->comm->size)
                                               : 0;
    code = esi_tree_create(rule, trees->comm->size, root, trees->locations, NULL,
                           &rooted->tree);
    if (code == -ENOMEM) {
        free(rooted);
        return code;
    }
    if (code < 0)
        rooted->tree = NULL;
    *ret_rooted = rooted;
    return 0;
}

/* The tree of a rule for a root, kept for the next time; NULL without memory. */
static struct esi_rooted_tree *find_tree(struct esi_comm_trees *trees,
                                         const struct esi_tree_rule *rule,
                                         int root)
{
    size_t number = (size_t)(rule - esi_rules_plan(trees->rules)->rules.rules);
    struct esi_rooted_tree **at =
        &trees->trees[(number * 7 + (size_t)(root + 1)) % ESI_COMM_TREES_CACHE];
    struct esi_rooted_tree *made = *at;

    if (made != NULL && made->rule == rule && made->root == root)
        return made;
    if (build_rooted_tree(trees, rule, root, &made) < 0)
        return NULL;
    esi_rooted_tree_unref(*at);
    return *at = made;
}

/* --- Ways ----------------------------------------------------------------------- */

static const struct esi_tree_rule *find_rule(const struct esi_comm_trees *trees,
                                             uint32_t operation,
                                             uint64_t bytes)
{
    for (size_t i = 0; i < trees->applicable_count; i++) {
        const struct esi_tree_rule *rule = trees->applicable[i];

        if ((rule->operations & operation) != 0 && bytes >= rule->min_bytes &&
            bytes <= rule->max_bytes)
            return rule;
    }
    return NULL;
}

static bool has_root(enum esi_tree_kind kind)
{
    return kind == ES_TREE_BCAST || kind == ES_TREE_REDUCE || kind == ES_TREE_GATHER ||
           kind == ES_TREE_SCATTER;
}

/* Nothing of the datatypes is looked at when there is nothing to send: they may be
 * anything then. */
static void clear_payload(struct esi_tree_call *run)
{
    run->send_count = 0;
    run->send_type = MPI_BYTE;
    run->receive_count = 0;
    run->receive_type = MPI_BYTE;
}

static void fill_dispatch(const struct esi_comm_trees *trees,
                          const struct esi_collective *collective,
                          const struct esi_tree_rule *rule,
                          uint64_t bytes,
                          struct esi_dispatch *dispatch)
{
    dispatch->run = (struct esi_tree_call){
        .kind = collective->kind,
        .tree = dispatch->tree->tree,
        .comm = trees->shadow,
        .rank = trees->comm->rank,
        .tag = (int)((trees->count - 1) % TAGS),
        .segment_bytes = rule->segment_bytes,
        .send = collective->send,
        .send_count = collective->send_count,
        .send_type = collective->send_type,
        .receive = collective->receive,
        .receive_count = collective->receive_count,
        .receive_type = collective->receive_type,
        .op = collective->op,
        .observer = &dispatch->edges.observer,
    };
    if (bytes == 0)
        clear_payload(&dispatch->run);
}

static enum esi_dispatch_kind dispatch_by_rule(struct esi_call *call,
                                               struct esi_comm_trees *trees,
                                               const struct esi_collective *collective,
                                               uint64_t bytes,
                                               struct esi_dispatch *dispatch)
{
    uint32_t operation = collective->is_nonblocking
                             ? ES_TREE_NONBLOCKING(collective->kind)
                             : 1u << collective->kind;
    const struct esi_tree_rule *rule = find_rule(trees, operation, bytes);
    struct esi_rooted_tree *rooted;

    if (rule == NULL || rule->shape == ES_TREE_LIBRARY)
        return ESI_DISPATCH_NATIVE;
    rooted = find_tree(
        trees, rule, has_root(collective->kind) ? collective->root : ESI_ROOT_OF_RULE);
    if (rooted == NULL) {
        dispatch->code = MPI_ERR_NO_MEM;
        return ESI_DISPATCH_FAILED;
    }
    if (rooted->tree == NULL)
        return ESI_DISPATCH_NATIVE;
    atomic_fetch_add_explicit(&rooted->references, 1, memory_order_relaxed);
    dispatch->tree = rooted;
    dispatch->code = MPI_SUCCESS;
    fill_dispatch(trees, collective, rule, bytes, dispatch);
    esi_edges_init(&dispatch->edges, call, trees->last_sync.version,
                   !collective->is_nonblocking);
    return ESI_DISPATCH_TREE;
}

enum esi_dispatch_kind esi_dispatch_find(struct esi_call *call,
                                         const struct esi_collective *collective,
                                         struct esi_dispatch *dispatch)
{
    struct esi_comm *comm = call->comm;
    uint32_t number;
    uint64_t bytes;

    if (comm == NULL || comm->inter || comm->size < 2 ||
        !esi_argument_check(call, collective, &bytes))
        return ESI_DISPATCH_NATIVE;
    if (comm->trees == NULL && !collective->is_nonblocking &&
        esi_comm_is_of_world(collective->comm)) /* others may have no rules */
        comm->trees = esi_comm_trees_create(comm, collective->comm);
    if (comm->trees == NULL || comm->trees->shadow == MPI_COMM_NULL)
        return ESI_DISPATCH_NATIVE;
    number = comm->trees->count++;
    if (!collective->is_nonblocking &&
        esi_rule_sync_is_due(&comm->trees->last_sync, number)) {
        dispatch->code = esi_rule_sync_run(comm->trees, call, number);
        if (dispatch->code != MPI_SUCCESS)
            return ESI_DISPATCH_FAILED;
    }
    return dispatch_by_rule(call, comm->trees, collective, bytes, dispatch);
}

void esi_dispatch_release(struct esi_dispatch *dispatch)
{
    esi_edges_fini(&dispatch->edges);
    esi_rooted_tree_unref(dispatch->tree);
    dispatch->tree = NULL;
}
