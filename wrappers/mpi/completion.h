/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* What happens when requests are posted and when they complete. */
#ifndef ES_WRAPPERS_MPI_COMPLETION_H
#define ES_WRAPPERS_MPI_COMPLETION_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "wrappers/mpi/describe.h"
#include "wrappers/mpi/ledger.h"
#include "wrappers/mpi/process.h"
#include "wrappers/mpi/requests.h"

/* A request of the program has completed at `stop`: writes the tuple that was pending.
 * `status` was filled by MPI. */
void esi_completion_record(struct esi_thread *thread,
                           uint64_t handle,
                           const MPI_Status *status,
                           uint64_t stop);

/* Like esi_completion_record(), for `count` requests that completed together. */
void esi_completion_record_all(struct esi_thread *thread,
                               const uint64_t *handles,
                               const MPI_Status *statuses,
                               int count,
                               uint64_t stop);

/* Marks the operation of a receive or probe with MPI_ANY_SOURCE, before the source of
 * the message replaces the peer. */
static inline void esi_tuple_note_any_source(struct es_tuple *tuple)
{
    if (tuple->peer == ES_PEER_ANY && tuple->operation != 0)
        tuple->operation |= ES_OPERATION_ANY_SOURCE;
}

/* The receive of `request` ended at `stop` with `status`: records it and ends its
 * reference.  Returns the bytes received. */
uint32_t esi_receive_record(struct esi_thread *thread,
                            const struct esi_request *request,
                            const MPI_Status *status,
                            uint64_t stop);

/* Posts a receive with the match of its communicator, and sets request->tuple, ->comm
 * and ->receive.  `source` and `tag` are those of MPI. */
void esi_receive_post(struct esi_call *call,
                      struct esi_request *request,
                      MPI_Comm comm,
                      int source,
                      int tag,
                      uint32_t bytes);

/* Like esi_receive_post(), on a known communicator with our own source and tag; sets
 * only ->comm and ->receive.  Returns the number if it is decided. */
uint32_t esi_receive_post_on(struct esi_comm *comm,
                             int source,
                             int tag,
                             struct esi_request *request);

/* Returns whether a receive that returned `result` has consumed a message, which may
 * have been too long. */
static inline bool esi_receive_took_message(int result)
{
    int error_class = MPI_SUCCESS;

    if (ESI_LIKELY(result == MPI_SUCCESS))
        return true;
    return ESI_REAL(MPI_Error_class)(result, &error_class) == MPI_SUCCESS &&
           error_class == MPI_ERR_TRUNCATE;
}

/* Ends a nonblocking receive from MPI_PROC_NULL.  It is complete, and MPI may use its
 * handle for all complete requests. */
void esi_receive_record_null(struct esi_call *call, int result);

/* Undoes the posting of a receive that failed or was never posted. */
void esi_receive_unpost(struct esi_request *request);

/* What a completion call waits for.  Two words, so that it is returned in registers. */
struct esi_awaited {
    uint16_t communicator;
    uint32_t operation;
    int32_t peer;
    int32_t tag;
};

/* The most informative request of a wait: the first receive, else the first known
 * one. */
struct esi_awaited esi_completion_find_awaited(const MPI_Request *requests, int count);

/* Describes a completion call on `count` requests by what the first receive among them
 * (else the first request) waits for.  In the tuple, sequence is the code of the
 * operation waited for, bytes is the number of requests, and tag is the instance of a
 * collective. */
ES_HOT void esi_completion_describe(struct esi_call *call,
                                    const MPI_Request *requests,
                                    int count)
{
    struct esi_awaited awaited = esi_completion_find_awaited(requests, count);

    esi_call_describe(call, NULL, awaited.peer, awaited.tag,
                      count > 0 ? (uint32_t)count : 0, awaited.operation);
    call->tuple.communicator = awaited.communicator;
}

/* Describes a completion call and shows it. */
ES_HOT void esi_completion_open(struct esi_call *call,
                                const MPI_Request *requests,
                                int count)
{
    esi_completion_describe(call, requests, count);
    esi_call_open(call);
    call->head = call->path->writer.head;
}

/* Ends a call that has created the persistent request described by `record` (kind and
 * flags): writes the tuple of the call, without number and bytes, and keeps what each
 * start needs. */
void esi_persistent_leave_init(struct esi_call *call,
                               int result,
                               struct esi_request *record,
                               const MPI_Request *request);

