/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The end of an operation: the parts that are too rare or too long for the wrappers. */
#include "config.h"

#include "wrappers/mpi/call.h"

#include <string.h>

#include "wrappers/mpi/ledger.h"
#include "wrappers/mpi/messages.h"

void esi_call_open_slowly(struct esi_call *call)
{
    if (esi_call_start(call)) {
        call->open = true;
        esi_writer_open_at(&call->path->writer, &call->tuple, call->thread->site);
    }
}

/* The communicator was created unseen; the call has shown that it is valid. */
static void register_unknown(struct esi_call *call)
{
    MPI_Comm comm;

    memcpy(&comm, &call->unknown_comm, sizeof comm);
    call->comm = esi_comm_register(comm, NULL, 0, 0);
    if (call->comm != NULL)
        call->tuple.communicator = call->comm->index;
}

/* Takes the number that could not be taken on entry. */
static void number_late(struct esi_call *call)
{
    const struct es_operation *operation = es_operation_find(call->tuple.operation);
    MPI_Comm comm;

    if (call->comm == NULL || operation == NULL)
        return;
    memcpy(&comm, &call->unknown_comm, sizeof comm);
    if (operation->op_class == ES_CLASS_COLLECTIVE ||
        operation->op_class == ES_CLASS_COMMUNICATOR ||
        operation->op_class == ES_CLASS_ONE_SIDED || operation->op_class == ES_CLASS_IO)
        call->tuple.sequence = esi_comm_next_instance(call->comm, call->tuple.operation,
                                                      call->tuple.peer, call->alike);
    else if (operation->op_class == ES_CLASS_SEND && call->tuple.peer >= 0)
        esi_call_number_send(call, comm);
}

static void size_late(struct esi_call *call)
{
    if (call->count == 0)
        return;
    call->tuple.bytes =
        esi_tuple_limit_bytes((uint64_t)call->count *
                              esi_thread_get_type_bytes(call->thread, call->datatype));
    if (call->numbered)
        esi_profile_add_sent(call->comm, call->tuple.peer, call->tuple.tag, 0,
                             call->tuple.bytes);
}

void esi_tuple_mark_failed(struct es_tuple *tuple, int result)
{
    tuple->bytes = esi_ledger_note_error(es_tuple_operation(tuple), result);
    tuple->operation |= ES_OPERATION_FAILED;
}

/* A collective operation that this member refuses takes no part in the order of the
 * others: its number is that of the next one. */
static void take_back_instance(const struct esi_call *call)
{
    uint32_t instance = call->tuple.sequence;

    if (call->comm != NULL && instance != ES_SEQUENCE_UNKNOWN &&
        esi_ledger_leave_instance(call->comm->ledger, instance, call->tuple.operation))
        esi_count_back(&call->comm->instances, instance);
}

void esi_call_fail(struct esi_call *call, int result)
{
    if (esi_error_is_refusal(result))
        take_back_instance(call);
    esi_tuple_mark_failed(&call->tuple, result);
    call->tuple.sequence = ES_SEQUENCE_UNKNOWN;
}

void esi_call_write_failed(struct esi_call *call)
{
    call->tuple.stop = esi_clock_read();
    if (esi_call_is_wanted(call))
        esi_call_count(call, call->tuple.stop);
    esi_path_write(call->thread, &call->tuple);
}

void esi_call_complete_late(struct esi_call *call, int result)
{
    if (result != MPI_SUCCESS) {
        if (call->numbered) {
            esi_channel_back(&call->comm->sent, call->tuple.peer, call->tuple.tag);
            esi_profile_add_sent(call->comm, call->tuple.peer, call->tuple.tag, -1,
                                 -(int64_t)call->tuple.bytes);
        }
        esi_call_fail(call, result);
        return;
    }
    if (call->unknown_comm != 0) {
        register_unknown(call);
        number_late(call);
    }
    size_late(call);
}

void esi_call_write_late(struct esi_call *call, int result, uint64_t stop)
{
    esi_call_complete_late(call, result);
    if (!call->open)
        return;
    call->tuple.stop = stop;
    esi_call_write(call);
    esi_call_count(call, stop);
}

void esi_call_complete_init_late(struct esi_call *call, int result)
{
    if (result != MPI_SUCCESS) {
        esi_call_fail(call, result);
        return;
    }
    if (call->unknown_comm != 0)
        register_unknown(call);
    size_late(call);
}

/* --- Vectors of counts ---------------------------------------------------------- */

/* The number of counts that a vector collective has in any case: on an
 * intercommunicator some have one per member of the local group, others one per member
 * of the remote group. */
static int counts_of(const struct esi_comm *comm, const void *counts)
{
    if (comm == NULL || counts == NULL)
        return 0;
    return comm->inter && comm->size < comm->remote_size ? comm->size : comm->peers;
}

MPI_Count esi_call_sum_counts(struct esi_call *call,
                              MPI_Comm comm,
                              const void *counts,
                              bool large)
{
    int size = counts_of(esi_call_find_comm(call, comm), counts);
    const MPI_Count *large_counts = counts;
    const int *int_counts = counts;
    MPI_Count sum = 0;

    for (int i = 0; i < size; i++)
        sum += large ? large_counts[i] : int_counts[i];
    return sum;
}
