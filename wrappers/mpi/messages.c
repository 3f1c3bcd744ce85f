/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Messages that are not like one of the last. */
#include "config.h"

#include "wrappers/mpi/messages.h"

/* Where the numbers of a channel come from.  One that gives none moves on, and the
 * thread's own counter stands for it. */
static _Atomic uint32_t *find_counter(const struct esi_call *call,
                                      struct esi_channels *channels,
                                      int peer,
                                      int tag)
{
    _Atomic uint32_t *counter = esi_channel(channels, peer, tag);

    if (counter != NULL &&
        atomic_load_explicit(counter, memory_order_relaxed) < ESI_COUNT_DOUBTFUL)
        return counter;
    if (counter != NULL)
        esi_count_up(counter);
    counter = &call->thread->slot->unnumbered;
    atomic_store_explicit(counter, ES_SEQUENCE_UNKNOWN, memory_order_relaxed);
    return counter;
}

/* Takes a message of `bytes` into the cache, to or from a rank of the communicator
 * `call->comm`, whose handle is `comm`.  Where its channel gives no numbers, or its
 * size is not known, for this call only. */
static struct esi_known_message *learn_message(const struct esi_call *call,
                                               struct esi_known_message *cache,
                                               MPI_Comm comm,
                                               int peer,
                                               int tag,
                                               MPI_Count count,
                                               MPI_Datatype datatype,
                                               uint32_t bytes)
{
    uint32_t epoch = atomic_load_explicit(&esi_handle_epoch, memory_order_acquire);
    struct esi_slot *slot = call->thread->slot;
    struct esi_known_message *known = esi_message_at(cache, peer, tag);
    bool is_sent = cache == slot->sent;

    if (known->peer != peer || known->tag != tag ||
        known->comm_handle != ESI_HANDLE(comm) || known->epoch != epoch) {
        known->comm_handle = ESI_HANDLE(comm);
        known->peer = peer;
        known->tag = tag;
        known->comm = call->comm;
        known->counter = find_counter(
            call, is_sent ? &call->comm->sent : &call->comm->received.channels, peer,
            tag);
        known->profile =
            is_sent ? esi_profile_find_peer(call->comm, comm, peer, tag) : NULL;
    }
    known->datatype = ESI_HANDLE(datatype);
    known->count = count;
    known->bytes = bytes;
    known->epoch = known->counter != &slot->unnumbered && call->count == 0 ? epoch : 0;
    return known;
}

void esi_call_number_send(struct esi_call *call, MPI_Comm comm)
{
    call->tuple.sequence =
        esi_channel_next_sent(&call->comm->sent, call->tuple.peer, call->tuple.tag);
    esi_profile_peer_add(
        esi_profile_find_peer(call->comm, comm, call->tuple.peer, call->tuple.tag), 1,
        call->tuple.bytes);
    call->numbered = true;
}

void esi_call_describe_new_send(struct esi_call *call,
                                MPI_Comm comm,
                                int dest,
                                int tag,
                                MPI_Count count,
                                MPI_Datatype datatype)
{
    const struct esi_comm *found = esi_call_find_comm(call, comm);
    struct esi_slot *slot = call->thread->slot;
    uint32_t bytes = 0; /* as what is received from MPI_PROC_NULL */

    if (dest != MPI_PROC_NULL)
        bytes = esi_call_get_bytes(call, count, datatype);
    esi_call_describe(call, found, esi_tuple_peer(dest), tag, bytes,
                      ES_SEQUENCE_UNKNOWN);
    if (found == NULL || dest < 0 || dest >= found->peers || tag < 0)
        return;
    if (slot == NULL) {
        esi_call_number_send(call, comm);
        return;
    }
    call->tuple.sequence = esi_message_count_sent(
        learn_message(call, slot->sent, comm, dest, tag, count, datatype, bytes));
    call->numbered = true;
}

/* Whether a receive's number is decided when it is posted. */
static bool is_decided(const struct esi_comm *comm, int source, int tag)
{
    return comm != NULL && source >= 0 && source < comm->peers && tag >= 0 &&
           !esi_match_is_busy(&comm->received);
}

bool esi_call_describe_new_receive(struct esi_call *call,
                                   MPI_Comm comm,
                                   int source,
                                   int tag,
                                   MPI_Count count,
                                   MPI_Datatype datatype)
{
    struct esi_comm *found = esi_call_find_comm(call, comm);
    struct esi_slot *slot = call->thread->slot;
    uint32_t bytes = esi_call_get_bytes(call, count, datatype);
    uint32_t sequence = ES_SEQUENCE_UNKNOWN;
    bool decided = is_decided(found, source, tag);

    if (decided && slot == NULL)
        sequence = esi_channel_next(&found->received.channels, source, tag);
    else if (decided)
        sequence = esi_count_up(learn_message(call, slot->received, comm, source, tag,
                                              count, datatype, bytes)
                                    ->counter);
    call->count = 0; /* the status will tell what came */
    esi_call_describe(call, found, esi_tuple_peer(source), esi_tuple_tag(tag), bytes,
                      sequence);
    return decided;
}
