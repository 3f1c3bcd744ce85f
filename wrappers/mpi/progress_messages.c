/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Receives, probes and send-receives that advance operations while they wait.
 *
 * What comes from MPI_PROC_NULL does not block and goes to the routine itself: a
 * request's status does not always say so (MPICH 4.0).
 */
#include "config.h"

#include "wrappers/mpi/progress.h"

#include <stdlib.h>

/* --- Probes --------------------------------------------------------------------- */

int esi_progress_MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    int flag = 0;
    int result;

    do {
        esi_progress_advance();
        result = ESI_REAL(MPI_Iprobe)(source, tag, comm, &flag, status);
    } while (result == MPI_SUCCESS && !flag);
    return result;
}

int esi_progress_MPI_Mprobe(int source,
                            int tag,
                            MPI_Comm comm,
                            MPI_Message *message,
                            MPI_Status *status)
{
    int flag = 0;
    int result;

    do {
        esi_progress_advance();
        result = ESI_REAL(MPI_Improbe)(source, tag, comm, &flag, message, status);
    } while (result == MPI_SUCCESS && !flag);
    return result;
}

/* --- Send and receive in one call ----------------------------------------------- */

/* Waits for both; the receive's error is the call's. */
static int finish_pair(MPI_Request *sent, MPI_Request *received, MPI_Status *status)
{
    int result = esi_progress_wait(received, status);
    int of_send = esi_progress_wait(sent, MPI_STATUS_IGNORE);

    return result != MPI_SUCCESS ? result : of_send;
}

/* The send could not begin: the receive must not take a message. */
static void take_back(MPI_Request *received)
{
    ESI_REAL(MPI_Cancel)(received);
    ESI_REAL(MPI_Request_free)(received);
}

/* --- The calls that exist with int and with MPI_Count counts -------------------- */

#define ESI_COUNT int
#define ESI_NAME(name) name
#define ESI_CALL(name) ESI_REAL(name)
#include "wrappers/mpi/progress_calls.h"
#undef ESI_COUNT
#undef ESI_NAME
#undef ESI_CALL

#if MPI_VERSION >= 4
#define ESI_COUNT MPI_Count
#define ESI_NAME(name) name##_c
#define ESI_CALL(name) ESI_REAL(name##_c)
#include "wrappers/mpi/progress_calls.h"
#endif
