/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Send and receive in one call (MPI-4.0, section 3.10).
 *
 * One call, two ends of messages: the call's tuple is the send, a second tuple the
 * receive, both from entry to exit.  While open, the tuple shows the receive: that is
 * what it waits for.
 */
#include "config.h"

#include "wrappers/mpi/completion.h"
#include "wrappers/mpi/process.h"

struct sendrecv_pair {
    struct esi_call call; /* the send half */
    struct esi_request request;
};

static void describe_pair(struct sendrecv_pair *pair,
                          MPI_Comm comm,
                          int dest,
                          int sendtag,
                          uint32_t bytes,
                          int source,
                          int recvtag,
                          uint16_t receive_operation)
{
    struct esi_call *call = &pair->call;
    uint16_t operation = call->tuple.operation;

    pair->request = (struct esi_request){.kind = ESI_REQUEST_PAIR};
    esi_receive_post(call, &pair->request, comm, source, recvtag, 0);
    pair->request.tuple.operation = receive_operation;
    call->tuple.operation = operation;
    esi_call_describe_send(call, comm, dest, sendtag, 0, MPI_BYTE);
    call->tuple.bytes = bytes;
}

/* Shows the receive half in the send's element; where there is none, the send half. */
static void open_pair(struct sendrecv_pair *pair)
{
    struct esi_call *call = &pair->call;
    struct es_tuple shown;

    if (!esi_call_start(call))
        return;
    pair->request.tuple.start = call->tuple.start;
    shown =
        pair->request.tuple.peer != ES_PEER_NONE ? pair->request.tuple : call->tuple;
    shown.stop = 0;
    call->open = true;
    esi_writer_open(&call->path->writer, &shown);
}

/* The receive half on a communicator that was not known before. */
static void post_late(struct sendrecv_pair *pair)
{
    struct esi_request *request = &pair->request;

    request->tuple.communicator = pair->call.tuple.communicator;
    request->tuple.sequence = esi_receive_post_on(pair->call.comm, request->tuple.peer,
                                                  request->tuple.tag, request);
}

static void close_pair(struct sendrecv_pair *pair, int result, const MPI_Status *status)
{
    struct esi_call *call = &pair->call;
    uint64_t stop = call->open ? esi_clock_read() : 0;
    bool came = esi_receive_took_message(result);

    pair->request.kind = ESI_REQUEST_RECEIVE; /* it has a proper status */
    if (!call->open)
        pair->request.tuple.operation = 0; /* numbered, but written nowhere */
    call->tuple.stop = stop;
    if (ESI_UNLIKELY(esi_call_is_late(call, result)))
        esi_call_complete_late(call, came ? MPI_SUCCESS : result);
    if (!came)
        esi_receive_unpost(&pair->request);
    else if (ESI_UNLIKELY(call->unknown_comm != 0))
        post_late(pair);
    if (call->open)
        esi_writer_write(&call->path->writer, &call->tuple);
    if (came)
        esi_receive_record(call->thread, &pair->request, status, stop);
    esi_call_exit(call);
}

/* Keeps the receive half until the request completes.  From MPI_PROC_NULL it is
 * complete, and the handle may be one that MPI gives out for all that are. */
static void leave_receive_half(struct sendrecv_pair *pair,
                               uint64_t handle,
                               uint64_t now)
{
    pair->request.handle = handle;
    if (pair->request.tuple.peer == ES_PEER_NONE) {
        pair->request.tuple.stop = now;
        esi_path_write(pair->call.thread, &pair->request.tuple);
    } else if (!esi_request_put(&pair->request)) {
        esi_process_count_refused_tuple();
        esi_receive_unpost(&pair->request);
    }
}

/* Publishes the send half; the receive half follows when the request completes. */
static void close_ipair(struct sendrecv_pair *pair,
                        int result,
                        const MPI_Request *handle)
{
    struct esi_call *call = &pair->call;

    if (!call->open)
        pair->request.tuple.operation = 0;
    call->tuple.stop = call->open ? esi_clock_read() : 0;
    if (ESI_UNLIKELY(esi_call_is_late(call, result)))
        esi_call_complete_late(call, result);
    if (ESI_UNLIKELY(result == MPI_SUCCESS && call->unknown_comm != 0))
        post_late(pair);
    if (result != MPI_SUCCESS)
        esi_receive_unpost(&pair->request);
    else
        leave_receive_half(pair, ESI_HANDLE(*handle), call->tuple.stop);
    if (call->open)
        esi_writer_write(&call->path->writer, &call->tuple);
    esi_call_exit(call);
}

#define ESI_COUNT int
#define ESI_NAME(name) name
#define ESI_FN(name) esi_##name##_fn
#include "wrappers/mpi/sendrecv_calls.h"
#undef ESI_COUNT
#undef ESI_NAME
#undef ESI_FN

#if MPI_VERSION >= 4
#define ESI_COUNT MPI_Count
#define ESI_NAME(name) name##_c
#define ESI_FN(name) esi_##name##_c_fn
#include "wrappers/mpi/sendrecv_calls.h"
#endif
