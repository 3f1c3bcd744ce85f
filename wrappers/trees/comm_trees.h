/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* What a site is made of, for the files that make it, agree on it and build its trees.
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
    _Atomic unsigned int references; /* the cache's and operations' under way */
    const struct es_tree_rule *rule; /* names the rule; not followed later on */
    int root;
    struct esi_tree *tree; /* owned */
};

struct esi_comm_trees {
    MPI_Comm shadow; /* MPI_COMM_NULL: no trees on this communicator, for good */
    const struct esi_comm *comm;            /* borrowed: whose site it is */
    uint32_t count;                         /* operations that trees could do, so far */
    struct esi_rule_sync agreed;            /* what all ranks know */
    struct esi_rules *rules;                /* in force */
    const struct es_tree_rule **applicable; /* of these, to this communicator; owned;
                                               NULL = nothing is agreed yet */
    size_t applicable_count;
    struct esi_host_info *whereabouts; /* of all ranks; NULL = not asked for yet */
    struct esi_location *places;       /* made of these by the rules in force */
    struct esi_rule_sync_pace pace;    /* rank 0: when the last agreement was */
    uint32_t seen;                     /* rank 0: newest wish that was looked at */
    struct esi_rooted_tree *trees[ESI_COMM_TREES_CACHE];
};

/* Follows other rules, or the same under another name of the communicator: trees are
 * built anew.  -ENOMEM: then nothing has changed. */
int esi_comm_trees_set_rules(struct esi_comm_trees *site,
                             struct esi_rules *rules,
                             const char *name);

/* Makes the site of a communicator; collective over it.  There is always one in the
 * end, if only to say that there are no trees here. */
struct esi_comm_trees *esi_comm_trees_create(struct esi_comm *comm, MPI_Comm handle);

/* Frees the site, which may be NULL, and its shadow communicator: collective. */
void esi_comm_trees_destroy(struct esi_comm_trees *site);

/* Any thread.  Accepts NULL. */
void esi_rooted_tree_unref(struct esi_rooted_tree *rooted);

#endif
