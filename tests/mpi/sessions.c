/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * sessions - messages and collective operations of a program without MPI_COMM_WORLD.
 *
 *   sessions self | world | mixed       the process sets; prints what it receives
 *
 * On the communicator of the single process only calls are made that MPICH 4.0 supports
 * if there is no other communicator; MPI_Test crashes then.  Exits with 77 if MPI has
 * no sessions.
 */
#include <stdio.h>
#include <string.h>

#include "mpi4.h"

#if MPI_VERSION >= 4
static MPI_Comm make(MPI_Session session, const char *set)
{
    MPI_Group group;
    MPI_Comm comm;

    MPI_Group_from_session_pset(session, set, &group);
    MPI_Comm_create_from_group(group, set, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    return comm;
}

/* A single process: no call here waits for another one. */
static void talk_alone(MPI_Comm comm)
{
    int out[2] = {5, 6};
    int in[2] = {0, 0};
    int sum = 0;
    MPI_Request requests[2];
    MPI_Comm copy;

    MPI_Isend(&out[0], 1, MPI_INT, 0, 1, comm, &requests[0]);
    MPI_Recv(&in[0], 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Irecv(&in[1], 1, MPI_INT, 0, 2, comm, &requests[0]);
    MPI_Isend(&out[1], 1, MPI_INT, 0, 2, comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Allreduce(&in[0], &sum, 1, MPI_INT, MPI_SUM, comm);
    MPI_Barrier(comm);
    MPI_Alltoall(&in[1], 1, MPI_INT, &out[0], 1, MPI_INT, comm);
    MPI_Comm_dup(comm, &copy);
    MPI_Bcast(&sum, 1, MPI_INT, 0, copy);
    MPI_Comm_free(&copy);
    printf("alone: %d %d, sum %d, exchanged %d\n", in[0], in[1], sum, out[0]);
}

static void talk_together(MPI_Comm comm)
{
    int rank;
    int size;
    int in = -1;
    int sum = 0;
    int flag = 0;
    MPI_Request request;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Barrier(comm);
    MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 3, &in, 1, MPI_INT,
                 (rank + size - 1) % size, 3, comm, MPI_STATUS_IGNORE);
    while (!flag)
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    MPI_Ibarrier(comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    printf("together: rank %d got %d, sum %d\n", rank, in, sum);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "self";
    MPI_Session session;
    MPI_Comm alone = MPI_COMM_NULL;
    MPI_Comm together = MPI_COMM_NULL;

    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    if (strcmp(what, "world") != 0) {
        alone = make(session, "mpi://SELF");
        talk_alone(alone);
    }
    if (strcmp(what, "self") != 0) {
        together = make(session, "mpi://WORLD");
        talk_together(together);
    }
    if (alone != MPI_COMM_NULL) {
        talk_alone(alone);
        MPI_Comm_free(&alone);
    }
    if (together != MPI_COMM_NULL)
        MPI_Comm_free(&together);
    MPI_Session_finalize(&session);
    return 0;
}
#endif
