/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Dispatch: whether one operation runs natively, by tree, or has to fail; and the trees
 * of one communicator.
 *
 * They are created at the first blocking operation that a tree could do: a shadow
 * communicator of the same group, which carries only trees and rule
 * synchronisations; the number of operations so far; the rules in force
 * (rules.h); and the trees built by these rules, for a few roots.
 *
 * MPI demands that all ranks call collectives on a communicator in the same order,
 * one after the other.  So one thread at a time is here, and no lock is taken.  Only
 * the ends of nonblocking operations come from any thread; what they touch is
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

/* The last operation of a kind: the next one with such arguments goes the same way,
 * until the program frees a datatype or an operation. */
struct esi_known_dispatch {
    struct esi_collective collective;
    uint64_t bytes;
    uint32_t epoch;               /* of handles; 0 = none */
    struct esi_rooted_tree *tree; /* borrowed of `trees`; NULL = the library's */
    struct esi_tree_call run;     /* of the blocking operation that is under way */
    struct esi_tree_run *kept;    /* for the next one; NULL = none */
};

struct esi_comm_trees {
    MPI_Comm shadow;       /* MPI_COMM_NULL: no trees on this communicator, for good */
    struct esi_comm *comm; /* borrowed: whose trees they are, with their gate */
    struct esi_rule_sync last_sync;          /* what all ranks know */
    struct esi_shared_rules *rules;          /* in force */
    const struct esi_tree_rule **applicable; /* those of `rules` for this
                                               communicator; owned; NULL = before the
                                               first synchronisation */
    size_t applicable_count;
    struct esi_host_info *host_infos; /* of all ranks; NULL = not asked for yet */
    struct esi_location *locations;   /* made of these by the rules in force */
    struct esi_rule_sync_pace pace;   /* rank 0: when the last one was */
    uint32_t seen_version;            /* rank 0: newest desired rules that were read */
    struct esi_rooted_tree *trees[ESI_COMM_TREES_CACHE];
    struct esi_known_dispatch known[ES_TREE_KIND_COUNT];
};

/* Puts other rules in force, or the same under another name of the communicator: trees
 * are built anew.  -ENOMEM: then nothing has changed. */
int esi_comm_trees_set_rules(struct esi_comm_trees *trees,
                             struct esi_shared_rules *rules,
                             const char *name);

/* Frees the trees, which may be NULL, and their shadow communicator: collective. */
void esi_comm_trees_destroy(struct esi_comm_trees *trees);

/* Whether `own` is true at all ranks; collective.  Returns MPI's code. */
int esi_comm_all_agree(MPI_Comm comm, bool own, bool *ret_all);

/* --- One operation ---------------------------------------------------------------- */

enum esi_dispatch_kind {
    ESI_DISPATCH_NATIVE, /* call the real routine */
    ESI_DISPATCH_TREE,   /* filled: esi_tree_run_begin(dispatch->run, ...) */
    ESI_DISPATCH_FAILED, /* this rank cannot do what the others do: fail with `code` */
};

/* One operation by tree.  Must not move before its end. */
struct esi_dispatch {
    const struct esi_tree_call *run; /* complete, with tree, tag and observer */
    struct esi_edges edges;
    struct esi_tree_run **kept;   /* blocking forms: for esi_tree_run() */
    struct esi_tree_call own;     /* nonblocking forms: what `run` is */
    struct esi_rooted_tree *tree; /* likewise: referenced; else NULL */
    int code;                     /* ESI_DISPATCH_FAILED: MPI's */
};

/* Decides about an operation that has just been entered (call->tuple describes it).
 * Blocking forms may create the communicator's trees and synchronise rules with the
 * other ranks.  Nonblocking forms on a communicator without trees run natively.  Must
 * be called once for each operation, as it counts them.
 *
 * Operations that MPI refuses do not count, since other ranks may never see them.  The
 * arguments of one that no rule gives to a tree are looked at only if the real routine
 * fails: esi_tree_is_native() counts it, and esi_dispatch_take_back() takes it back. */
enum esi_dispatch_kind esi_dispatch_find(const struct esi_call *call,
                                         const struct esi_collective *collective,
                                         struct esi_dispatch *ret_dispatch);

/* The real routine has failed: it does not count if MPI has refused its arguments. */
void esi_dispatch_take_back(const struct esi_call *call,
                            const struct esi_collective *collective);

/* The operation is done or has failed, and esi_tree_run_end() has been called: releases
 * what ESI_DISPATCH_TREE acquired.  Any thread. */
void esi_dispatch_release(struct esi_dispatch *dispatch);

#endif
