/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The trees of one communicator, and the way that one of its operations takes.
 *
 * A site is made at the first blocking operation on a communicator that trees could
 * do: a shadow communicator of the same group, which carries nothing but trees and
 * agreements; the number of operations done so far; the rules in force, as rank 0 told
 * them at the last agreement (agreement.h); and the trees built by these rules, for a
 * few roots.
 *
 * MPI demands that all ranks call collectives on a communicator in the same order, one
 * after the other, so a site is used by one thread at a time, and takes no lock.  Only
 * the ends of nonblocking operations come from anywhere: what they touch is atomic.
 */
#ifndef ES_WRAPPERS_TREES_DISPATCH_H
#define ES_WRAPPERS_TREES_DISPATCH_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "tuplespace/plan/tree_rules.h"
#include "wrappers/mpi/tree_ops.h"
#include "wrappers/trees/edges.h"
#include "wrappers/trees/tree_run.h"

struct esi_call;
struct esi_comm;
struct esi_rooted_tree;
struct esi_comm_trees;

enum esi_dispatch_kind {
    ESI_DISPATCH_NATIVE, /* call the real routine */
    ESI_DISPATCH_TREE,   /* the way is filled: esi_tree_run_begin(&way->run, ...) */
    ESI_DISPATCH_FAILED, /* cannot do what the other ranks do: fail with way->code */
};

/* One operation by tree.  Must not move before its end. */
struct esi_dispatch {
    struct esi_tree_call run; /* complete, with tree, communicator, tag and observer */
    struct esi_edges edges;
    struct esi_rooted_tree *tree; /* held */
    int code;                     /* ESI_DISPATCH_FAILED: MPI's */
};

/* Finds the way of an operation that has just been entered (call->tuple describes it).
 * Blocking forms may make the site and agree with the other ranks on the way; the
 * nonblocking ones of communicators without a site go to the library.  Must be called
 * once for each operation, as it counts them. */
enum esi_dispatch_kind esi_dispatch_find(struct esi_call *call,
                                         const struct esi_collective *collective,
                                         struct esi_dispatch *ret_way);

/* The operation is done or has failed (esi_tree_run_end() has been called): gives back
 * what ESI_DISPATCH_TREE took.  Any thread. */
void esi_dispatch_release(struct esi_dispatch *way);

#endif
