/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Receives and probes (MPI-4.0, sections 3.2.4, 3.7.2 and 3.8).
 *
 * A receive is posted with the match on entry.  While a single thread calls MPI nothing can come between a
 * blocking receive's posting and its end, so a wildcard is posted only when its message has
 * come, and then it never blocks others.
 */
#include "config.h"

#include "wrappers/mpi/completion.h"

/* A blocking receive from entry to exit. */
struct blocking {
    struct esi_call call;
    struct esi_request request;
    MPI_Comm comm;
    int source;
    int tag;
    bool posted;
};

static void open_receive(struct blocking *receive,
                         MPI_Comm comm,
                         int source,
                         int tag,
                         MPI_Count count,
                         MPI_Datatype datatype)
{
    struct esi_call *call = &receive->call;
    uint32_t bytes = esi_bytes(call, count, datatype);

    call->count = 0; /* the status will tell what came */
    receive->comm = comm;
    receive->source = source;
    receive->tag = tag;
    receive->posted = esi_multiple || (source >= 0 && tag >= 0);
    receive->request = (struct esi_request){.kind = ESI_REQUEST_RECEIVE};
    if (receive->posted)
        esi_post(call, &receive->request, comm, source, tag, bytes);
    else
        esi_describe(call,
                     esi_comm_of(call, comm),
                     esi_peer(source),
                     esi_tag(tag),
                     bytes,
                     ES_SEQUENCE_UNKNOWN);
    esi_open(call);
}

/* The common case: the number is decided, so the tuple is complete with the status. */
static void publish_receive(struct esi_call *call, const MPI_Status *status, uint64_t stop)
{
    call->tuple.stop = stop;
    call->tuple.peer = esi_peer(status->MPI_SOURCE);
    if (status->MPI_SOURCE >= 0) {
        call->tuple.tag = status->MPI_TAG;
        call->tuple.bytes = esi_status_bytes(status);
    } else {
        call->tuple.bytes = 0;
    }
    if (call->open)
        es_writer_write(&call->path->writer, &call->tuple);
}

static void close_receive(struct blocking *receive, int result, const MPI_Status *status)
{
    struct esi_call *call = &receive->call;
    struct esi_request *request = &receive->request;
    uint64_t stop = call->open ? esi_ticks() : 0;

    if (ESI_UNLIKELY(result != MPI_SUCCESS)) {
        esi_unpost(request);
        esi_leave(call, result);
        return;
    }
    if (ESI_UNLIKELY(call->unknown_comm != 0)) {
        esi_leave_late(call, result);
        receive->posted = false;
    }
    if (!receive->posted && status->MPI_SOURCE >= 0) /* as if it were posted only now */
        call->tuple.sequence =
            esi_post_on(call->comm, status->MPI_SOURCE, status->MPI_TAG, request);
    if (ESI_LIKELY(request->receive == NULL)) {
        publish_receive(call, status, stop);
    } else if (call->open) {
        request->tuple = call->tuple;
        esi_comm_ref(request->comm);
        esi_received(call->thread, request, status, stop);
        es_writer_withdraw(&call->path->writer);
    } else {
        esi_comm_ref(request->comm);
        request->tuple.operation = 0; /* recorded nowhere, but it takes its number */
        esi_received(call->thread, request, status, stop);
    }
    if (request->comm != NULL)
        esi_comm_unref(request->comm);
    esi_exit(call);
}

static MPI_Status *seen_status(MPI_Status *status, MPI_Status *own)
{
    return status == MPI_STATUS_IGNORE ? own : status;
}

/* Begins a nonblocking receive: its tuple is written when it completes. */
static void begin_receive(struct esi_call *call,
                          struct esi_request *request,
                          MPI_Comm comm,
                          int source,
                          int tag,
                          uint32_t bytes)
{
    *request = (struct esi_request){.kind = ESI_REQUEST_RECEIVE};
    esi_post(call, request, comm, source, tag, bytes);
    call->count = 0;
    request->tuple.start = esi_ticks();
}

static void end_receive(struct esi_call *call,
                        struct esi_request *request,
                        int result,
                        const MPI_Request *handle)
{
    if (result == MPI_SUCCESS && call->unknown_comm != 0) {
        esi_leave_late(call, result);
        request->tuple.communicator = call->tuple.communicator;
        request->tuple.sequence =
            esi_post_on(call->comm, request->tuple.peer, request->tuple.tag, request);
    }
    request->handle = ESI_HANDLE(*handle);
    if (result != MPI_SUCCESS || !esi_request_put(request))
        esi_unpost(request);
    esi_exit(call);
}

