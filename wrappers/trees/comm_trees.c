/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Creating and freeing the trees of a communicator.
 *
 * All ranks have a shadow communicator, or none has.  The library's own operations
 * on the program's communicator decide it.  These are the only ones that this
 * library calls there, and all ranks call them at the same point in the order of its
 * collectives.
 */
#include "config.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

#include "wrappers/trees/comm_trees.h"
#include "wrappers/mpi/progress.h"
#include "wrappers/trees/trees.h"

static _Atomic int shadow_count; /* shadow communicators of this process */
/* Of communicators that have none, for good. */
static struct esi_comm_trees no_trees = {.shadow = MPI_COMM_NULL};

/* Whether `is_ready` is true at all ranks.  Operations under way advance meanwhile: a
 * late rank may first need this one for another operation. */
static bool all_agree(MPI_Comm comm, bool is_ready)
{
    int own = is_ready;
    int all = 0;
    MPI_Request request;

    return ESI_REAL(MPI_Iallreduce)(&own, &all, 1, MPI_INT, MPI_MIN, comm, &request) ==
               MPI_SUCCESS &&
           esi_progress_wait_own(&request) == MPI_SUCCESS && all == 1;
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

    if (!all_agree(comm, is_ready))
        return MPI_COMM_NULL;
    /* All ranks are here: what blocks now delays no other operation. */
    shadow = create_shadow(comm);
    if (all_agree(comm, shadow != MPI_COMM_NULL))
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

struct esi_comm_trees *esi_comm_trees_create(struct esi_comm *comm, MPI_Comm handle)
{
    struct esi_comm_trees *trees = calloc(1, sizeof *trees);
    bool has_room = atomic_fetch_add(&shadow_count, 1) < ESI_COMM_TREES_MAX;
    MPI_Comm shadow;

    if (trees != NULL) {
        trees->shadow = MPI_COMM_NULL;
        trees->comm = comm;
        trees->rules = esi_rules_ref(esi_trees_rules()); /* until the first
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

static void drop_trees(struct esi_comm_trees *trees)
{
    for (size_t i = 0; i < ESI_COMM_TREES_CACHE; i++) {
        esi_rooted_tree_unref(trees->trees[i]);
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

    if (applicable == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < all->count; i++)
        if (fnmatch(all->rules[i].communicator, name, 0) == 0)
            applicable[count++] = &all->rules[i];
    drop_trees(trees);
    free(trees->applicable);
    trees->applicable = applicable;
    trees->applicable_count = count;
    trees->rules = esi_rules_ref(rules);
    esi_rules_unref(old);
    snprintf(trees->last_sync.name, sizeof trees->last_sync.name, "%s", name);
    return 0;
}
