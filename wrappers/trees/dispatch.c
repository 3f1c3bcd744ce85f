/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Dispatching operations: which rule applies, and over which tree; and creating and
 * freeing the trees of communicators.
 *
 * Either all ranks have a shadow communicator, or none.  This is decided by reductions
 * of the MPI library on the program's communicator.  All ranks perform them at the same
 * point in the order of its collectives.  The shadow itself is made from a communicator
 * of this library, whose errors nobody else sees.  No error handler of the program's
 * communicators is touched.
 */
#include "config.h"

#include "wrappers/trees/dispatch.h"

#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "wrappers/mpi/call.h"
#include "wrappers/mpi/progress.h"
#include "wrappers/trees/arguments.h"

/* --- Shadow communicators --------------------------------------------------------- */

enum { TAGS = 32767 }; /* guaranteed by MPI */

static _Atomic int shadow_count; /* number of shadow communicators of this process */
/* For communicators that never have trees. */
static struct esi_comm_trees no_trees;

/* All processes of MPI_COMM_WORLD, if there is one. */
static MPI_Comm own_world;
static bool has_own_world;

/* A communicator of the same group.  Not a duplicate: attributes have callbacks. */
static MPI_Comm create_like(MPI_Comm comm)
{
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Group group;

    if (ESI_REAL(MPI_Comm_group)(comm, &group) != MPI_SUCCESS)
        return MPI_COMM_NULL;
    if (ESI_REAL(MPI_Comm_create)(comm, group, &made) == MPI_SUCCESS)
        ESI_REAL(MPI_Comm_set_errhandler)(made, MPI_ERRORS_RETURN);
    else
        made = MPI_COMM_NULL;
    ESI_REAL(MPI_Group_free)(&group);
    return made;
}

static void free_comm(MPI_Comm *comm)
{
    if (*comm != MPI_COMM_NULL)
        ESI_REAL(MPI_Comm_free)(comm);
}

void esi_shadows_start(void)
{
    if (has_own_world)
        return;
    own_world = create_like(MPI_COMM_WORLD);
    has_own_world = own_world != MPI_COMM_NULL;
}

void esi_shadows_end(void)
{
    if (has_own_world)
        free_comm(&own_world);
    has_own_world = false;
}

/* Operations under way advance meanwhile: a late rank may first need this one for
 * another operation. */
static int find_least(MPI_Comm comm, const int *own, int *ret_least, int count)
{
    MPI_Request request;
    int code = ESI_REAL(MPI_Iallreduce)(own, ret_least, count, MPI_INT, MPI_MIN, comm,
                                        &request);

    return code == MPI_SUCCESS ? esi_progress_wait_own(&request) : code;
}

int esi_comm_all_agree(MPI_Comm comm, bool own, bool *ret_all)
{
    int mine = own;
    int all = 0;
    int code = find_least(comm, &mine, &all, 1);

    *ret_all = code == MPI_SUCCESS && all == 1;
    return code;
}

/* The members of `comm` as a group of own_world, in order; MPI_GROUP_NULL if one of
 * them is not in it. */
static MPI_Group find_group_in_world(MPI_Comm comm, int size)
{
    MPI_Group world, members, found = MPI_GROUP_NULL;
    int *ranks = calloc((size_t)size * 2, sizeof *ranks);
    int *in_world = ranks + size;
    bool are_in = ranks != NULL;

    if (!ranks)
        return MPI_GROUP_NULL;
    ESI_REAL(MPI_Comm_group)(own_world, &world);
    ESI_REAL(MPI_Comm_group)(comm, &members);
    for (int i = 0; i < size; i++)
        ranks[i] = i;
    ESI_REAL(MPI_Group_translate_ranks)(members, size, ranks, world, in_world);
    for (int i = 0; i < size; i++)
        are_in &= in_world[i] != MPI_UNDEFINED;
    if (are_in)
        ESI_REAL(MPI_Group_incl)(world, size, in_world, &found);
    ESI_REAL(MPI_Group_free)(&members);
    ESI_REAL(MPI_Group_free)(&world);
    free(ranks);
    return found;
}

/* Different for the communicators that threads may make at the same time: of the number
 * that the first rank has in own_world, and of how many it has made. */