/* Notes in the ledger that the thread waits for these requests, or for one, until
 * esi_wait_end(). */
static inline void esi_wait_begin(struct esi_thread *thread,
                                  enum esi_ledger_wait_kind kind,
                                  const uint64_t *handles,
                                  uint32_t count)
{
    struct esi_ledger_thread *ledger = thread->ledger;
    uint32_t known = count < ESI_LEDGER_HANDLES ? count : ESI_LEDGER_HANDLES;

    if (ESI_UNLIKELY(ledger == NULL))
        return;
    if (handles != ledger->handles)
        memcpy(ledger->handles, handles, known * sizeof handles[0]);
    esi_ledger_set_wait(ledger, kind, count);
}

static inline void esi_wait_begin_one(struct esi_thread *thread, uint64_t handle)
{
    if (ESI_UNLIKELY(thread->ledger == NULL))
        return;
    thread->ledger->handles[0] = handle;
    esi_ledger_set_wait(thread->ledger, ESI_LEDGER_WAIT_ALL, 1);
}

ES_HOT void esi_wait_end(const struct esi_call *call)
{
    if (ESI_LIKELY(call->thread->ledger != NULL))
        esi_ledger_set_wait(call->thread->ledger, ESI_LEDGER_WAIT_NONE, 0);
}

/* Publishes the tuple of a completion call, after those of the completed operations. */
void esi_completion_leave(struct esi_call *call, uint64_t stop);

/* Like esi_completion_leave(), for a wait that returned an error. */
void esi_wait_leave_failed(struct esi_call *call, int result, uint64_t stop);

/* Like esi_completion_leave(), for a tuple that was not changed since it was shown.  If
 * the completed operations were written to other elements, it is still in its slot. */
ES_HOT void esi_wait_leave(struct esi_call *call, int result, uint64_t stop)
{
    if (ESI_UNLIKELY(result != MPI_SUCCESS)) {
        struct esi_call failed = *call;

        esi_wait_leave_failed(&failed, result, stop);
        return;
    }
    if (ESI_LIKELY(call->open)) {
        if (call->path->writer.head == call->head) {
            esi_writer_close(&call->path->writer, stop);
        } else {
            call->tuple.stop = stop;
            esi_call_write(call);
        }
        esi_call_count(call, stop);
    }
    esi_call_exit(call);
}

/* Records that the collective operation `begun`, whose own tuple is written when it
 * completes, was begun by a call that succeeded and ended at `stop`. */
void esi_collective_write_post(struct esi_thread *thread,
                               const struct es_tuple *begun,
                               uint64_t stop);

/* --- Statuses ------------------------------------------------------------------- */

/* Bytes received by a completed receive, as MPI reports them from its status. */
uint32_t esi_status_query_bytes(const MPI_Status *status);

/* Whether the status contains the byte count as in the MPICH ABI; determined when MPI
 * has started. */
extern bool esi_status_has_count __attribute__((visibility("hidden")));
void esi_status_probe_count(void);

/* Like esi_status_query_bytes(), but avoids the call if possible, which costs as much
 * as reading the clock. */
ES_HOT uint32_t esi_status_get_bytes(const MPI_Status *status)
{
#if defined HAVE_MPI_STATUS_COUNT_LO && !defined OPEN_MPI
    if (ESI_LIKELY(esi_status_has_count && status->count_hi_and_cancelled == 0))
        return (uint32_t)status->count_lo;
#endif
    return esi_status_query_bytes(status);
}

/* Where MPI is to store a status that the program may not want. */
static inline MPI_Status *esi_status_or_own(MPI_Status *status, MPI_Status *own)
{
    return status == MPI_STATUS_IGNORE ? own : status;
}

/* Stores the description of a call in a claimed record, field by field: see requests.h.
 * `comm` and `receive` may be NULL; the record takes over a reference to the
 * communicator. */
ES_HOT void esi_request_fill(struct esi_thread *thread,
                             struct esi_request *request,
                             enum esi_request_kind kind,
                             const struct es_tuple *tuple,
                             struct esi_comm *comm,
                             struct esi_receive *receive)
{
    request->kind = (uint8_t)kind;
    request->flags = 0;
    request->site = esi_site_number(thread);
    request->receive = receive;
    request->comm = comm;
    request->tuple.operation = tuple->operation;
    request->tuple.communicator = tuple->communicator;
    request->tuple.start = tuple->start;
    request->tuple.sequence = tuple->sequence;
    request->tuple.peer = tuple->peer;
    request->tuple.tag = tuple->tag;
    request->tuple.bytes = tuple->bytes;
}

