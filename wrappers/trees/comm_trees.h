/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The trees of one communicator.
 *
 * They are created at the first blocking operation that a tree could do: a shadow
 * communicator of the same group, which carries only trees and rule
 * synchronisations; the number of operations so far; the rules in force
 * (rule_sync.h); and the trees built by these rules, for a few roots.
 *
 * MPI demands that all ranks call collectives on a communicator in the same order,
 * one after the other.  So one thread at a time is here, and no lock is taken.  Only
 * the ends of nonblocking operations come from any thread; what they touch is
 * atomic.
 */
#ifndef ES_WRAPPERS_TREES_COMM_TREES_H
#define ES_WRAPPERS_TREES_COMM_TREES_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "wrappers/trees/rule_sync.h"
#include "wrappers/shapes/placement.h"
#include "wrappers/trees/rules.h"
#include "wrappers/trees/dispatch.h"
#include "wrappers/mpi/communicators.h"

enum {
    ESI_COMM_TREES_CACHE = 64, /* trees kept of a communicator, by rule and root */
    ESI_COMM_TREES_MAX = 256,  /* shadow communicators of a process at a time: MPI has
                             not  endlessly many, and they are the program's */
};

/* Operations without a root have that of an explicit tree, else rank 0. */
#define ESI_ROOT_OF_RULE (-1)

/* A tree by a rule, for a root; `tree` NULL: the rule does not suit the communicator,
 * and the library does it. */
struct esi_rooted_tree {
    _Atomic unsigned int references;  /* of the cache, and of operations under way */
    const struct esi_tree_rule *rule; /* names the rule; not followed later on */
    int root;
    struct esi_tree *tree; /* owned */
};

struct esi_comm_trees {
    MPI_Comm shadow; /* MPI_COMM_NULL: no trees on this communicator, for good */
    const struct esi_comm *comm;    /* borrowed: whose trees they are */
    uint32_t count;                 /* operations that trees could do, so far */
    struct esi_rule_sync last_sync; /* what all ranks know */
    struct esi_shared_rules *rules; /* in force */
    const struct esi_tree_rule **applicable; /* those of `rules` for this
                                               communicator; owned; NULL = before the
                                               first synchronisation */
    size_t applicable_count;
    struct esi_host_info *host_infos; /* of all ranks; NULL = not asked for yet */
    struct esi_location *locations;   /* made of these by the rules in force */
    struct esi_rule_sync_pace pace;   /* rank 0: when the last one was */
    uint32_t seen_version;            /* rank 0: newest desired rules that were read */
    struct esi_rooted_tree *trees[ESI_COMM_TREES_CACHE];
};

/* Puts other rules in force, or the same under another name of the communicator: trees
 * are built anew.  -ENOMEM: then nothing has changed. */
int esi_comm_trees_set_rules(struct esi_comm_trees *trees,
                             struct esi_shared_rules *rules,
                             const char *name);

/* Creates the trees of a communicator; collective over it.  Never NULL: where there are
 * to be no trees it returns an object that says so. */
struct esi_comm_trees *esi_comm_trees_create(struct esi_comm *comm, MPI_Comm handle);

/* Frees the trees, which may be NULL, and their shadow communicator: collective. */
void esi_comm_trees_destroy(struct esi_comm_trees *trees);

/* Any thread.  Accepts NULL. */
void esi_rooted_tree_unref(struct esi_rooted_tree *rooted);

#endif
