/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Wait and test calls (MPI-4.0, sections 3.7.3 to 3.7.6).
 *
 * A wait has an open tuple while it waits.  A test that finds nothing only increments a
 * counter: it writes no tuple and rarely reads a clock, because programs poll millions
 * of times per second.  The tuple of a test that finds something starts with the
 * sequence of polls that it ends; if there is none, its start and stop are the same.
 */
#include "config.h"

#include <string.h>

#include "wrappers/mpi/completion.h"
#include "wrappers/mpi/fast.h"

/* Returns whether a request is complete after a call that returned `result`. */
static bool is_done(int result, MPI_Request now)
{
    return result == MPI_SUCCESS || now == MPI_REQUEST_NULL;
}

static void write_test(struct esi_call *call, uint64_t start, uint64_t now)
{
    if (esi_call_write_span(call, start, now))
        esi_call_count(call, now);
    esi_call_exit(call);
}

/* Describes a test that found something, or failed, and so ends a sequence of polls. */
ES_HOT void end_polls(struct esi_call *call, int result, int count, uint64_t now)
{
    uint64_t since = esi_thread_polling_since(call->thread, now);

    esi_call_describe(call, NULL, ES_PEER_NONE, 0, (uint32_t)count,
                      ES_SEQUENCE_UNKNOWN);
    if (ESI_UNLIKELY(result != MPI_SUCCESS))
        esi_call_fail(call, result);
    write_test(call, since, now);
}

/* Writes a test that found nothing, if the plan requires it, like a wait for the same
 * requests. */
static void write_poll(struct esi_call call, const MPI_Request *requests, int count)
{
    uint64_t now = esi_clock_read();

    esi_completion_describe(&call, requests, count);
    write_test(&call, now, now);
}

/* Ends a test that found nothing.  Returns false if the plan requires its tuple, which
 * is written first; then the description of the polls starts again. */
ES_HOT bool leave_poll(struct esi_call *call)
{
    if (ESI_UNLIKELY(!esi_call_count_poll(call)))
        return false;
    esi_call_exit(call);
    return true;
}

/* The same for one request and for a batch, which are shown in the ledger. */
ES_HOT void leave_poll_of(struct esi_call *call, MPI_Request request)
{
    if (ESI_UNLIKELY(!leave_poll(call))) {
        MPI_Request copy = request; /* a copy, so that the original has no address */

        write_poll(*call, &copy, 1);
    }
    esi_thread_note_poll(call->thread, ESI_HANDLE(request));
}

ES_HOT void leave_poll_of_all(struct esi_call *call,
                              const struct esi_batch *batch,
                              const MPI_Request *requests,
                              int count)
{
    if (ESI_UNLIKELY(!leave_poll(call)))
        write_poll(*call, requests, count);
    esi_thread_note_polls(call->thread, batch->handles, (uint32_t)batch->count);
}

/* --- One request ---------------------------------------------------------------- */

int esi_wrap_MPI_Wait(esi_MPI_Wait_fn *next, MPI_Request *request, MPI_Status *status)
{
    struct esi_call call;
    MPI_Status own;
    MPI_Status *seen = esi_status_or_own(status, &own);
    uint64_t handle;
    uint64_t stop;
    int result;

    if (request == NULL || !esi_call_enter(&call, ES_OP_MPI_Wait, ES_CLASS_COMPLETION))
        return next(request, status);
    handle = ESI_HANDLE(*request);
    esi_completion_open(&call, request, 1);
    esi_wait_begin_one(call.thread, handle);
    result = next(request, seen);
    esi_wait_end(&call);
    stop = esi_clock_read();
    if (is_done(result, *request))
        esi_completion_record(call.thread, handle, seen, stop);
    esi_wait_leave(&call, result, stop);
    return result;
}

ES_HOT void end_test(struct esi_call *call,
                     MPI_Request before,
                     int result,
                     MPI_Request after,
                     const int *flag,
                     const MPI_Status *status)
{
    uint64_t now;

    if (result == MPI_SUCCESS && (!*flag || before == MPI_REQUEST_NULL)) {
        leave_poll_of(call, before);
        return;
    }
    now = esi_clock_read();
    if (is_done(result, after))
        esi_completion_record(call->thread, ESI_HANDLE(before), status, now);
    end_polls(call, result, 1, now);
}