static int choose_tag(void)
{
    static _Atomic unsigned int made;
    int rank, size;

    ESI_REAL(MPI_Comm_rank)(own_world, &rank);
    ESI_REAL(MPI_Comm_size)(own_world, &size);
    return (int)((atomic_fetch_add(&made, 1) * (uint64_t)size + (uint64_t)rank) % TAGS);
}

static MPI_Comm create_in_world(MPI_Group group, int tag)
{
    MPI_Comm made = MPI_COMM_NULL;

    if (ESI_REAL(MPI_Comm_create_group)(own_world, group, tag, &made) != MPI_SUCCESS)
        return MPI_COMM_NULL;
    ESI_REAL(MPI_Comm_set_errhandler)(made, MPI_ERRORS_RETURN);
    return made;
}

/* Collective: MPI_COMM_NULL at all ranks unless all have one. */
static MPI_Comm create_shadow(const struct esi_comm *comm,
                              MPI_Comm handle,
                              bool is_ready)
{
    MPI_Group group =
        has_own_world ? find_group_in_world(handle, comm->size) : MPI_GROUP_NULL;
    bool is_in_world = group != MPI_GROUP_NULL;
    const int own[] = {is_ready, is_in_world,
                       comm->rank == 0 && is_in_world ? choose_tag() : INT_MAX};
    int least[3] = {0};
    MPI_Comm shadow = MPI_COMM_NULL;
    bool all = false;

    /* All ranks are here afterwards: blocking then delays no other operation.  Members
     * of several worlds, or of a session, have only the program's communicator. */
    if (find_least(handle, own, least, 3) == MPI_SUCCESS && least[0]) {
        shadow = least[1] ? create_in_world(group, least[2]) : create_like(handle);
        (void)esi_comm_all_agree(handle, shadow != MPI_COMM_NULL, &all);
    }
    if (is_in_world)
        ESI_REAL(MPI_Group_free)(&group);
    if (!all)
        free_comm(&shadow);
    return shadow;
}

/* --- The trees of a communicator -------------------------------------------------- */

/* Creates the trees of a communicator; collective over it.  Never NULL: if there are to
 * be no trees, returns an object that says so. */
static struct esi_comm_trees *create_comm_trees(struct esi_comm *comm, MPI_Comm handle)
{
    struct esi_comm_trees *trees = calloc(1, sizeof *trees);
    bool has_room = atomic_fetch_add(&shadow_count, 1) < ESI_COMM_TREES_MAX;
    MPI_Comm shadow;

    if (trees != NULL) {
        trees->shadow = MPI_COMM_NULL;
        trees->comm = comm;
        trees->rules = esi_rules_ref(esi_rules_initial); /* until the first
                                                            synchronization */
    }
    shadow = create_shadow(comm, handle, has_room && trees != NULL);
    if (shadow == MPI_COMM_NULL) {
        atomic_fetch_sub(&shadow_count, 1);
        esi_comm_trees_destroy(trees);
        return &no_trees;
    }
    trees->shadow = shadow;
    return trees;
}

/* Thread safe.  Accepts NULL. */
static void unref_rooted_tree(struct esi_rooted_tree *rooted)
{
    /* The last one sees what the others did. */
    if (rooted == NULL ||
        atomic_fetch_sub_explicit(&rooted->references, 1, memory_order_acq_rel) != 1)
        return;
    esi_tree_destroy(rooted->tree);
    free(rooted);
}

static void forget_dispatches(struct esi_comm_trees *trees)
{
    for (size_t i = 0; i < ES_TREE_KIND_COUNT; i++) {
        esi_tree_run_end(trees->known[i].kept);
        trees->known[i] = (struct esi_known_dispatch){.epoch = 0};
    }
}

static void drop_trees(struct esi_comm_trees *trees)
{
    forget_dispatches(trees);
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
        free_comm(&trees->shadow);
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
    trees->comm->gate.native = ~operations;
    trees->rules = esi_rules_ref(rules);
    esi_rules_unref(old);
    snprintf(trees->last_sync.name, sizeof trees->last_sync.name, "%s", name);
    return 0;
}

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

/* Builds a tree by the rule.  *ret_rooted has no tree if the rule does not fit the
 * communicator, which is the same at all ranks. */
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

/* The tree of a rule for a root, cached; NULL if out of memory. */
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
    if (*at != NULL)
        forget_dispatches(trees);
    unref_rooted_tree(*at);
    return *at = made;
}

