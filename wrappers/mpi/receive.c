/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Receives and send-receives (MPI-4.0, sections 3.2.4, 3.7.2, 3.8 and 3.10).
 *
 * A receive is posted with the match on entry.  While a single thread calls MPI,
 * nothing can happen between the posting of a blocking receive and its end.  A wildcard
 * is then posted only when its message has arrived, and never blocks others.
 */
#include "config.h"

#include "wrappers/mpi/completion.h"
#include "wrappers/mpi/fast.h"
#include "wrappers/mpi/process.h"

/* When a blocking receive gets its number. */
enum posting {
    AT_ONCE, /* on entry: the common case */
    LATER,   /* a wildcard: when its message has arrived */
    QUEUED,  /* others may precede it: the match decides */
};

/* A blocking receive from entry to exit. */
struct blocking {
    struct esi_call call;
    enum posting posting;
    struct esi_request request; /* QUEUED only */
};

/* For a receive that is not decided when it is posted. */
static enum posting choose_posting(const struct esi_comm *comm, int source, int tag)
{
    bool is_specific = source >= 0 && tag >= 0;

    if (comm == NULL || (is_specific && source >= comm->peers))
        return LATER;
    return is_specific || esi_multiple ? QUEUED : LATER;
}

/* Describes a blocking receive without cached data; fills `queued` if it is QUEUED. */
static enum posting describe_new_blocking(struct esi_call *call,
                                          struct esi_request *queued,
                                          MPI_Comm comm,
                                          int source,
                                          int tag,
                                          MPI_Count count,
                                          MPI_Datatype datatype)
{
    enum posting posting;

    if (esi_call_describe_new_receive(call, comm, source, tag, count, datatype))
        return AT_ONCE;
    posting = choose_posting(call->comm, source, tag);
    if (posting == QUEUED) {
        *queued = (struct esi_request){.kind = ESI_REQUEST_RECEIVE};
        call->tuple.sequence =
            esi_receive_post_on(call->comm, call->tuple.peer, call->tuple.tag, queued);
    }
    return posting;
}

/* Returns when the receive gets its number. */
ES_HOT enum posting open_receive(struct esi_call *call,
                                 struct esi_request *queued,
                                 MPI_Comm comm,
                                 int source,
                                 int tag,
                                 MPI_Count count,
                                 MPI_Datatype datatype)
{
    enum posting posting = AT_ONCE;

    if (ESI_UNLIKELY(!esi_call_describe_known_receive(call, comm, source, tag, count,
                                                      datatype))) {
        struct esi_call described = *call;

        posting = describe_new_blocking(&described, queued, comm, source, tag, count,
                                        datatype);
        *call = described;
    }
    esi_call_open(call);
    return posting;
}

/* Source, tag and number were known on entry: only the payload is new. */
ES_HOT void publish_foreseen(struct esi_call *call,
                             const MPI_Status *status,
                             uint64_t stop)
{
    uint32_t bytes;

    if (!call->open)
        return;
    bytes = esi_status_get_bytes(status);
    esi_writer_close_with(&call->path->writer, stop, bytes);
    esi_profile_add_call(call->thread, call->tuple.operation, stop - call->tuple.start,
                         bytes);
}

/* The number is decided, so the status completes the tuple.  The message may have been
 * too long. */
static void publish_receive(struct esi_call *call,
                            int result,
                            const MPI_Status *status,
                            uint64_t stop)
{
    call->tuple.stop = stop;
    if (status->MPI_SOURCE >= 0)
        esi_tuple_note_any_source(&call->tuple);
    call->tuple.peer = esi_tuple_peer(status->MPI_SOURCE);
    call->tuple.bytes = 0;
    if (status->MPI_SOURCE >= 0) {
        call->tuple.tag = status->MPI_TAG;
        call->tuple.bytes = esi_status_get_bytes(status);
    }
    if (result != MPI_SUCCESS)
        esi_tuple_mark_failed(&call->tuple, result);
    if (call->open) {
        esi_call_write(call);
        esi_call_count(call, stop);
    }
}

