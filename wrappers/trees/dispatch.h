/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Dispatch: whether an operation runs natively, by tree, or has to fail; and the trees
 * of a communicator.
 *
 * The trees are created at the first blocking operation that a tree could perform: a
 * shadow communicator of the same group, which only carries messages of trees and rule
 * synchronizations; the number of operations so far; the rules in force (rules.h); and
 * the trees built by these rules, for a few roots.
 *
 * MPI requires all ranks to call collectives on a communicator in the same order, one
 * after the other.  So only one thread at a time is here, and no lock is taken.  Only
 * the ends of nonblocking operations come from any thread; the data they access is
 * atomic.
 */
#ifndef ES_WRAPPERS_TREES_DISPATCH_H
#define ES_WRAPPERS_TREES_DISPATCH_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "tuplespace/plan/tree_rules.h"
#include "wrappers/mpi/communicators.h"
#include "wrappers/mpi/tree_ops.h"
#include "wrappers/shapes/placement.h"
#include "wrappers/trees/edges.h"
#include "wrappers/trees/rules.h"
#include "wrappers/trees/tree_run.h"

/* --- The trees of a communicator -------------------------------------------------- */

enum {
    ESI_COMM_TREES_CACHE = 64, /* trees kept for a communicator, by rule and root */
    ESI_COMM_TREES_MAX = 256,  /* limit of shadow communicators per process, because
                                  MPI has a limited number, which the program needs */
};

/* Operations without a root use that of an explicit tree, else rank 0. */
#define ESI_ROOT_OF_RULE (-1)

/* A tree built by a rule for a root.  `tree` is NULL if the rule does not fit the
 * communicator, and the MPI library is used. */
struct esi_rooted_tree {
    _Atomic unsigned int references;  /* held by the cache and by
                                         operations under way */
    const struct esi_tree_rule *rule; /* identifies the rule; not dereferenced later */
    int root;
    struct esi_tree *tree; /* owned */
};

/* The last operation of a kind.  The next one with the same arguments is dispatched in
 * the same way, until the program frees a datatype or an operator. */
struct esi_known_dispatch {
    struct esi_collective collective;
    uint64_t bytes;
    uint32_t epoch;               /* of handles; 0 if none */
    struct esi_rooted_tree *tree; /* borrowed from `trees`; NULL for the MPI library */
    struct esi_tree_call run;     /* of the blocking operation under way */
    struct esi_tree_run *kept;    /* for reuse by the next one; NULL if none */
};

struct esi_comm_trees {
    MPI_Comm shadow;       /* MPI_COMM_NULL if this communicator never has trees */
    struct esi_comm *comm; /* borrowed: the communicator of the trees, with its gate */
    struct esi_rule_sync last_sync;          /* known to all ranks */
    struct esi_shared_rules *rules;          /* in force */
    const struct esi_tree_rule **applicable; /* those of `rules` for this
                                                communicator; owned; NULL before
                                                the first synchronization */
    size_t applicable_count;
    struct esi_host_info *host_infos; /* of all ranks; NULL if not exchanged yet */
    struct esi_location *locations;   /* computed from these by the rules in force */
    struct esi_rule_sync_pace pace;   /* rank 0: time of the last synchronization */
    uint32_t seen_version;            /* rank 0: newest version of the
                                         desired rules that was read */
    struct esi_rooted_tree *trees[ESI_COMM_TREES_CACHE];
    struct esi_known_dispatch known[ES_TREE_KIND_COUNT];
};

/* Puts other rules in force, or the same rules with another name of the communicator,
 * and rebuilds the trees.  Returns 0; or -ENOMEM, and then changes nothing. */
int esi_comm_trees_set_rules(struct esi_comm_trees *trees,
                             struct esi_shared_rules *rules,
                             const char *name);

/* MPI is initialized, or about to be finalized: creates and frees the communicator that
 * shadow communicators are made from.  Collective over MPI_COMM_WORLD. */
void esi_shadows_start(void);
void esi_shadows_end(void);

/* Frees the trees and their shadow communicator.  Collective.  Accepts NULL. */
void esi_comm_trees_destroy(struct esi_comm_trees *trees);

/* Determines whether `own` is true at all ranks.  Collective.  Returns MPI's code. */
int esi_comm_all_agree(MPI_Comm comm, bool own, bool *ret_all);

/* --- One operation ---------------------------------------------------------------- */

enum esi_dispatch_kind {
    ESI_DISPATCH_NATIVE, /* call the real routine */
    ESI_DISPATCH_TREE,   /* filled: esi_tree_run_begin(dispatch->run, ...) */
    ESI_DISPATCH_FAILED, /* this rank cannot do what the others do: fail with `code` */
};

/* One operation by tree.  Must not be moved while it is in use. */
struct esi_dispatch {
    const struct esi_tree_call *run; /* complete, with tree, tag and observer */
    struct esi_edges edges;
    struct esi_tree_run **kept;   /* blocking operations: for esi_tree_run() */
    struct esi_tree_call own;     /* nonblocking operations: `run` points here */
    struct esi_rooted_tree *tree; /* nonblocking operations: holds
                                     a reference; else NULL */
    int code;                     /* ESI_DISPATCH_FAILED: MPI's error code */
};

/* Dispatches an operation that has just been entered (call->tuple describes it).
 * Blocking operations may create the communicator's trees and synchronize rules with
 * the other ranks.  Nonblocking operations on a communicator without trees run
 * natively.  Must be called once for each operation, because it counts them.
 *
 * Operations that MPI rejects do not count, because other ranks may never see them.
 * The arguments of an operation that no rule assigns to a tree are only checked if the
 * real routine fails: esi_tree_is_native() counts it, and esi_dispatch_take_back()
 * undoes that. */
enum esi_dispatch_kind esi_dispatch_find(const struct esi_call *call,
                                         const struct esi_collective *collective,
                                         struct esi_dispatch *ret_dispatch);

/* The real routine has failed: does not count the operation if MPI has rejected its
 * arguments. */
void esi_dispatch_take_back(const struct esi_call *call,
                            const struct esi_collective *collective);

/* The operation is complete or has failed, and esi_tree_run_end() was called: releases
 * what ESI_DISPATCH_TREE acquired.  Thread safe. */
void esi_dispatch_release(struct esi_dispatch *dispatch);

#endif
