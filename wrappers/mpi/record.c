/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Recording an operation: what is too rare or too long for the wrappers themselves. */
#include "config.h"

#include "wrappers/mpi/record.h"

#include <stdlib.h>
#include <string.h>

#include "wrappers/mpi/requests.h"
#include "wrappers/mpi/slot.h"

uint64_t esi_type_bytes(struct esi_thread *thread, MPI_Datatype datatype)
{
    uint64_t handle = ESI_HANDLE(datatype);
    unsigned int at = (unsigned int)((handle ^ handle >> 8) % ESI_SIZE_CACHE);
    uint32_t epoch = atomic_load_explicit(&esi_handle_epoch, memory_order_acquire);
    MPI_Count size = 0;

    if (thread->sizes[at].type == handle && thread->sizes[at].epoch == epoch)
        return thread->sizes[at].bytes;
    if (ESI_REAL(MPI_Type_size_x)(datatype, &size) != MPI_SUCCESS || size < 0)
        return 0;
    if (size < UINT32_MAX) {
        thread->sizes[at].type = handle;
        thread->sizes[at].epoch = epoch;
        thread->sizes[at].bytes = (uint32_t)size;
    }
    return (uint64_t)size;
}

bool esi_status_is_open;

/* Sets a count by MPI's own means and looks whether it is found. */
void esi_status_try(void)
{
#ifdef HAVE_MPI_STATUS_COUNT_LO
    enum { TRIED = 123457 };
    MPI_Status status = {.count_lo = 0};

    esi_status_is_open =
        ESI_REAL(MPI_Status_set_elements)(&status, MPI_BYTE, TRIED) == MPI_SUCCESS &&
        status.count_lo == TRIED && status.count_hi_and_cancelled == 0;
#endif
}

uint32_t esi_status_ask(const MPI_Status *status)
{
    MPI_Count bytes = 0;
    int count = 0;

    /* The short way has no room for 2^31 bytes and more. */
    if (ESI_LIKELY(ESI_REAL(MPI_Get_count)(status, MPI_BYTE, &count) == MPI_SUCCESS &&
                   count >= 0))
        return (uint32_t)count;
    if (ESI_REAL(MPI_Get_elements_x)(status, MPI_BYTE, &bytes) != MPI_SUCCESS ||
        bytes < 0)
        return 0;
    return esi_bytes_cut((uint64_t)bytes);
}

/* The communicator was made out of sight; the call has shown that it is valid. */
static void register_unknown(struct esi_call *call)
{
    MPI_Comm comm;

    memcpy(&comm, &call->unknown_comm, sizeof comm);
    call->comm = esi_comm_register(comm, NULL, 0, 0);
    if (call->comm != NULL)
        call->tuple.communicator = call->comm->index;
}

/* The number that could not be taken on entry. */
static void number_late(struct esi_call *call)
{
    const struct es_operation *operation = es_operation_find(call->tuple.operation);

    if (call->comm == NULL || operation == NULL)
        return;
    if (operation->op_class == ES_CLASS_COLLECTIVE ||
        operation->op_class == ES_CLASS_COMMUNICATOR ||
        operation->op_class == ES_CLASS_ONE_SIDED || operation->op_class == ES_CLASS_IO)
        call->tuple.sequence = esi_instance(call->comm);
    else if (operation->op_class == ES_CLASS_SEND && call->tuple.peer >= 0)
        call->tuple.sequence =
            esi_channel_next_sent(&call->comm->sent, call->tuple.peer, call->tuple.tag);
}

static void size_late(struct esi_call *call)
{
    if (call->count != 0)
        call->tuple.bytes = esi_bytes_cut((uint64_t)call->count *
                                          esi_type_bytes(call->thread, call->datatype));
}

void esi_leave_late(struct esi_call *call, int result)
{
    if (result != MPI_SUCCESS) {
        if (call->numbered)
            esi_channel_back(&call->comm->sent, call->tuple.peer, call->tuple.tag);
        call->tuple.sequence = ES_SEQUENCE_UNKNOWN;
        return;
    }
    if (call->unknown_comm != 0) {
        register_unknown(call);
        number_late(call);
    }
    size_late(call);
}

void esi_init_late(struct esi_call *call, int result)
{
    if (result != MPI_SUCCESS)
        return;
    if (call->unknown_comm != 0)
        register_unknown(call);
    size_late(call);
}

void esi_write(struct esi_thread *thread, const struct es_tuple *tuple)
{
    const struct es_operation *operation = es_operation_find(tuple->operation);
    struct esi_path *path;

    if (operation == NULL) /* of a call that nobody wanted recorded */
        return;
    path = thread->paths[operation->op_class];
    if (path == NULL)
        path = esi_path_make(thread, tuple->operation);
    if (path == NULL)
        return;
    if (path->is_choice)
        path = esi_path_choose(path, tuple);
    if (es_writer_is_enabled(&path->writer))
        es_writer_write(&path->writer, tuple);
}

_Atomic uint32_t esi_late_count;

void esi_write_late(struct esi_thread *thread)
{
    struct esi_late *late;

    if (thread->slot == NULL ||
        atomic_load_explicit(&thread->slot->late, memory_order_relaxed) == NULL)
        return;
    /* Pairs with the release of esi_publish(): the tuples are there. */
    late = atomic_exchange_explicit(&thread->slot->late, NULL, memory_order_acquire);
    while (late != NULL) {
        struct esi_late *next = late->next;

        esi_write(thread, &late->tuple);
        atomic_fetch_sub_explicit(&esi_late_count, 1, memory_order_release);
        free(late);
        late = next;
    }
}

/* The match has decided the number of a receive that was held back. */
void esi_publish(void *owner, const struct es_tuple *tuple)
{
    struct esi_slot *slot = owner;
    struct esi_late *late;

    if (slot == esi_self.slot || slot == NULL) {
        esi_write(&esi_self, tuple);
        return;
    }
    late = malloc(sizeof *late);
    if (late == NULL)
        return;
    late->tuple = *tuple;
    atomic_fetch_add_explicit(&esi_late_count, 1, memory_order_relaxed);
    late->next = atomic_load_explicit(&slot->late, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(
        &slot->late, &late->next, late, memory_order_release, memory_order_relaxed))
        continue;
}

/* How many counts a vector collective surely has: on an intercommunicator some have one
 * for each member of the local group, others of the remote group. */
static int counts_of(const struct esi_comm *comm, const void *counts)
{
    if (comm == NULL || counts == NULL)
        return 0;
    return comm->inter && comm->size < comm->remote_size ? comm->size : comm->peers;
}

MPI_Count esi_sum(struct esi_call *call, MPI_Comm comm, const int counts[])
{
    int size = counts_of(esi_comm_of(call, comm), counts);
    MPI_Count sum = 0;

    for (int i = 0; i < size; i++)
        sum += counts[i];
    return sum;
}

MPI_Count esi_sum_c(struct esi_call *call, MPI_Comm comm, const MPI_Count counts[])
{
    int size = counts_of(esi_comm_of(call, comm), counts);
    MPI_Count sum = 0;

    for (int i = 0; i < size; i++)
        sum += counts[i];
    return sum;
}
