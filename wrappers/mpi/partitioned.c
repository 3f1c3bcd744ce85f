/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Partitioned communication (MPI-4.0, chapter 4): readiness is recorded with its
 * partition. */
#include "config.h"

#include "wrappers/mpi/completion.h"

#if MPI_VERSION >= 4
int esi_wrap_MPI_Psend_init(esi_MPI_Psend_init_fn *next,
                            const void *buf,
                            int partitions,
                            MPI_Count count,
                            MPI_Datatype datatype,
                            int dest,
                            int tag,
                            MPI_Comm comm,
                            MPI_Info info,
                            MPI_Request *request)
{
    struct esi_call call;
    struct esi_request record;
    int result;

    if (!esi_call_enter(&call, ES_OP_MPI_Psend_init, ES_CLASS_SEND))
        return next(buf, partitions, count, datatype, dest, tag, comm, info, request);
    esi_begin_send_init(&call, comm, dest, tag, count * partitions, datatype);
    result = next(buf, partitions, count, datatype, dest, tag, comm, info, request);
    esi_end_made_persistent(&call, result, request);
    if (result == MPI_SUCCESS && esi_request_get(ESI_HANDLE(*request), &record)) {
        record.partitioned = true;
        esi_request_update(&record);
    }
    return result;
}

void esi_begin_partition(struct esi_call *call, MPI_Request request, int partition)
{
    struct esi_request record;

    esi_call_describe(call, NULL, ES_PEER_NONE, partition, 0, ES_SEQUENCE_UNKNOWN);
    if (esi_request_get(ESI_HANDLE(request), &record)) {
        call->tuple.communicator = record.tuple.communicator;
        call->tuple.peer = record.tuple.peer;
    }
    esi_call_open(call);
}

int esi_wrap_MPI_Parrived(esi_MPI_Parrived_fn *next,
                          MPI_Request request,
                          int partition,
                          int *flag)
{
    struct esi_call call;
    int result;

    if (!esi_call_enter(&call, ES_OP_MPI_Parrived, ES_CLASS_COMPLETION))
        return next(request, partition, flag);
    result = next(request, partition, flag);
    if (result != MPI_SUCCESS || !*flag) {
        if (esi_call_count_poll(&call)) {
            esi_call_exit(&call);
            return result;
        }
    }
    esi_begin_partition(&call, request, partition);
    esi_call_leave(&call, result);
    return result;
}
#endif
