/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The arguments of a collective: whether a tree may perform the operation, and how long
 * its datatypes and its reduction operator are in use.
 *
 * Calls that MPI rejects must go to the real routine, so that errors are exactly MPI's
 * own.  Only the MPI library knows what it rejects, so it is asked by a call with the
 * same arguments on a communicator of this process alone, which moves no data.
 * Accepted datatypes, and operators with their datatypes, are remembered until the
 * program frees one.
 *
 * Each rank checks for itself.  In a correct program all ranks get the same result.  If
 * the count is 0, the datatype is not read, because some libraries do not read it
 * either.
 *
 * MPI lets a program free these handles while an operation is under way.  Copies would
 * not work: MPI_Type_dup() calls the program's attribute callbacks, operators cannot be
 * copied, and a user-defined function may compare the datatype it receives with its
 * own.  The free is therefore deferred until the last operation that uses the handle is
 * complete.
 *
 * Handles are stored as numbers and never read, so a handle that is not significant at
 * this rank may be in use as well.
 *
 *   may run at the same time: everything but esi_argument_check_start...() and
 *   esi_argument_check_end...(), which are called while MPI begins or ends.
 */
#ifndef ES_WRAPPERS_TREES_ARGUMENTS_H
#define ES_WRAPPERS_TREES_ARGUMENTS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "wrappers/mpi/mpi_next.h"

/* --- Checking --------------------------------------------------------------------- */

struct esi_call;
struct esi_collective;

/* Creates the communicator for checks, if there is none, from MPI_COMM_SELF.  If that
 * fails, everything is refused. */
void esi_argument_check_start(void);
#ifdef ESI_HAS_MPI_Session_init
/* Like esi_argument_check_start(), from a session, if there is no world. */
void esi_argument_check_start_in_session(MPI_Session session);
/* The session ends: frees what was created from it. */
void esi_argument_check_end_session(MPI_Session session);
#endif
void esi_argument_check_end(void);

/* Returns whether a tree may perform the operation.  `call` contains the communicator,
 * which is not an intercommunicator.  *ret_bytes is the payload named by the call (of
 * one block if there are several), the same at all ranks. */
bool esi_argument_check(const struct esi_call *call,
                        const struct esi_collective *collective,
                        uint64_t *ret_bytes);

/* --- Handles in use --------------------------------------------------------------- */

struct esi_handle_use {
    MPI_Datatype types[2];
    MPI_Op op;
    int count; /* number of handles in use; 0 if none */
};

/* Marks the two types and the operator as in use.  Returns false if out of memory, and
 * then marks none. */
bool esi_handle_use_begin(struct esi_handle_use *handles);

/* Ends the use, and frees what the program has freed meanwhile. */
void esi_handle_use_end(struct esi_handle_use *handles);

/* Return whether the program's MPI_Type_free() or MPI_Op_free() is deferred because the
 * handle is in use.  Freeing a predefined handle is not deferred, so that MPI reports
 * the error. */
bool esi_handle_use_defer_type_free(MPI_Datatype type);
bool esi_handle_use_defer_op_free(MPI_Op op);

#endif
