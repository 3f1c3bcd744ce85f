/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * One collective operation over a tree, implemented with MPI's point-to-point
 * operations on a communicator that is used for nothing else.
 *
 * An operation is a schedule that advances as its messages complete:
 * esi_tree_run_begin(), esi_tree_run_step() until it is complete, then
 * esi_tree_run_end(); esi_tree_run() does all of this for blocking operations.  Several
 * operations may be under way on one communicator if all ranks begin them in the same
 * order; each has its own tag.
 *
 * Arguments are those of the MPI call, and have been checked (arguments.h): counts are
 * not negative, datatypes are committed, the root is in range, and the communicator is
 * not an intercommunicator.  Results are MPI's codes; the communicator returns its
 * errors.  But MPICH 4.0.2 raises errors of arrived messages (a truncated one, in an
 * incorrect program) at MPI_COMM_WORLD, whatever the communicator.
 *
 * The order of reduction is also in docs/collective-trees.md: each node reduces, from
 * left to right, its own contribution and those of its children's subtrees in ascending
 * order of the lowest rank in each.  For operators that are not commutative, the
 * contributions are sent to the root individually and reduced there in rank order.
 * Results are therefore bitwise the same for the same tree, and at all ranks of an
 * allreduce.
 *
 *   may run at the same time: operations of different communicators; one operation is
 *   used by one thread at a time.
 */
#ifndef ES_WRAPPERS_TREES_TREE_RUN_H
#define ES_WRAPPERS_TREES_TREE_RUN_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tuplespace/plan/tree_rules.h"
#include "wrappers/shapes/shape.h"

/* The events recorded for an operation (paper, figure 2b).  Each is reported once per
 * operation and edge, regardless of the number of segments of the message, with the
 * time before the first and after the last of them. */
enum esi_edge_event {
    ESI_EDGE_CONTRIBUTE, /* the rank contributed; peer = parent, -1 at the root.  A
                            leaf's message to its parent is a contribution, not a
                            departure; in bcast and scatter only the root contributes */
    ESI_EDGE_ARRIVAL_UP, /* from a child: from the start of the wait to the last byte */
    ESI_EDGE_ARRIVAL_DOWN,   /* from the parent */
    ESI_EDGE_DEPARTURE_UP,   /* to the parent */
    ESI_EDGE_DEPARTURE_DOWN, /* to a child */
};

struct esi_tree_observer {
    /* Ticks of the recording clock. */
    uint64_t (*now)(void);
    /* An edge is about to be waited for or used: shown as the open tuple.  Blocking
     * operations only; may be NULL. */
    void (*open)(void *data, enum esi_edge_event event, int peer, uint64_t start);
    void (*record)(void *data,
                   enum esi_edge_event event,
                   int peer, /* rank in the communicator */
                   uint64_t start,
                   uint64_t stop,
                   uint64_t bytes); /* on this edge */
    void *data;
};

struct esi_tree_call {
    enum esi_tree_kind kind;
    const struct esi_tree *tree; /* for the root of the call; borrowed until the end */
    MPI_Comm comm;               /* of the trees: carries only their messages */
    int rank;                    /* own rank in it */
    int tag;                     /* of this operation: 0 to 32766 */
    uint64_t start;              /* ticks when the operation began; 0 for now */
    uint64_t segment_bytes;      /* 0 to send whole messages */
    const void *send;            /* MPI_IN_PLACE if MPI allows it; not used by bcast */
    MPI_Count send_count;
    MPI_Datatype send_type;
    void *receive; /* bcast: the buffer; scatter: MPI_IN_PLACE at the root */
    MPI_Count receive_count;
    MPI_Datatype receive_type; /* reduce, allreduce: the only type */
    MPI_Op op;
    const struct esi_tree_observer *observer; /* NULL if nothing is
                                                 recorded; borrowed */
};

struct esi_tree_run;

/* Begins the operation: sends and receives what is possible immediately.  *ret_run is
 * set even if MPI failed meanwhile; it is NULL only with MPI_ERR_NO_MEM, and then
 * nothing was sent. */
int esi_tree_run_begin(const struct esi_tree_call *call, struct esi_tree_run **ret_run);

/* Advances without waiting.  Sets *ret_done when nothing is left to do at this rank:
 * the program may use its buffers again. */
int esi_tree_run_step(struct esi_tree_run *run, bool *ret_done);

/* Frees the run.  Messages of a failed run are left to MPI.  Accepts NULL. */
void esi_tree_run_end(struct esi_tree_run *run);

/* Begins, waits and ends.  A successful exchange is stored in *kept for reuse by the
 * next call, which may differ only in tag, start, observer and addresses.  *kept is
 * initially NULL; esi_tree_run_end() frees it. */
int esi_tree_run(const struct esi_tree_call *call, struct esi_tree_run **kept);

#endif
