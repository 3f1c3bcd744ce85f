/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Waiting while trees move on, and the calls that complete requests. */
#include "config.h"

#include "wrappers/mpi/progress.h"

#include "wrappers/trees/dispatch.h"
#include "wrappers/trees/tree_run.h"

bool esi_patient_is_alone(MPI_Comm comm)
{
    const struct esi_comm *known = esi_comm_lookup(ESI_HANDLE(comm));

    return known != NULL && !known->inter && known->size == 1;
}

int esi_patient_finish(MPI_Request *request, MPI_Status *status)
{
    int flag = 0;
    int result;

    do {
        esi_trees_progress();
        result = ESI_REAL(MPI_Test)(request, &flag, status);
    } while (result == MPI_SUCCESS && !flag);
    return result;
}

int esi_wait_patiently(MPI_Request *request)
{
    return esi_is_patient() ? esi_patient_finish(request, MPI_STATUS_IGNORE)
                            : ESI_REAL(MPI_Wait)(request, MPI_STATUS_IGNORE);
}

int esi_patient_run(struct esi_tree_run *run)
{
    bool done = false;
    int result;

    do {
        esi_trees_progress();
        result = esi_tree_run_step(run, &done);
    } while (result == MPI_SUCCESS && !done);
    return result;
}

int esi_patient_meet(MPI_Comm comm)
{
    MPI_Request request;
    int result = ESI_REAL(MPI_Ibarrier)(comm, &request);

    return result == MPI_SUCCESS ? esi_patient_finish(&request, MPI_STATUS_IGNORE)
                                 : result;
}

/* --- One request: an error is raised at its communicator ------------------------ */

/* Behind a call that completed one request, or tried to. */
static int raise_single(const struct esi_single *single, int result)
{
    esi_single_error = NULL;
    if (result != MPI_SUCCESS || single->code == MPI_SUCCESS)
        return result;
    return esi_tree_fail(single->comm, single->code);
}

int esi_patient_MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    struct esi_single single = {.code = MPI_SUCCESS};

    if (request == NULL)
        return ESI_REAL(MPI_Wait)(request, status);
    esi_single_error = &single;
    return raise_single(&single, esi_patient_finish(request, status));
}

int esi_patient_MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    struct esi_single single = {.code = MPI_SUCCESS};

    esi_trees_progress();
    esi_single_error = &single;
    return raise_single(&single, ESI_REAL(MPI_Test)(request, flag, status));
}

int esi_patient_MPI_Request_get_status(MPI_Request request,
                                       int *flag,
                                       MPI_Status *status)
{
    struct esi_single single = {.code = MPI_SUCCESS};

    esi_trees_progress();
    esi_single_error = &single;
    return raise_single(&single,
                        ESI_REAL(MPI_Request_get_status)(request, flag, status));
}

/* --- Several requests: errors are in their statuses ----------------------------- */

/* Ahead of each try.  An error handler may have thrown out of a call of one request. */
static void move_on(void)
{
    esi_single_error = NULL;
    esi_trees_progress();
}

/* A wait for several may say of each that it has gone well; a test does not. */
static void note_success(MPI_Status statuses[], int count)
{
    for (int i = 0; statuses != MPI_STATUSES_IGNORE && i < count; i++)
        statuses[i].MPI_ERROR = MPI_SUCCESS;
}

/* Some have failed, and a test leaves it at that; but what is not complete must not
 * look as if it had gone well.  So the others are waited for, as MPICH does. Persistent
 * requests that were complete before give an empty status now. */
static void finish_others(int count, MPI_Request requests[], MPI_Status statuses[])
{
    for (int i = 0; i < count; i++) {
        MPI_Status status;
        int result;

        if (requests[i] == MPI_REQUEST_NULL)
            continue;
        result = esi_patient_finish(&requests[i], &status);
        status.MPI_ERROR = result;
        if (statuses != MPI_STATUSES_IGNORE &&
            (result != MPI_SUCCESS || status.MPI_SOURCE != MPI_ANY_SOURCE ||
             status.MPI_TAG != MPI_ANY_TAG))
            statuses[i] = status;
    }
}

int esi_patient_MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    int flag = 0;
    int result;

    do {
        move_on();
        result = ESI_REAL(MPI_Testall)(count, requests, &flag, statuses);
    } while (result == MPI_SUCCESS && !flag);
    if (result == MPI_SUCCESS)
        note_success(statuses, count);
    else if (result == MPI_ERR_IN_STATUS)
        finish_others(count, requests, statuses);
    return result;
}

int esi_patient_MPI_Testall(int count,
                            MPI_Request requests[],
                            int *flag,
                            MPI_Status statuses[])
{
    move_on();
    return ESI_REAL(MPI_Testall)(count, requests, flag, statuses);
}

int esi_patient_MPI_Waitany(int count,
                            MPI_Request requests[],
                            int *index,
                            MPI_Status *status)
{
    int flag = 0;
    int result;

    do {
        move_on();
        result = ESI_REAL(MPI_Testany)(count, requests, index, &flag, status);
    } while (result == MPI_SUCCESS && !flag);
    return result;
}

int esi_patient_MPI_Testany(int count,
                            MPI_Request requests[],
                            int *index,
                            int *flag,
                            MPI_Status *status)
{
    move_on();
    return ESI_REAL(MPI_Testany)(count, requests, index, flag, status);
}

int esi_patient_MPI_Waitsome(int count,
                             MPI_Request requests[],
                             int *done,
                             int indices[],
                             MPI_Status statuses[])
{
    int result;

    do {
        move_on();
        result = ESI_REAL(MPI_Testsome)(count, requests, done, indices, statuses);
    } while (result == MPI_SUCCESS && *done == 0);
    return result;
}

int esi_patient_MPI_Testsome(int count,
                             MPI_Request requests[],
                             int *done,
                             int indices[],
                             MPI_Status statuses[])
{
    move_on();
    return ESI_REAL(MPI_Testsome)(count, requests, done, indices, statuses);
}

/* --- Windows -------------------------------------------------------------------- */

int esi_patient_MPI_Win_wait(MPI_Win win)
{
    int flag = 0;
    int result;

    do {
        esi_trees_progress();
        result = ESI_REAL(MPI_Win_test)(win, &flag);
    } while (result == MPI_SUCCESS && !flag);
    return result;
}
