/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The arguments of a collective: whether a tree may do the operation, and how long its
 * datatypes and its reduction are used.
 *
 * What MPI refuses must go to the real routine, so that errors are exactly MPI's
 * own. Only the MPI library knows what it refuses.  So it is asked by a call with
 * the same arguments on a communicator of this process alone, which moves nothing.
 * What it has taken of a datatype, or of an operation with it, is remembered until the
 * program frees one.
 *
 * Each rank checks for itself.  In a correct program all ranks find the same.  Where
 * the count is 0 the datatype is not read, since some libraries do not read it
 * either.
 *
 * MPI lets a program free them while an operation is under way.  A copy would not
 * do: MPI_Type_dup() calls the program's attribute callbacks, operations cannot be
 * copied, and a user's function may compare the datatype it gets with its own.  So
 * the free is deferred until the last operation that uses the handle is done.
 *
 * Handles are kept as numbers and never read, so a handle that is not significant at
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

/* --- Checking --------------------------------------------------------------------- */

struct esi_call;
struct esi_collective;

/* Makes the communicator that is asked, if there is none: out of MPI_COMM_SELF.  Where
 * that fails everything is refused. */
void esi_argument_check_start(void);
#if MPI_VERSION >= 4
/* The same out of a session, where there is no world. */
void esi_argument_check_start_in_session(MPI_Session session);
/* The session ends: what was made out of it must be gone. */
void esi_argument_check_end_session(MPI_Session session);
#endif
void esi_argument_check_end(void);

/* Whether a tree may do it.  `call` knows the communicator, which is no
 * intercommunicator.  *ret_bytes is the payload that the call names (of one block where
 * there are many), alike at all ranks. */
bool esi_argument_check(const struct esi_call *call,
                        const struct esi_collective *collective,
                        uint64_t *ret_bytes);

/* --- Handles in use --------------------------------------------------------------- */

struct esi_handle_use {
    MPI_Datatype types[2];
    MPI_Op op;
    int count; /* of them that are in use; 0 = none */
};

/* Marks the two types and the operation as in use.  False without memory: then none is.
 */
bool esi_handle_use_begin(struct esi_handle_use *handles);

/* Ends the use, and frees what the program has freed meanwhile. */
void esi_handle_use_end(struct esi_handle_use *handles);

/* Whether the program's MPI_Type_free() or MPI_Op_free() is deferred because the handle
 * is in use.  A predefined handle is not deferred, so that MPI reports the error. */
bool esi_handle_use_defer_type_free(MPI_Datatype type);
bool esi_handle_use_defer_op_free(MPI_Op op);

#endif
