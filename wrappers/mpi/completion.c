/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Posting and completing.
 *
 * What completes writes its own tuple, from the time it was posted to now; the completion call
 * then writes its tuple, which lay open meanwhile.
 */
#include "config.h"

#include "wrappers/mpi/completion.h"

#include <string.h>

/* How many requests of a completion call are looked at to say what it waits for. */
enum { MAX_LOOKED_AT = 16 };

uint32_t esi_post_on(struct esi_comm *comm, int source, int tag, struct esi_request *request)
{
    uint32_t sequence = ES_SEQUENCE_UNKNOWN;

    request->comm = NULL;
    request->receive = NULL;
    if (comm != NULL && (source == ES_PEER_ANY || (source >= 0 && source < comm->peers)) &&
        (tag == ES_TAG_ANY || tag >= 0)) {
        request->receive = esi_match_post(&comm->received, source, tag, &sequence);
        request->comm = comm;
        esi_comm_ref(comm);
    }
    return sequence;
}

void esi_post(struct esi_call *call,
              struct esi_request *request,
              MPI_Comm comm,
              int source,
              int tag,
              uint32_t bytes)
{
    struct esi_comm *known = esi_comm_of(call, comm);
    uint32_t sequence = esi_post_on(known, esi_peer(source), esi_tag(tag), request);

    esi_describe(call, known, esi_peer(source), esi_tag(tag), bytes, sequence);
    request->tuple = call->tuple;
}

void esi_unpost(struct esi_request *request)
{
    if (request->comm == NULL)
        return;
    if (request->receive != NULL)
        esi_match_drop(&request->comm->received, request->receive);
    else if (request->tuple.sequence != ES_SEQUENCE_UNKNOWN)
        esi_channel_back(
            &request->comm->received.channels, request->tuple.peer, request->tuple.tag);
    esi_comm_unref(request->comm);
    request->comm = NULL;
}

static bool is_cancelled(const struct esi_request *request, const MPI_Status *status)
{
    int cancelled = 0;

    if (!request->cancelled)
        return false;
    ESI_REAL(MPI_Test_cancelled)(status, &cancelled);
    return cancelled != 0;
}

/* A receive that got no message: nothing to match. */
static void received_nothing(struct esi_thread *thread,
                             const struct esi_request *request,
                             struct es_tuple *tuple)
{
    tuple->peer = ES_PEER_NONE;
    tuple->bytes = 0;
    tuple->sequence = ES_SEQUENCE_UNKNOWN;
    if (request->receive != NULL)
        esi_match_drop(&request->comm->received, request->receive);
    esi_write(thread, tuple);
}

void esi_received(struct esi_thread *thread,
                  const struct esi_request *request,
                  const MPI_Status *status,
                  uint64_t stop)
{
    struct es_tuple tuple = request->tuple;

    tuple.stop = stop;
    if (status->MPI_SOURCE < 0 || is_cancelled(request, status)) {
        received_nothing(thread, request, &tuple);
    } else {
        tuple.peer = status->MPI_SOURCE;
        tuple.tag = status->MPI_TAG;
        tuple.bytes = esi_status_bytes(status);
        if (request->receive != NULL)
            esi_match_complete(&request->comm->received,
                               request->receive,
                               tuple.peer,
                               tuple.tag,
                               &tuple,
                               thread->slot);
        else
            esi_write(thread, &tuple);
    }
    if (request->comm != NULL)
        esi_comm_unref(request->comm);
}

static void completed_collective(struct esi_thread *thread,
                                 const struct esi_request *request,
                                 uint64_t stop)
{
    struct es_tuple tuple = request->tuple;

    tuple.stop = stop;
    esi_write(thread, &tuple);
    if (request->comm != NULL)
        esi_comm_unref(request->comm);
}

static void completed_duplicate(const struct esi_request *request)
{
    MPI_Comm made;

    memcpy(&made, request->newcomm, sizeof made);
    if (made != MPI_COMM_NULL)
        esi_comm_register_with_key(
            made, request->comm, request->tuple.operation, request->key);
}

