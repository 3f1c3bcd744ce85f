/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Starting persistent requests, and cancelling (MPI-4.0, sections 3.8.4, 3.9 and 4).
 *
 * A start sends, posts or begins the operation of the request.  Each start writes a
 * tuple for its message (a receive or a collective when it completes) in addition to
 * that of the call.  For a collective, its beginning is also recorded immediately.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "wrappers/mpi/completion.h"

static void start_send(struct esi_call *call, struct esi_request *request, uint64_t now)
{
    struct es_tuple tuple = request->tuple;

    tuple.operation =
        request->partitioned ? ES_OP_MPI_Start_partitioned_send : ES_OP_MPI_Start_send;
    tuple.start = now;
    tuple.stop = now;
    tuple.sequence = ES_SEQUENCE_UNKNOWN;
    if (request->comm != NULL && tuple.peer >= 0 && !request->partitioned) {
        tuple.sequence =
            esi_channel_next_sent(&request->comm->sent, tuple.peer, tuple.tag);
        esi_profile_add_sent(request->comm, tuple.peer, tuple.tag, 1, tuple.bytes);
    }
    request->tuple.sequence = tuple.sequence;
    esi_path_write(call->thread, &tuple);
    esi_profile_add_moved(call->thread, tuple.operation, call->thread->site,
                          tuple.bytes);
}

static void start_receive(struct esi_request *request, uint64_t now)
{
    struct esi_comm *comm = request->comm;

    request->tuple.operation = request->partitioned
                                   ? ES_OP_MPI_Start_partitioned_receive
                                   : ES_OP_MPI_Start_receive;
    request->tuple.start = now;
    request->tuple.sequence = ES_SEQUENCE_UNKNOWN;
    if (comm == NULL)
        return;
    if (!request->partitioned) /* matched when created, not by channel */
        request->tuple.sequence =
            esi_receive_post_on(comm, request->tuple.peer, request->tuple.tag, request);
    if (request->partitioned || request->comm == NULL)
        esi_comm_ref(comm); /* every start holds one until its receive ends */
    request->comm = comm;
}

static void start_collective(struct esi_request *request, uint64_t now)
{
    request->tuple.start = now;
    request->tuple.sequence =
        esi_comm_next_instance(request->comm, request->tuple.operation,
                               request->tuple.peer, (uint32_t)request->tuple.tag);
    if (request->comm != NULL)
        esi_comm_ref(request->comm);
}

/* Performs the start of one request.  Called before MPI starts it, because a message
 * may be sent and received before the call returns.  Returns whether it is a
 * collective. */
static bool start_request(struct esi_call *call, uint64_t handle)
{
    struct esi_request request;
    uint64_t now = esi_clock_read();

    if (!esi_request_get(handle, &request) || !request.persistent || request.active)
        return false;
    request.active = true;
    request.site = esi_site_number(call->thread);
    switch (request.kind) {
    case ESI_REQUEST_SEND:
        start_send(call, &request, now);
        break;
    case ESI_REQUEST_RECEIVE:
        start_receive(&request, now);
        break;
    default:
        start_collective(&request, now);
        break;
    }
    esi_request_update(&request);
    return request.kind == ESI_REQUEST_COLLECTIVE;
}

/* Ends a call that has started collective operations, after recording their starts. */
static void leave_posts(struct esi_call *call, const MPI_Request *requests, int count)
{
    struct esi_request request;
    uint64_t stop = esi_clock_read();

    for (int i = 0; i < count; i++)
        if (esi_request_get(ESI_HANDLE(requests[i]), &request) && request.active &&
            request.kind == ESI_REQUEST_COLLECTIVE)
            esi_collective_write_post(call->thread, &request.tuple, stop);
    esi_completion_leave(call, stop);
}

static void leave_start(struct esi_call *call,
                        int result,
                        const MPI_Request *requests,
                        int count,
                        bool has_collective)
{
    if (ESI_UNLIKELY(has_collective && result == MPI_SUCCESS))
        leave_posts(call, requests, count);
    else
        esi_call_leave(call, result);
}

