/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* otf2_rma.c - one-sided communication of one location. */
#include "config.h"

#include "monitors/otf2/otf2_rma.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "eventspace/tuple.h"
#include "monitors/otf2/otf2_operations.h"
#include "tuplespace/operation_codes.h"
#include "tuplespace/operation_table.h"

/* Beyond this limit the older half is dropped. */
enum { ACCESSES_MAX = 4096 };

/* A call, and the writer of its events. */
struct rma_call {
    const struct esi_otf2_record *record;
    const struct es_operation *operation;
    OTF2_RmaWinRef window;
    OTF2_EvtWriter *writer;
    uint64_t ns;
};

void esi_otf2_rma_fini(struct esi_otf2_rma *rma)
{
    free(rma->accesses);
    free(rma->locks);
    free(rma->epochs);
    free(rma->members);
}

void esi_otf2_rma_clear(struct esi_otf2_rma *rma)
{
    rma->access_count = 0;
    rma->lock_count = 0;
    rma->epoch_count = 0;
}

static OTF2_ErrorCode describe_call(struct esi_otf2_rma *rma,
                                    const struct esi_otf2_record *record,
                                    OTF2_EvtWriter *writer,
                                    uint64_t ns,
                                    struct rma_call *ret_call)
{
    *ret_call = (struct rma_call){
        .record = record,
        .operation = es_operation_find(record->operation),
        .window = esi_otf2_window(rma->definitions, record->communicator, record->tag),
        .writer = writer,
        .ns = ns,
    };
    return ret_call->window == UINT32_MAX ? OTF2_ERROR_ENOMEM : OTF2_SUCCESS;
}

static bool is_collective(const struct rma_call *call)
{
    return esi_otf2_collective(call->operation) != ESI_OTF2_NO_COLLECTIVE;
}

static void remove_access(struct esi_otf2_rma *rma, size_t from, size_t count)
{
    rma->access_count -= count;
    memmove(rma->accesses + from, rma->accesses + from + count,
            (rma->access_count - from) * sizeof *rma->accesses);
}

/* --- Epochs ----------------------------------------------------------------------- */

/* Calls with records for the group of their epoch. */
static bool is_of_epoch(const struct es_operation *operation)
{
    return operation->rma >= ES_RMA_POST && operation->rma <= ES_RMA_TEST;
}

OTF2_ErrorCode esi_otf2_rma_add_member(struct esi_otf2_rma *rma,
                                       const struct esi_otf2_record *record)
{
    if (ESI_ARRAY_RESERVE(rma->members, rma->member_capacity, rma->member_count + 1) <
        0)
        return OTF2_ERROR_ENOMEM;
    rma->members[rma->member_count++] = record->peer;
    return OTF2_SUCCESS;
}

/* The last epoch on a window, added if there is none.  NULL if out of memory. */
static struct esi_otf2_epoch *find_epoch(struct esi_otf2_rma *rma,
                                         OTF2_RmaWinRef window,
                                         bool exposes)
{
    for (size_t i = 0; i < rma->epoch_count; i++)
        if (rma->epochs[i].window == window && rma->epochs[i].exposes == exposes)
            return &rma->epochs[i];
    if (ESI_ARRAY_RESERVE(rma->epochs, rma->epoch_capacity, rma->epoch_count + 1) < 0)
        return NULL;
    rma->epochs[rma->epoch_count] =
        (struct esi_otf2_epoch){window, exposes, ES_SEQUENCE_UNKNOWN, UINT32_MAX};
    return &rma->epochs[rma->epoch_count++];
}

/* A call ends the epoch with its number, once: unsuccessful tests may have that number,
 * too.  Epochs whose start was lost are ignored. */