void esi_fast_finish_test(uint64_t handle,
                          int result,
                          MPI_Request after,
                          const int *flag,
                          const MPI_Status *status)
{
    struct esi_call call = esi_fast_recall_poll();
    MPI_Request before;

    memcpy(&before, &handle, sizeof before);
    end_test(&call, before, result, after, flag, status);
}

int esi_wrap_MPI_Test(esi_MPI_Test_fn *next,
                      MPI_Request *request,
                      int *flag,
                      MPI_Status *status)
{
    struct esi_call call;
    MPI_Status own;
    MPI_Status *seen = esi_status_or_own(status, &own);
    MPI_Request before;
    int result;

    if (request == NULL || !esi_call_enter(&call, ES_OP_MPI_Test, ES_CLASS_COMPLETION))
        return next(request, flag, status);
    before = *request;
    result = next(request, flag, seen);
    end_test(&call, before, result, *request, flag, seen);
    return result;
}

int esi_wrap_MPI_Request_get_status(esi_MPI_Request_get_status_fn *next,
                                    MPI_Request request,
                                    int *flag,
                                    MPI_Status *status)
{
    struct esi_call call;
    int result;

    if (!esi_call_enter(&call, ES_OP_MPI_Request_get_status, ES_CLASS_COMPLETION))
        return next(request, flag, status);
    result = next(request, flag, status);
    if (result != MPI_SUCCESS || (*flag && request != MPI_REQUEST_NULL))
        end_polls(&call, result, 1, esi_clock_read());
    else
        leave_poll_of(&call, request);
    return result;
}

/* An active receive continues, but its result will not be seen.  A start of a
 * persistent request holds an additional reference to the communicator, except for
 * sends. */
static void note_request_freed(const struct esi_request *record)
{
    if (record->receive != NULL)
        esi_match_abandon(&record->comm->received, record->receive);
    else if (!record->persistent || record->active)
        esi_match_untrack(&record->comm->received);
    if (record->persistent && record->active && record->kind != ESI_REQUEST_SEND)
        esi_comm_unref(record->comm);
    esi_comm_unref(record->comm);
}

int esi_wrap_MPI_Request_free(esi_MPI_Request_free_fn *next, MPI_Request *request)
{
    struct esi_call call;
    struct esi_request record;
    int result;

    if (request == NULL ||
        !esi_call_enter(&call, ES_OP_MPI_Request_free, ES_CLASS_COMPLETION))
        return next(request);
    if (!esi_request_take(ESI_HANDLE(*request), &record))
        record.comm = NULL;
    call.thread->known_send = 0; /* its handle may be reused */
    esi_completion_open(&call, NULL, 0);
    result = next(request);
    if (record.comm != NULL)
        note_request_freed(&record);
    esi_call_leave(&call, result);
    return result;
}

/* Shows which requests the call waits for. */
ES_HOT void begin_wait(const struct esi_call *call,
                       const struct esi_batch *batch,
                       enum esi_ledger_wait_kind kind)
{
    esi_wait_begin(call->thread, kind, batch->handles, (uint32_t)batch->count);
}

/* --- All ------------------------------------------------------------------------ */

/* After an error: the requests whose status shows that they are complete. */
static void completed_despite(struct esi_thread *thread,
                              const struct esi_batch *batch,
                              const MPI_Request *requests,
                              int result,
                              uint64_t stop)
{
    for (int i = 0; i < batch->count; i++)
        if (requests[i] == MPI_REQUEST_NULL ||
            (result == MPI_ERR_IN_STATUS &&
             batch->statuses[i].MPI_ERROR != MPI_ERR_PENDING))
            esi_completion_record(thread, batch->handles[i], &batch->statuses[i], stop);
}

/* Records all requests completed by the call. */
ES_HOT void completed_all(struct esi_thread *thread,
                          const struct esi_batch *batch,
                          const MPI_Request *requests,
                          int result,
                          uint64_t stop)
{
    if (ESI_LIKELY(result == MPI_SUCCESS))
        esi_completion_record_all(thread, batch->handles, batch->statuses, batch->count,
                                  stop);
    else
        completed_despite(thread, batch, requests, result, stop);
}

