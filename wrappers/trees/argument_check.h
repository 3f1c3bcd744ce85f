/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Checking a collective's arguments: whether a tree may do the operation.
 *
 * What MPI refuses must go to the real routine, so that errors are exactly MPI's
 * own. Only the MPI library knows what it refuses.  So it is asked by a call with
 * the same arguments on a communicator of this process alone, which moves nothing.
 *
 * Each rank checks for itself.  In a correct program all ranks find the same.  Where
 * the count is 0 the datatype is not read, since some libraries do not read it
 * either.
 *
 *   may run at the same time: esi_argument_check(); the others are called while MPI
 *   begins or ends.
 */
#ifndef ES_WRAPPERS_TREES_ARGUMENT_CHECK_H
#define ES_WRAPPERS_TREES_ARGUMENT_CHECK_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

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

#endif
