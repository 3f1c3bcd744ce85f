/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Creates tuples from the arguments of operations.
 *
 * The table of operations names one of these functions for each routine; the generated
 * wrapper calls it between esi_call_enter() and the real call.  It fills call->tuple
 * and shows it as the open tuple.  Arguments that are not significant at this rank are
 * not accessed.
 *
 * Everything here belongs to the calling thread; call.h says what may allocate or lock.
 */
#ifndef ES_WRAPPERS_MPI_DESCRIBE_H
#define ES_WRAPPERS_MPI_DESCRIBE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "eventspace/tuple.h"
#include "tuplespace/operation_codes.h"
#include "wrappers/mpi/call.h"
#include "wrappers/mpi/communicators.h"
#include "wrappers/mpi/ledger.h"
#include "wrappers/mpi/mpi_next.h"
#include "wrappers/mpi/objects.h"
#include "wrappers/mpi/profile.h"

/* --- Parts of a tuple ----------------------------------------------------------- */

/* Finds the communicator of a handle, with a cache in the thread.  NULL if it is not
 * known yet; then it is registered after the call has succeeded. */
ES_HOT struct esi_comm *esi_call_find_comm(struct esi_call *call, MPI_Comm comm)
{
    struct esi_thread *thread = call->thread;
    uint64_t handle = ESI_HANDLE(comm);
    uint32_t epoch = atomic_load_explicit(&esi_handle_epoch, memory_order_acquire);

    if (ESI_UNLIKELY(thread->comm_handle != handle || thread->comm_epoch != epoch)) {
        struct esi_comm *found = esi_comm_lookup(handle);

        if (found == NULL) {
            call->unknown_comm = handle;
            return NULL;
        }
        thread->comm_handle = handle;
        thread->comm_epoch = epoch;
        thread->comm = found;
    }
    return call->comm = thread->comm;
}

static inline uint32_t esi_tuple_limit_bytes(uint64_t bytes)
{
    return bytes < ES_BYTES_MAX ? (uint32_t)bytes : ES_BYTES_MAX;
}

/* Payload of `count` elements.  If the size of the type is not known, it is determined
 * after the call has succeeded: only then is the handle known to be valid. */
ES_HOT uint32_t esi_call_get_bytes(struct esi_call *call,
                                   MPI_Count count,
                                   MPI_Datatype datatype)
{
    uint64_t handle = ESI_HANDLE(datatype);
    unsigned int at = esi_type_slot(handle);
    struct esi_thread *thread = call->thread;

    if (ESI_LIKELY(thread->sizes[at].type == handle &&
                   thread->sizes[at].epoch ==
                       atomic_load_explicit(&esi_handle_epoch, memory_order_relaxed)) ||
        (count > 0 && esi_thread_learn_type(thread, handle, at)))
        return count <= 0
                   ? 0
                   : esi_tuple_limit_bytes((uint64_t)count * thread->sizes[at].bytes);
    if (count > 0) {
        call->count = count;
        call->datatype = datatype;
    }
    return 0;
}

static inline int32_t esi_tuple_peer(int rank)
{
    return rank >= 0 ? rank : rank == MPI_ANY_SOURCE ? ES_PEER_ANY : ES_PEER_NONE;
}

static inline int32_t esi_tuple_tag(int tag)
{
    return tag == MPI_ANY_TAG ? ES_TAG_ANY : tag;
}

ES_HOT void esi_call_describe_on(struct esi_call *call,
                                 uint16_t communicator,
                                 int32_t peer,
                                 int32_t tag,
                                 uint32_t bytes,
                                 uint32_t sequence)
{
    if (ESI_UNLIKELY(call->thread->polled != 0))
        esi_thread_end_polls(call->thread); /* an event ends a sequence of polls */
    call->tuple.stop = 0;
    call->tuple.communicator = communicator;
    call->tuple.sequence = sequence;
    call->tuple.peer = peer;
    call->tuple.tag = tag;
    call->tuple.bytes = bytes;
}

ES_HOT void esi_call_describe(struct esi_call *call,
                              const struct esi_comm *comm,
                              int32_t peer,
                              int32_t tag,
                              uint32_t bytes,
                              uint32_t sequence)
{
    esi_call_describe_on(call, comm != NULL ? comm->index : ES_COMMUNICATOR_NONE, peer,
                         tag, bytes, sequence);
}

/* --- Which buffer of a collective is significant at this rank ------------------- */

/*
 * Used by the recipes of the table.  Arguments that MPI calls insignificant may have
 * any value and must not be accessed, least of all datatypes.
 */