int esi_wrap_MPI_Waitall(esi_MPI_Waitall_fn *next,
                         int count,
                         MPI_Request requests[],
                         MPI_Status statuses[])
{
    struct esi_call call;
    struct esi_batch batch;
    uint64_t stop;
    int result;

    if (!esi_batch_is_good(requests, count) ||
        !esi_call_enter(&call, ES_OP_MPI_Waitall, ES_CLASS_COMPLETION))
        return next(count, requests, statuses);
    esi_batch_init(&batch, call.thread, requests, count, statuses);
    esi_completion_open(&call, requests, count);
    begin_wait(&call, &batch, ESI_LEDGER_WAIT_ALL);
    result = next(count, requests, batch.statuses);
    esi_wait_end(&call);
    stop = esi_clock_read();
    completed_all(call.thread, &batch, requests, result, stop);
    esi_wait_leave(&call, result, stop);
    esi_batch_fini(&batch);
    return result;
}

static bool has_any(const struct esi_batch *batch)
{
    MPI_Request none = MPI_REQUEST_NULL;

    for (int i = 0; i < batch->count; i++)
        if (batch->handles[i] != ESI_HANDLE(none))
            return true;
    return false;
}

int esi_wrap_MPI_Testall(esi_MPI_Testall_fn *next,
                         int count,
                         MPI_Request requests[],
                         int *flag,
                         MPI_Status statuses[])
{
    struct esi_call call;
    struct esi_batch batch;
    int result;

    if (!esi_batch_is_good(requests, count) ||
        !esi_call_enter(&call, ES_OP_MPI_Testall, ES_CLASS_COMPLETION))
        return next(count, requests, flag, statuses);
    esi_batch_init(&batch, call.thread, requests, count, statuses);
    result = next(count, requests, flag, batch.statuses);
    if (result != MPI_SUCCESS || (*flag && has_any(&batch))) {
        uint64_t now = esi_clock_read();

        completed_all(call.thread, &batch, requests, result, now);
        end_polls(&call, result, count, now);
    } else {
        leave_poll_of_all(&call, &batch, requests, count);
    }
    esi_batch_fini(&batch);
    return result;
}

/* --- Any ------------------------------------------------------------------------ */

/* The call has completed the request at `index`, or failed: then its index may be any
 * number. */
static void completed_any(struct esi_thread *thread,
                          const struct esi_batch *batch,
                          const MPI_Request *requests,
                          int result,
                          int index,
                          const MPI_Status *status,
                          uint64_t stop)
{
    if (index >= 0 && index < batch->count && is_done(result, requests[index]))
        esi_completion_record(thread, batch->handles[index], status, stop);
}

int esi_wrap_MPI_Waitany(esi_MPI_Waitany_fn *next,
                         int count,
                         MPI_Request requests[],
                         int *index,
                         MPI_Status *status)
{
    struct esi_call call;
    struct esi_batch batch;
    MPI_Status own;
    MPI_Status *seen = esi_status_or_own(status, &own);
    uint64_t stop;
    int result;

    if (!esi_batch_is_good(requests, count) || index == NULL ||
        !esi_call_enter(&call, ES_OP_MPI_Waitany, ES_CLASS_COMPLETION))
        return next(count, requests, index, status);
    esi_batch_init(&batch, call.thread, requests, count, MPI_STATUSES_IGNORE);
    esi_completion_open(&call, requests, count);
    begin_wait(&call, &batch, ESI_LEDGER_WAIT_ANY);
    result = next(count, requests, index, seen);
    esi_wait_end(&call);
    stop = esi_clock_read();
    completed_any(call.thread, &batch, requests, result, *index, seen, stop);
    esi_wait_leave(&call, result, stop);
    esi_batch_fini(&batch);
    return result;
}

