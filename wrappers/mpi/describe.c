/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Descriptions that are too long for the wrappers. */
#include "config.h"

#include "wrappers/mpi/describe.h"

/* How many counts a vector collective surely has: on an intercommunicator some have one
 * for each member of the local group, others of the remote group. */
static int counts_of(const struct esi_comm *comm, const void *counts)
{
    if (comm == NULL || counts == NULL)
        return 0;
    return comm->inter && comm->size < comm->remote_size ? comm->size : comm->peers;
}

MPI_Count esi_call_sum_counts(struct esi_call *call, MPI_Comm comm, const int counts[])
{
    int size = counts_of(esi_call_find_comm(call, comm), counts);
    MPI_Count sum = 0;

    for (int i = 0; i < size; i++)
        sum += counts[i];
    return sum;
}

MPI_Count esi_call_sum_counts_c(struct esi_call *call,
                                MPI_Comm comm,
                                const MPI_Count counts[])
{
    int size = counts_of(esi_call_find_comm(call, comm), counts);
    MPI_Count sum = 0;

    for (int i = 0; i < size; i++)
        sum += counts[i];
    return sum;
}