int esi_wrap_MPI_Start(esi_MPI_Start_fn *next, MPI_Request *request)
{
    struct esi_call call;
    bool has_collective;
    int result;

    if (request == NULL || !esi_call_enter(&call, ES_OP_MPI_Start, ES_CLASS_OTHER))
        return next(request);
    has_collective = start_request(&call, ESI_HANDLE(*request));
    esi_completion_open(&call, request, 1);
    result = next(request);
    leave_start(&call, result, request, 1, has_collective);
    return result;
}

int esi_wrap_MPI_Startall(esi_MPI_Startall_fn *next, int count, MPI_Request requests[])
{
    struct esi_call call;
    bool has_collective = false;
    int result;

    if (!esi_batch_is_good(requests, count) ||
        !esi_call_enter(&call, ES_OP_MPI_Startall, ES_CLASS_OTHER))
        return next(count, requests);
    for (int i = 0; i < count; i++)
        has_collective |= start_request(&call, ESI_HANDLE(requests[i]));
    esi_completion_open(&call, requests, count);
    result = next(count, requests);
    leave_start(&call, result, requests, count, has_collective);
    return result;
}

/* --- Cancelling ----------------------------------------------------------------- */

/* Outstanding receives on one channel, whose numbers are in doubt because of a
 * cancellation. */
struct doubtful {
    struct esi_comm *comm;
    int source;
    int tag;
    uint32_t number; /* of the cancelled one */
    size_t count;
    size_t capacity;
    struct {
        uint64_t handle;
        uint32_t number;
        struct esi_receive *receive;
    } * found;
};

static uint32_t number_of(const struct esi_request *request)
{
    return request->receive != NULL ? esi_match_number(request->receive)
                                    : request->tuple.sequence;
}

static bool collect_doubtful(struct esi_request *request, void *context)
{
    struct doubtful *doubtful = context;
    uint32_t number = number_of(request);

    if ((request->kind != ESI_REQUEST_RECEIVE && request->kind != ESI_REQUEST_PAIR) ||
        request->comm != doubtful->comm || (request->persistent && !request->active) ||
        request->tuple.peer != doubtful->source ||
        request->tuple.tag != doubtful->tag || number == ES_SEQUENCE_UNKNOWN ||
        number < doubtful->number)
        return false;
    if (ESI_ARRAY_RESERVE(doubtful->found, doubtful->capacity, doubtful->count + 1) < 0)
        return false;
    doubtful->found[doubtful->count].handle = request->handle;
    doubtful->found[doubtful->count].number = number;
    doubtful->found[doubtful->count++].receive = request->receive;
    return false;
}

static int by_number(const void *a, const void *b)
{
    const uint32_t *x = (const uint32_t *)((const char *)a + sizeof(uint64_t));
    const uint32_t *y = (const uint32_t *)((const char *)b + sizeof(uint64_t));

    return (*x > *y) - (*x < *y);
}

/* Stores the queued receives in their requests, starting with `first`; their numbers
 * are unknown. */
static void hand_over(const struct doubtful *doubtful,
                      struct esi_receive **receives,
                      size_t first)
{
    struct esi_request request;

    for (size_t i = first; i < doubtful->count; i++)
        if (esi_request_get(doubtful->found[i].handle, &request)) {
            request.receive = receives[i];
            request.tuple.sequence = ES_SEQUENCE_UNKNOWN;
            esi_request_update(&request);
        }
}

/* The cancelled receive has a number: it and the following ones become undecided. */
static void reopen_receives(const struct esi_request *request)
{
    struct doubtful doubtful = {.comm = request->comm,
                                .source = request->tuple.peer,
                                .tag = request->tuple.tag,
                                .number = number_of(request)};
    struct esi_receive **receives = NULL;
    int result;

    esi_request_foreach(collect_doubtful, &doubtful);
    if (doubtful.count > 0)
        receives = calloc(doubtful.count, sizeof(struct esi_receive *));
    if (receives != NULL) {
        qsort(doubtful.found, doubtful.count, sizeof doubtful.found[0], by_number);
        for (size_t i = 0; i < doubtful.count; i++)
            receives[i] = doubtful.found[i].receive;
        result =
            esi_match_reopen(&request->comm->received, doubtful.source, doubtful.tag,
                             doubtful.number, receives, doubtful.count);
        if (result == 0 || result == -ESTALE)
            hand_over(&doubtful, receives, result == 0 ? 0 : 1);
    }
    free(receives);
    free(doubtful.found);
}

