/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Progress of operations while calls wait, and the calls that complete requests. */
#include "config.h"

#include "wrappers/mpi/progress.h"

#include <stdlib.h>

const struct esi_tree_ops *esi_trees;
_Atomic int esi_progress_reasons;
bool esi_progress_collectives;
_Thread_local struct esi_progress_error *esi_progress_error;

void esi_trees_install(const struct esi_tree_ops *ops)
{
    esi_trees = ops;
}

void esi_trees_remove(void)
{
    esi_trees = NULL;
    esi_progress_collectives = false;
    atomic_store(&esi_progress_reasons, 0);
}

bool esi_progress_is_alone(MPI_Comm comm)
{
    const struct esi_comm *known = esi_comm_lookup(ESI_HANDLE(comm));

    return known != NULL && !known->inter && known->size == 1;
}

int esi_progress_wait(MPI_Request *request, MPI_Status *status)
{
    int flag = 0;
    int result;

    do {
        esi_progress_advance();
        result = ESI_REAL(MPI_Test)(request, &flag, status);
    } while (result == MPI_SUCCESS && !flag);
    return result;
}

int esi_progress_wait_own(MPI_Request *request)
{
    return esi_progress_is_due() ? esi_progress_wait(request, MPI_STATUS_IGNORE)
                                 : ESI_REAL(MPI_Wait)(request, MPI_STATUS_IGNORE);
}

int esi_progress_barrier(MPI_Comm comm)
{
    MPI_Request request;
    int result = ESI_REAL(MPI_Ibarrier)(comm, &request);

    return result == MPI_SUCCESS ? esi_progress_wait(&request, MPI_STATUS_IGNORE)
                                 : result;
}

/* --- One request: an error is raised at its communicator ------------------------ */

/* Called after a call that completed one request, or tried to. */
static int raise_error(const struct esi_progress_error *error, int result)
{
    esi_progress_error = NULL;
    if (result != MPI_SUCCESS || error->code == MPI_SUCCESS)
        return result;
    return esi_comm_raise(error->comm, error->code);
}

int esi_progress_MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    struct esi_progress_error error = {.code = MPI_SUCCESS};

    if (request == NULL)
        return ESI_REAL(MPI_Wait)(request, status);
    esi_progress_error = &error;
    return raise_error(&error, esi_progress_wait(request, status));
}

int esi_progress_MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    struct esi_progress_error error = {.code = MPI_SUCCESS};

    esi_progress_advance();
    esi_progress_error = &error;
    return raise_error(&error, ESI_REAL(MPI_Test)(request, flag, status));
}

int esi_progress_MPI_Request_get_status(MPI_Request request,
                                        int *flag,
                                        MPI_Status *status)
{
    struct esi_progress_error error = {.code = MPI_SUCCESS};

    esi_progress_advance();
    esi_progress_error = &error;
    return raise_error(&error, ESI_REAL(MPI_Request_get_status)(request, flag, status));
}

/* --- Several requests: errors are in their statuses ----------------------------- */

/* Called before each attempt.  An error handler may have jumped out of a call with one
 * request. */
static void advance_for_several(void)
{
    esi_progress_error = NULL;
    esi_progress_advance();
}

/* A wait for several requests may report success for each; a test does not. */
static void note_success(MPI_Status statuses[], int count)
{
    for (int i = 0; statuses != MPI_STATUSES_IGNORE && i < count; i++)
        statuses[i].MPI_ERROR = MPI_SUCCESS;
}

/* Some requests have failed, and a test stops there.  A request that is not complete
 * must not appear to have succeeded, so the others are waited for, as in MPICH.
 * Persistent requests that were complete before have an empty status now. */