static OTF2_ErrorCode sync_group(struct esi_otf2_rma *rma, const struct rma_call *call)
{
    bool begins =
        call->operation->rma == ES_RMA_POST || call->operation->rma == ES_RMA_START;
    bool accesses =
        call->operation->rma == ES_RMA_START || call->operation->rma == ES_RMA_COMPLETE;
    struct esi_otf2_epoch *epoch = find_epoch(rma, call->window, !accesses);
    uint32_t number = call->record->sequence;

    if (!epoch)
        return OTF2_ERROR_ENOMEM;
    if (begins) {
        epoch->number = number;
        epoch->group =
            esi_otf2_epoch_group(rma->definitions, call->record->communicator,
                                 rma->members, (uint32_t)rma->member_count);
        if (epoch->group == UINT32_MAX)
            return OTF2_ERROR_ENOMEM;
    } else if (number == ES_SEQUENCE_UNKNOWN || number != epoch->number) {
        return OTF2_SUCCESS;
    } else {
        epoch->number = ES_SEQUENCE_UNKNOWN;
    }
    return OTF2_EvtWriter_RmaGroupSync(call->writer, NULL, call->ns,
                                       begins ? OTF2_RMA_SYNC_LEVEL_NONE
                                              : OTF2_RMA_SYNC_LEVEL_MEMORY,
                                       call->window, epoch->group);
}

/* --- Started by a call ------------------------------------------------------------ */

static OTF2_ErrorCode keep_access(struct esi_otf2_rma *rma,
                                  const struct rma_call *call,
                                  uint64_t number)
{
    if (rma->access_count == ACCESSES_MAX)
        remove_access(rma, 0, ACCESSES_MAX / 2);
    if (ESI_ARRAY_RESERVE(rma->accesses, rma->access_capacity, rma->access_count + 1) <
        0)
        return OTF2_ERROR_ENOMEM;
    rma->accesses[rma->access_count++] = (struct esi_otf2_access){
        .window = call->window,
        .peer = (uint32_t)call->record->peer,
        .number = number,
        .has_request = call->operation->posts,
    };
    return OTF2_SUCCESS;
}

static OTF2_ErrorCode write_atomic(const struct rma_call *call,
                                   OTF2_RmaAtomicType type,
                                   uint32_t received,
                                   uint64_t number)
{
    return OTF2_EvtWriter_RmaAtomic(call->writer, NULL, call->ns, call->window,
                                    (uint32_t)call->record->peer, type,
                                    call->record->bytes, received, number);
}

static OTF2_ErrorCode begin_access(struct esi_otf2_rma *rma,
                                   const struct rma_call *call,
                                   uint64_t number)
{
    uint32_t peer = (uint32_t)call->record->peer;
    uint32_t bytes = call->record->bytes;
    OTF2_ErrorCode code;

    switch ((enum es_rma_kind)call->operation->rma) {
    case ES_RMA_PUT:
        code = OTF2_EvtWriter_RmaPut(call->writer, NULL, call->ns, call->window, peer,
                                     bytes, number);
        break;
    case ES_RMA_GET:
        code = OTF2_EvtWriter_RmaGet(call->writer, NULL, call->ns, call->window, peer,
                                     bytes, number);
        break;
    case ES_RMA_ACCUMULATE:
        code = write_atomic(call, OTF2_RMA_ATOMIC_TYPE_ACCUMULATE, 0, number);
        break;
    case ES_RMA_FETCH:
        code = write_atomic(call, OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ACCUMULATE, bytes,
                            number);
        break;
    default:
        code = write_atomic(call, OTF2_RMA_ATOMIC_TYPE_COMPARE_AND_SWAP, bytes, number);
        break;
    }
    return code == OTF2_SUCCESS ? keep_access(rma, call, number) : code;
}