/* Passes the tuple to the match, which publishes it when its number is decided. */
static void hand_to_match(struct blocking *receive,
                          int result,
                          const MPI_Status *status,
                          uint64_t stop)
{
    struct esi_call *call = &receive->call;

    receive->request.tuple = call->tuple;
    if (call->open)
        esi_writer_withdraw(&call->path->writer);
    else
        receive->request.tuple.operation = 0; /* not recorded, but takes its number */
    if (call->open && result != MPI_SUCCESS)
        esi_tuple_mark_failed(&receive->request.tuple, result);
    call->tuple.bytes =
        esi_receive_record(call->thread, &receive->request, status, stop);
    if (call->open)
        esi_call_count(call, stop);
}

/* A wildcard whose message has arrived: posts it now. */
static void post_late(struct blocking *receive, const MPI_Status *status)
{
    struct esi_call *call = &receive->call;

    receive->request = (struct esi_request){.kind = ESI_REQUEST_RECEIVE};
    call->tuple.sequence = esi_receive_post_on(call->comm, status->MPI_SOURCE,
                                               status->MPI_TAG, &receive->request);
    receive->posting = QUEUED;
}

static void fail_receive(struct blocking *receive, int result)
{
    struct esi_call *call = &receive->call;

    if (receive->posting == QUEUED)
        esi_receive_unpost(&receive->request);
    else if (receive->posting == AT_ONCE)
        esi_channel_back(&call->comm->received.channels, call->tuple.peer,
                         call->tuple.tag);
    esi_call_leave(call, result);
}

/* The less common cases. */
static void close_uncommon(struct blocking *receive,
                           int result,
                           const MPI_Status *status,
                           uint64_t stop)
{
    struct esi_call *call = &receive->call;

    if (ESI_UNLIKELY(!esi_receive_took_message(result))) {
        fail_receive(receive, result);
        return;
    }
    if (ESI_UNLIKELY(call->unknown_comm != 0))
        esi_call_complete_late(call, MPI_SUCCESS);
    if (ESI_UNLIKELY(receive->posting == LATER && status->MPI_SOURCE >= 0 &&
                     call->comm != NULL))
        post_late(receive, status);
    if (receive->posting != QUEUED) {
        publish_receive(call, result, status, stop);
    } else if (receive->request.receive != NULL) {
        hand_to_match(receive, result, status, stop);
    } else {
        publish_receive(call, result, status, stop);
        if (receive->request.comm != NULL)
            esi_comm_unref(receive->request.comm);
    }
    esi_call_exit(call);
}

ES_HOT void close_receive(struct esi_call *call,
                          enum posting posting,
                          const struct esi_request *queued,
                          int result,
                          const MPI_Status *status)
{
    uint64_t stop = call->open ? esi_clock_read() : 0;

    if (ESI_LIKELY(result == MPI_SUCCESS && posting == AT_ONCE)) {
        publish_foreseen(call, status, stop);
        esi_call_exit(call);
    } else {
        struct blocking receive = {.call = *call, .posting = posting};

        if (posting == QUEUED)
            receive.request = *queued;
        close_uncommon(&receive, result, status, stop);
    }
}

void esi_fast_fail_recv(const struct esi_known_message *known,
                        int result,
                        const MPI_Status *status)
{
    struct esi_call call = esi_fast_recall(ES_CLASS_RECEIVE, known->comm);

    close_receive(&call, AT_ONCE, NULL, result, status);
}

/* Posts a described nonblocking receive that is not decided yet.  Returns the receive
 * that the match waits for, NULL if its number is decided. */
static struct esi_receive *post_in_match(struct esi_call *call)
{
    struct esi_comm *comm = call->comm;
    int source = call->tuple.peer, tag = call->tuple.tag;

