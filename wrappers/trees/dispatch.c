/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Dispatch of an operation: by which rule, over which tree; and creating and freeing
 * the trees of a communicator.
 *
 * All ranks have a shadow communicator, or none has.  The library's own operations
 * on the program's communicator decide it.  These are the only ones that this
 * library calls there, and all ranks call them at the same point in the order of its
 * collectives.
 */
#include "config.h"

#include "wrappers/trees/dispatch.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

#include "wrappers/mpi/call.h"
#include "wrappers/mpi/progress.h"
#include "wrappers/trees/arguments.h"

/* --- Shadow communicators --------------------------------------------------------- */

static _Atomic int shadow_count; /* shadow communicators of this process */
/* Of communicators that have none, for good. */
static struct esi_comm_trees no_trees;

/* Operations under way advance meanwhile: a late rank may first need this one for
 * another operation. */
int esi_comm_all_agree(MPI_Comm comm, bool own, bool *ret_all)
{
    int mine = own;
    int all = 0;
    MPI_Request request;
    int code =
        ESI_REAL(MPI_Iallreduce)(&mine, &all, 1, MPI_INT, MPI_MIN, comm, &request);

    if (code == MPI_SUCCESS)
        code = esi_progress_wait_own(&request);
    *ret_all = code == MPI_SUCCESS && all == 1;
    return code;
}

/* A communicator of the same group.  Not a duplicate: attributes have callbacks. */
static MPI_Comm create_shadow(MPI_Comm comm)
{
    MPI_Comm shadow = MPI_COMM_NULL;
    MPI_Group group;

    if (ESI_REAL(MPI_Comm_group)(comm, &group) != MPI_SUCCESS)
        return MPI_COMM_NULL;
    if (ESI_REAL(MPI_Comm_create)(comm, group, &shadow) != MPI_SUCCESS)
        shadow = MPI_COMM_NULL;
    ESI_REAL(MPI_Group_free)(&group);
    if (shadow != MPI_COMM_NULL)
        ESI_REAL(MPI_Comm_set_errhandler)(shadow, MPI_ERRORS_RETURN);
    return shadow;
}

static void free_shadow(MPI_Comm *shadow)
{
    if (*shadow != MPI_COMM_NULL)
        ESI_REAL(MPI_Comm_free)(shadow);
}

/* MPI_COMM_NULL at all ranks unless all have one. */
static MPI_Comm create_shadow_at_all(MPI_Comm comm, bool is_ready)
{
    MPI_Comm shadow;
    bool all;

    (void)esi_comm_all_agree(comm, is_ready, &all);
    if (!all)
        return MPI_COMM_NULL;
    /* All ranks are here: what blocks now delays no other operation. */
    shadow = create_shadow(comm);
    (void)esi_comm_all_agree(comm, shadow != MPI_COMM_NULL, &all);
    if (all)
        return shadow;
    free_shadow(&shadow);
    return MPI_COMM_NULL;
}

/* Failures stay between us: the program has not asked for anything. */
static MPI_Comm create_shadow_quietly(MPI_Comm comm, bool is_ready)
{
    MPI_Errhandler handler;
    MPI_Comm shadow;

    if (ESI_REAL(MPI_Comm_get_errhandler)(comm, &handler) != MPI_SUCCESS)
        return MPI_COMM_NULL;
    ESI_REAL(MPI_Comm_set_errhandler)(comm, MPI_ERRORS_RETURN);
    shadow = create_shadow_at_all(comm, is_ready);
    ESI_REAL(MPI_Comm_set_errhandler)(comm, handler);
    ESI_REAL(MPI_Errhandler_free)(&handler);
    return shadow;
}

/* --- The trees of a communicator -------------------------------------------------- */

/* Creates the trees of a communicator; collective over it.  Never NULL: where there are
 * to be no trees it returns an object that says so. */
static struct esi_comm_trees *create_comm_trees(struct esi_comm *comm, MPI_Comm handle)
{
    struct esi_comm_trees *trees = calloc(1, sizeof *trees);
    bool has_room = atomic_fetch_add(&shadow_count, 1) < ESI_COMM_TREES_MAX;
    MPI_Comm shadow;

    if (trees != NULL) {
        trees->shadow = MPI_COMM_NULL;
        trees->comm = comm;
        trees->rules = esi_rules_ref(esi_rules_initial); /* until the first
                                                            synchronisation */
    }
    shadow = create_shadow_quietly(handle, has_room && trees != NULL);
    if (shadow == MPI_COMM_NULL) {
        atomic_fetch_sub(&shadow_count, 1);
        esi_comm_trees_destroy(trees);
        return &no_trees;
    }
    trees->shadow = shadow;
    return trees;
}

/* Any thread.  Accepts NULL. */
static void unref_rooted_tree(struct esi_rooted_tree *rooted)
{
    /* The last one sees what the others did. */
    if (rooted == NULL ||
        atomic_fetch_sub_explicit(&rooted->references, 1, memory_order_acq_rel) != 1)
        return;
    esi_tree_destroy(rooted->tree);
    free(rooted);
}