void esi_completed(struct esi_thread *thread,
                   uint64_t handle,
                   const MPI_Status *status,
                   uint64_t stop)
{
    struct esi_request request;

    if (!esi_request_finish(handle, &request) || (request.persistent && !request.active))
        return;
    switch (request.kind) {
    case ESI_REQUEST_RECEIVE:
    case ESI_REQUEST_PAIR:
        esi_received(thread, &request, status, stop);
        break;
    case ESI_REQUEST_DUPLICATE:
        completed_duplicate(&request);
        completed_collective(thread, &request, stop);
        break;
    case ESI_REQUEST_COLLECTIVE:
        completed_collective(thread, &request, stop);
        break;
    default: /* recorded when it was called */
        break;
    }
}

/* The request that says most about a wait: the first receive, else the first that is known. */
static bool find_awaited(const MPI_Request *requests, int count, struct esi_request *ret_request)
{
    struct esi_request request;
    bool found = false;

    for (int i = 0; i < count && i < MAX_LOOKED_AT; i++) {
        if (requests[i] == MPI_REQUEST_NULL ||
            !esi_request_get(ESI_HANDLE(requests[i]), &request) ||
            (request.persistent && !request.active))
            continue;
        if (!found || request.kind == ESI_REQUEST_RECEIVE)
            *ret_request = request;
        found = true;
        if (request.kind == ESI_REQUEST_RECEIVE)
            break;
    }
    return found;
}

void esi_open_completion(struct esi_call *call, const MPI_Request *requests, int count)
{
    struct esi_request awaited = {.kind = ESI_REQUEST_NONE};

    esi_describe(call, NULL, ES_PEER_NONE, 0, (uint32_t)count, ES_SEQUENCE_UNKNOWN);
    if (find_awaited(requests, count, &awaited)) {
        bool collective = awaited.kind == ESI_REQUEST_COLLECTIVE ||
                          awaited.kind == ESI_REQUEST_DUPLICATE;

        call->tuple.communicator = awaited.tuple.communicator;
        call->tuple.peer = awaited.tuple.peer;
        call->tuple.tag = collective ? (int32_t)awaited.tuple.sequence : awaited.tuple.tag;
        call->tuple.sequence = awaited.tuple.operation;
    }
    esi_open(call);
}

void esi_leave_completion(struct esi_call *call, uint64_t stop)
{
    if (call->open) {
        call->tuple.stop = stop;
        es_writer_write(&call->path->writer, &call->tuple);
    }
    esi_exit(call);
}

/* --- What the generated wrappers call after posting --------------------------------------- */

static void put_request(const struct esi_call *call,
                        enum esi_request_kind kind,
                        const MPI_Request *request)
{
    struct esi_request record = {
        .handle = ESI_HANDLE(*request), .kind = (uint8_t)kind, .tuple = call->tuple};

    if (*request == MPI_REQUEST_NULL)
        return;
    if (kind == ESI_REQUEST_COLLECTIVE && call->comm != NULL) {
        record.comm = call->comm;
        esi_comm_ref(record.comm);
    }
    esi_request_put(&record);
}

void esi_posted_send(struct esi_call *call, int result, MPI_Request *request)
{
    esi_leave(call, result);
    if (result == MPI_SUCCESS)
        put_request(call, ESI_REQUEST_SEND, request);
}

void esi_posted_other(struct esi_call *call, int result, MPI_Request *request)
{
    esi_leave(call, result);
    if (result == MPI_SUCCESS)
        put_request(call, ESI_REQUEST_OTHER, request);
}

void esi_posted_collective(struct esi_call *call, int result, MPI_Request *request)
{
    if (ESI_UNLIKELY(esi_is_late(call, result)))
        esi_leave_late(call, result);
    if (result == MPI_SUCCESS)
        put_request(call, ESI_REQUEST_COLLECTIVE, request);
    esi_exit(call);
}

void esi_made_persistent(struct esi_call *call, int result, MPI_Request *request)
{
    const struct es_operation *operation = es_operation_find(call->tuple.operation);
    struct esi_request record = {.persistent = true, .comm = call->comm};

    if (ESI_UNLIKELY(esi_is_late(call, result)))
        esi_leave_late(call, result);
    if (result == MPI_SUCCESS && operation != NULL) {
        record.handle = ESI_HANDLE(*request);
        record.kind = operation->op_class == ES_CLASS_SEND ? ESI_REQUEST_SEND
                                                           : ESI_REQUEST_COLLECTIVE;
        record.tuple = call->tuple;
        if (record.comm != NULL)
            esi_comm_ref(record.comm);
        esi_request_put(&record);
    }
    esi_exit(call);
}
