/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Errors that end the program (MPI-4.0, section 9.3).
 *
 * Where the error handler is MPI_ERRORS_ARE_FATAL, no call returns that failed.  Its
 * place is taken by a handler of ours, which notes the error in the ledger and hands it
 * on to MPI_ERRORS_ARE_FATAL.  The program sees MPI_ERRORS_ARE_FATAL.
 *
 *   may run at the same time: everything.
 */
#ifndef ES_WRAPPERS_MPI_ERRORS_H
#define ES_WRAPPERS_MPI_ERRORS_H

#include <mpi.h>

/* MPI is up, for the world or for a session. */
void esi_errors_begin(void);
/* It goes down; called as often as esi_errors_begin(), while MPI is still there. */
void esi_errors_end(void);

/* From now on errors on the communicator or window are noted if they are fatal. */
void esi_errors_watch_communicator(MPI_Comm comm);
void esi_errors_watch_window(MPI_Win win);

#endif
