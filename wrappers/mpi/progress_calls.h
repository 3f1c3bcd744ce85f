/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Calls that advance operations and exist with counts of type int and MPI_Count.
 * progress.c includes this file once for each type, with ESI_COUNT as the type of
 * counts, ESI_NAME() as the name of a routine and ESI_CALL() as the real routine.
 */

int ESI_NAME(esi_progress_MPI_Recv)(void *buf,
                                    ESI_COUNT count,
                                    MPI_Datatype datatype,
                                    int source,
                                    int tag,
                                    MPI_Comm comm,
                                    MPI_Status *status)
{
    MPI_Request request;
    int result;

    if (source == MPI_PROC_NULL)
        return ESI_CALL(MPI_Recv)(buf, count, datatype, source, tag, comm, status);
    result = ESI_CALL(MPI_Irecv)(buf, count, datatype, source, tag, comm, &request);
    return result == MPI_SUCCESS ? esi_progress_wait(&request, status) : result;
}

int ESI_NAME(esi_progress_MPI_Mrecv)(void *buf,
                                     ESI_COUNT count,
                                     MPI_Datatype datatype,
                                     MPI_Message *message,
                                     MPI_Status *status)
{
    MPI_Request request;
    int result;

    if (message == NULL || *message == MPI_MESSAGE_NO_PROC)
        return ESI_CALL(MPI_Mrecv)(buf, count, datatype, message, status);
    result = ESI_CALL(MPI_Imrecv)(buf, count, datatype, message, &request);
    return result == MPI_SUCCESS ? esi_progress_wait(&request, status) : result;
}

int ESI_NAME(esi_progress_MPI_Sendrecv)(const void *sendbuf,
                                        ESI_COUNT sendcount,
                                        MPI_Datatype sendtype,
                                        int dest,
                                        int sendtag,
                                        void *recvbuf,
                                        ESI_COUNT recvcount,
                                        MPI_Datatype recvtype,
                                        int source,
                                        int recvtag,
                                        MPI_Comm comm,
                                        MPI_Status *status)
{
    MPI_Request received;
    MPI_Request sent;
    int result;

    if (source == MPI_PROC_NULL) {
        result = ESI_CALL(MPI_Isend)(sendbuf, sendcount, sendtype, dest, sendtag, comm,
                                     &sent);
        if (result == MPI_SUCCESS)
            result = esi_progress_wait(&sent, MPI_STATUS_IGNORE);
        return result != MPI_SUCCESS
                   ? result
                   : ESI_CALL(MPI_Recv)(recvbuf, recvcount, recvtype, source, recvtag,
                                        comm, status);
    }
    result = ESI_CALL(MPI_Irecv)(recvbuf, recvcount, recvtype, source, recvtag, comm,
                                 &received);
    if (result != MPI_SUCCESS)
        return result;
    result =
        ESI_CALL(MPI_Isend)(sendbuf, sendcount, sendtype, dest, sendtag, comm, &sent);
    if (result != MPI_SUCCESS) {
        take_back(&received);
        return result;
    }
    return finish_pair(&sent, &received, status);
}

/* Packs the data to send, because its buffer is overwritten by the receive. */
int ESI_NAME(esi_progress_MPI_Sendrecv_replace)(void *buf,
                                                ESI_COUNT count,
                                                MPI_Datatype datatype,
                                                int dest,
                                                int sendtag,
                                                int source,
                                                int recvtag,
                                                MPI_Comm comm,
                                                MPI_Status *status)
{
    ESI_COUNT size = 0;
    ESI_COUNT at = 0;
    void *copy = NULL;
    int result;

    result = ESI_CALL(MPI_Pack_size)(count, datatype, comm, &size);
    if (result == MPI_SUCCESS)
        copy = malloc((size_t)size + 1);
    if (result == MPI_SUCCESS && copy == NULL)
        return esi_comm_raise(comm, MPI_ERR_NO_MEM);
    if (result == MPI_SUCCESS)
        result = ESI_CALL(MPI_Pack)(buf, count, datatype, copy, size, &at, comm);
    if (result == MPI_SUCCESS)
        result = ESI_NAME(esi_progress_MPI_Sendrecv)(copy, at, MPI_PACKED, dest,
                                                     sendtag, buf, count, datatype,
                                                     source, recvtag, comm, status);
    free(copy);
    return result;
}
