/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The fast path of messages, collectives and polls: the common case of a call, which
 * needs none of the state of struct esi_call.
 *
 * One thread at a time calls MPI, the clock is the processor's counter, there are no
 * trees, the element of the class is recorded and never waits for readers, and a
 * message like this one is cached, or a poll finds nothing.  Exported functions try the
 * fast path first.  esi_fast_enter() and esi_fast_begin_*() return false, and have
 * changed nothing, if a call does not belong here; then the wrapper records it, in the
 * same way.
 */
#ifndef ES_WRAPPERS_MPI_FAST_H
#define ES_WRAPPERS_MPI_FAST_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "wrappers/mpi/completion.h"
#include "wrappers/mpi/messages.h"

/* One call.  Like that of struct esi_call, its address is never taken. */
struct esi_fast {
    struct esi_thread *thread;
    struct esi_path *path;
    const struct esi_known_message *known;
    uint64_t handle;        /* of the request that is tested */
    _Atomic uint32_t *slot; /* of the open tuple */
    uint64_t site;
    uint64_t frame; /* stack position at which the call began */
    struct es_tuple tuple;
};

static inline uint64_t esi_fast_clock(void)
{
    return es_clock_ticks_of(ES_CLOCK_TSC);
}

/* Returns whether a call of an operation may take the fast path. */
ES_HOT bool esi_fast_enter(struct esi_fast *fast,
                           uint16_t operation,
                           enum es_class op_class,
                           const void *site,
                           const void *frame)
{
    struct esi_thread *thread = &esi_thread_self;

    __asm__("" : "+r"(thread)); /* computed once: see esi_call_enter() */
    fast->thread = thread;
    fast->path = thread->paths[op_class];
    fast->site = (uintptr_t)site;
    fast->frame = (uintptr_t)frame;
    fast->tuple.operation = operation;
    return ESI_LIKELY(esi_fast_is_open) && ESI_LIKELY(thread->depth == 0) &&
           ESI_LIKELY(fast->path != NULL) &&
           ESI_LIKELY(esi_writer_is_plain(&fast->path->writer)) &&
           ESI_LIKELY(fast->site - thread->module_begin < thread->module_bytes);
}

/* Begins the call: further ones are MPI's. */
ES_HOT void esi_fast_begin(const struct esi_fast *fast)
{
    fast->thread->depth = 1;
    fast->thread->operation = fast->tuple.operation;
    fast->thread->outermost = fast->frame;
    fast->thread->site = fast->site;
}

/* --- Messages --------------------------------------------------------------------- */

/* Finds a message in the cache.  A thread with a recorded path has a slot. */
ES_HOT bool esi_fast_find(struct esi_fast *fast,
                          struct esi_known_message *cache,
                          MPI_Comm comm,
                          int peer,
                          int tag,
                          MPI_Count count,
                          MPI_Datatype datatype)
{
    fast->known = esi_message_find(cache, comm, peer, tag, count, datatype);
    return ESI_LIKELY(fast->known != NULL) && ESI_LIKELY(fast->thread->polled == 0);
}

/* Begins the call, takes the number of the message, and fills the tuple but for the
 * clock. */
ES_HOT void esi_fast_describe(struct esi_fast *fast, int peer, int tag)
{
    esi_fast_begin(fast);
    fast->tuple.stop = 0;
    fast->tuple.communicator = fast->known->comm->index;
    fast->tuple.sequence = esi_count_up_alone(fast->known->counter);
    fast->tuple.peer = peer;
    fast->tuple.tag = tag;
    fast->tuple.bytes = fast->known->bytes;
}

/* Describes the message again after the call, for the record of a request.  It is still
 * cached; copies of these values would have to be stored during MPI's call. */
ES_HOT void esi_fast_describe_again(struct esi_fast *fast)
{
    fast->tuple.communicator = fast->known->comm->index;
    fast->tuple.peer = fast->known->peer;
    fast->tuple.tag = fast->known->tag;
    fast->tuple.bytes = fast->known->bytes;
}

/* Shows the open tuple. */
ES_HOT void esi_fast_open(struct esi_fast *fast)
{
    fast->tuple.start = esi_fast_clock();
    fast->slot = esi_writer_slot(&fast->path->writer);
    esi_writer_store(&fast->path->writer, &fast->tuple, fast->site);
}

/* Completes the open tuple, and ends the call. */
ES_HOT void esi_fast_close(const struct esi_fast *fast, uint64_t stop, uint32_t bytes)
{
    esi_writer_close_slot(&fast->path->writer, fast->slot, stop);
    esi_profile_add_message(fast->thread, fast->tuple.operation,
                            stop - fast->tuple.start, bytes);
    fast->thread->depth = 0;
}

/* --- Sends ------------------------------------------------------------------------ */