/* Marks the numbers of the channel that are in doubt, before MPI can cancel the send:
 * from then on receives may be counted without it. */
static void doubt_send(struct esi_thread *thread, const struct esi_request *request)
{
    struct es_tuple tuple = request->tuple;
    struct esi_comm *comm = esi_comm_hold(tuple.communicator);

    tuple.bytes = 1; /* number of sends if there are more; a
                        freed request cannot be started */
    if (tuple.peer < 0 || request->partitioned)
        tuple.sequence = ES_SEQUENCE_UNKNOWN;
    else if (comm != NULL)
        tuple.sequence = esi_channel_doubt(&comm->sent, tuple.peer, tuple.tag,
                                           tuple.sequence, &tuple.bytes);
    if (comm != NULL)
        esi_comm_unref(comm);
    if (tuple.sequence == ES_SEQUENCE_UNKNOWN)
        return;
    tuple.operation = ES_OP_MPI_Cancel_send;
    tuple.start = esi_clock_read();
    tuple.stop = tuple.start;
    esi_path_write(thread, &tuple);
}

static void doubt_request(struct esi_thread *thread, uint64_t handle)
{
    struct esi_request request;

    if (!esi_request_get(handle, &request) || request.cancelled ||
        (request.persistent && !request.active))
        return;
    request.cancelled = true;
    esi_request_update(&request);
    if (request.kind == ESI_REQUEST_SEND)
        doubt_send(thread, &request);
    if ((request.kind != ESI_REQUEST_RECEIVE && request.kind != ESI_REQUEST_PAIR) ||
        request.comm == NULL)
        return;
    if (number_of(&request) != ES_SEQUENCE_UNKNOWN)
        reopen_receives(&request);
    else if (request.receive != NULL)
        esi_match_doubt(&request.comm->received, request.receive);
}

int esi_wrap_MPI_Cancel(esi_MPI_Cancel_fn *next, MPI_Request *request)
{
    struct esi_call call;
    int result;

    if (request == NULL ||
        !esi_call_enter(&call, ES_OP_MPI_Cancel, ES_CLASS_COMPLETION))
        return next(request);
    doubt_request(call.thread, ESI_HANDLE(*request));
    esi_completion_open(&call, request, 1);
    result = next(request);
    esi_call_leave(&call, result);
    return result;
}

/* --- Generalized requests ------------------------------------------------------- */

int esi_wrap_MPI_Grequest_start(esi_MPI_Grequest_start_fn *next,
                                MPI_Grequest_query_function *query_fn,
                                MPI_Grequest_free_function *free_fn,
                                MPI_Grequest_cancel_function *cancel_fn,
                                void *extra_state,
                                MPI_Request *request)
{
    struct esi_call call;
    int result;

    if (!esi_call_enter(&call, ES_OP_MPI_Grequest_start, ES_CLASS_OTHER))
        return next(query_fn, free_fn, cancel_fn, extra_state, request);
    esi_begin_call(&call);
    result = next(query_fn, free_fn, cancel_fn, extra_state, request);
    esi_end_posted_other(&call, result, request);
    return result;
}

int esi_wrap_MPI_Grequest_complete(esi_MPI_Grequest_complete_fn *next,
                                   MPI_Request request)
{
    struct esi_call call;
    int result;

    if (!esi_call_enter(&call, ES_OP_MPI_Grequest_complete, ES_CLASS_OTHER))
        return next(request);
    esi_begin_call(&call);
    result = next(request);
    esi_call_leave(&call, result);
    return result;
}

/* --- Partitioned communication (MPI-4.0, chapter 4) ----------------------------- */

#ifdef ESI_HAS_MPI_Psend_init
/* A ready partition is recorded with its number. */
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
            esi_thread_note_poll(call.thread, ESI_HANDLE(request));
            return result;
        }
    }
    esi_begin_partition(&call, request, partition);
    esi_call_leave(&call, result);
    return result;
}
#endif