/* --- The end of a call that has posted a send ------------------------------------ */

/* Returns whether the request of a send must be recorded.  If the handle is that of the
 * last one, which is still in the table, the send is already complete, and its record
 * need not be written again. */
ES_HOT bool esi_send_is_new(const struct esi_thread *thread,
                            int result,
                            const MPI_Request *handle)
{
    return result == MPI_SUCCESS && *handle != MPI_REQUEST_NULL &&
           (thread->known_send != ESI_HANDLE(*handle) || esi_multiple);
}

/* Fills the claimed record of such a send. */
ES_HOT void esi_send_fill(struct esi_thread *thread,
                          const struct es_tuple *tuple,
                          struct esi_request *request)
{
    thread->known_send = request->handle;
    esi_request_fill(thread, request, ESI_REQUEST_SEND, tuple, NULL, NULL);
}

ES_HOT void esi_end_posted_send(struct esi_call *call,
                                int result,
                                const MPI_Request *handle)
{
    struct esi_request *request;

    esi_call_leave(call, result);
    if (!esi_send_is_new(call->thread, result, handle))
        return;
    request = esi_request_claim(ESI_HANDLE(*handle));
    if (request == NULL)
        return;
    esi_send_fill(call->thread, &call->tuple, request);
    esi_request_release(request);
}

/* --- The requests of one call --------------------------------------------------- */

/*
 * Copies of the handles of one call, because MPI sets completed ones to null, and space
 * for statuses that the program does not want.  For up to 64 requests, the handles are
 * stored in the thread's part of the ledger, where others see what it waits for; larger
 * calls allocate.  If that fails, the completions of the call are not recorded, which
 * is counted once.
 */

enum { ESI_BATCH_SMALL = ESI_LEDGER_HANDLES };

struct esi_batch {
    int count;
    uint64_t *handles;
    MPI_Status *statuses; /* of the program, or ours */
    void *heap;
    uint64_t small_handles[ESI_BATCH_SMALL];
    MPI_Status small_statuses[ESI_BATCH_SMALL];
};

/* Returns whether the array of requests may be accessed; it may be NULL only for no
 * requests. */
static inline bool esi_batch_is_good(const MPI_Request *requests, int count)
{
    return requests != NULL || count == 0;
}

/* Where the handles of a small call are stored: not in the ledger if that contains
 * polls of other requests. */
static inline uint64_t *esi_batch_choose(struct esi_batch *batch,
                                         const struct esi_thread *thread,
                                         int count)
{
    bool is_free = thread->polled == 0 || thread->polled_many == (uint32_t)count;

    return ESI_LIKELY(thread->ledger != NULL && is_free) ? thread->ledger->handles
                                                         : batch->small_handles;
}

/* Stores the handles.  `statuses` is the program's array, or MPI_STATUSES_IGNORE.
 * Returns false if out of memory: then the batch is empty, and the caller must pass on
 * its own `statuses`. */
static inline bool esi_batch_init(struct esi_batch *batch,
                                  const struct esi_thread *thread,
                                  const MPI_Request *requests,
                                  int count,
                                  MPI_Status *statuses)
{
    size_t size = count > 0 ? (size_t)count : 0;

    batch->handles = esi_batch_choose(batch, thread, count);
    batch->statuses =
        statuses == MPI_STATUSES_IGNORE ? batch->small_statuses : statuses;
    batch->heap = NULL;
    batch->count = count > 0 ? count : 0;
    if (size > ESI_BATCH_SMALL) {
        batch->heap = malloc(size * (sizeof(uint64_t) + sizeof(MPI_Status)));
        if (batch->heap == NULL) {
            esi_process_count_refused_tuple();
            batch->count = 0;
            batch->statuses = statuses;
            return false;
        }
        batch->handles = batch->heap;
        if (statuses == MPI_STATUSES_IGNORE)
            batch->statuses = (MPI_Status *)(batch->handles + size);
    }
    for (size_t i = 0; i < size; i++)
        batch->handles[i] = ESI_HANDLE(requests[i]);
    return true;
}

static inline void esi_batch_fini(struct esi_batch *batch)
{
    if (ESI_UNLIKELY(batch->heap != NULL)) /* saves the call */
        free(batch->heap);
}

#endif