ES_HOT bool esi_fast_begin_send(struct esi_fast *fast,
                                MPI_Comm comm,
                                int dest,
                                int tag,
                                MPI_Count count,
                                MPI_Datatype datatype)
{
    if (!esi_fast_find(fast, fast->thread->slot->sent, comm, dest, tag, count,
                       datatype))
        return false;
    esi_fast_describe(fast, dest, tag);
    esi_profile_peer_add_alone(fast->known->profile, 1, fast->known->bytes);
    esi_fast_open(fast);
    return true;
}

/* The thread's call that has failed, as the wrapper would know it (fast.c).  `comm` may
 * be NULL if nothing has to be undone. */
struct esi_call esi_fast_recall(enum es_class op_class, struct esi_comm *comm);

/* A send has failed. */
void esi_fast_fail_send(const struct esi_known_message *known, int result);

ES_HOT void esi_fast_end_send(struct esi_fast *fast, int result)
{
    uint64_t stop = esi_fast_clock();

    if (ESI_UNLIKELY(result != MPI_SUCCESS)) {
        esi_fast_fail_send(fast->known, result);
        return;
    }
    esi_fast_close(fast, stop, fast->known->bytes);
}

/* A nonblocking send happens at its start, too. */
ES_HOT bool esi_fast_begin_isend(struct esi_fast *fast,
                                 MPI_Comm comm,
                                 int dest,
                                 int tag,
                                 MPI_Count count,
                                 MPI_Datatype datatype)
{
    return esi_fast_begin_send(fast, comm, dest, tag, count, datatype);
}

ES_HOT void esi_fast_end_isend(struct esi_fast *fast,
                               int result,
                               const MPI_Request *request)
{
    struct esi_request *record;

    esi_fast_end_send(fast, result);
    if (!esi_send_is_new(fast->thread, result, request))
        return;
    record = esi_request_claim_alone(ESI_HANDLE(*request));
    if (record == NULL)
        return;
    esi_fast_describe_again(fast);
    esi_send_fill(fast->thread, &fast->tuple, record);
}

/* --- Receives --------------------------------------------------------------------- */

/* Finds a receive whose number is determined when it is posted. */
ES_HOT bool esi_fast_find_receive(struct esi_fast *fast,
                                  MPI_Comm comm,
                                  int source,
                                  int tag,
                                  MPI_Count count,
                                  MPI_Datatype datatype)
{
    return esi_fast_find(fast, fast->thread->slot->received, comm, source, tag, count,
                         datatype) &&
           ESI_LIKELY(!esi_match_is_busy(&fast->known->comm->received));
}

ES_HOT bool esi_fast_begin_recv(struct esi_fast *fast,
                                MPI_Comm comm,
                                int source,
                                int tag,
                                MPI_Count count,
                                MPI_Datatype datatype)
{
    if (!esi_fast_find_receive(fast, comm, source, tag, count, datatype))
        return false;
    esi_fast_describe(fast, source, tag);
    esi_fast_open(fast);
    return true;
}

/* A receive has failed, or its message was too long. */
void esi_fast_fail_recv(const struct esi_known_message *known,
                        int result,
                        const MPI_Status *status);

ES_HOT void esi_fast_end_recv(struct esi_fast *fast,
                              int result,
                              const MPI_Status *status)
{
    uint64_t stop = esi_fast_clock();
    uint32_t bytes;

    if (ESI_UNLIKELY(result != MPI_SUCCESS)) {
        esi_fast_fail_recv(fast->known, result, status);
        return;
    }
    bytes = esi_status_get_bytes(status);
    esi_writer_store_word(fast->slot, ES_WORD_BYTES, bytes);
    esi_fast_close(fast, stop, bytes);
}

/* A nonblocking receive: its tuple is written when it completes. */
ES_HOT bool esi_fast_begin_irecv(struct esi_fast *fast,
                                 MPI_Comm comm,
                                 int source,
                                 int tag,
                                 MPI_Count count,
                                 MPI_Datatype datatype,
                                 const MPI_Request *request)
{
    if (request == NULL ||
        !esi_fast_find_receive(fast, comm, source, tag, count, datatype))
        return false;
    esi_fast_describe(fast, source, tag);
    fast->tuple.start = esi_fast_clock();
    return true;
}

/* A receive was not posted, or there is no memory for its request. */
void esi_fast_fail_irecv(const struct esi_known_message *known,
                         int result,
                         uint64_t start);

ES_HOT void esi_fast_end_irecv(struct esi_fast *fast,
                               int result,
                               const MPI_Request *handle)
{
    struct esi_request *request = NULL;

    if (ESI_LIKELY(result == MPI_SUCCESS))
        request = esi_request_claim_alone(ESI_HANDLE(*handle));
    if (ESI_UNLIKELY(request == NULL)) {
        esi_fast_fail_irecv(fast->known, result, fast->tuple.start);
        return;
    }
    esi_comm_ref_alone(fast->known->comm);
    esi_fast_describe_again(fast);
    esi_request_fill(fast->thread, request, ESI_REQUEST_RECEIVE, &fast->tuple,
                     fast->known->comm, NULL);
    esi_profile_add_post(fast->thread, fast->tuple.operation,
                         esi_fast_clock() - fast->tuple.start);
    fast->thread->depth = 0;
}

