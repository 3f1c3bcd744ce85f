/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * What does collective operations in the MPI library's place: a table of functions.
 *
 * The interposer includes nothing of the folder that builds trees.  That folder
 * installs its table when the process starts, if the user has asked for trees, and the
 * interposer calls through it.  Without a table an operation that a tree could do costs
 * one load and one branch, and with one that no rule gives to a tree a few more; all
 * others cost nothing.
 *
 *   may run at the same time: install and remove run while no other thread is in MPI;
 *   everything else may run at any time.
 */
#ifndef ES_WRAPPERS_MPI_TREE_OPS_H
#define ES_WRAPPERS_MPI_TREE_OPS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "tuplespace/plan/tree_rules.h"
#include "wrappers/mpi/communicators.h"

struct esi_call;

/* The arguments of a collective operation as the program passed them.  Arguments that
 * are not significant at this rank may be anything.  Members that the operation has
 * not are 0, the root too. */
struct esi_collective {
    enum esi_tree_kind kind;
    bool is_nonblocking;
    MPI_Comm comm;
    const void *send; /* not used by bcast */
    MPI_Count send_count;
    MPI_Datatype send_type;
    void *receive; /* bcast: the buffer */
    MPI_Count receive_count;
    MPI_Datatype receive_type; /* bcast, reduce, allreduce: the one type */
    MPI_Op op;
    int root;
};

struct esi_tree_ops {
    /* Does a blocking operation inside its own recording.  False: nothing is done, and
     * the caller calls the real routine.  All ranks decide alike. */
    bool (*run)(const struct esi_call *call,
                const struct esi_collective *collective,
                int *ret_result);
    /* Begins a nonblocking operation.  False as above.  *ret_request is what the
     * program gets unless *ret_result is an error. */
    bool (*post)(const struct esi_call *call,
                 const struct esi_collective *collective,
                 MPI_Request *ret_request,
                 int *ret_result);
    /* The real routine has failed, of an operation that esi_tree_is_native() counted:
     * nobody has looked at its arguments. */
    void (*on_failed)(const struct esi_call *call,
                      const struct esi_collective *collective);
    /* Advances all nonblocking operations, and does not wait.  Any thread. */
    void (*progress)(void);

    /* Several threads may be in MPI from now on. */
    void (*on_threads)(void);
    /* There is a communicator of several processes.  Before, no operation can go by
     * tree, and no call waits for another process. */
    void (*on_peers)(void);
    /* MPI is initialized, or about to be finalized. */
    void (*on_initialized)(void);
    void (*on_finalize)(void);
#if MPI_VERSION >= 4
    void (*on_session_begin)(MPI_Session session);
    void (*on_session_end)(MPI_Session session);
#endif
    /* The program is about to free or disconnect the communicator.  Collective over
     * it.  `comm` may be NULL. */
    void (*on_comm_free)(struct esi_comm *comm);

    /* Whether the program's MPI_Type_free() or MPI_Op_free() is deferred, because an
     * operation under way uses the handle. */
    bool (*defer_type_free)(MPI_Datatype type);
    bool (*defer_op_free)(MPI_Op op);
};

/* The table that is installed; NULL = there are no trees in this process.  Set before
 * the first call of the program goes on into MPI, and constant afterwards. */
extern const struct esi_tree_ops *esi_trees __attribute__((visibility("hidden")));

/* Whether a blocking operation must synchronise rules first.  Numbers wrap around. */
static inline bool esi_tree_sync_is_due(const struct esi_tree_gate *gate)
{
    return (int32_t)(gate->count - gate->next) >= 0;
}

/* Whether an operation (by its bit in rules) is the MPI library's whatever its
 * arguments are; then it is counted.  Else the table decides. */
static inline bool esi_tree_is_native(struct esi_comm *comm, uint32_t operation)
{
    struct esi_tree_gate *gate;

    if (comm == NULL || (comm->gate.native & operation) == 0)
        return false;
    gate = &comm->gate;
    if ((operation & ES_TREE_ALL_BLOCKING) != 0 && esi_tree_sync_is_due(gate))
        return false;
    gate->count++;
    return true;
}

/* Borrows the table for good. */
void esi_trees_install(const struct esi_tree_ops *ops);

/* In a forked child: there are no trees any more, and no operation of theirs. */
void esi_trees_remove(void);

/* Reads EVENTSPACE_TREES and installs the table if it names rules.  Called once, by the
 * start of the process, before anything decides whether to record: `rank` is the
 * launcher's.  The folder of the trees defines it.  A program that links the
 * interposer alone has it not: then it is NULL. */
void esi_trees_start(int rank) __attribute__((weak));

#endif