int esi_wrap_MPI_Testany(esi_MPI_Testany_fn *next,
                         int count,
                         MPI_Request requests[],
                         int *index,
                         int *flag,
                         MPI_Status *status)
{
    struct esi_call call;
    struct esi_batch batch;
    MPI_Status own;
    MPI_Status *seen = esi_status_or_own(status, &own);
    int result;

    if (!esi_batch_is_good(requests, count) || index == NULL ||
        !esi_call_enter(&call, ES_OP_MPI_Testany, ES_CLASS_COMPLETION))
        return next(count, requests, index, flag, status);
    esi_batch_init(&batch, call.thread, requests, count, MPI_STATUSES_IGNORE);
    result = next(count, requests, index, flag, seen);
    if (result != MPI_SUCCESS || (*flag && *index >= 0 && *index < count)) {
        uint64_t now = esi_clock_read();

        completed_any(call.thread, &batch, requests, result, *index, seen, now);
        end_polls(&call, result, count, now);
    } else {
        leave_poll_of_all(&call, &batch, requests, count);
    }
    esi_batch_fini(&batch);
    return result;
}

/* --- Some ----------------------------------------------------------------------- */

/* The call has completed `*done` requests, at `indices`, with statuses in the same
 * order; or failed with none, and these are not set, or NULL. */
static void completed_some(struct esi_call *call,
                           const struct esi_batch *batch,
                           int result,
                           const int *done,
                           const int indices[],
                           uint64_t stop)
{
    if (result != MPI_SUCCESS && result != MPI_ERR_IN_STATUS)
        return;
    for (int i = 0; i < *done; i++)
        if (indices[i] >= 0 && indices[i] < batch->count)
            esi_completion_record(call->thread, batch->handles[indices[i]],
                                  &batch->statuses[i], stop);
}

int esi_wrap_MPI_Waitsome(esi_MPI_Waitsome_fn *next,
                          int incount,
                          MPI_Request requests[],
                          int *outcount,
                          int indices[],
                          MPI_Status statuses[])
{
    struct esi_call call;
    struct esi_batch batch;
    uint64_t stop;
    int result;

    if (!esi_batch_is_good(requests, incount) ||
        !esi_call_enter(&call, ES_OP_MPI_Waitsome, ES_CLASS_COMPLETION))
        return next(incount, requests, outcount, indices, statuses);
    esi_batch_init(&batch, call.thread, requests, incount, statuses);
    esi_completion_open(&call, requests, incount);
    begin_wait(&call, &batch, ESI_LEDGER_WAIT_ANY);
    result = next(incount, requests, outcount, indices, batch.statuses);
    esi_wait_end(&call);
    stop = esi_clock_read();
    completed_some(&call, &batch, result, outcount, indices, stop);
    esi_wait_leave(&call, result, stop);
    esi_batch_fini(&batch);
    return result;
}

int esi_wrap_MPI_Testsome(esi_MPI_Testsome_fn *next,
                          int incount,
                          MPI_Request requests[],
                          int *outcount,
                          int indices[],
                          MPI_Status statuses[])
{
    struct esi_call call;
    struct esi_batch batch;
    int result;

    if (!esi_batch_is_good(requests, incount) ||
        !esi_call_enter(&call, ES_OP_MPI_Testsome, ES_CLASS_COMPLETION))
        return next(incount, requests, outcount, indices, statuses);
    esi_batch_init(&batch, call.thread, requests, incount, statuses);
    result = next(incount, requests, outcount, indices, batch.statuses);
    if (result != MPI_SUCCESS || *outcount > 0) {
        uint64_t now = esi_clock_read();

        completed_some(&call, &batch, result, outcount, indices, now);
        end_polls(&call, result, incount, now);
    } else {
        leave_poll_of_all(&call, &batch, requests, incount);
    }
    esi_batch_fini(&batch);
    return result;
}

/* --- Looking at several requests, which stay (MPI-4.1) -------------------------- */

#ifdef ESI_HAS_MPI_Request_get_status_all
void esi_end_looked(struct esi_call *call,
                    int result,
                    bool found,
                    const MPI_Request requests[],
                    int count)
{
    struct esi_batch batch;

    if (!esi_batch_is_good(requests, count))
        count = 0;
    esi_batch_init(&batch, call->thread, requests, count, MPI_STATUSES_IGNORE);
    if (result != MPI_SUCCESS || (found && has_any(&batch)))
        end_polls(call, result, count, esi_clock_read());
    else
        leave_poll_of_all(call, &batch, requests, count);
    esi_batch_fini(&batch);
}
#endif
