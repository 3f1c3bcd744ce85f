/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * One collective operation over a tree, made of the MPI library's point-to-point
 * operations on a communicator that nobody else uses.
 *
 * An operation is a schedule that advances as its messages complete:
 * esi_tree_run_begin(), esi_tree_run_step() until it is done, then esi_tree_run_end();
 * esi_tree_run() does all of it for blocking forms.  Several may be under way on one
 * communicator if all ranks begin them in the same order; each uses its own tag.
 *
 * Arguments are those of MPI's call.  They have been checked before
 * (arguments.h): counts are not negative, datatypes committed, the root in
 * range, the communicator no intercommunicator.  Results are MPI's codes; the
 * communicator returns its errors. But MPICH 4.0.2 raises what it finds when a
 * message has arrived (a truncated one, in a wrong program) at MPI_COMM_WORLD,
 * whatever the communicator.
 *
 * The order of reduction is also in docs/collective-trees.md: each node reduces,
 * from left to right, its own contribution and those of its children's subtrees in
 * ascending order of the lowest rank in each.  Operations that do not commute travel
 * to the root one by one and are reduced there in rank order.  So a result is
 * bitwise the same for the same tree, and for all ranks of an allreduce.
 *
 *   may run at the same time: operations of different communicators; one operation is
 *   one thread's at a time.
 */
#ifndef ES_WRAPPERS_TREES_TREE_RUN_H
#define ES_WRAPPERS_TREES_TREE_RUN_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tuplespace/plan/tree_rules.h"
#include "wrappers/shapes/shape.h"

/* What is recorded of an operation (paper, figure 2b).  Each is called once per
 * operation and edge, however many segments the message has, with the time before the
 * first and the one after the last of them. */
enum esi_edge_event {
    ESI_EDGE_CONTRIBUTE, /* the rank brought in its own; peer = parent, -1 at the root.
                            A leaf's message to its parent is this, and no departure;
                            in bcast and scatter only the root's */
    ESI_EDGE_ARRIVAL_UP, /* from a child: from the wait's begin to the last byte */
    ESI_EDGE_ARRIVAL_DOWN,   /* from the parent */
    ESI_EDGE_DEPARTURE_UP,   /* to the parent */
    ESI_EDGE_DEPARTURE_DOWN, /* to a child */
};

struct esi_tree_observer {
    /* Ticks of the recording clock. */
    uint64_t (*now)(void);
    /* An edge is about to be waited for, or used: shown as the open tuple.  Blocking
     * forms only; may be NULL. */
    void (*open)(void *data, enum esi_edge_event event, int peer, uint64_t start);
    void (*record)(void *data,
                   enum esi_edge_event event,
                   int peer, /* rank in the communicator */
                   uint64_t start,
                   uint64_t stop,
                   uint64_t bytes); /* of this edge */
    void *data;
};

struct esi_tree_call {
    enum esi_tree_kind kind;
    const struct esi_tree *tree; /* for the call's root; borrowed until the end */
    MPI_Comm comm;               /* of the trees: no messages but theirs */
    int rank;                    /* own, in it */
    int tag;                     /* of this operation: 0 to 32766 */
    uint64_t start;              /* ticks when the operation began; 0 = now */
    uint64_t segment_bytes;      /* 0 = whole messages */
    const void *send;            /* MPI_IN_PLACE where MPI allows it; bcast: not used */
    MPI_Count send_count;
    MPI_Datatype send_type;
    void *receive; /* bcast: the buffer; scatter: MPI_IN_PLACE at the root */
    MPI_Count receive_count;
    MPI_Datatype receive_type; /* reduce, allreduce: the one type */
    MPI_Op op;
    const struct esi_tree_observer *observer; /* NULL = nothing is recorded; borrowed */
};

struct esi_tree_run;

/* Begins it: sends and receives what can be at once.  *ret_run is set also when MPI
 * failed meanwhile; NULL only with MPI_ERR_NO_MEM before anything was sent. */
int esi_tree_run_begin(const struct esi_tree_call *call, struct esi_tree_run **ret_run);

/* Advances without waiting.  *ret_done when nothing is left to do here: the program's
 * buffers are its own again. */
int esi_tree_run_step(struct esi_tree_run *run, bool *ret_done);

/* Frees it.  The messages of a run that failed are left to MPI.  Accepts NULL. */
void esi_tree_run_end(struct esi_tree_run *run);

/* begin, wait, end.  An operation may come again: an exchange that has succeeded is
 * left in *kept with all that does not change, for the next call, which may differ in
 * tag, start, observer and addresses alone.  *kept is NULL at first;
 * esi_tree_run_end() frees it. */
int esi_tree_run(const struct esi_tree_call *call, struct esi_tree_run **kept);

#endif
