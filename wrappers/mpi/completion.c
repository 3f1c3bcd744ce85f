/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Posting and completing requests.
 *
 * A completed operation writes its own tuple, from the time it was posted until now;
 * then the completion call writes its tuple, which was open meanwhile.
 */
#include "config.h"

#include "wrappers/mpi/completion.h"

#include <stdlib.h>
#include <string.h>

#include "wrappers/mpi/process.h"

enum {
    /* How many requests of a completion call are examined to describe what it waits
     * for. */
    MAX_LOOKED_AT = 16,
    /* From this number on, looking for what completed requests have in common saves
     * time. */
    MANY = 3,
};

/* --- Statuses ------------------------------------------------------------------- */

bool esi_status_has_count;

/* Sets a count with MPI's functions and checks whether it is found in the status. */
void esi_status_probe_count(void)
{
#if defined HAVE_MPI_STATUS_COUNT_LO && !defined OPEN_MPI
    enum { TRIED = 123457 };
    MPI_Status status = {.count_lo = 0};

    esi_status_has_count =
        ESI_REAL(MPI_Status_set_elements)(&status, MPI_BYTE, TRIED) == MPI_SUCCESS &&
        status.count_lo == TRIED && status.count_hi_and_cancelled == 0;
#endif
}

uint32_t esi_status_query_bytes(const MPI_Status *status)
{
    MPI_Count bytes = 0;
    int count = 0;

    /* The short path cannot represent 2^31 bytes and more. */
    if (ESI_LIKELY(ESI_REAL(MPI_Get_count)(status, MPI_BYTE, &count) == MPI_SUCCESS &&
                   count >= 0))
        return (uint32_t)count;
    if (ESI_REAL(MPI_Get_elements_x)(status, MPI_BYTE, &bytes) != MPI_SUCCESS ||
        bytes < 0)
        return 0;
    return esi_tuple_limit_bytes((uint64_t)bytes);
}

/* --- Receives ------------------------------------------------------------------- */

uint32_t esi_receive_post_on(struct esi_comm *comm,
                             int source,
                             int tag,
                             struct esi_request *request)
{
    uint32_t sequence = ES_SEQUENCE_UNKNOWN;

    request->comm = NULL;
    request->receive = NULL;
    if (comm != NULL &&
        (source == ES_PEER_ANY || (source >= 0 && source < comm->peers)) &&
        (tag == ES_TAG_ANY || tag >= 0)) {
        request->receive = esi_match_post(&comm->received, source, tag, &sequence);
        request->comm = comm;
        esi_comm_ref(comm);
    }
    return sequence;
}

void esi_receive_post(struct esi_call *call,
                      struct esi_request *request,
                      MPI_Comm comm,
                      int source,
                      int tag,
                      uint32_t bytes)
{
    struct esi_comm *known = esi_call_find_comm(call, comm);
    uint32_t sequence =
        esi_receive_post_on(known, esi_tuple_peer(source), esi_tuple_tag(tag), request);

    esi_call_describe(call, known, esi_tuple_peer(source), esi_tuple_tag(tag), bytes,
                      sequence);
    request->tuple = call->tuple;
}

