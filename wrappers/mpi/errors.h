/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Errors that end the program (MPI-4.0, section 9.3).
 *
 * With the error handler MPI_ERRORS_ARE_FATAL, a call that fails does not return.  It
 * is replaced by a handler of ours, which records the error in the ledger and then
 * calls MPI_ERRORS_ARE_FATAL.  The program still sees MPI_ERRORS_ARE_FATAL.
 *
 *   may run at the same time: everything.
 */
#ifndef ES_WRAPPERS_MPI_ERRORS_H
#define ES_WRAPPERS_MPI_ERRORS_H

#include <mpi.h>

/* MPI was initialized, for the world or for a session. */
void esi_errors_begin(void);
/* MPI is about to be finalized; called as often as esi_errors_begin(). */
void esi_errors_end(void);

/* Records fatal errors on the communicator or window from now on. */
void esi_errors_watch_communicator(MPI_Comm comm);
void esi_errors_watch_window(MPI_Win win);

#endif
