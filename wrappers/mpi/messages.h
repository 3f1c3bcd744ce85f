/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Tuples of messages.
 *
 * Programs send the same messages repeatedly.  Each thread caches its last messages by
 * peer and tag, so that a similar message needs no lookup of the communicator, the
 * datatype's size, the channel and the receiver's sums.
 *
 * The cache is part of the thread's slot; call.h says what may allocate or lock.
 */
#ifndef ES_WRAPPERS_MPI_MESSAGES_H
#define ES_WRAPPERS_MPI_MESSAGES_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "wrappers/mpi/describe.h"

/* The only cache entry in which a message with this peer and tag may be. */
static inline struct esi_known_message *esi_message_at(struct esi_known_message *cache,
                                                       int peer,
                                                       int tag)
{
    return &cache[((unsigned int)peer ^ (unsigned int)tag) % ESI_MESSAGE_CACHE];
}

/* Returns the cache entry of the message; NULL if it is not cached or `cache` is NULL.
 * The table of counters may move when it grows; this begins a new epoch. */
ES_HOT struct esi_known_message *esi_message_find(struct esi_known_message *cache,
                                                  MPI_Comm comm,
                                                  int peer,
                                                  int tag,
                                                  MPI_Count count,
                                                  MPI_Datatype datatype)
{
    struct esi_known_message *known;

    if (ESI_UNLIKELY(cache == NULL))
        return NULL;
    known = esi_message_at(cache, peer, tag);
    if (ESI_LIKELY(known->peer == peer) && ESI_LIKELY(known->tag == tag) &&
        ESI_LIKELY(known->comm_handle == ESI_HANDLE(comm)) &&
        ESI_LIKELY(known->datatype == ESI_HANDLE(datatype)) &&
        ESI_LIKELY(known->count == count) &&
        ESI_LIKELY(known->epoch ==
                   atomic_load_explicit(&esi_handle_epoch, memory_order_acquire)))
        return known;
    return NULL;
}

/* --- Sends ------------------------------------------------------------------------ */

/* Counts a sent message, and returns its number on the channel. */
ES_HOT uint32_t esi_message_count_sent(const struct esi_known_message *known)
{
    esi_profile_peer_add(known->profile, 1, known->bytes);
    return esi_count_up(known->counter);
}

/* Numbers a described send on its channel, and counts it.  `comm` must be the valid
 * handle of call->comm. */
void esi_call_number_send(struct esi_call *call, MPI_Comm comm);

/* Describes a send that is not cached. */
void esi_call_describe_new_send(struct esi_call *call,
                                MPI_Comm comm,
                                int dest,
                                int tag,
                                MPI_Count count,
                                MPI_Datatype datatype);

/* Fills the tuple of a send, numbers the message and counts it. */
ES_HOT void esi_call_describe_send(struct esi_call *call,
                                   MPI_Comm comm,
                                   int dest,
                                   int tag,
                                   MPI_Count count,
                                   MPI_Datatype datatype)
{
    struct esi_slot *slot = call->thread->slot;
    const struct esi_known_message *known = esi_message_find(
        slot != NULL ? slot->sent : NULL, comm, dest, tag, count, datatype);

    if (ESI_LIKELY(known != NULL)) {
        call->comm = known->comm;
        call->numbered = true;
        esi_call_describe_on(call, known->comm->index, dest, tag, known->bytes,
                             esi_message_count_sent(known));
    } else {
        struct esi_call described = *call;

        esi_call_describe_new_send(&described, comm, dest, tag, count, datatype);
        *call = described;
    }
}

/* Describes a send and publishes it as the open tuple. */
ES_HOT void esi_begin_send(struct esi_call *call,
                           MPI_Comm comm,
                           int dest,
                           int tag,
                           MPI_Count count,
                           MPI_Datatype datatype)
{
    esi_call_describe_send(call, comm, dest, tag, count, datatype);
    esi_call_open(call);
}

/* Like esi_begin_send(): a nonblocking send happens at its start, too. */
ES_HOT void esi_begin_isend(struct esi_call *call,
                            MPI_Comm comm,
                            int dest,
                            int tag,
                            MPI_Count count,
                            MPI_Datatype datatype)
{
    esi_begin_send(call, comm, dest, tag, count, datatype);
}

/* --- Receives --------------------------------------------------------------------- */

/* Describes a receive that is cached and whose number is determined.  Otherwise does
 * nothing and returns false. */
ES_HOT bool esi_call_describe_known_receive(struct esi_call *call,
                                            MPI_Comm comm,
                                            int source,
                                            int tag,
                                            MPI_Count count,
                                            MPI_Datatype datatype)
{
    struct esi_slot *slot = call->thread->slot;
    const struct esi_known_message *known = esi_message_find(
        slot != NULL ? slot->received : NULL, comm, source, tag, count, datatype);

    if (ESI_UNLIKELY(known == NULL || esi_match_is_busy(&known->comm->received)))
        return false;
    call->comm = known->comm;
    esi_call_describe_on(call, known->comm->index, source, tag, known->bytes,
                         esi_count_up(known->counter));
    return true;
}

/* Describes any other receive.  Returns whether its number is determined. */
bool esi_call_describe_new_receive(struct esi_call *call,
                                   MPI_Comm comm,
                                   int source,
                                   int tag,
                                   MPI_Count count,
                                   MPI_Datatype datatype);

#endif