void esi_receive_unpost(struct esi_request *request)
{
    if (request->comm == NULL)
        return;
    if (request->receive != NULL)
        esi_match_drop(&request->comm->received, request->receive);
    else if (request->tuple.sequence != ES_SEQUENCE_UNKNOWN)
        esi_channel_back(&request->comm->received.channels, request->tuple.peer,
                         request->tuple.tag);
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

/* Call site that posted a request. */
static uint64_t site_of(const struct esi_thread *thread,
                        const struct esi_request *request)
{
    return esi_site_of(request->site, thread->site);
}

/* Records a receive without a message: nothing to match. */
static void received_nothing(struct esi_thread *thread,
                             const struct esi_request *request,
                             struct es_tuple *tuple)
{
    tuple->peer = ES_PEER_NONE;
    tuple->bytes = 0;
    tuple->sequence = ES_SEQUENCE_UNKNOWN;
    if (request->receive != NULL)
        esi_match_drop(&request->comm->received, request->receive);
    esi_path_write_at(thread, tuple, site_of(thread, request));
}

void esi_receive_record_null(struct esi_call *call, int result)
{
    call->tuple.stop = esi_clock_read();
    call->tuple.bytes = 0;
    if (result == MPI_SUCCESS) {
        if (esi_call_is_wanted(call))
            esi_call_count(call, call->tuple.stop);
        esi_path_write(call->thread, &call->tuple);
    } else {
        esi_call_fail(call, result);
        esi_call_write_failed(call);
    }
    esi_call_exit(call);
}

/* Writes the tuple of a receive, with peer and tag of its message, now or when its
 * number is decided. */
static void received_message(struct esi_thread *thread,
                             const struct esi_request *request,
                             const struct es_tuple *tuple)
{
    if (request->receive != NULL)
        esi_match_complete(&request->comm->received, request->receive, tuple->peer,
                           tuple->tag, tuple, site_of(thread, request), thread->slot);
    else
        esi_path_write_at(thread, tuple, site_of(thread, request));
}

/* MPI_Isendrecv: some MPIs (MPICH 4.0) leave its status unchanged, so only the
 * requested values are known. */
static void received_unseen(struct esi_thread *thread,
                            const struct esi_request *request,
                            const struct es_tuple *tuple)
{
    if (request->receive == NULL || (tuple->peer >= 0 && tuple->tag >= 0)) {
        received_message(thread, request, tuple);
    } else {
        esi_match_abandon(&request->comm->received, request->receive);
        esi_path_write_at(thread, tuple, site_of(thread, request));
    }
}

uint32_t esi_receive_record(struct esi_thread *thread,
                            const struct esi_request *request,
                            const MPI_Status *status,
                            uint64_t stop)
{
    struct es_tuple tuple = request->tuple;

    tuple.stop = stop;
    /* The status of a request from MPI_PROC_NULL does not always contain it. */
    if (tuple.peer == ES_PEER_NONE || is_cancelled(request, status)) {
        received_nothing(thread, request, &tuple);
    } else if (request->kind == ESI_REQUEST_PAIR) {
        received_unseen(thread, request, &tuple);
    } else if (status->MPI_SOURCE < 0) {
        received_nothing(thread, request, &tuple);
    } else {
        esi_tuple_note_any_source(&tuple);
        tuple.peer = status->MPI_SOURCE;
        tuple.tag = status->MPI_TAG;
        if (!(tuple.operation & ES_OPERATION_FAILED))
            tuple.bytes = esi_status_get_bytes(status);
        received_message(thread, request, &tuple);
    }
    if (request->comm != NULL)
        esi_comm_unref(request->comm);
    return es_tuple_bytes(&tuple);
}

/* Records a completed receive that was posted by another call. */
static void completed_posted(struct esi_thread *thread,
                             const struct esi_request *request,
                             const MPI_Status *status,
                             uint64_t stop)
{
    uint16_t operation = request->tuple.operation;
    uint32_t bytes = esi_receive_record(thread, request, status, stop);

    esi_profile_add_moved(thread, operation, site_of(thread, request), bytes);
}

static void completed_collective(struct esi_thread *thread,
                                 const struct esi_request *request,
                                 uint64_t stop)
{
    struct es_tuple tuple = request->tuple;

    tuple.stop = stop;
    tuple.tag = 0; /* that of a persistent one is the hash of
                      what must be the same in all members */
    esi_path_write_at(thread, &tuple, site_of(thread, request));
    if (request->comm != NULL)
        esi_comm_unref(request->comm);
}

static void completed_duplicate(struct esi_thread *thread,
                                const struct esi_request *request,
                                uint64_t stop)
{
    struct esi_comm *comm = NULL;
    MPI_Comm made;

    memcpy(&made, request->duplicate->made, sizeof made);
    if (made != MPI_COMM_NULL)
        comm = esi_comm_register_with_key(made, request->comm, request->tuple.operation,
                                          request->duplicate->key);
    free(request->duplicate);
    completed_collective(thread, request, stop);
    esi_comm_write_neighbours(thread, made, comm, stop);
}

/* Only now is it known whether the receiver counts it. */
static void completed_send(struct esi_thread *thread,
                           const struct esi_request *request,
                           const MPI_Status *status)
{
    struct esi_comm *comm;

    thread->known_send = 0;
    if (!request->cancelled || request->partitioned || request->tuple.peer < 0)
        return;
    comm = esi_comm_hold(request->tuple.communicator);
    if (comm == NULL)
        return;
    esi_channel_decide(&comm->sent, request->tuple.peer, request->tuple.tag,
                       is_cancelled(request, status));
    esi_comm_unref(comm);
}

/* The less common cases. */
static void completed_other(struct esi_thread *thread,
                            uint64_t handle,
                            const MPI_Status *status,
                            uint64_t stop)
{
    struct esi_request request;

    if (!esi_request_finish(handle, thread->limit, &request) ||
        (request.persistent && !request.active))
        return;
    switch (request.kind) {
    case ESI_REQUEST_RECEIVE:
    case ESI_REQUEST_PAIR:
        completed_posted(thread, &request, status, stop);
        break;
    case ESI_REQUEST_DUPLICATE:
        completed_duplicate(thread, &request, stop);
        break;
    case ESI_REQUEST_COLLECTIVE:
        if (request.persistent)
            esi_profile_add_moved(thread, request.tuple.operation,
                                  site_of(thread, &request), request.tuple.bytes);
        completed_collective(thread, &request, stop);
        break;
    case ESI_REQUEST_SEND:
        completed_send(thread, &request, status);
        break;
    default: /* recorded when called */
        break;
    }
}

/* Returns whether a record is that of a receive with a number that got a message. */
ES_HOT bool is_numbered_receive(const struct esi_request *request,
                                const MPI_Status *status)
{
    return request->kind == ESI_REQUEST_RECEIVE && request->flags == 0 &&
           request->receive == NULL && status->MPI_SOURCE >= 0;
}

/* The tuple of such a receive, built in registers. */
ES_HOT struct es_tuple numbered_tuple(const struct esi_request *request,
                                      const MPI_Status *status,
                                      uint32_t bytes,
                                      uint64_t stop)
{
    return (struct es_tuple){.stop = stop,
                             .operation = request->tuple.operation,
                             .communicator = request->tuple.communicator,
                             .start = request->tuple.start,
                             .sequence = request->tuple.sequence,
                             .peer = status->MPI_SOURCE,
                             .tag = status->MPI_TAG,
                             .bytes = bytes};
}

ES_HOT void completed_receive(struct esi_thread *thread,
                              struct esi_request *request,
                              const MPI_Status *status,
                              uint32_t bytes,
                              uint64_t stop)
{
    struct es_tuple tuple = numbered_tuple(request, status, bytes, stop);
    struct esi_comm *comm = request->comm;
    uint64_t site = site_of(thread, request);

    esi_request_remove(request);
    esi_path_write_class(thread, ES_CLASS_RECEIVE, &tuple, site);
    esi_profile_add_moved(thread, tuple.operation, site, bytes);
    if (comm != NULL)
        esi_comm_unref(comm);
}

ES_HOT bool is_plain_send(const struct esi_request *request)
{
    return request->kind == ESI_REQUEST_SEND && request->flags == 0;
}

ES_HOT void completed_plain_send(struct esi_thread *thread, struct esi_request *request)
{
    thread->known_send = 0;
    esi_request_remove(request);
}

ES_HOT void completed_request(struct esi_thread *thread,
                              uint64_t handle,
                              const MPI_Status *status,
                              uint64_t stop)
{
    struct esi_request *request = esi_request_find(handle, thread->limit);

    if (request == NULL)
        return;
    if (ESI_LIKELY(is_numbered_receive(request, status))) {
        completed_receive(thread, request, status, esi_status_get_bytes(status), stop);
    } else if (ESI_LIKELY(is_plain_send(request))) {
        completed_plain_send(thread, request);
    } else {
        esi_request_release(request);
        completed_other(thread, handle, status, stop);
    }
}

void esi_completion_record(struct esi_thread *thread,
                           uint64_t handle,
                           const MPI_Status *status,
                           uint64_t stop)
{
    completed_request(thread, handle, status, stop);
}

/* What successive receives have in common, looked up when it changes. */
struct receive_origin {
    struct esi_comm *comm;
    uint16_t operation;
    uint16_t number; /* of the call site */
    uint64_t site;
    struct esi_profile_row_layout *row;
    uint32_t count; /* of receives */
};

ES_HOT bool is_of_origin(const struct esi_request *request,
                         const struct receive_origin *origin)
{
    return request->site == origin->number &&
           request->tuple.operation == origin->operation &&
           request->comm == origin->comm;
}

/* `count` receives are removed and no longer refer to the communicator. */
static void remove_alike(struct esi_comm *comm, uint32_t count)
{
    esi_request_note_changes(&esi_request_shards[0], count);
    if (comm != NULL)
        esi_comm_unref_alone(comm, count);
}

static struct receive_origin find_origin(struct esi_thread *thread,
                                         const struct esi_request *request)
{
    uint16_t operation = request->tuple.operation;
    uint64_t site = site_of(thread, request);

    return (struct receive_origin){
        .comm = request->comm,
        .operation = operation,
        .number = request->site,
        .site = site,
        .row = esi_profile_row(thread->profile, operation, site)};
}

/* Like completed_receive(), for a record in the window and an element that does not
 * wait for readers. */
ES_HOT void completed_alike(struct esi_writer *writer,
                            const struct receive_origin *origin,
                            struct esi_request *request,
                            const MPI_Status *status,
                            uint64_t stop)
{
    uint32_t bytes = esi_status_get_bytes(status);
    struct es_tuple tuple = numbered_tuple(request, status, bytes, stop);

    request->kind = ESI_REQUEST_NONE;
    esi_writer_store(writer, &tuple, origin->site);
    esi_writer_advance(writer);
    esi_profile_row_add_message(origin->row, bytes);
}

/* Records completed requests while one thread at a time calls MPI.  Not inlined: a few
 * requests would also need its stack frame. */
static __attribute__((noinline)) void completed_alone(struct esi_thread *thread,
                                                      struct esi_writer *writer,
                                                      const uint64_t *handles,
                                                      const MPI_Status *statuses,
                                                      int count,
                                                      uint64_t stop)
{
    struct receive_origin origin = {.operation = 0}; /* of no receive */
    uint64_t recorded = 0; /* may occur again: see requests.h */

    for (int i = 0; i < count; i++) {
        struct esi_request *request =
            esi_request_window_slot(&esi_request_shards[0], handles[i]);
        bool is_found = request->handle == handles[i];

        if (ESI_LIKELY(is_found && is_numbered_receive(request, &statuses[i]) &&
                       esi_writer_is_plain(writer))) {
            if (ESI_UNLIKELY(!is_of_origin(request, &origin))) {
                remove_alike(origin.comm, origin.count);
                origin = find_origin(thread, request);
            }
            completed_alike(writer, &origin, request, &statuses[i], stop);
            origin.count++;
        } else if (is_found && is_plain_send(request)) {
            completed_plain_send(thread, request);
        } else if (handles[i] != recorded) {
            esi_completion_record(thread, handles[i], &statuses[i], stop);
            recorded = handles[i];
        }
    }
    remove_alike(origin.comm, origin.count);
}

void esi_completion_record_all(struct esi_thread *thread,
                               const uint64_t *handles,
                               const MPI_Status *statuses,
                               int count,
                               uint64_t stop)
{
    struct esi_path *path = thread->paths[ES_CLASS_RECEIVE];

    if (count >= MANY && path != NULL && !esi_multiple) {
        completed_alone(thread, &path->writer, handles, statuses, count, stop);
        return;
    }
    for (int i = 0; i < count; i++)
        completed_request(thread, handles[i], &statuses[i], stop);
}

/* Describes a wait by one of its requests. */
static struct esi_awaited describe_awaited(const struct esi_request *request)
{
    bool collective = request->kind == ESI_REQUEST_COLLECTIVE ||
                      request->kind == ESI_REQUEST_DUPLICATE;

    return (struct esi_awaited){
        .communicator = request->tuple.communicator,
        .operation = request->tuple.operation,
        .peer = request->tuple.peer,
        .tag = collective ? (int32_t)request->tuple.sequence : request->tuple.tag,
    };
}

struct esi_awaited esi_completion_find_awaited(const MPI_Request *requests, int count)
{
    struct esi_awaited awaited = {.communicator = ES_COMMUNICATOR_NONE,
                                  .operation = ES_SEQUENCE_UNKNOWN,
                                  .peer = ES_PEER_NONE};
    bool found = false;
    bool receive = false;

    for (int i = 0; i < count && i < MAX_LOOKED_AT && !receive; i++) {
        struct esi_request *request;

        if (i > 0 && requests[i] == requests[i - 1])
            continue; /* complete from the start: see requests.h */
        request = esi_request_find(ESI_HANDLE(requests[i]), UINT64_MAX);
        if (request == NULL)
            continue;
        receive = request->kind == ESI_REQUEST_RECEIVE;
        if ((receive || !found) && (!request->persistent || request->active)) {
            awaited = describe_awaited(request);
            found = true;
        }
        esi_request_release(request);
    }
    return awaited;
}

void esi_completion_leave(struct esi_call *call, uint64_t stop)
{
    if (call->open) {
        call->tuple.stop = stop;
        esi_call_write(call);
        esi_call_count(call, stop);
    }
    esi_call_exit(call);
}

void esi_wait_leave_failed(struct esi_call *call, int result, uint64_t stop)
{
    uint32_t awaited = call->tuple.sequence;

    esi_call_fail(call, result);
    call->tuple.sequence = awaited;
    esi_completion_leave(call, stop);
}

/* --- What the generated wrappers call after posting ----------------------------- */

static void put_request(const struct esi_call *call,
                        enum esi_request_kind kind,
                        const MPI_Request *handle)
{
    struct esi_comm *comm = kind == ESI_REQUEST_COLLECTIVE ? call->comm : NULL;
    struct esi_request *request;

    if (*handle == MPI_REQUEST_NULL)
        return;
    call->thread->known_send = 0;
    request = esi_request_claim(ESI_HANDLE(*handle));
    if (request == NULL) {
        if (kind == ESI_REQUEST_COLLECTIVE) /* others are written when called */
            esi_process_count_refused_tuple();
        return;
    }
    if (comm != NULL)
        esi_comm_ref(comm);
    esi_request_fill(call->thread, request, kind, &call->tuple, comm, NULL);
    esi_request_release(request);
}

void esi_end_posted_other(struct esi_call *call, int result, MPI_Request *request)
{
    esi_call_leave(call, result);
    if (result == MPI_SUCCESS)
        put_request(call, ESI_REQUEST_OTHER, request);
}

void esi_collective_write_post(struct esi_thread *thread,
                               const struct es_tuple *begun,
                               uint64_t stop)
{
    struct es_tuple post = *begun;

    post.operation = ES_OP_MPI_collective_post;
    post.tag = begun->operation;
    post.stop = stop;
    esi_path_write(thread, &post);
}

void esi_end_posted_collective(struct esi_call *call, int result, MPI_Request *request)
{
    if (ESI_UNLIKELY(esi_call_is_late(call, result)))
        esi_call_complete_late(call, result);
    if (result == MPI_SUCCESS) {
        uint64_t stop = esi_clock_read();

        put_request(call, ESI_REQUEST_COLLECTIVE, request);
        esi_collective_write_post(call->thread, &call->tuple, stop);
        if (esi_call_is_wanted(call))
            esi_call_count(call, stop);
    } else {
        esi_call_write_failed(call);
    }
    esi_call_exit(call);
}

void esi_persistent_leave_init(struct esi_call *call,
                               int result,
                               struct esi_request *record,
                               const MPI_Request *request)
{
    call->tuple.stop = call->open ? esi_clock_read() : 0;
    if (ESI_UNLIKELY(esi_call_is_late(call, result)))
        esi_call_complete_init_late(call, result);
    if (result == MPI_SUCCESS) {
        record->handle = ESI_HANDLE(*request);
        record->tuple = call->tuple;
        if (record->kind == ESI_REQUEST_COLLECTIVE)
            record->tuple.tag = (int32_t)call->alike;
        record->comm = call->comm;
        if (record->comm != NULL)
            esi_comm_ref(record->comm);
        esi_request_put(record);
    }
    if (result == MPI_SUCCESS)
        call->tuple.bytes = 0; /* no data has been moved */
    if (call->open) {
        esi_call_write(call);
        esi_call_count(call, call->tuple.stop);
    }
    esi_call_exit(call);
}

void esi_end_made_persistent(struct esi_call *call, int result, MPI_Request *request)
{
    const struct es_operation *operation = es_operation_find(call->tuple.operation);
    struct esi_request record = {.persistent = true};

    if (operation != NULL)
        record.kind = operation->op_class == ES_CLASS_SEND ? ESI_REQUEST_SEND
                                                           : ESI_REQUEST_COLLECTIVE;
    esi_persistent_leave_init(call, result, &record, request);
}
