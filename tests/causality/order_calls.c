/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* order_calls.c - calls each collective operation in its forms. */
#include "order_calls.h"

const char *const operation_names[COLLECTIVES][WAYS] = {
    [COLLECTIVE_BARRIER] = {"MPI_Barrier", "MPI_Ibarrier", "MPI_Barrier_init"},
    [COLLECTIVE_BCAST] = {"MPI_Bcast", "MPI_Ibcast", "MPI_Bcast_init"},
    [COLLECTIVE_REDUCE] = {"MPI_Reduce", "MPI_Ireduce", NULL},
    [COLLECTIVE_ALLREDUCE] = {"MPI_Allreduce", "MPI_Iallreduce", "MPI_Allreduce_init"},
    [COLLECTIVE_GATHER] = {"MPI_Gather", "MPI_Igather", NULL},
    [COLLECTIVE_SCATTER] = {"MPI_Scatter", "MPI_Iscatter", NULL},
    [COLLECTIVE_ALLGATHER] = {"MPI_Allgather", "MPI_Iallgather", NULL},
    [COLLECTIVE_ALLTOALL] = {"MPI_Alltoall", "MPI_Ialltoall", NULL},
    [COLLECTIVE_SCAN] = {"MPI_Scan", "MPI_Iscan", NULL},
    [COLLECTIVE_EXSCAN] = {"MPI_Exscan", "MPI_Iexscan", NULL},
    [COLLECTIVE_REDUCE_SCATTER] = {"MPI_Reduce_scatter_block",
                                   "MPI_Ireduce_scatter_block", NULL},
    [COLLECTIVE_NEIGHBOURS] = {"MPI_Neighbor_allgather", "MPI_Ineighbor_allgather",
                               NULL},
    [COLLECTIVE_DUPLICATE] = {"MPI_Comm_dup", "MPI_Comm_idup", NULL},
};

void operation_call(struct operation *operation, MPI_Comm comm, int count, int root)
{
    int *out = operation->send;
    int *in = operation->receive;

    switch (operation->step->form) {
    case COLLECTIVE_BARRIER:
        MPI_Barrier(comm);
        break;
    case COLLECTIVE_BCAST:
        MPI_Bcast(in, 1, MPI_INT, root, comm);
        break;
    case COLLECTIVE_REDUCE:
        MPI_Reduce(out, in, count, MPI_INT, MPI_SUM, root, comm);
        break;
    case COLLECTIVE_ALLREDUCE:
        MPI_Allreduce(out, in, count, MPI_INT, MPI_SUM, comm);
        break;
    case COLLECTIVE_GATHER:
        MPI_Gather(out, 1, MPI_INT, in, 1, MPI_INT, root, comm);
        break;
    case COLLECTIVE_SCATTER:
        MPI_Scatter(out, 1, MPI_INT, in, 1, MPI_INT, root, comm);
        break;
    case COLLECTIVE_ALLGATHER:
        MPI_Allgather(out, 1, MPI_INT, in, 1, MPI_INT, comm);
        break;
    case COLLECTIVE_ALLTOALL:
        MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm);
        break;
    case COLLECTIVE_SCAN:
        MPI_Scan(out, in, count, MPI_INT, MPI_SUM, comm);
        break;
    case COLLECTIVE_EXSCAN:
        MPI_Exscan(out, in, count, MPI_INT, MPI_SUM, comm);
        break;
    case COLLECTIVE_REDUCE_SCATTER:
        MPI_Reduce_scatter_block(out, in, count, MPI_INT, MPI_SUM, comm);
        break;
    case COLLECTIVE_NEIGHBOURS:
        MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, comm);
        break;
    default:
        MPI_Comm_dup(comm, &operation->duplicate);
        break;
    }
}

void operation_begin(struct operation *operation,
                     MPI_Comm comm,
                     int count,
                     int root,
                     MPI_Request *request)
{
    int *out = operation->send;
    int *in = operation->receive;

    switch (operation->step->form) {
    case COLLECTIVE_BARRIER:
        MPI_Ibarrier(comm, request);
        break;
    case COLLECTIVE_BCAST:
        MPI_Ibcast(in, 1, MPI_INT, root, comm, request);
        break;
    case COLLECTIVE_REDUCE:
        MPI_Ireduce(out, in, count, MPI_INT, MPI_SUM, root, comm, request);
        break;
    case COLLECTIVE_ALLREDUCE:
        MPI_Iallreduce(out, in, count, MPI_INT, MPI_SUM, comm, request);
        break;
    case COLLECTIVE_GATHER:
        MPI_Igather(out, 1, MPI_INT, in, 1, MPI_INT, root, comm, request);
        break;
    case COLLECTIVE_SCATTER:
        MPI_Iscatter(out, 1, MPI_INT, in, 1, MPI_INT, root, comm, request);
        break;
    case COLLECTIVE_ALLGATHER:
        MPI_Iallgather(out, 1, MPI_INT, in, 1, MPI_INT, comm, request);
        break;
    case COLLECTIVE_ALLTOALL:
        MPI_Ialltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm, request);
        break;
    case COLLECTIVE_SCAN:
        MPI_Iscan(out, in, count, MPI_INT, MPI_SUM, comm, request);
        break;
    case COLLECTIVE_EXSCAN:
        MPI_Iexscan(out, in, count, MPI_INT, MPI_SUM, comm, request);
        break;
    case COLLECTIVE_REDUCE_SCATTER:
        MPI_Ireduce_scatter_block(out, in, count, MPI_INT, MPI_SUM, comm, request);
        break;
    case COLLECTIVE_NEIGHBOURS:
        MPI_Ineighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, comm, request);
        break;
    default:
        MPI_Comm_idup(comm, &operation->duplicate, request);
        break;
    }
}

bool operation_prepare(struct operation *operation,
                       MPI_Comm comm,
                       int count,
                       int root,
                       MPI_Request *request)
{
#if MPI_VERSION >= 4
    int *out = operation->send;
    int *in = operation->receive;

    if (operation->step->form == COLLECTIVE_BARRIER)
        MPI_Barrier_init(comm, MPI_INFO_NULL, request);
    else if (operation->step->form == COLLECTIVE_BCAST)
        MPI_Bcast_init(in, 1, MPI_INT, root, comm, MPI_INFO_NULL, request);
    else
        MPI_Allreduce_init(out, in, count, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL,
                           request);
    return true;
#else
    (void)operation, (void)comm, (void)count, (void)root, (void)request;
    return false;
#endif
}