static void drop_trees(struct esi_comm_trees *trees)
{
    for (size_t i = 0; i < ESI_COMM_TREES_CACHE; i++) {
        unref_rooted_tree(trees->trees[i]);
        trees->trees[i] = NULL;
    }
    free(trees->locations);
    trees->locations = NULL;
}

void esi_comm_trees_destroy(struct esi_comm_trees *trees)
{
    if (trees == NULL || trees == &no_trees)
        return;
    if (trees->shadow != MPI_COMM_NULL) {
        free_shadow(&trees->shadow);
        atomic_fetch_sub(&shadow_count, 1);
    }
    drop_trees(trees);
    esi_rules_unref(trees->rules);
    free(trees->applicable);
    free(trees->host_infos);
    free(trees);
}

int esi_comm_trees_set_rules(struct esi_comm_trees *trees,
                             struct esi_shared_rules *rules,
                             const char *name)
{
    const struct esi_tree_rules *all = &esi_rules_plan(rules)->rules;
    const struct esi_tree_rule **applicable =
        calloc(all->count + 1, sizeof *applicable);
    struct esi_shared_rules *old = trees->rules;
    size_t count = 0;
    uint32_t operations = 0;

    if (applicable == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < all->count; i++) {
        const struct esi_tree_rule *rule = &all->rules[i];

        if (fnmatch(rule->communicator, name, 0) != 0)
            continue;
        applicable[count++] = rule;
        if (rule->shape != ES_TREE_LIBRARY)
            operations |= rule->operations;
    }
    drop_trees(trees);
    free(trees->applicable);
    trees->applicable = applicable;
    trees->applicable_count = count;
    trees->operations = operations;
    trees->rules = esi_rules_ref(rules);
    esi_rules_unref(old);
    snprintf(trees->last_sync.name, sizeof trees->last_sync.name, "%s", name);
    return 0;
}

enum { TAGS = 32767 }; /* MPI promises as many */

/* --- Trees ------------------------------------------------------------------------ */

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
    unref_rooted_tree(*at);
    return *at = made;
}

/* --- Which way -------------------------------------------------------------------- */

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

/* The operation's bit in rules. */
static uint32_t operation_of(const struct esi_collective *collective)
{
    return collective->is_nonblocking ? ES_TREE_NONBLOCKING(collective->kind)
                                      : 1u << collective->kind;
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
    const struct esi_tree_rule *rule =
        find_rule(trees, operation_of(collective), bytes);
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

static bool is_sync_due(const struct esi_comm_trees *trees,
                        const struct esi_collective *collective)
{
    return !collective->is_nonblocking &&
           esi_rule_sync_is_due(&trees->last_sync, trees->count);
}

/* Whether it runs natively whatever its arguments are. */
static bool is_always_native(const struct esi_comm_trees *trees,
                             const struct esi_collective *collective)
{
    return (trees->operations & operation_of(collective)) == 0 &&
           !is_sync_due(trees, collective);
}

enum esi_dispatch_kind esi_dispatch_find(struct esi_call *call,
                                         struct esi_collective *collective,
                                         struct esi_dispatch *dispatch)
{
    struct esi_comm *comm = call->comm;
    uint32_t number;
    uint64_t bytes;
    bool is_due;

    if (comm == NULL || comm->inter || comm->size < 2 || comm->trees == &no_trees)
        return ESI_DISPATCH_NATIVE;
    if (comm->trees != NULL && is_always_native(comm->trees, collective)) {
        collective->is_unjudged = true;
        comm->trees->count++;
        return ESI_DISPATCH_NATIVE;
    }
    if (!esi_argument_check(call, collective, &bytes))
        return ESI_DISPATCH_NATIVE;
    if (comm->trees == NULL && !collective->is_nonblocking &&
        esi_comm_is_of_world(collective->comm)) /* others may have no rules */
        comm->trees = create_comm_trees(comm, collective->comm);
    if (comm->trees == NULL || comm->trees == &no_trees)
        return ESI_DISPATCH_NATIVE;
    is_due = is_sync_due(comm->trees, collective);
    number = comm->trees->count++;
    if (is_due) {
        dispatch->code = esi_rule_sync_run(comm->trees, call, number);
        if (dispatch->code != MPI_SUCCESS)
            return ESI_DISPATCH_FAILED;
    }
    return dispatch_by_rule(call, comm->trees, collective, bytes, dispatch);
}

void esi_dispatch_take_back(const struct esi_call *call,
                            const struct esi_collective *collective)
{
    struct esi_comm *comm = esi_comm_lookup(ESI_HANDLE(collective->comm));
    uint64_t bytes;

    /* Unless the program's error handler has freed it. */
    if (comm == call->comm && comm->trees != NULL &&
        !esi_argument_check(call, collective, &bytes))
        comm->trees->count--;
}

void esi_dispatch_release(struct esi_dispatch *dispatch)
{
    esi_edges_fini(&dispatch->edges);
    unref_rooted_tree(dispatch->tree);
    dispatch->tree = NULL;
}