static void finish_others(int count, MPI_Request requests[], MPI_Status statuses[])
{
    for (int i = 0; i < count; i++) {
        MPI_Status status;
        int result;

        if (requests[i] == MPI_REQUEST_NULL)
            continue;
        result = esi_progress_wait(&requests[i], &status);
        status.MPI_ERROR = result;
        if (statuses != MPI_STATUSES_IGNORE &&
            (result != MPI_SUCCESS || status.MPI_SOURCE != MPI_ANY_SOURCE ||
             status.MPI_TAG != MPI_ANY_TAG))
            statuses[i] = status;
    }
}

int esi_progress_MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    int flag = 0;
    int result;

    do {
        advance_for_several();
        result = ESI_REAL(MPI_Testall)(count, requests, &flag, statuses);
    } while (result == MPI_SUCCESS && !flag);
    if (result == MPI_SUCCESS)
        note_success(statuses, count);
    else if (result == MPI_ERR_IN_STATUS)
        finish_others(count, requests, statuses);
    return result;
}

int esi_progress_MPI_Testall(int count,
                             MPI_Request requests[],
                             int *flag,
                             MPI_Status statuses[])
{
    advance_for_several();
    return ESI_REAL(MPI_Testall)(count, requests, flag, statuses);
}

int esi_progress_MPI_Waitany(int count,
                             MPI_Request requests[],
                             int *index,
                             MPI_Status *status)
{
    int flag = 0;
    int result;

    do {
        advance_for_several();
        result = ESI_REAL(MPI_Testany)(count, requests, index, &flag, status);
    } while (result == MPI_SUCCESS && !flag);
    return result;
}

int esi_progress_MPI_Testany(int count,
                             MPI_Request requests[],
                             int *index,
                             int *flag,
                             MPI_Status *status)
{
    advance_for_several();
    return ESI_REAL(MPI_Testany)(count, requests, index, flag, status);
}

int esi_progress_MPI_Waitsome(int count,
                              MPI_Request requests[],
                              int *done,
                              int indices[],
                              MPI_Status statuses[])
{
    int result;

    do {
        advance_for_several();
        result = ESI_REAL(MPI_Testsome)(count, requests, done, indices, statuses);
    } while (result == MPI_SUCCESS && *done == 0);
    return result;
}

int esi_progress_MPI_Testsome(int count,
                              MPI_Request requests[],
                              int *done,
                              int indices[],
                              MPI_Status statuses[])
{
    advance_for_several();
    return ESI_REAL(MPI_Testsome)(count, requests, done, indices, statuses);
}

/* --- Windows -------------------------------------------------------------------- */

int esi_progress_MPI_Win_wait(MPI_Win win)
{
    int flag = 0;
    int result;

    do {
        esi_progress_advance();
        result = ESI_REAL(MPI_Win_test)(win, &flag);
    } while (result == MPI_SUCCESS && !flag);
    return result;
}

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

/* --- Receives, and send and receive in one call --------------------------------- */

/*
 * Receives from MPI_PROC_NULL do not block and use the real routine, because the status
 * of a request does not always show them (MPICH 4.0).
 */

/* Waits for both; the error of the receive is that of the call. */
static int finish_pair(MPI_Request *sent, MPI_Request *received, MPI_Status *status)
{
    int result = esi_progress_wait(received, status);
    int of_send = esi_progress_wait(sent, MPI_STATUS_IGNORE);

    return result != MPI_SUCCESS ? result : of_send;
}

/* The send failed: the receive must not take a message. */
static void take_back(MPI_Request *received)
{
    ESI_REAL(MPI_Cancel)(received);
    ESI_REAL(MPI_Request_free)(received);
}

#define ESI_COUNT int
#define ESI_NAME(name) name
#define ESI_CALL(name) ESI_REAL(name)
#include "wrappers/mpi/progress_calls.h"
#undef ESI_COUNT
#undef ESI_NAME
#undef ESI_CALL

#ifdef ESI_HAS_MPI_Recv_c
#define ESI_COUNT MPI_Count
#define ESI_NAME(name) name##_c
#define ESI_CALL(name) ESI_REAL(name##_c)
#include "wrappers/mpi/progress_calls.h"
#endif