static OTF2_ErrorCode request_lock(struct esi_otf2_rma *rma,
                                   const struct rma_call *call)
{
    const struct esi_otf2_lock lock = {
        .window = call->window,
        .peer = (uint32_t)call->record->peer, /* all = -1, as in OTF2 */
        .type = call->record->sequence == 0 ? OTF2_LOCK_SHARED : OTF2_LOCK_EXCLUSIVE,
    };

    if (ESI_ARRAY_RESERVE(rma->locks, rma->lock_capacity, rma->lock_count + 1) < 0)
        return OTF2_ERROR_ENOMEM;
    rma->locks[rma->lock_count++] = lock;
    return OTF2_EvtWriter_RmaRequestLock(call->writer, NULL, call->ns, lock.window,
                                         lock.peer, 0, lock.type);
}

OTF2_ErrorCode esi_otf2_rma_enter(struct esi_otf2_rma *rma,
                                  const struct esi_otf2_record *record,
                                  OTF2_EvtWriter *writer,
                                  uint64_t ns,
                                  uint64_t *number)
{
    struct rma_call call;
    OTF2_ErrorCode code = describe_call(rma, record, writer, ns, &call);

    if (code != OTF2_SUCCESS)
        return code;
    if (is_collective(&call))
        return OTF2_EvtWriter_RmaCollectiveBegin(writer, NULL, ns);
    if (call.operation->rma == ES_RMA_LOCK)
        return request_lock(rma, &call);
    if (is_of_epoch(call.operation))
        rma->member_count = 0;
    if (record->peer < 0 || call.operation->rma == ES_RMA_NONE ||
        call.operation->rma > ES_RMA_SWAP)
        return OTF2_SUCCESS;
    return begin_access(rma, &call, ++*number);
}

/* --- Completed by a call ---------------------------------------------------------- */

/* Whether the call completes accesses; at the target, too. */
static bool completes_access(const struct rma_call *call, bool *ret_remote)
{
    switch ((enum es_rma_kind)call->operation->rma) {
    case ES_RMA_FENCE:
    case ES_RMA_FLUSH:
    case ES_RMA_UNLOCK:
        *ret_remote = true;
        return true;
    case ES_RMA_COMPLETE:
    case ES_RMA_FLUSH_LOCAL:
        *ret_remote = false;
        return true;
    default:
        return false;
    }
}

/* A call without a target is about all of them. */
static bool is_meant(const struct rma_call *call, OTF2_RmaWinRef window, uint32_t peer)
{
    return window == call->window &&
           (call->record->peer < 0 || peer == (uint32_t)call->record->peer);
}

static OTF2_ErrorCode complete_at_origin(struct esi_otf2_access *access,
                                         OTF2_EvtWriter *writer,
                                         uint64_t ns)
{
    if (access->is_local)
        return OTF2_SUCCESS;
    access->is_local = true;
    return access->has_request
               ? OTF2_EvtWriter_RmaOpCompleteNonBlocking(writer, NULL, ns,
                                                         access->window, access->number)
               : OTF2_EvtWriter_RmaOpCompleteBlocking(writer, NULL, ns, access->window,
                                                      access->number);
}

static OTF2_ErrorCode complete_accesses(struct esi_otf2_rma *rma,
                                        const struct rma_call *call,
                                        bool remote)
{
    OTF2_ErrorCode code = OTF2_SUCCESS;
    size_t kept = 0;

    for (size_t i = 0; i < rma->access_count; i++) {
        struct esi_otf2_access *access = &rma->accesses[i];
        bool is_complete = is_meant(call, access->window, access->peer);

        if (is_complete && code == OTF2_SUCCESS)
            code = complete_at_origin(access, call->writer, call->ns);
        if (is_complete && remote && code == OTF2_SUCCESS)
            code = OTF2_EvtWriter_RmaOpCompleteRemote(call->writer, NULL, call->ns,
                                                      access->window, access->number);
        if (!is_complete || !remote)
            rma->accesses[kept++] = *access;
    }
    rma->access_count = kept;
    return code;
}