/* --- Collective operations -------------------------------------------------------- */

/* Begins a collective operation on the last communicator, with a known datatype.
 * `alike`: see struct esi_call. */
ES_HOT bool esi_fast_begin_collective(struct esi_fast *fast,
                                      uint32_t alike,
                                      MPI_Comm comm,
                                      int root,
                                      MPI_Count count,
                                      MPI_Datatype datatype)
{
    struct esi_thread *thread = fast->thread;
    uint64_t type = ESI_HANDLE(datatype);
    unsigned int at = esi_type_slot(type);
    uint32_t epoch = atomic_load_explicit(&esi_handle_epoch, memory_order_acquire);
    uint32_t bytes = 0;

    if (ESI_UNLIKELY(thread->polled != 0 || thread->comm_handle != ESI_HANDLE(comm) ||
                     thread->comm_epoch != epoch))
        return false;
    if (count > 0) {
        if (ESI_UNLIKELY(thread->sizes[at].type != type ||
                         thread->sizes[at].epoch != epoch))
            return false;
        bytes = esi_tuple_limit_bytes((uint64_t)count * thread->sizes[at].bytes);
    }
    esi_fast_begin(fast);
    fast->tuple.stop = 0;
    fast->tuple.communicator = thread->comm->index;
    fast->tuple.peer = esi_tuple_root(root);
    fast->tuple.tag = 0;
    fast->tuple.bytes = bytes;
    fast->tuple.sequence =
        esi_comm_next_instance(thread->comm, fast->tuple.operation, fast->tuple.peer,
                               esi_thread_hash_alike(thread, alike, bytes, datatype));
    esi_fast_open(fast);
    return true;
}

/* A collective operation has failed. */
void esi_fast_fail_collective(int result);

ES_HOT void esi_fast_end_collective(struct esi_fast *fast, int result)
{
    uint64_t stop = esi_fast_clock();

    if (ESI_UNLIKELY(result != MPI_SUCCESS)) {
        esi_fast_fail_collective(result);
        return;
    }
    esi_fast_close(fast, stop, fast->tuple.bytes);
}

/* --- Polls that find nothing ------------------------------------------------------ */

ES_HOT bool esi_fast_begin_poll(const struct esi_fast *fast)
{
    if (ESI_UNLIKELY(fast->path->polls))
        return false;
    esi_fast_begin(fast);
    return true;
}

/* The thread's poll, as the wrapper would know it (fast.c). */
struct esi_call esi_fast_recall_poll(void);

/* `handle` is that of the request, or ESI_POLLED_OTHER. */
ES_HOT void esi_fast_count_poll(const struct esi_fast *fast, uint64_t handle)
{
    esi_thread_count_poll(fast->thread);
    esi_writer_count_poll(&fast->path->writer);
    fast->thread->depth = 0;
    esi_thread_note_poll(fast->thread, handle);
}

ES_HOT bool esi_fast_begin_test(struct esi_fast *fast, const MPI_Request *request)
{
    if (request == NULL || !esi_fast_begin_poll(fast))
        return false;
    fast->handle = ESI_HANDLE(*request);
    return true;
}

/* Ends a test that found something, or has failed (completion_calls.c). */
void esi_fast_finish_test(uint64_t handle,
                          int result,
                          MPI_Request after,
                          const int *flag,
                          const MPI_Status *status);

ES_HOT void esi_fast_end_test(const struct esi_fast *fast,
                              int result,
                              const MPI_Request *request,
                              const int *flag,
                              const MPI_Status *status)
{
    if (ESI_LIKELY(result == MPI_SUCCESS && !*flag))
        esi_fast_count_poll(fast, fast->handle);
    else
        esi_fast_finish_test(fast->handle, result, *request, flag, status);
}

ES_HOT bool esi_fast_begin_iprobe(const struct esi_fast *fast)
{
    return esi_fast_begin_poll(fast);
}

/* Ends a probe that found something, or has failed (probes.c). */
void esi_fast_finish_iprobe(int result,
                            int source,
                            int tag,
                            MPI_Comm comm,
                            const int *flag,
                            const MPI_Status *status);

ES_HOT void esi_fast_end_iprobe(const struct esi_fast *fast,
                                int result,
                                int source,
                                int tag,
                                MPI_Comm comm,
                                const int *flag,
                                const MPI_Status *status)
{
    if (ESI_LIKELY(result == MPI_SUCCESS && !*flag))
        esi_fast_count_poll(fast, ESI_POLLED_OTHER);
    else
        esi_fast_finish_iprobe(result, source, tag, comm, flag, status);
}

#endif
