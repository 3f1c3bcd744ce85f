/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Receives and send-receives that exist with counts of type int and MPI_Count.
 * receive.c includes this file once for each type, with ESI_COUNT as the type of
 * counts, ESI_NAME() as the name of a routine and ESI_FN() as its type.
 */

int ESI_NAME(esi_wrap_MPI_Recv)(ESI_FN(MPI_Recv) * next,
                                void *buf,
                                ESI_COUNT count,
                                MPI_Datatype datatype,
                                int source,
                                int tag,
                                MPI_Comm comm,
                                MPI_Status *status)
{
    struct esi_call call;
    struct esi_request queued;
    enum posting posting;
    MPI_Status own;
    MPI_Status *seen = esi_status_or_own(status, &own);
    int result;

    if (!esi_call_enter(&call, ESI_NAME(ES_OP_MPI_Recv), ES_CLASS_RECEIVE))
        return next(buf, count, datatype, source, tag, comm, status);
    posting = open_receive(&call, &queued, comm, source, tag, count, datatype);
    result = next(buf, count, datatype, source, tag, comm, seen);
    close_receive(&call, posting, &queued, result, seen);
    return result;
}

int ESI_NAME(esi_wrap_MPI_Irecv)(ESI_FN(MPI_Irecv) * next,
                                 void *buf,
                                 ESI_COUNT count,
                                 MPI_Datatype datatype,
                                 int source,
                                 int tag,
                                 MPI_Comm comm,
                                 MPI_Request *request)
{
    struct esi_call call;
    struct esi_receive *receive;
    int result;

    if (request == NULL ||
        !esi_call_enter(&call, ESI_NAME(ES_OP_MPI_Irecv), ES_CLASS_RECEIVE))
        return next(buf, count, datatype, source, tag, comm, request);
    receive = begin_receive(&call, comm, source, tag, count, datatype);
    result = next(buf, count, datatype, source, tag, comm, request);
    end_receive(&call, receive, result, request);
    return result;
}

int ESI_NAME(esi_wrap_MPI_Recv_init)(ESI_FN(MPI_Recv_init) * next,
                                     void *buf,
                                     ESI_COUNT count,
                                     MPI_Datatype datatype,
                                     int source,
                                     int tag,
                                     MPI_Comm comm,
                                     MPI_Request *request)
{
    struct esi_call call;
    int result;

    if (request == NULL ||
        !esi_call_enter(&call, ESI_NAME(ES_OP_MPI_Recv_init), ES_CLASS_RECEIVE))
        return next(buf, count, datatype, source, tag, comm, request);
    begin_receive_init(&call, comm, source, tag);
    result = next(buf, count, datatype, source, tag, comm, request);
    end_receive_init(&call, result, request, false);
    return result;
}

int ESI_NAME(esi_wrap_MPI_Mrecv)(ESI_FN(MPI_Mrecv) * next,
                                 void *buf,
                                 ESI_COUNT count,
                                 MPI_Datatype datatype,
                                 MPI_Message *message,
                                 MPI_Status *status)
{
    struct esi_call call;
    struct esi_request request;
    MPI_Status own;
    MPI_Status *seen = esi_status_or_own(status, &own);
    int result;

    if (message == NULL ||
        !esi_call_enter(&call, ESI_NAME(ES_OP_MPI_Mrecv), ES_CLASS_RECEIVE))
        return next(buf, count, datatype, message, status);
    open_matched(&call, &request, message, true);
    result = next(buf, count, datatype, message, seen);
    close_matched(&call, &request, result, seen);
    return result;
}

int ESI_NAME(esi_wrap_MPI_Imrecv)(ESI_FN(MPI_Imrecv) * next,
                                  void *buf,
                                  ESI_COUNT count,
                                  MPI_Datatype datatype,
                                  MPI_Message *message,
                                  MPI_Request *handle)
{
    struct esi_call call;
    struct esi_request request;
    int result;

    if (message == NULL || handle == NULL ||
        !esi_call_enter(&call, ESI_NAME(ES_OP_MPI_Imrecv), ES_CLASS_RECEIVE))
        return next(buf, count, datatype, message, handle);
    open_matched(&call, &request, message, false);
    result = next(buf, count, datatype, message, handle);
    end_matched(&call, &request, result, handle);
    return result;
}