    if (comm == NULL || (source < 0 && source != ES_PEER_ANY) ||
        source >= comm->peers || (tag < 0 && tag != ES_TAG_ANY))
        return NULL;
    call->numbered = true;
    return esi_match_post(&comm->received, source, tag, &call->tuple.sequence);
}

/* Begins a nonblocking receive: the tuple is written when it completes. */
ES_HOT struct esi_receive *begin_receive(struct esi_call *call,
                                         MPI_Comm comm,
                                         int source,
                                         int tag,
                                         MPI_Count count,
                                         MPI_Datatype datatype)
{
    struct esi_receive *receive = NULL;

    call->numbered =
        esi_call_describe_known_receive(call, comm, source, tag, count, datatype);
    if (ESI_UNLIKELY(!call->numbered)) {
        struct esi_call described = *call;

        described.numbered = esi_call_describe_new_receive(&described, comm, source,
                                                           tag, count, datatype);
        if (!described.numbered)
            receive = post_in_match(&described);
        *call = described;
    }
    call->tuple.start = esi_clock_read();
    return receive;
}

/* The call failed: undoes the posting. */
static void unpost_in_match(struct esi_call *call, struct esi_receive *receive)
{
    if (receive != NULL)
        esi_match_drop(&call->comm->received, receive);
    else if (call->numbered && call->tuple.sequence != ES_SEQUENCE_UNKNOWN)
        esi_channel_back(&call->comm->received.channels, call->tuple.peer,
                         call->tuple.tag);
}

/* Adds the time of a call that has posted a receive to the profile. */
ES_HOT void count_posted_receive(const struct esi_call *call)
{
    if (ESI_LIKELY(esi_call_is_wanted(call)))
        esi_profile_add_post(call->thread, call->tuple.operation,
                             esi_clock_read() - call->tuple.start);
}

/* Fills the claimed record of a posted receive. */
ES_HOT void keep_receive(struct esi_call *call,
                         struct esi_receive *receive,
                         struct esi_request *request)
{
    struct esi_comm *comm = call->numbered ? call->comm : NULL;

    if (comm != NULL)
        esi_comm_ref(comm);
    esi_request_fill(call->thread, request, ESI_REQUEST_RECEIVE, &call->tuple, comm,
                     receive);
    esi_request_release(request);
    count_posted_receive(call);
}

/* The less common cases. */
static void end_uncommon(struct esi_call *call,
                         struct esi_receive *receive,
                         int result,
                         const MPI_Request *handle)
{
    struct esi_request *request = NULL;

    if (result == MPI_SUCCESS && call->unknown_comm != 0) {
        esi_call_complete_late(call, result);
        receive = post_in_match(call);
    }
    if (call->tuple.peer == ES_PEER_NONE) {
        esi_receive_record_null(call, result);
        return;
    }
    if (result == MPI_SUCCESS)
        request = esi_request_claim(ESI_HANDLE(*handle));
    if (request == NULL) {
        unpost_in_match(call, receive);
        if (result == MPI_SUCCESS) {
            esi_process_count_refused_tuple();
        } else {
            esi_call_fail(call, result);
            esi_call_write_failed(call);
        }
    } else {
        keep_receive(call, receive, request);
    }
    esi_call_exit(call);
}

ES_HOT void end_receive(struct esi_call *call,
                        struct esi_receive *receive,
                        int result,
                        const MPI_Request *handle)
{
    struct esi_request *request = NULL;

    if (ESI_LIKELY(result == MPI_SUCCESS && call->unknown_comm == 0 &&
                   call->tuple.peer != ES_PEER_NONE))
        request = esi_request_claim(ESI_HANDLE(*handle));
    if (ESI_LIKELY(request != NULL)) {
        keep_receive(call, receive, request);
        esi_call_exit(call);
    } else {
        struct esi_call uncommon = *call;

        end_uncommon(&uncommon, receive, result, handle);
    }
}