/* A persistent receive is posted at each start. */
static void end_receive_init(struct esi_call *call,
                             int result,
                             const MPI_Request *handle,
                             bool partitioned)
{
    struct esi_request request = {.handle = ESI_HANDLE(*handle),
                                  .kind = ESI_REQUEST_RECEIVE,
                                  .persistent = true,
                                  .partitioned = partitioned};

    call->count = 0;
    if (ESI_UNLIKELY(esi_is_late(call, result)))
        esi_leave_late(call, result);
    request.tuple = call->tuple;
    request.comm = call->comm;
    if (result == MPI_SUCCESS) {
        if (request.comm != NULL)
            esi_comm_ref(request.comm);
        esi_request_put(&request);
    }
    esi_exit(call);
}

/* --- Matched messages: their receive is numbered when they are probed --------------------- */

static void matched(struct esi_call *call,
                    MPI_Comm comm,
                    const MPI_Message *message,
                    const MPI_Status *status)
{
    struct esi_request record = {.handle = ESI_HANDLE(*message), .kind = ESI_REQUEST_MESSAGE};
    struct esi_comm *known = esi_comm_of(call, comm);

    if (status->MPI_SOURCE < 0)
        return;
    record.tuple.communicator = known != NULL ? known->index : ES_COMMUNICATOR_NONE;
    record.tuple.peer = status->MPI_SOURCE;
    record.tuple.tag = status->MPI_TAG;
    record.tuple.bytes = esi_status_bytes(status);
    record.tuple.sequence =
        esi_post_on(known, status->MPI_SOURCE, status->MPI_TAG, &record);
    if (!esi_request_put(&record))
        esi_unpost(&record);
}

/* Takes over what the probe knew; the operation and start are the call's. */
static void open_matched(struct esi_call *call,
                         struct esi_request *request,
                         const MPI_Message *message,
                         bool shown)
{
    struct es_tuple *tuple = &call->tuple;
    uint16_t operation = tuple->operation;

    if (*message == MPI_MESSAGE_NO_PROC ||
        !esi_request_take(ESI_HANDLE(*message), request)) {
        *request = (struct esi_request){.kind = ESI_REQUEST_RECEIVE};
        esi_describe(call, NULL, ES_PEER_NONE, 0, 0, ES_SEQUENCE_UNKNOWN);
    } else {
        *tuple = request->tuple;
        request->kind = ESI_REQUEST_RECEIVE;
    }
    tuple->operation = operation;
    tuple->stop = 0;
    tuple->start = 0;
    if (shown)
        esi_open(call);
    else
        tuple->start = esi_ticks();
    request->tuple = *tuple;
}

static void close_matched(struct esi_call *call,
                          struct esi_request *request,
                          int result,
                          const MPI_Status *status)
{
    uint64_t stop = esi_ticks();

    if (result != MPI_SUCCESS) {
        esi_leave(call, result);
        return;
    }
    if (call->open)
        es_writer_withdraw(&call->path->writer);
    esi_received(call->thread, request, status, stop);
    esi_exit(call);
}

/* --- Probes ---------------------------------------------------------------------------------- */

static void open_probe(struct esi_call *call, MPI_Comm comm, int source, int tag)
{
    esi_describe(call,
                 esi_comm_of(call, comm),
                 esi_peer(source),
                 esi_tag(tag),
                 0,
                 ES_SEQUENCE_UNKNOWN);
    esi_open(call);
}

/* What the probe found goes into its tuple. */
static void found(struct esi_call *call, const MPI_Status *status)
{
    call->tuple.peer = esi_peer(status->MPI_SOURCE);
    if (status->MPI_SOURCE >= 0) {
        call->tuple.tag = status->MPI_TAG;
        call->tuple.bytes = esi_status_bytes(status);
    }
}

static void close_probe(struct esi_call *call, int result, const MPI_Status *status)
{
    call->tuple.stop = call->open ? esi_ticks() : 0;
    if (ESI_UNLIKELY(esi_is_late(call, result)))
        esi_leave_late(call, result);
    if (result == MPI_SUCCESS)
        found(call, status);
    if (call->open)
        es_writer_write(&call->path->writer, &call->tuple);
    esi_exit(call);
}