/* --- Dispatching ------------------------------------------------------------------ */

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

/* Datatypes are not accessed if there is nothing to send, because they may be invalid
 * then. */
static void clear_payload(struct esi_tree_call *run)
{
    run->send_count = 0;
    run->send_type = MPI_BYTE;
    run->receive_count = 0;
    run->receive_type = MPI_BYTE;
}

static struct esi_tree_call tree_call_of(const struct esi_comm_trees *trees,
                                         const struct esi_collective *collective,
                                         const struct esi_tree_rule *rule,
                                         const struct esi_tree *tree)
{
    return (struct esi_tree_call){
        .kind = collective->kind,
        .tree = tree,
        .comm = trees->shadow,
        .rank = trees->comm->rank,
        .segment_bytes = rule->segment_bytes,
        .send = collective->send,
        .send_count = collective->send_count,
        .send_type = collective->send_type,
        .receive = collective->receive,
        .receive_count = collective->receive_count,
        .receive_type = collective->receive_type,
        .op = collective->op,
    };
}

/* Determines how to perform an operation with valid arguments.  Returns false if out of
 * memory. */
static bool find_way(struct esi_comm_trees *trees,
                     const struct esi_collective *collective,
                     uint64_t bytes,
                     struct esi_known_dispatch *known)
{
    const struct esi_tree_rule *rule =
        find_rule(trees, operation_of(collective), bytes);
    int root = has_root(collective->kind) ? collective->root : ESI_ROOT_OF_RULE;
    struct esi_rooted_tree *rooted = NULL;

    if (rule != NULL && rule->shape != ES_TREE_LIBRARY) {
        rooted = find_tree(trees, rule, root);
        if (rooted == NULL)
            return false;
    }
    esi_tree_run_end(known->kept);
    known->kept = NULL;
    known->collective = *collective;
    known->bytes = bytes;
    known->epoch = atomic_load_explicit(&esi_handle_epoch, memory_order_acquire);
    known->tree = rooted != NULL && rooted->tree != NULL ? rooted : NULL;
    if (known->tree != NULL)
        known->run = tree_call_of(trees, collective, rule, rooted->tree);
    if (bytes == 0)
        clear_payload(&known->run);
    return true;
}

/* Returns whether the buffers differ from those of the last operation only in what MPI
 * does not check. */
static bool has_like_buffers(const struct esi_known_dispatch *known,
                             const struct esi_collective *collective,
                             int rank)
{
    const struct esi_collective *last = &known->collective;
    uintptr_t aliased = (uintptr_t)collective->receive;

    if (last->send == collective->send && last->receive == collective->receive)
        return true;
    if (collective->kind == ES_TREE_ALLGATHER)
        aliased += (uintptr_t)rank * known->bytes;
    else if (collective->kind != ES_TREE_ALLREDUCE)
        return false;
    return (uintptr_t)collective->send != aliased && collective->receive != NULL &&
           last->receive != NULL && collective->send != NULL && last->send != NULL &&
           collective->receive != MPI_IN_PLACE && last->receive != MPI_IN_PLACE &&
           (collective->send == MPI_IN_PLACE) == (last->send == MPI_IN_PLACE);
}

static bool is_known(const struct esi_known_dispatch *known,
                     const struct esi_collective *collective,
                     int rank)
{
    const struct esi_collective *last = &known->collective;

    return known->epoch ==
               atomic_load_explicit(&esi_handle_epoch, memory_order_acquire) &&
           last->is_nonblocking == collective->is_nonblocking &&
           last->send_count == collective->send_count &&
           last->receive_count == collective->receive_count &&
           last->send_type == collective->send_type &&
           last->receive_type == collective->receive_type &&
           last->op == collective->op && last->root == collective->root &&
           has_like_buffers(known, collective, rank);
}

/* Trees are not dropped while a blocking operation is under way. */
static void fill_dispatch(struct esi_known_dispatch *known,
                          bool is_blocking,
                          struct esi_dispatch *dispatch)
{
    known->run.observer = &dispatch->edges.observer;
    dispatch->run = &known->run;
    dispatch->kept = &known->kept;
    dispatch->tree = NULL;
    if (is_blocking)
        return;
    dispatch->own = known->run;
    dispatch->run = &dispatch->own;
    dispatch->tree = known->tree;
    atomic_fetch_add_explicit(&known->tree->references, 1, memory_order_relaxed);
}

