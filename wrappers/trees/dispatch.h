/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Dispatch: whether one operation runs natively, by tree, or has to fail.
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
    ESI_DISPATCH_TREE,   /* filled: esi_tree_run_begin(&dispatch->run, ...) */
    ESI_DISPATCH_FAILED, /* this rank cannot do what the others do: fail with `code` */
};

/* One operation by tree.  Must not move before its end. */
struct esi_dispatch {
    struct esi_tree_call run; /* complete, with tree, communicator, tag and observer */
    struct esi_edges edges;
    struct esi_rooted_tree *tree; /* referenced */
    int code;                     /* ESI_DISPATCH_FAILED: MPI's */
};

/* Decides about an operation that has just been entered (call->tuple describes it).
 * Blocking forms may create the communicator's trees and synchronise rules with the
 * other ranks.  Nonblocking forms on a communicator without trees run natively.  Must
 * be called once for each operation, as it counts them. */
enum esi_dispatch_kind esi_dispatch_find(struct esi_call *call,
                                         const struct esi_collective *collective,
                                         struct esi_dispatch *ret_dispatch);

/* The operation is done or has failed, and esi_tree_run_end() has been called: releases
 * what ESI_DISPATCH_TREE acquired.  Any thread. */
void esi_dispatch_release(struct esi_dispatch *dispatch);

#endif
