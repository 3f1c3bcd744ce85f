/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Making and freeing the trees of a communicator.
 *
 * That all ranks have a shadow communicator, or none, is agreed by the library's own
 * operations on the program's communicator.  These are the only ones that we ever call
 * there, and all ranks call them at the same place in the order of its collectives.
 */
#include "config.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

#include "wrappers/trees/comm_trees.h"
#include "wrappers/mpi/progress.h"
#include "wrappers/trees/trees.h"

static _Atomic int live; /* shadow communicators of this process */
/* Of communicators that have none, for good. */
static struct esi_comm_trees without_trees = {.shadow = MPI_COMM_NULL};

/* Whether all ranks say yes.  Patient: who is late here may first need our help with
 * another operation. */
static bool do_all(MPI_Comm comm, bool is_ready)
{
    int own = is_ready;
    int all = 0;
    MPI_Request request;

    return ESI_REAL(MPI_Iallreduce)(&own, &all, 1, MPI_INT, MPI_MIN, comm, &request) ==
               MPI_SUCCESS &&
           esi_progress_wait_own(&request) == MPI_SUCCESS && all == 1;
}

/* A communicator of the same group.  Not a duplicate: attributes have callbacks. */
static MPI_Comm make_shadow(MPI_Comm comm)
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
static MPI_Comm agree_on_shadow(MPI_Comm comm, bool is_ready)
{
    MPI_Comm shadow;

    if (!do_all(comm, is_ready))
        return MPI_COMM_NULL;
    /* All are here: what blocks now blocks nobody else. */
    shadow = make_shadow(comm);
    if (do_all(comm, shadow != MPI_COMM_NULL))
        return shadow;
    free_shadow(&shadow);
    return MPI_COMM_NULL;
}

/* Failures stay between us: the program has not asked for anything. */
static MPI_Comm make_quietly(MPI_Comm comm, bool is_ready)
{
    MPI_Errhandler handler;
    MPI_Comm shadow;

    if (ESI_REAL(MPI_Comm_get_errhandler)(comm, &handler) != MPI_SUCCESS)
        return MPI_COMM_NULL;
    ESI_REAL(MPI_Comm_set_errhandler)(comm, MPI_ERRORS_RETURN);
    shadow = agree_on_shadow(comm, is_ready);
    ESI_REAL(MPI_Comm_set_errhandler)(comm, handler);
    ESI_REAL(MPI_Errhandler_free)(&handler);
    return shadow;
}

struct esi_comm_trees *esi_comm_trees_create(struct esi_comm *comm, MPI_Comm handle)
{
    struct esi_comm_trees *site = calloc(1, sizeof *site);
    bool has_room = atomic_fetch_add(&live, 1) < ESI_COMM_TREES_MAX;
    MPI_Comm shadow;

    if (site != NULL) {
        site->shadow = MPI_COMM_NULL;
        site->comm = comm;
        site->rules = esi_rules_ref(esi_trees_rules()); /* until the first agreement */
    }
    shadow = make_quietly(handle, has_room && site != NULL);
    if (shadow == MPI_COMM_NULL) {
        atomic_fetch_sub(&live, 1);
        esi_comm_trees_destroy(site);
        return &without_trees;
    }
    site->shadow = shadow;
    return site;
}

static void drop_trees(struct esi_comm_trees *site)
{
    for (size_t i = 0; i < ESI_COMM_TREES_CACHE; i++) {
        esi_rooted_tree_unref(site->trees[i]);
        site->trees[i] = NULL;
    }
    free(site->places);
    site->places = NULL;
}

void esi_comm_trees_destroy(struct esi_comm_trees *site)
{
    if (site == NULL || site == &without_trees)
        return;
    if (site->shadow != MPI_COMM_NULL) {
        free_shadow(&site->shadow);
        atomic_fetch_sub(&live, 1);
    }
    drop_trees(site);
    esi_rules_unref(site->rules);
    free(site->applicable);
    free(site->whereabouts);
    free(site);
}

int esi_comm_trees_set_rules(struct esi_comm_trees *site,
                             struct esi_rules *rules,
                             const char *name)
{
    const struct es_tree_rules *all = &esi_rules_plan(rules)->rules;
    const struct es_tree_rule **applicable = calloc(all->count + 1, sizeof *applicable);
    struct esi_rules *old = site->rules;
    size_t count = 0;

    if (applicable == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < all->count; i++)
        if (fnmatch(all->rules[i].communicator, name, 0) == 0)
            applicable[count++] = &all->rules[i];
    drop_trees(site);
    free(site->applicable);
    site->applicable = applicable;
    site->applicable_count = count;
    site->rules = esi_rules_ref(rules);
    esi_rules_unref(old);
    snprintf(site->agreed.name, sizeof site->agreed.name, "%s", name);
    return 0;
}
