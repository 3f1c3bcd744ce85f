/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Calls on the fast path that turn out to be less common. */
#include "config.h"

#include "wrappers/mpi/fast.h"

struct esi_call esi_fast_recall(enum es_class op_class, struct esi_comm *comm)
{
    struct esi_thread *thread = &esi_thread_self;
    struct esi_call call = {
        .thread = thread, .path = thread->paths[op_class], .comm = comm, .open = true};

    esi_writer_read_open(&call.path->writer, &call.tuple);
    return call;
}

struct esi_call esi_fast_recall_poll(void)
{
    struct esi_thread *thread = &esi_thread_self;

    thread->limit = UINT64_MAX;
    return (struct esi_call){.thread = thread,
                             .path = thread->paths[ES_CLASS_COMPLETION],
                             .tuple.operation = thread->operation};
}

void esi_fast_fail_send(const struct esi_known_message *known, int result)
{
    struct esi_call call = esi_fast_recall(ES_CLASS_SEND, known->comm);

    call.numbered = true;
    esi_call_leave(&call, result);
}

void esi_fast_fail_irecv(const struct esi_known_message *known,
                         int result,
                         uint64_t start)
{
    struct esi_thread *thread = &esi_thread_self;
    struct esi_call call = {.thread = thread,
                            .path = thread->paths[ES_CLASS_RECEIVE],
                            .tuple = {.operation = thread->operation,
                                      .communicator = known->comm->index,
                                      .start = start,
                                      .peer = known->peer,
                                      .tag = known->tag}};

    esi_channel_back(&known->comm->received.channels, known->peer, known->tag);
    if (result == MPI_SUCCESS) {
        esi_process_count_refused_tuple();
    } else {
        esi_call_fail(&call, result);
        esi_call_write_failed(&call);
    }
    thread->depth = 0;
}

void esi_fast_fail_collective(int result)
{
    struct esi_call call = esi_fast_recall(ES_CLASS_COLLECTIVE, esi_thread_self.comm);

    esi_call_leave(&call, result);
}
