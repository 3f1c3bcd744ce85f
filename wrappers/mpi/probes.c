/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Probes (MPI-4.0, section 3.8).
 *
 * A probe that finds nothing only increments a counter, as tests do
 * (completion_calls.c).  A matched probe numbers the receive of its message.
 */
#include "config.h"

#include "wrappers/mpi/completion.h"
#include "wrappers/mpi/fast.h"

/* `source` is that of the probe, used for the receive. */
static void record_matched(struct esi_call *call,
                           int source,
                           MPI_Comm comm,
                           const MPI_Message *message,
                           const MPI_Status *status)
{
    struct esi_request record = {.handle = ESI_HANDLE(*message),
                                 .kind = ESI_REQUEST_MESSAGE};
    struct esi_comm *known = esi_call_find_comm(call, comm);

    if (status->MPI_SOURCE < 0)
        return;
    if (source == MPI_ANY_SOURCE)
        record.tuple.operation = ES_OPERATION_ANY_SOURCE;
    record.tuple.communicator = known != NULL ? known->index : ES_COMMUNICATOR_NONE;
    record.tuple.peer = status->MPI_SOURCE;
    record.tuple.tag = status->MPI_TAG;
    record.tuple.bytes = esi_status_get_bytes(status);
    record.tuple.sequence =
        esi_receive_post_on(known, status->MPI_SOURCE, status->MPI_TAG, &record);
    if (!esi_request_put(&record))
        esi_receive_unpost(&record);
}

static void open_probe(struct esi_call *call, MPI_Comm comm, int source, int tag)
{
    esi_call_describe(call, esi_call_find_comm(call, comm), esi_tuple_peer(source),
                      esi_tuple_tag(tag), 0, ES_SEQUENCE_UNKNOWN);
    esi_call_open(call);
}

/* Describes what the probe found. */
static void describe_found(struct esi_call *call, const MPI_Status *status)
{
    esi_tuple_note_any_source(&call->tuple);
    call->tuple.peer = esi_tuple_peer(status->MPI_SOURCE);
    if (status->MPI_SOURCE >= 0) {
        call->tuple.tag = status->MPI_TAG;
        call->tuple.bytes = esi_status_get_bytes(status);
    }
}

static void close_probe(struct esi_call *call, int result, const MPI_Status *status)
{
    call->tuple.stop = call->open ? esi_clock_read() : 0;
    if (ESI_UNLIKELY(esi_call_is_late(call, result)))
        esi_call_complete_late(call, result);
    if (result == MPI_SUCCESS)
        describe_found(call, status);
    if (call->open) {
        esi_call_write(call);
        esi_call_count(call, call->tuple.stop);
    }
    esi_call_exit(call);
}

/* A poll that found a message, or failed, which ends a sequence of polls; without a
 * status it found none. */
static void write_probe(struct esi_call *call,
                        MPI_Comm comm,
                        int source,
                        int tag,
                        int result,
                        const MPI_Status *status)
{
    uint64_t now = esi_clock_read();
    uint64_t start = status != NULL ? esi_thread_polling_since(call->thread, now) : now;

    esi_call_describe(call, esi_call_find_comm(call, comm), esi_tuple_peer(source),
                      esi_tuple_tag(tag), 0, ES_SEQUENCE_UNKNOWN);
    if (ESI_UNLIKELY(result != MPI_SUCCESS))
        esi_call_fail(call, result);
    else if (status != NULL)
        describe_found(call, status);
    if (esi_call_write_span(call, start, now))
        esi_call_count(call, now);
}

/* The same without taking the address of the call: see struct esi_call. */
ES_HOT void write_probe_of(const struct esi_call *call,
                           MPI_Comm comm,
                           int source,
                           int tag,
                           int result,
                           const MPI_Status *status)
{
    struct esi_call found = *call;

    write_probe(&found, comm, source, tag, result, status);
}

/* A poll that found nothing, which is written if the plan requires it. */
ES_HOT void leave_poll(struct esi_call *call, MPI_Comm comm, int source, int tag)
{
    if (ESI_UNLIKELY(!esi_call_count_poll(call)))
        write_probe_of(call, comm, source, tag, MPI_SUCCESS, NULL);
    esi_thread_note_poll(call->thread, ESI_POLLED_OTHER);
}

int esi_wrap_MPI_Probe(esi_MPI_Probe_fn *next,
                       int source,
                       int tag,
                       MPI_Comm comm,
                       MPI_Status *status)
{
    struct esi_call call;
    MPI_Status own;
    MPI_Status *seen = esi_status_or_own(status, &own);
    int result;

    if (!esi_call_enter(&call, ES_OP_MPI_Probe, ES_CLASS_COMPLETION))
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
    MPI_Status *seen = esi_status_or_own(status, &own);
    int result;

    if (!esi_call_enter(&call, ES_OP_MPI_Mprobe, ES_CLASS_COMPLETION))
        return next(source, tag, comm, message, status);
    open_probe(&call, comm, source, tag);
    result = next(source, tag, comm, message, seen);
    if (result == MPI_SUCCESS)
        record_matched(&call, source, comm, message, seen);
    close_probe(&call, result, seen);
    return result;
}

ES_HOT void end_iprobe(struct esi_call *call,
                       int result,
                       int source,
                       int tag,
                       MPI_Comm comm,
                       const int *flag,
                       const MPI_Status *status)
{
    if (result != MPI_SUCCESS || *flag)
        write_probe_of(call, comm, source, tag, result, status);
    else
        leave_poll(call, comm, source, tag);
    esi_call_exit(call);
}

void esi_fast_finish_iprobe(int result,
                            int source,
                            int tag,
                            MPI_Comm comm,
                            const int *flag,
                            const MPI_Status *status)
{
    struct esi_call call = esi_fast_recall_poll();

    end_iprobe(&call, result, source, tag, comm, flag, status);
}

int esi_wrap_MPI_Iprobe(esi_MPI_Iprobe_fn *next,
                        int source,
                        int tag,
                        MPI_Comm comm,
                        int *flag,
                        MPI_Status *status)
{
    struct esi_call call;
    MPI_Status own;
    MPI_Status *seen = esi_status_or_own(status, &own);
    int result;

    if (!esi_call_enter(&call, ES_OP_MPI_Iprobe, ES_CLASS_COMPLETION))
        return next(source, tag, comm, flag, status);
    result = next(source, tag, comm, flag, seen);
    end_iprobe(&call, result, source, tag, comm, flag, seen);
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
    MPI_Status *seen = esi_status_or_own(status, &own);
    int result;

    if (!esi_call_enter(&call, ES_OP_MPI_Improbe, ES_CLASS_COMPLETION))
        return next(source, tag, comm, flag, message, status);
    result = next(source, tag, comm, flag, message, seen);
    if (result == MPI_SUCCESS && !*flag)
        leave_poll(&call, comm, source, tag);
    else
        write_probe(&call, comm, source, tag, result, seen);
    if (result == MPI_SUCCESS && *flag)
        record_matched(&call, source, comm, message, seen);
    esi_call_exit(&call);
    return result;
}