/* A persistent receive is posted at each start. */
static void begin_receive_init(struct esi_call *call,
                               MPI_Comm comm,
                               int source,
                               int tag)
{
    esi_call_describe(call, esi_call_find_comm(call, comm), esi_tuple_peer(source),
                      esi_tuple_tag(tag), 0, ES_SEQUENCE_UNKNOWN);
    esi_call_open(call);
}

static void end_receive_init(struct esi_call *call,
                             int result,
                             const MPI_Request *handle,
                             bool partitioned)
{
    struct esi_request record = {
        .kind = ESI_REQUEST_RECEIVE, .persistent = true, .partitioned = partitioned};

    esi_persistent_leave_init(call, result, &record, handle);
}

/* --- Matched messages: their receive is numbered when they are probed ----------- */

/* Takes the data of the probe; operation and start are those of the call. */
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
        esi_call_describe(call, NULL, ES_PEER_NONE, 0, 0, ES_SEQUENCE_UNKNOWN);
    } else {
        *tuple = request->tuple;
        operation |= tuple->operation;
        request->kind = ESI_REQUEST_RECEIVE;
    }
    tuple->operation = operation;
    tuple->stop = 0;
    tuple->start = 0;
    if (shown)
        esi_call_open(call);
    else
        tuple->start = esi_clock_read();
    request->tuple = *tuple;
}

static void close_matched(struct esi_call *call,
                          struct esi_request *request,
                          int result,
                          const MPI_Status *status)
{
    uint64_t stop = esi_clock_read();

    if (result != MPI_SUCCESS) {
        esi_call_leave(call, result);
        return;
    }
    if (call->open)
        esi_writer_withdraw(&call->path->writer);
    call->tuple.bytes = esi_receive_record(call->thread, request, status, stop);
    if (call->open)
        esi_call_count(call, stop);
    esi_call_exit(call);
}

static void end_matched(struct esi_call *call,
                        struct esi_request *request,
                        int result,
                        const MPI_Request *handle)
{
    request->handle = ESI_HANDLE(*handle);
    request->site = esi_site_number(call->thread);
    if (result != MPI_SUCCESS) {
        esi_receive_unpost(request);
        esi_call_fail(call, result);
        esi_call_write_failed(call);
    } else if (!esi_request_put(request)) {
        esi_process_count_refused_tuple();
        esi_receive_unpost(request);
    } else {
        count_posted_receive(call);
    }
    esi_call_exit(call);
}

/* --- Send and receive in one call (MPI-4.0, section 3.10) ----------------------- */

/*
 * One call with two messages: the tuple of the call is the send, a second tuple is the
 * receive, both from entry to exit.  The open tuple shows the receive, because the call
 * waits for it.
 */
struct sendrecv_pair {
    struct esi_call call; /* the send half */
    struct esi_request request;
};

static void describe_pair(struct sendrecv_pair *pair,
                          MPI_Comm comm,
                          int dest,
                          int sendtag,
                          MPI_Count sendcount,
                          MPI_Datatype sendtype,
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
    esi_call_describe_send(call, comm, dest, sendtag, sendcount, sendtype);
}

/* Shows the receive half in the element of the send, or the send half if there is no
 * receive.  Each half is written if its class is recorded. */
static void open_pair(struct sendrecv_pair *pair)
{
    struct esi_call *call = &pair->call;
    struct es_tuple shown;
    bool is_wanted = esi_call_start(call);

    if (!is_wanted)
        call->tuple.start = esi_clock_read();
    pair->request.tuple.start = call->tuple.start;
    if (!is_wanted)
        return;
    shown =
        pair->request.tuple.peer != ES_PEER_NONE ? pair->request.tuple : call->tuple;
    shown.stop = 0;
    call->open = true;
    esi_writer_open_at(&call->path->writer, &shown, call->thread->site);
}

/* Posts the receive half on a communicator that was not known before. */
static void post_pair_late(struct sendrecv_pair *pair)
{
    struct esi_request *request = &pair->request;

    request->tuple.communicator = pair->call.tuple.communicator;
    request->tuple.sequence = esi_receive_post_on(pair->call.comm, request->tuple.peer,
                                                  request->tuple.tag, request);
}