/* Operations completed at the target needed the lock. */
static OTF2_ErrorCode acquire_lock(struct esi_otf2_lock *lock,
                                   const struct rma_call *call)
{
    if (lock->is_held)
        return OTF2_SUCCESS;
    lock->is_held = true;
    return OTF2_EvtWriter_RmaAcquireLock(call->writer, NULL, call->ns, lock->window,
                                         lock->peer, 0, lock->type);
}

static OTF2_ErrorCode acquire_locks(struct esi_otf2_rma *rma,
                                    const struct rma_call *call)
{
    bool unlocks = call->operation->rma == ES_RMA_UNLOCK;
    OTF2_ErrorCode code = OTF2_SUCCESS;
    size_t kept = 0;

    for (size_t i = 0; i < rma->lock_count; i++) {
        struct esi_otf2_lock *lock = &rma->locks[i];
        bool is_needed = is_meant(call, lock->window, lock->peer);

        if (is_needed && code == OTF2_SUCCESS)
            code = acquire_lock(lock, call);
        if (is_needed && unlocks && code == OTF2_SUCCESS)
            code = OTF2_EvtWriter_RmaReleaseLock(call->writer, NULL, call->ns,
                                                 lock->window, lock->peer, 0);
        if (!is_needed || !unlocks)
            rma->locks[kept++] = *lock;
    }
    rma->lock_count = kept;
    return code;
}

static OTF2_ErrorCode end_collective(struct esi_otf2_rma *rma,
                                     const struct rma_call *call)
{
    OTF2_CollectiveOp name = esi_otf2_collective(call->operation);
    OTF2_ErrorCode code = OTF2_SUCCESS;

    if (name == OTF2_COLLECTIVE_OP_DESTROY_HANDLE) {
        code = OTF2_EvtWriter_RmaWinDestroy(call->writer, NULL, call->ns, call->window);
    } else if (name != OTF2_COLLECTIVE_OP_BARRIER) {
        rma->definitions->windows[call->window].is_made = true;
        code = OTF2_EvtWriter_RmaWinCreate(call->writer, NULL, call->ns, call->window);
    }
    if (code != OTF2_SUCCESS)
        return code;
    return OTF2_EvtWriter_RmaCollectiveEnd(
        call->writer, NULL, call->ns, name,
        OTF2_RMA_SYNC_LEVEL_PROCESS | OTF2_RMA_SYNC_LEVEL_MEMORY, call->window,
        OTF2_COLLECTIVE_ROOT_NONE, 0, 0);
}

OTF2_ErrorCode esi_otf2_rma_leave(struct esi_otf2_rma *rma,
                                  const struct esi_otf2_record *record,
                                  OTF2_EvtWriter *writer,
                                  uint64_t ns)
{
    struct rma_call call;
    OTF2_ErrorCode code = describe_call(rma, record, writer, ns, &call);
    bool remote = false;

    if (code == OTF2_SUCCESS && completes_access(&call, &remote))
        code = complete_accesses(rma, &call, remote);
    if (code == OTF2_SUCCESS && remote)
        code = acquire_locks(rma, &call);
    if (code == OTF2_SUCCESS && is_of_epoch(call.operation))
        code = sync_group(rma, &call);
    return code == OTF2_SUCCESS && is_collective(&call) ? end_collective(rma, &call)
                                                        : code;
}

OTF2_ErrorCode esi_otf2_rma_complete(struct esi_otf2_rma *rma,
                                     const struct esi_otf2_record *record,
                                     OTF2_EvtWriter *writer,
                                     uint64_t ns)
{
    for (size_t i = 0; i < rma->access_count; i++) {
        struct esi_otf2_access *access = &rma->accesses[i];
        const struct esi_otf2_window *window =
            &rma->definitions->windows[access->window];

        if (access->has_request && !access->is_local &&
            access->peer == (uint32_t)record->peer &&
            window->communicator == record->communicator &&
            window->number == record->tag)
            return complete_at_origin(access, writer, ns);
    }
    return OTF2_SUCCESS;
}