/* Dispatches an operation, already counted, like the last one of its kind. */
static enum esi_dispatch_kind dispatch_known(const struct esi_call *call,
                                             const struct esi_comm_trees *trees,
                                             struct esi_known_dispatch *known,
                                             struct esi_dispatch *dispatch)
{
    bool is_blocking = !known->collective.is_nonblocking;

    if (known->tree == NULL)
        return ESI_DISPATCH_NATIVE;
    known->run.tag = (int)((trees->comm->gate.count - 1) % TAGS);
    known->run.start = call->open ? call->tuple.start : 0;
    dispatch->code = MPI_SUCCESS;
    fill_dispatch(known, is_blocking, dispatch);
    esi_edges_init(&dispatch->edges, call, trees->last_sync.version, is_blocking);
    return ESI_DISPATCH_TREE;
}

/* The trees of the communicator, created at its first blocking operation; NULL if
 * none. */
static struct esi_comm_trees *trees_for(struct esi_comm *comm,
                                        const struct esi_collective *collective)
{
    if (comm->trees == NULL && !collective->is_nonblocking &&
        esi_comm_is_of_world(collective->comm)) /* others may have no rules */
        comm->trees = create_comm_trees(comm, collective->comm);
    return comm->trees != &no_trees ? comm->trees : NULL;
}

/* Dispatches an operation that differs from the last one of its kind, or must
 * synchronize rules first. */
static enum esi_dispatch_kind dispatch_anew(const struct esi_call *call,
                                            const struct esi_collective *collective,
                                            struct esi_dispatch *dispatch)
{
    struct esi_comm *comm = call->comm;
    struct esi_comm_trees *trees;
    struct esi_known_dispatch *known;
    uint32_t number;
    uint64_t bytes;
    bool is_due;

    if (!esi_argument_check(call, collective, &bytes))
        return ESI_DISPATCH_NATIVE;
    trees = trees_for(comm, collective);
    if (trees == NULL)
        return ESI_DISPATCH_NATIVE;
    is_due = !collective->is_nonblocking && esi_tree_sync_is_due(&comm->gate);
    number = comm->gate.count++;
    dispatch->code = is_due ? esi_rule_sync_run(trees, call, number) : MPI_SUCCESS;
    if (dispatch->code != MPI_SUCCESS)
        return ESI_DISPATCH_FAILED;
    known = &trees->known[collective->kind];
    if (find_way(trees, collective, bytes, known))
        return dispatch_known(call, trees, known, dispatch);
    dispatch->code = MPI_ERR_NO_MEM;
    return ESI_DISPATCH_FAILED;
}

enum esi_dispatch_kind esi_dispatch_find(const struct esi_call *call,
                                         const struct esi_collective *collective,
                                         struct esi_dispatch *dispatch)
{
    struct esi_comm *comm = call->comm;
    struct esi_known_dispatch *known;

    if (comm == NULL || comm->inter || comm->size < 2 || comm->trees == &no_trees)
        return ESI_DISPATCH_NATIVE;
    if (comm->trees != NULL &&
        (collective->is_nonblocking || !esi_tree_sync_is_due(&comm->gate))) {
        known = &comm->trees->known[collective->kind];
        if (is_known(known, collective, comm->rank)) {
            comm->gate.count++;
            known->run.send = collective->send;
            known->run.receive = collective->receive;
            return dispatch_known(call, comm->trees, known, dispatch);
        }
    }
    return dispatch_anew(call, collective, dispatch);
}

void esi_dispatch_take_back(const struct esi_call *call,
                            const struct esi_collective *collective)
{
    struct esi_comm *comm = esi_comm_lookup(ESI_HANDLE(collective->comm));
    uint64_t bytes;

    /* The program's error handler may have freed it. */
    if (comm == call->comm && comm->trees != NULL &&
        !esi_argument_check(call, collective, &bytes))
        comm->gate.count--;
}

void esi_dispatch_release(struct esi_dispatch *dispatch)
{
    esi_edges_fini(&dispatch->edges);
    unref_rooted_tree(dispatch->tree);
    dispatch->tree = NULL;
}
