/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Progress: MPI requires that operations under way advance while a rank is inside any
 * MPI call.  Nonblocking trees advance only when this library advances them.  Calls
 * that would block are therefore replaced by their nonblocking forms, and trees are
 * advanced until these complete.
 *
 * A row of operations.tab with the flag `progress` has a function progress_NAME of the
 * same type as the routine.  It is generated, or written by hand as esi_progress_NAME
 * (progress.c, progress_calls.h).  The exported wrapper calls it instead of the next
 * definition.  Calls that only affect their own process (messages, completion) are
 * replaced while operations are under way.  Collective calls must be replaced in all
 * ranks, because a blocking collective does not match a nonblocking one: they are
 * replaced for the whole run if any rule names a nonblocking form, on communicators
 * whose members all have this rule.
 *
 * A single process waits for nobody.  Calls on it are not replaced, because some MPIs
 * (MPICH 4.0) crash in MPI_Test if a session has no communicator of several processes.
 */
#ifndef ES_WRAPPERS_MPI_PROGRESS_H
#define ES_WRAPPERS_MPI_PROGRESS_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "wrappers/mpi/communicators.h"
#include "wrappers/mpi/mpi_next.h"
#include "wrappers/mpi/tree_ops.h"

/* Number of reasons to advance operations: the operations under way, plus one if any
 * thread may begin one while another blocks.  Counted by those who post operations. */
extern _Atomic int esi_progress_reasons __attribute__((visibility("hidden")));

/* Whether this run has nonblocking trees.  The same in all ranks, as required for
 * replacing collective calls.  Set when the table is installed. */
extern bool esi_progress_collectives;

/* Returns whether calls of this process must advance operations while they wait. */
static inline bool esi_progress_is_due(void)
{
    return __builtin_expect(
        atomic_load_explicit(&esi_progress_reasons, memory_order_relaxed) != 0, 0);
}

/* Returns whether this process is the only member of a communicator. */
bool esi_progress_is_alone(MPI_Comm comm);

/* Returns whether all ranks of the communicator advance operations in its collective
 * calls. */
static inline bool esi_progress_is_due_at_all(MPI_Comm comm)
{
    return __builtin_expect(esi_progress_collectives, 0) &&
           !esi_progress_is_alone(comm) && esi_comm_is_of_world(comm);
}

/* Advances all operations under way without waiting. */
static inline void esi_progress_advance(void)
{
    if (esi_trees != NULL)
        esi_trees->progress();
}

/* Like MPI_Wait, and advances operations meanwhile. */
int esi_progress_wait(MPI_Request *request, MPI_Status *status);

/* Like esi_progress_wait(), for a request of this library; advances operations only if
 * necessary. */
int esi_progress_wait_own(MPI_Request *request);

/* Waits until all ranks of the communicator have called this function, and advances
 * operations meanwhile.  A blocking call that all of them make next does not block for
 * long.  Returns MPI's code. */
int esi_progress_barrier(MPI_Comm comm);

/* The error of one of our operations, found by a completion call of a single request,
 * which MPI raises at the communicator of the operation.  In calls with several
 * requests, the statuses contain the errors. */
struct esi_progress_error {
    MPI_Comm comm;
    int code; /* MPI_SUCCESS if none */
};

/* If not NULL, receives errors of operations that this thread completes. */
extern _Thread_local struct esi_progress_error *esi_progress_error;

#endif
