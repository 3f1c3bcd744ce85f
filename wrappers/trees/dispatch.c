/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The way that an operation takes: by which rule, over which tree. */
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

/* Where the rule itself says who is the root, an operation without one has that. */
static int root_of_edges(const struct es_tree_rule *rule, int size)
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
static int build(const struct esi_comm_trees *site,
                 const struct es_tree_rule *rule,
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
        root =
            rule->shape == ES_TREE_EXPLICIT ? root_of_edges(rule, site->comm->size) : 0;
    code = esi_tree_create(rule, site->comm->size, root, site->places, NULL,
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
static struct esi_rooted_tree *find_tree(struct esi_comm_trees *site,
                                         const struct es_tree_rule *rule,
                                         int root)
{
    size_t number = (size_t)(rule - esi_rules_plan(site->rules)->rules.rules);
    struct esi_rooted_tree **at =
        &site->trees[(number * 7 + (size_t)(root + 1)) % ESI_COMM_TREES_CACHE];
    struct esi_rooted_tree *made = *at;

    if (made != NULL && made->rule == rule && made->root == root)
        return made;
    if (build(site, rule, root, &made) < 0)
        return NULL;
    esi_rooted_tree_unref(*at);
    return *at = made;
}

/* --- Ways ----------------------------------------------------------------------- */

static const struct es_tree_rule *find_rule(const struct esi_comm_trees *site,
                                            uint32_t operation,
                                            uint64_t bytes)
{
    for (size_t i = 0; i < site->applicable_count; i++) {
        const struct es_tree_rule *rule = site->applicable[i];

        if ((rule->operations & operation) != 0 && bytes >= rule->min_bytes &&
            bytes <= rule->max_bytes)
            return rule;
    }
    return NULL;
}

static bool has_root(enum es_tree_kind kind)
{
    return kind == ES_TREE_BCAST || kind == ES_TREE_REDUCE || kind == ES_TREE_GATHER ||
           kind == ES_TREE_SCATTER;
}

/* Nothing of the datatypes is looked at when there is nothing to send: they may be
 * anything then. */
static void describe_nothing(struct esi_tree_call *run)
{
    run->send_count = 0;
    run->send_type = MPI_BYTE;
    run->receive_count = 0;
    run->receive_type = MPI_BYTE;
}

static void fill_way(const struct esi_comm_trees *site,
                     const struct esi_collective *collective,
                     const struct es_tree_rule *rule,
                     uint64_t bytes,
                     struct esi_dispatch *way)
{
    way->run = (struct esi_tree_call){
        .kind = collective->kind,
        .tree = way->tree->tree,
        .comm = site->shadow,
        .rank = site->comm->rank,
        .tag = (int)((site->count - 1) % TAGS),
        .segment_bytes = rule->segment_bytes,
        .send = collective->send,
        .send_count = collective->send_count,
        .send_type = collective->send_type,
        .receive = collective->receive,
        .receive_count = collective->receive_count,
        .receive_type = collective->receive_type,
        .op = collective->op,
        .observer = &way->edges.observer,
    };
    if (bytes == 0)
        describe_nothing(&way->run);
}

static enum esi_dispatch_kind go_by_rule(struct esi_call *call,
                                         struct esi_comm_trees *site,
                                         const struct esi_collective *collective,
                                         uint64_t bytes,
                                         struct esi_dispatch *way)
{
    uint32_t operation = collective->is_nonblocking
                             ? ES_TREE_NONBLOCKING(collective->kind)
                             : 1u << collective->kind;
    const struct es_tree_rule *rule = find_rule(site, operation, bytes);
    struct esi_rooted_tree *rooted;

    if (rule == NULL || rule->shape == ES_TREE_LIBRARY)
        return ESI_DISPATCH_NATIVE;
    rooted = find_tree(
        site, rule, has_root(collective->kind) ? collective->root : ESI_ROOT_OF_RULE);
    if (rooted == NULL) {
        way->code = MPI_ERR_NO_MEM;
        return ESI_DISPATCH_FAILED;
    }
    if (rooted->tree == NULL)
        return ESI_DISPATCH_NATIVE;
    atomic_fetch_add_explicit(&rooted->references, 1, memory_order_relaxed);
    way->tree = rooted;
    way->code = MPI_SUCCESS;
    fill_way(site, collective, rule, bytes, way);
    esi_edges_init(&way->edges, call, site->agreed.version,
                   !collective->is_nonblocking);
    return ESI_DISPATCH_TREE;
}

enum esi_dispatch_kind esi_dispatch_find(struct esi_call *call,
                                         const struct esi_collective *collective,
                                         struct esi_dispatch *way)
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
        esi_rule_sync_is_due(&comm->trees->agreed, number)) {
        way->code = esi_rule_sync_run(comm->trees, call, number);
        if (way->code != MPI_SUCCESS)
            return ESI_DISPATCH_FAILED;
    }
    return go_by_rule(call, comm->trees, collective, bytes, way);
}

void esi_dispatch_release(struct esi_dispatch *way)
{
    esi_edges_fini(&way->edges);
    esi_rooted_tree_unref(way->tree);
    way->tree = NULL;
}
