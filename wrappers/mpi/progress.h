/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Patience: MPI demands that what is under way goes on while a rank is inside any MPI
 * call.  Nonblocking trees go on only when we move them, so calls that would block are
 * done by their nonblocking forms, and trees are moved on until these are complete.
 *
 * A row of operations.tab with the flag `patient` has a function esi_patient_NAME of
 * the same type as the routine, generated or written by hand (patient_calls.h), which
 * is called in its place.  Of calls that need only their own process to agree
 * (messages, completion) this is so while operations are under way.  Collective ones
 * need all ranks to do the same, since a blocking collective does not match a
 * nonblocking one: there it is so for the whole run if any rule names a nonblocking
 * form, on communicators that lie within the world of those who have this rule.
 *
 * A process alone waits for nobody: there are MPIs (MPICH 4.0) that die in MPI_Test
 * where a session has no communicator of several processes.
 */
#ifndef ES_WRAPPERS_MPI_PROGRESS_H
#define ES_WRAPPERS_MPI_PROGRESS_H

#include <mpi.h>
#include <stdbool.h>

#include "wrappers/trees/nonblocking.h"
#include "wrappers/trees/trees.h"
#include "wrappers/mpi/communicators.h"
#include "wrappers/mpi/mpi_next.h"

struct esi_tree_run;

/* Whether calls of this process must move operations on while they wait. */
static inline bool esi_is_patient(void)
{
    return __builtin_expect(
        atomic_load_explicit(&esi_trees_pending, memory_order_relaxed) != 0, 0);
}

/* Whether a communicator is of this process alone. */
bool esi_patient_is_alone(MPI_Comm comm);

/* Whether all ranks of the communicator do its collective calls patiently. */
static inline bool esi_is_patient_together(MPI_Comm comm)
{
    return __builtin_expect(esi_trees_nonblocking, 0) && !esi_patient_is_alone(comm) &&
           esi_comm_is_of_world(comm);
}

/* Waits until a request is complete, and moves trees on meanwhile.  As MPI_Wait. */
int esi_patient_finish(MPI_Request *request, MPI_Status *status);

/* Moves a tree of a blocking operation on until it is done, and the others with it. */
int esi_patient_run(struct esi_tree_run *run);

/* Waits patiently until all ranks of the communicator are here: then a blocking call
 * that all of them make next holds up nobody for long.  Returns MPI's code. */
int esi_patient_meet(MPI_Comm comm);

#endif