/* In intercommunicators, ranks of the root's group other than the root do not take
 * part. */
static inline MPI_Count esi_significant_bcast(int root, MPI_Count count)
{
    return root == MPI_PROC_NULL ? 0 : count;
}

/* Returns whether only the other side is significant.  `buffer` is that of the side
 * that every rank has, such as the send buffer of a gather; it is not used with
 * MPI_IN_PLACE and at the root of an intercommunicator.  Collectives without a root
 * pass 0. */
static inline bool esi_significant_is_other_side(const void *buffer, int root)
{
    return buffer == MPI_IN_PLACE || root == MPI_ROOT;
}

static inline MPI_Count esi_significant_count(const void *buffer,
                                              int root,
                                              MPI_Count count,
                                              MPI_Count other_count)
{
    return esi_significant_bcast(
        root, esi_significant_is_other_side(buffer, root) ? other_count : count);
}

static inline MPI_Datatype esi_significant_type(const void *buffer,
                                                int root,
                                                MPI_Datatype datatype,
                                                MPI_Datatype other_datatype)
{
    return esi_significant_is_other_side(buffer, root) ? other_datatype : datatype;
}

/* --- Before: generated wrappers call these -------------------------------------- */

static inline void esi_begin_call(struct esi_call *call)
{
    esi_call_describe(call, NULL, ES_PEER_NONE, 0, 0, 0);
    esi_call_open(call);
}

/* Looks whether requests are complete: has no tuple until it has found something. */
static inline void esi_begin_look(struct esi_call *call)
{
    (void)call;
}

static inline void esi_begin_on_communicator(struct esi_call *call, MPI_Comm comm)
{
    esi_call_describe(call, esi_call_find_comm(call, comm), ES_PEER_NONE, 0, 0, 0);
    esi_call_open(call);
}

/* The root as recorded: MPI_ROOT and MPI_PROC_NULL of intercommunicators are not
 * ranks. */
static inline int32_t esi_tuple_root(int root)
{
    return root >= 0 ? root : ES_PEER_NONE;
}

/* Begins the next instance on the communicator and shows it in the ledger. */
ES_HOT uint32_t esi_comm_next_instance(struct esi_comm *comm,
                                       uint16_t operation,
                                       int32_t root,
                                       uint32_t hash)
{
    uint32_t instance;

    if (ESI_UNLIKELY(comm == NULL))
        return ES_SEQUENCE_UNKNOWN;
    instance = esi_count_up(&comm->instances);
    /* The two sides of an intercommunicator pass different arguments. */
    esi_ledger_enter_instance(comm->ledger, instance, operation, root,
                              comm->inter ? 0 : hash);
    return instance;
}

/* The code of a reduction operator, as part of what must be the same in all members. */
ES_HOT uint32_t esi_thread_find_operator(struct esi_thread *thread, MPI_Op op)
{
    uint64_t handle = ESI_HANDLE(op);

    if (ESI_UNLIKELY(thread->operator_handle != handle || thread->operator_code == 0)) {
        thread->operator_code = esi_operator_find(op);
        thread->operator_handle = handle;
    }
    return thread->operator_code;
}

/* The hash of the arguments that must be the same in all members; 0 if nothing must, or
 * a part is not known or matches everything.  The datatype is in the thread's cache if
 * there are bytes. */
ES_HOT uint32_t esi_thread_hash_alike(const struct esi_thread *thread,
                                      uint32_t alike,
                                      uint32_t bytes,
                                      MPI_Datatype datatype)
{
    uint32_t basic = 0;

    if (alike == 0)
        return 0;
    if ((alike & ESI_ALIKE_SIGNATURE) != 0 && bytes != 0)
        basic = thread->basics[esi_type_slot(ESI_HANDLE(datatype))];
    return basic == ESI_BASIC_UNKNOWN ? 0 : esi_alike_hash(alike, basic, bytes);
}

ES_HOT void esi_call_hash_alike(struct esi_call *call,
                                uint32_t bytes,
                                MPI_Datatype datatype)
{
    call->alike = call->count != 0 ? 0
                                   : esi_thread_hash_alike(call->thread, call->alike,
                                                           bytes, datatype);
}

ES_HOT void esi_call_describe_collective(struct esi_call *call,
                                         MPI_Comm comm,
                                         int root,
                                         uint32_t bytes)
{
    struct esi_comm *known = esi_call_find_comm(call, comm);

    esi_call_describe(call, known, esi_tuple_root(root), 0, bytes,
                      esi_comm_next_instance(known, call->tuple.operation,
                                             esi_tuple_root(root), call->alike));
}