/* A poll that found a message: its tuple is a point in time. */
static void write_probe(struct esi_call *call,
                        MPI_Comm comm,
                        int source,
                        int tag,
                        const MPI_Status *status)
{
    esi_describe(call,
                 esi_comm_of(call, comm),
                 esi_peer(source),
                 esi_tag(tag),
                 0,
                 ES_SEQUENCE_UNKNOWN);
    if (status != NULL)
        found(call, status);
    if (esi_start(call)) {
        call->tuple.stop = call->tuple.start;
        es_writer_write(&call->path->writer, &call->tuple);
    }
}

int esi_wrap_MPI_Probe(
    esi_MPI_Probe_fn *next, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    struct esi_call call;
    MPI_Status own;
    MPI_Status *seen = seen_status(status, &own);
    int result;

    if (!esi_enter(&call, ES_OP_MPI_Probe, ES_CLASS_COMPLETION))
        return next(source, tag, comm, status);
    open_probe(&call, comm, source, tag);
    result = next(source, tag, comm, seen);
    close_probe(&call, result, seen);
    return result;
}

int esi_wrap_MPI_Mprobe(esi_MPI_Mprobe_fn *next,
                        int source,
                        int tag,
                        MPI_Comm comm,
                        MPI_Message *message,
                        MPI_Status *status)
{
    struct esi_call call;
    MPI_Status own;
    MPI_Status *seen = seen_status(status, &own);
    int result;

    if (!esi_enter(&call, ES_OP_MPI_Mprobe, ES_CLASS_COMPLETION))
        return next(source, tag, comm, message, status);
    open_probe(&call, comm, source, tag);
    result = next(source, tag, comm, message, seen);
    if (result == MPI_SUCCESS)
        matched(&call, comm, message, seen);
    close_probe(&call, result, seen);
    return result;
}

int esi_wrap_MPI_Iprobe(
    esi_MPI_Iprobe_fn *next, int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    struct esi_call call;
    MPI_Status own;
    MPI_Status *seen = seen_status(status, &own);
    int result;

    if (!esi_enter(&call, ES_OP_MPI_Iprobe, ES_CLASS_COMPLETION))
        return next(source, tag, comm, flag, status);
    result = next(source, tag, comm, flag, seen);
    if (result == MPI_SUCCESS && *flag)
        write_probe(&call, comm, source, tag, seen);
    else if (!esi_count_poll(&call))
        write_probe(&call, comm, source, tag, NULL);
    esi_exit(&call);
    return result;
}

int esi_wrap_MPI_Improbe(esi_MPI_Improbe_fn *next,
                         int source,
                         int tag,
                         MPI_Comm comm,
                         int *flag,
                         MPI_Message *message,
                         MPI_Status *status)
{
    struct esi_call call;
    MPI_Status own;
    MPI_Status *seen = seen_status(status, &own);
    int result;

    if (!esi_enter(&call, ES_OP_MPI_Improbe, ES_CLASS_COMPLETION))
        return next(source, tag, comm, flag, message, status);
    result = next(source, tag, comm, flag, message, seen);
    if (result == MPI_SUCCESS && *flag) {
        write_probe(&call, comm, source, tag, seen);
        matched(&call, comm, message, seen);
    } else if (!esi_count_poll(&call)) {
        write_probe(&call, comm, source, tag, NULL);
    }
    esi_exit(&call);
    return result;
}

/* --- The calls that exist with int and with MPI_Count counts ------------------------------- */

#define ESI_COUNT int
#define ESI_NAME(name) name
#define ESI_FN(name) esi_##name##_fn
#include "wrappers/mpi/receive_calls.h"
#undef ESI_COUNT
#undef ESI_NAME
#undef ESI_FN

#if MPI_VERSION >= 4
#define ESI_COUNT MPI_Count
#define ESI_NAME(name) name##_c
#define ESI_FN(name) esi_##name##_c_fn
#include "wrappers/mpi/receive_calls.h"

int esi_wrap_MPI_Precv_init(esi_MPI_Precv_init_fn *next,
                            void *buf,
                            int partitions,
                            MPI_Count count,
                            MPI_Datatype datatype,
                            int source,
                            int tag,
                            MPI_Comm comm,
                            MPI_Info info,
                            MPI_Request *request)
{
    struct esi_call call;
    int result;

    if (!esi_enter(&call, ES_OP_MPI_Precv_init, ES_CLASS_RECEIVE))
        return next(buf, partitions, count, datatype, source, tag, comm, info, request);
    esi_describe(&call, esi_comm_of(&call, comm), source, tag, 0, ES_SEQUENCE_UNKNOWN);
    result = next(buf, partitions, count, datatype, source, tag, comm, info, request);
    end_receive_init(&call, result, request, true);
    return result;
}
#endif
