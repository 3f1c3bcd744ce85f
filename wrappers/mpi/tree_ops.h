/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Replaces collective operations of the MPI library: a table of functions.
 *
 * The interposer does not include anything of the folder that implements trees.  That
 * folder installs its table when the process starts, if the user has requested trees,
 * and the interposer calls through it.  Without a table, an operation that a tree could
 * perform costs one load and one branch, and a few more with a table but no matching
 * rule; all others cost nothing.
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

/* The arguments of a collective operation, as passed by the program.  Arguments that
 * are not significant at this rank may have any value.  Members that the operation does
 * not have are 0, including the root. */
struct esi_collective {
    enum esi_tree_kind kind;
    bool is_nonblocking;
    MPI_Comm comm;
    const void *send; /* not used by bcast */
    MPI_Count send_count;
    MPI_Datatype send_type;
    void *receive; /* bcast: the buffer */
    MPI_Count receive_count;
    MPI_Datatype receive_type; /* bcast, reduce, allreduce: the only type */
    MPI_Op op;
    int root;
};

struct esi_tree_ops {
    /* Performs a blocking operation while it is being recorded.  Returns false if
     * nothing was done, and the caller must call the real routine.  All ranks decide
     * alike. */
    bool (*run)(const struct esi_call *call,
                const struct esi_collective *collective,
                int *ret_result);
    /* Begins a nonblocking operation.  Returns false likewise.  *ret_request is
     * returned to the program unless *ret_result is an error. */
    bool (*post)(const struct esi_call *call,
                 const struct esi_collective *collective,
                 MPI_Request *ret_request,
                 int *ret_result);
    /* The real routine has failed for an operation counted by esi_tree_is_native(),
     * whose arguments were not checked. */
    void (*on_failed)(const struct esi_call *call,
                      const struct esi_collective *collective);
    /* Advances all nonblocking operations without waiting.  Thread safe. */
    void (*progress)(void);

    /* Several threads may be in MPI from now on. */
    void (*on_threads)(void);
    /* There is a communicator of several processes.  Before, no operation can use a
     * tree, and no call waits for another process. */
    void (*on_peers)(void);
    /* MPI is initialized, or about to be finalized. */
    void (*on_initialized)(void);
    void (*on_finalize)(void);
#ifdef ESI_HAS_MPI_Session_init
    void (*on_session_begin)(MPI_Session session);
    void (*on_session_end)(MPI_Session session);
#endif
    /* The program is about to free or disconnect the communicator.  Collective over it.
     * `comm` may be NULL. */
    void (*on_comm_free)(struct esi_comm *comm);

    /* Return whether the program's MPI_Type_free() or MPI_Op_free() is deferred,
     * because an operation under way uses the handle. */
    bool (*defer_type_free)(MPI_Datatype type);
    bool (*defer_op_free)(MPI_Op op);
};

/* The installed table; NULL if this process has no trees.  Set before the first call of
 * the program enters MPI, and constant afterwards. */
extern const struct esi_tree_ops *esi_trees __attribute__((visibility("hidden")));

/* Returns whether a blocking operation must synchronize rules first.  Numbers wrap
 * around. */
static inline bool esi_tree_sync_is_due(const struct esi_tree_gate *gate)
{
    return (int32_t)(gate->count - gate->next) >= 0;
}

/* Returns whether an operation (its bit in rules) uses the MPI library regardless of
 * its arguments, and then counts it.  Otherwise the table decides. */
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

/* Installs the table, which is borrowed permanently. */
void esi_trees_install(const struct esi_tree_ops *ops);

/* In a forked child: removes the trees and their operations. */
void esi_trees_remove(void);

/* Reads EVENTSPACE_TREES and installs the table if it contains rules.  Called once,
 * when the process starts, before anything decides whether to record.  `rank` is that
 * of the launcher.  Defined by the folder of the trees; NULL in programs that only link
 * the interposer. */
void esi_trees_start(int rank) __attribute__((weak));

#endif