ES_HOT void esi_begin_collective(struct esi_call *call,
                                 MPI_Comm comm,
                                 int root,
                                 MPI_Count count,
                                 MPI_Datatype datatype)
{
    uint32_t bytes = esi_call_get_bytes(call, count, datatype);

    esi_call_hash_alike(call, bytes, datatype);
    esi_call_describe_collective(call, comm, root, bytes);
    esi_call_open(call);
}

/* Sum of the counts that a vector collective sends to the members.  They are of type
 * MPI_Count if `large`, else int. */
MPI_Count esi_call_sum_counts(struct esi_call *call,
                              MPI_Comm comm,
                              const void *counts,
                              bool large);

/* The same for the array of a routine, in recipes. */
#define ESI_SUM_COUNTS(call, comm, counts)                                             \
    esi_call_sum_counts(call, comm, counts, sizeof *(counts) > sizeof(int))

/* Nonblocking collectives: the tuple is written when they complete. */
static inline void esi_begin_icollective(struct esi_call *call,
                                         MPI_Comm comm,
                                         int root,
                                         MPI_Count count,
                                         MPI_Datatype datatype)
{
    uint32_t bytes = esi_call_get_bytes(call, count, datatype);

    esi_call_hash_alike(call, bytes, datatype);
    esi_call_describe_collective(call, comm, root, bytes);
    call->tuple.start = esi_clock_read();
}

/* Persistent collectives: no data is moved yet, and each start is an instance. */
static inline void esi_begin_collective_init(struct esi_call *call,
                                             MPI_Comm comm,
                                             int root,
                                             MPI_Count count,
                                             MPI_Datatype datatype)
{
    uint32_t bytes = esi_call_get_bytes(call, count, datatype);

    esi_call_hash_alike(call, bytes, datatype);
    esi_call_describe(call, esi_call_find_comm(call, comm), esi_tuple_root(root), 0,
                      bytes, ES_SEQUENCE_UNKNOWN);
    esi_call_open(call);
}

/* Persistent sends: numbered at each start. */
static inline void esi_begin_send_init(struct esi_call *call,
                                       MPI_Comm comm,
                                       int dest,
                                       int tag,
                                       MPI_Count count,
                                       MPI_Datatype datatype)
{
    struct esi_comm *known = esi_call_find_comm(call, comm);

    if (known != NULL && dest >= 0 && dest < known->peers && tag >= 0)
        esi_profile_find_peer(known, comm, dest, tag); /* each start adds to it */
    esi_call_describe(call, known, esi_tuple_peer(dest), tag,
                      esi_call_get_bytes(call, count, datatype), ES_SEQUENCE_UNKNOWN);
    esi_call_open(call);
}

/* One-sided operations and I/O (one_sided.c). */
void esi_begin_rma(struct esi_call *call,
                   MPI_Win win,
                   int rank,
                   MPI_Count count,
                   MPI_Datatype datatype);
void esi_begin_rma_request(struct esi_call *call,
                           MPI_Win win,
                           int rank,
                           MPI_Count count,
                           MPI_Datatype datatype);
void esi_begin_rma_sync(struct esi_call *call, MPI_Win win);
void esi_begin_rma_post(struct esi_call *call, MPI_Win win);
void esi_begin_rma_start(struct esi_call *call, MPI_Win win);
void esi_begin_rma_complete(struct esi_call *call, MPI_Win win);
void esi_begin_rma_wait(struct esi_call *call, MPI_Win win);
void esi_begin_rma_fence(struct esi_call *call, MPI_Win win);
void esi_begin_rma_ask_lock(struct esi_call *call,
                            MPI_Win win,
                            int rank,
                            int lock_type);
void esi_begin_rma_lock(struct esi_call *call, MPI_Win win, int rank);
void esi_begin_window(struct esi_call *call, MPI_Comm comm);
void esi_begin_io(struct esi_call *call,
                  MPI_File file,
                  MPI_Count count,
                  MPI_Datatype datatype);
void esi_begin_io_request(struct esi_call *call,
                          MPI_File file,
                          MPI_Count count,
                          MPI_Datatype datatype);
void esi_begin_io_call(struct esi_call *call, MPI_File file);
void esi_begin_io_open(struct esi_call *call, MPI_Comm comm);

/* A partition that is ready: the peer of the request, with the partition as tag
 * (persistent.c). */
void esi_begin_partition(struct esi_call *call, MPI_Request request, int partition);

static inline void esi_begin_communicator(struct esi_call *call, MPI_Comm comm)
{
    esi_call_describe_collective(call, comm, ES_PEER_NONE, 0);
    esi_call_open(call);
}

#endif