static void record_receive_half(struct sendrecv_pair *pair,
                                const MPI_Status *status,
                                uint64_t stop)
{
    struct esi_thread *thread = pair->call.thread;
    uint16_t operation = es_tuple_operation(&pair->request.tuple);
    uint32_t bytes = esi_receive_record(thread, &pair->request, status, stop);

    esi_profile_add_moved(thread, operation, thread->site, bytes);
}

static void close_pair(struct sendrecv_pair *pair, int result, const MPI_Status *status)
{
    struct esi_call *call = &pair->call;
    uint64_t stop = esi_clock_read();
    bool came = esi_receive_took_message(result);

    pair->request.kind = ESI_REQUEST_RECEIVE; /* its status is valid */
    call->tuple.stop = stop;
    if (ESI_UNLIKELY(esi_call_is_late(call, result)))
        esi_call_complete_late(call, came ? MPI_SUCCESS : result);
    if (!came)
        esi_receive_unpost(&pair->request);
    else if (ESI_UNLIKELY(call->unknown_comm != 0))
        post_pair_late(pair);
    if (call->open) {
        esi_call_write(call);
        esi_call_count(call, stop);
    }
    if (came && result != MPI_SUCCESS && pair->request.tuple.operation != 0)
        esi_tuple_mark_failed(&pair->request.tuple, result);
    if (came)
        record_receive_half(pair, status, stop);
    esi_call_exit(call);
}

#ifdef ESI_HAS_MPI_Isendrecv
/* Keeps the receive half until the request completes.  From MPI_PROC_NULL it is
 * complete, and MPI may use its handle for all complete requests. */
static void leave_receive_half(struct sendrecv_pair *pair,
                               uint64_t handle,
                               uint64_t now)
{
    pair->request.handle = handle;
    pair->request.site = esi_site_number(pair->call.thread);
    if (pair->request.tuple.peer == ES_PEER_NONE) {
        pair->request.tuple.stop = now;
        esi_path_write(pair->call.thread, &pair->request.tuple);
        esi_profile_add_moved(pair->call.thread, pair->request.tuple.operation,
                              pair->call.thread->site, 0);
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

    call->tuple.stop = esi_clock_read();
    if (ESI_UNLIKELY(esi_call_is_late(call, result)))
        esi_call_complete_late(call, result);
    if (ESI_UNLIKELY(result == MPI_SUCCESS && call->unknown_comm != 0))
        post_pair_late(pair);
    if (result != MPI_SUCCESS)
        esi_receive_unpost(&pair->request);
    else
        leave_receive_half(pair, ESI_HANDLE(*handle), call->tuple.stop);
    if (call->open) {
        esi_call_write(call);
        esi_call_count(call, call->tuple.stop);
    }
    esi_call_exit(call);
}
#endif

/* --- The calls that exist with int and with MPI_Count counts -------------------- */

#define ESI_COUNT int
#define ESI_NAME(name) name
#define ESI_FN(name) esi_##name##_fn
#include "wrappers/mpi/receive_calls.h"
#undef ESI_COUNT
#undef ESI_NAME
#undef ESI_FN

#ifdef ESI_HAS_MPI_Recv_c
#define ESI_COUNT MPI_Count
#define ESI_NAME(name) name##_c
#define ESI_FN(name) esi_##name##_c_fn
#include "wrappers/mpi/receive_calls.h"
#undef ESI_COUNT
#undef ESI_NAME
#undef ESI_FN
#endif

#ifdef ESI_HAS_MPI_Precv_init
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

    if (!esi_call_enter(&call, ES_OP_MPI_Precv_init, ES_CLASS_RECEIVE))
        return next(buf, partitions, count, datatype, source, tag, comm, info, request);
    begin_receive_init(&call, comm, source, tag);
    result = next(buf, partitions, count, datatype, source, tag, comm, info, request);
    end_receive_init(&call, result, request, true);
    return result;
}
#endif