int ESI_NAME(esi_wrap_MPI_Sendrecv)(ESI_FN(MPI_Sendrecv) * next,
                                    const void *sendbuf,
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
    struct sendrecv_pair pair;
    MPI_Status own;
    MPI_Status *seen = esi_status_or_own(status, &own);
    int result;

    if (!esi_call_enter(&pair.call, ESI_NAME(ES_OP_MPI_Sendrecv), ES_CLASS_SEND))
        return next(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount,
                    recvtype, source, recvtag, comm, status);
    describe_pair(&pair, comm, dest, sendtag, sendcount, sendtype, source, recvtag,
                  ES_OP_MPI_Sendrecv_receive);
    open_pair(&pair);
    result = next(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount,
                  recvtype, source, recvtag, comm, seen);
    close_pair(&pair, result, seen);
    return result;
}

int ESI_NAME(esi_wrap_MPI_Sendrecv_replace)(ESI_FN(MPI_Sendrecv_replace) * next,
                                            void *buf,
                                            ESI_COUNT count,
                                            MPI_Datatype datatype,
                                            int dest,
                                            int sendtag,
                                            int source,
                                            int recvtag,
                                            MPI_Comm comm,
                                            MPI_Status *status)
{
    struct sendrecv_pair pair;
    MPI_Status own;
    MPI_Status *seen = esi_status_or_own(status, &own);
    int result;

    if (!esi_call_enter(&pair.call, ESI_NAME(ES_OP_MPI_Sendrecv_replace),
                        ES_CLASS_SEND))
        return next(buf, count, datatype, dest, sendtag, source, recvtag, comm, status);
    describe_pair(&pair, comm, dest, sendtag, count, datatype, source, recvtag,
                  ES_OP_MPI_Sendrecv_replace_receive);
    open_pair(&pair);
    result = next(buf, count, datatype, dest, sendtag, source, recvtag, comm, seen);
    close_pair(&pair, result, seen);
    return result;
}

#ifdef ESI_HAS_MPI_Isendrecv
int ESI_NAME(esi_wrap_MPI_Isendrecv)(ESI_FN(MPI_Isendrecv) * next,
                                     const void *sendbuf,
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
                                     MPI_Request *request)
{
    struct sendrecv_pair pair;
    int result;

    if (!esi_call_enter(&pair.call, ESI_NAME(ES_OP_MPI_Isendrecv), ES_CLASS_SEND))
        return next(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount,
                    recvtype, source, recvtag, comm, request);
    describe_pair(&pair, comm, dest, sendtag, sendcount, sendtype, source, recvtag,
                  ES_OP_MPI_Isendrecv_receive);
    open_pair(&pair);
    result = next(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount,
                  recvtype, source, recvtag, comm, request);
    close_ipair(&pair, result, request);
    return result;
}

int ESI_NAME(esi_wrap_MPI_Isendrecv_replace)(ESI_FN(MPI_Isendrecv_replace) * next,
                                             void *buf,
                                             ESI_COUNT count,
                                             MPI_Datatype datatype,
                                             int dest,
                                             int sendtag,
                                             int source,
                                             int recvtag,
                                             MPI_Comm comm,
                                             MPI_Request *request)
{
    struct sendrecv_pair pair;
    int result;

    if (!esi_call_enter(&pair.call, ESI_NAME(ES_OP_MPI_Isendrecv_replace),
                        ES_CLASS_SEND))
        return next(buf, count, datatype, dest, sendtag, source, recvtag, comm,
                    request);
    describe_pair(&pair, comm, dest, sendtag, count, datatype, source, recvtag,
                  ES_OP_MPI_Isendrecv_replace_receive);
    open_pair(&pair);
    result = next(buf, count, datatype, dest, sendtag, source, recvtag, comm, request);
    close_ipair(&pair, result, request);
    return result;
}
#endif
