/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * An MPI whose operations do nothing: the remaining time of a call is that of the
 * collector.
 *
 * Contains only what bench/collect_null and the start of the interposer call.
 */
#include "config.h"

#include <mpi.h>
#include <string.h>

#pragma GCC visibility push(default)

#define BOTH(name) __attribute__((alias("P" #name)))

int PMPI_Init(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return MPI_SUCCESS;
}
int PMPI_Initialized(int *flag)
{
    *flag = 1;
    return MPI_SUCCESS;
}
int PMPI_Finalized(int *flag)
{
    *flag = 0;
    return MPI_SUCCESS;
}
int PMPI_Query_thread(int *provided)
{
    *provided = MPI_THREAD_SINGLE;
    return MPI_SUCCESS;
}
int PMPI_Comm_rank(MPI_Comm comm, int *rank)
{
    (void)comm;
    *rank = 0;
    return MPI_SUCCESS;
}
int PMPI_Comm_size(MPI_Comm comm, int *size)
{
    *size = comm == MPI_COMM_SELF ? 1 : 2;
    return MPI_SUCCESS;
}
int PMPI_Comm_test_inter(MPI_Comm comm, int *flag)
{
    (void)comm;
    *flag = 0;
    return MPI_SUCCESS;
}
int PMPI_Comm_get_parent(MPI_Comm *parent)
{
    *parent = MPI_COMM_NULL;
    return MPI_SUCCESS;
}
int PMPI_Comm_group(MPI_Comm comm, MPI_Group *group)
{
    *group = comm == MPI_COMM_SELF ? 1 : 2;
    return MPI_SUCCESS;
}
int PMPI_Group_size(MPI_Group group, int *size)
{
    *size = (int)group;
    return MPI_SUCCESS;
}
int PMPI_Group_free(MPI_Group *group)
{
    *group = MPI_GROUP_NULL;
    return MPI_SUCCESS;
}
int PMPI_Group_translate_ranks(MPI_Group from,
                               int count,
                               const int ranks[],
                               MPI_Group to,
                               int found[])
{
    (void)from, (void)to;
    memcpy(found, ranks, (size_t)count * sizeof ranks[0]);
    return MPI_SUCCESS;
}
int PMPI_Type_size_x(MPI_Datatype type, MPI_Count *size)
{
    (void)type;
    *size = 8;
    return MPI_SUCCESS;
}
int PMPI_Get_count(const MPI_Status *status, MPI_Datatype type, int *count)
{
    (void)status, (void)type;
    *count = 8;
    return MPI_SUCCESS;
}
int PMPI_Status_set_elements(MPI_Status *status, MPI_Datatype type, int count)
{
    (void)type;
    memset(status, 0, sizeof *status);
#ifdef HAVE_MPI_STATUS_COUNT_LO
    status->count_lo = count;
#else
    (void)count;
#endif
    return MPI_SUCCESS;
}
int PMPI_Send(const void *buf,
              int count,
              MPI_Datatype type,
              int dest,
              int tag,
              MPI_Comm comm)
{
    (void)buf, (void)count, (void)type, (void)dest, (void)tag, (void)comm;
    return MPI_SUCCESS;
}
int PMPI_Recv(void *buf,
              int count,
              MPI_Datatype type,
              int source,
              int tag,
              MPI_Comm comm,
              MPI_Status *status)
{
    (void)buf, (void)count, (void)type, (void)comm;
    if (status != MPI_STATUS_IGNORE) {
        memset(status, 0, sizeof *status);
        status->MPI_SOURCE = source;
        status->MPI_TAG = tag;
    }
    return MPI_SUCCESS;
}
int PMPI_Isend(const void *buf,
               int count,
               MPI_Datatype type,
               int dest,
               int tag,
               MPI_Comm comm,
               MPI_Request *request)
{
    (void)buf, (void)count, (void)type, (void)dest, (void)tag, (void)comm;
    *request = 77;
    return MPI_SUCCESS;
}
int PMPI_Irecv(void *buf,
               int count,
               MPI_Datatype type,
               int source,
               int tag,
               MPI_Comm comm,
               MPI_Request *request)
{
    (void)buf, (void)count, (void)type, (void)source, (void)tag, (void)comm;
    *request = 78;
    return MPI_SUCCESS;
}
int PMPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    for (int i = 0; i < count; i++) {
        requests[i] = MPI_REQUEST_NULL;
        if (statuses != MPI_STATUSES_IGNORE) {
            memset(&statuses[i], 0, sizeof statuses[i]);
            statuses[i].MPI_SOURCE = 1;
            statuses[i].MPI_TAG = 0;
        }
    }
    return MPI_SUCCESS;
}
int PMPI_Allreduce(const void *in,
                   void *out,
                   int count,
                   MPI_Datatype type,
                   MPI_Op op,
                   MPI_Comm comm)
{
    (void)in, (void)out, (void)count, (void)type, (void)op, (void)comm;
    return MPI_SUCCESS;
}
int PMPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    (void)request, (void)status;
    *flag = 0;
    return MPI_SUCCESS;
}
int PMPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    (void)source, (void)tag, (void)comm, (void)status;
    *flag = 0;
    return MPI_SUCCESS;
}

int MPI_Init(int *argc, char ***argv) BOTH(MPI_Init);
int MPI_Send(const void *, int, MPI_Datatype, int, int, MPI_Comm) BOTH(MPI_Send);
int MPI_Recv(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *)
    BOTH(MPI_Recv);
int MPI_Isend(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *)
    BOTH(MPI_Isend);
int MPI_Irecv(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *)
    BOTH(MPI_Irecv);
int MPI_Waitall(int, MPI_Request[], MPI_Status[]) BOTH(MPI_Waitall);
int MPI_Allreduce(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm)
    BOTH(MPI_Allreduce);
int MPI_Test(MPI_Request *, int *, MPI_Status *) BOTH(MPI_Test);
int MPI_Iprobe(int, int, MPI_Comm, int *, MPI_Status *) BOTH(MPI_Iprobe);
