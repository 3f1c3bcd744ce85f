/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Progress: MPI demands that operations under way advance while a rank is inside any
 * MPI call.  Nonblocking trees advance only when this library advances them.  So calls
 * that would block are done by their nonblocking forms, and trees are advanced until
 * these are complete.
 *
 * A row of operations.tab with the flag `progress` has a function progress_NAME of the
 * same type as the routine.  It is generated, or written by hand as esi_progress_NAME
 * (progress.c, progress_calls.h).  The exported wrapper calls it in place of the next
 * definition.  Calls that concern their own process alone (messages, completion) do so
 * while operations are under way.  Collective calls need all ranks to do the same,
 * since a blocking collective does not match a nonblocking one: they do so for the
 * whole run if any rule names a nonblocking form, on communicators whose members all
 * have this rule.
 *
 * A process alone waits for nobody: there are MPIs (MPICH 4.0) that die in MPI_Test
 * where a session has no communicator of several processes.
 */
#ifndef ES_WRAPPERS_MPI_PROGRESS_H
#define ES_WRAPPERS_MPI_PROGRESS_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "wrappers/mpi/communicators.h"
#include "wrappers/mpi/mpi_next.h"
#include "wrappers/mpi/tree_ops.h"

/* How many reasons there are to advance operations: those under way, and one if any
 * thread may begin one while another blocks.  Whoever posts operations counts. */
extern _Atomic int esi_progress_reasons __attribute__((visibility("hidden")));

/* Whether this run has nonblocking trees.  All ranks know it alike, as collective calls
 * must that do something else because of it.  Set when the table is installed. */
extern bool esi_progress_collectives;

/* Whether calls of this process must advance operations while they wait. */
static inline bool esi_progress_is_due(void)
{
    return __builtin_expect(
        atomic_load_explicit(&esi_progress_reasons, memory_order_relaxed) != 0, 0);
}

/* Whether a communicator is of this process alone. */
bool esi_progress_is_alone(MPI_Comm comm);

/* Whether all ranks of the communicator advance operations in its collective calls. */
static inline bool esi_progress_is_due_at_all(MPI_Comm comm)
{
    return __builtin_expect(esi_progress_collectives, 0) &&
           !esi_progress_is_alone(comm) && esi_comm_is_of_world(comm);
}

/* Advances all operations under way, and does not wait. */
static inline void esi_progress_advance(void)
{
    if (esi_trees != NULL)
        esi_trees->progress();
}

/* As MPI_Wait; advances operations meanwhile. */
int esi_progress_wait(MPI_Request *request, MPI_Status *status);

/* The same for a request of this library: advances operations only if it must. */
int esi_progress_wait_own(MPI_Request *request);

/* Waits until all ranks of the communicator are here, and advances operations
 * meanwhile.  A blocking call that all of them make next delays nobody for long.
 * Returns MPI's code. */
int esi_progress_barrier(MPI_Comm comm);

/* The error of an operation of ours, found by a completion call of a single request:
 * MPI raises it at the operation's communicator.  Where a call has several requests
 * their statuses have it. */
struct esi_progress_error {
    MPI_Comm comm;
    int code; /* MPI_SUCCESS = none */
};

/* Not NULL: errors of operations that this thread completes come here. */
extern _Thread_local struct esi_progress_error *esi_progress_error;

#endif
