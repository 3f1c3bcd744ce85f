/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* otf2_read_rma.c - records of windows. */
#include "config.h"

#include "monitors/otf2/otf2_operations.h"
#include "monitors/otf2/otf2_read_private.h"
#include "tuplespace/operation_codes.h"
#include "tuplespace/operation_table.h"

/* The location and window of a record; NULL if it belongs to no rank, or after an
 * error. */
static struct esi_otf2_read_location *find_window(
    struct esi_otf2_reading *reading,
    OTF2_LocationRef id,
    OTF2_RmaWinRef window,
    struct esi_otf2_row **ret_row,
    struct esi_otf2_read_record *ret_record)
{
    struct esi_otf2_row *row =
        esi_otf2_read_named(reading, &reading->tables.windows, "window", window);

    if (!row)
        return NULL;
    *ret_row = row;
    *ret_record = (struct esi_otf2_read_record){.peer = ES_PEER_NONE,
                                                .tag = (int32_t)row->count,
                                                .number = ES_SEQUENCE_UNKNOWN};
    return esi_otf2_read_place(reading, id, row->refers, &ret_record->communicator);
}

/* The number of a window is that of the call that created it, among those of its
 * communicator. */
static OTF2_CallbackCode take_window_collective(OTF2_LocationRef id,
                                                OTF2_TimeStamp time,
                                                void *data,
                                                OTF2_AttributeList *attributes,
                                                OTF2_CollectiveOp name,
                                                OTF2_RmaSyncLevel level,
                                                OTF2_RmaWinRef window,
                                                uint32_t root,
                                                uint64_t sent,
                                                uint64_t received)
{
    struct esi_otf2_reading *reading = data;
    struct esi_otf2_row *row;
    struct esi_otf2_read_record record;
    const struct esi_otf2_read_location *location =
        find_window(reading, id, window, &row, &record);
    const struct es_operation *call = location ? esi_otf2_read_call(location) : NULL;
    bool makes;

    (void)attributes, (void)level, (void)root, (void)sent, (void)received;
    record.code = call && call->op_class == ES_CLASS_ONE_SIDED &&
                          esi_otf2_collective(call) == name
                      ? call->code
                      : esi_otf2_window_code_of(name);
    if (!location || record.code == 0)
        return esi_otf2_read_code(reading);
    makes = esi_operation_family(es_operation_find(record.code)) < ES_OP_MPI_Win_free;
    if (esi_otf2_read_number(reading, location, &record,
                             makes ? ESI_OTF2_COLLECTIVE : ESI_OTF2_ON_WINDOW,
                             makes ? row->refers : row->id) != OTF2_CALLBACK_SUCCESS)
        return OTF2_CALLBACK_INTERRUPT;
    if (makes)
        row->count = record.number;
    record.tag = (int32_t)row->count;
    return esi_otf2_read_keep(reading, location, &record, ESI_OTF2_READ_COLLECTIVE,
                              time);
}

/* One call may have a record for each target. */
static bool has_access(const struct esi_otf2_read_location *location)
{
    size_t count = location->region_count;

    return count > 0 &&
           location->regions[count - 1].records[ESI_OTF2_READ_SEND].is_there;
}

static OTF2_CallbackCode add_access(struct esi_otf2_reading *reading,
                                    OTF2_LocationRef id,
                                    OTF2_TimeStamp time,
                                    OTF2_RmaWinRef window,
                                    uint32_t remote,
                                    uint64_t bytes,
                                    uint16_t otherwise)
{
    struct esi_otf2_row *row;
    struct esi_otf2_read_record record;
    const struct esi_otf2_read_location *location =
        find_window(reading, id, window, &row, &record);

    if (!location || has_access(location))
        return esi_otf2_read_code(reading);
    record.code = esi_otf2_code_for(esi_otf2_read_call(location), ES_CLASS_ONE_SIDED,
                                    false, otherwise);
    record.peer = (int32_t)remote;
    record.bytes = esi_otf2_read_bytes(bytes);
    return esi_otf2_read_keep(reading, location, &record, ESI_OTF2_READ_SEND, time);
}

static OTF2_CallbackCode take_put(OTF2_LocationRef id,
                                  OTF2_TimeStamp time,
                                  void *data,
                                  OTF2_AttributeList *attributes,
                                  OTF2_RmaWinRef window,
                                  uint32_t remote,
                                  uint64_t bytes,
                                  uint64_t number)
{
    (void)attributes, (void)number;
    return add_access(data, id, time, window, remote, bytes, ES_OP_MPI_Put);
}

static OTF2_CallbackCode take_get(OTF2_LocationRef id,
                                  OTF2_TimeStamp time,
                                  void *data,
                                  OTF2_AttributeList *attributes,
                                  OTF2_RmaWinRef window,
                                  uint32_t remote,
                                  uint64_t bytes,
                                  uint64_t number)
{
    (void)attributes, (void)number;
    return add_access(data, id, time, window, remote, bytes, ES_OP_MPI_Get);
}

static OTF2_CallbackCode take_atomic(OTF2_LocationRef id,
                                     OTF2_TimeStamp time,
                                     void *data,
                                     OTF2_AttributeList *attributes,
                                     OTF2_RmaWinRef window,
                                     uint32_t remote,
                                     OTF2_RmaAtomicType type,
                                     uint64_t sent,
                                     uint64_t received,
                                     uint64_t number)
{
    (void)attributes, (void)type, (void)received, (void)number;
    return add_access(data, id, time, window, remote, sent, ES_OP_MPI_Accumulate);
}

static OTF2_CallbackCode take_lock(OTF2_LocationRef id,
                                   OTF2_TimeStamp time,
                                   void *data,
                                   OTF2_AttributeList *attributes,
                                   OTF2_RmaWinRef window,
                                   uint32_t remote,
                                   uint64_t lock,
                                   OTF2_LockType type)
{
    (void)attributes, (void)lock, (void)type;
    return add_access(data, id, time, window, remote, 0, ES_OP_MPI_Win_lock);
}

static OTF2_CallbackCode take_unlock(OTF2_LocationRef id,
                                     OTF2_TimeStamp time,
                                     void *data,
                                     OTF2_AttributeList *attributes,
                                     OTF2_RmaWinRef window,
                                     uint32_t remote,
                                     uint64_t lock)
{
    (void)attributes, (void)lock;
    return add_access(data, id, time, window, remote, 0, ES_OP_MPI_Win_unlock);
}

/* --- Epochs ----------------------------------------------------------------------- */

static bool is_epoch_call(const struct es_operation *call)
{
    return call && call->rma >= ES_RMA_POST && call->rma <= ES_RMA_TEST;
}

static bool begins_epoch(const struct es_operation *call)
{
    return call->rma == ES_RMA_START || call->rma == ES_RMA_POST;
}

/* The channel that counts the epochs of a process. */
static struct esi_otf2_channel epoch_channel(
    const struct esi_otf2_read_location *location,
    const struct es_operation *call,
    uint64_t window,
    uint32_t peer)
{
    bool accesses = call->rma == ES_RMA_START || call->rma == ES_RMA_COMPLETE;

    return (struct esi_otf2_channel){.communicator = window,
                                     .process = location->place.process,
                                     .peer = peer,
                                     .kind = accesses ? ESI_OTF2_START : ESI_OTF2_POST};
}

/* For other calls, only the region shows the synchronization. */
static OTF2_CallbackCode take_group_sync(OTF2_LocationRef id,
                                         OTF2_TimeStamp time,
                                         void *data,
                                         OTF2_AttributeList *attributes,
                                         OTF2_RmaSyncLevel level,
                                         OTF2_RmaWinRef window,
                                         OTF2_GroupRef group)
{
    struct esi_otf2_reading *reading = data;
    struct esi_otf2_row *row;
    struct esi_otf2_read_record record;
    const struct esi_otf2_read_location *location =
        find_window(reading, id, window, &row, &record);
    const struct es_operation *call = location ? esi_otf2_read_call(location) : NULL;
    struct esi_otf2_channel channel;

    (void)attributes, (void)level;
    if (!is_epoch_call(call) || has_access(location) || !reading->causality)
        return esi_otf2_read_code(reading);
    channel = epoch_channel(location, call, window, UINT32_MAX);
    record.code = call->code;
    record.number = begins_epoch(call) ? esi_otf2_count(&reading->sends, &channel)
                                       : esi_otf2_last(&reading->sends, &channel);
    if (begins_epoch(call)) {
        struct esi_otf2_read_region *region = esi_otf2_read_innermost(location);

        region->window = window;
        region->group =
            esi_otf2_read_named(reading, &reading->tables.groups, "group", group);
        if (!region->group)
            return OTF2_CALLBACK_INTERRUPT;
    }
    return esi_otf2_read_keep(reading, location, &record, ESI_OTF2_READ_SEND, time);
}

/* Converts a member of the group of all ranks to its rank in a communicator; -1 if it
 * is not a member. */
static int32_t rank_in(const struct esi_otf2_reading *reading,
                       uint32_t communicator,
                       uint64_t member)
{
    const struct esi_otf2_row *group =
        esi_otf2_row(&reading->tables.groups,
                     reading->tables.communicators.rows[communicator].refers);

    for (uint32_t i = 0; group && i < group->count; i++)
        if (group->members[i] == member)
            return (int32_t)i;
    return -1;
}

OTF2_CallbackCode esi_otf2_read_members(struct esi_otf2_reading *reading,
                                        const struct esi_otf2_read_location *location,
                                        const struct esi_otf2_read_region *region,
                                        uint64_t stop_ns)
{
    struct esi_otf2_read_record record = region->records[ESI_OTF2_READ_SEND];
    OTF2_CallbackCode code = OTF2_CALLBACK_SUCCESS;

    record.code = region->operation->rma == ES_RMA_START ? ES_OP_MPI_Win_start_member
                                                         : ES_OP_MPI_Win_post_member;
    for (uint32_t i = 0; i < region->group->count && code == OTF2_CALLBACK_SUCCESS;
         i++) {
        struct esi_otf2_channel channel;

        record.peer = rank_in(reading, record.communicator, region->group->members[i]);
        if (record.peer < 0)
            continue;
        channel = epoch_channel(location, region->operation, region->window,
                                (uint32_t)record.peer);
        record.number = esi_otf2_count(&reading->sends, &channel);
        code = esi_otf2_read_add(reading, location, &record, region->start_ns, stop_ns);
    }
    return code;
}

/* --- Records that add nothing ----------------------------------------------------- */

static OTF2_CallbackCode note_begin(OTF2_LocationRef id,
                                    OTF2_TimeStamp time,
                                    void *data,
                                    OTF2_AttributeList *attributes)
{
    (void)time;
    (void)attributes;
    return esi_otf2_read_note(data, id);
}

static OTF2_CallbackCode note_request(OTF2_LocationRef id,
                                      OTF2_TimeStamp time,
                                      void *data,
                                      OTF2_AttributeList *attributes,
                                      uint64_t request)
{
    (void)time;
    (void)attributes;
    (void)request;
    return esi_otf2_read_note(data, id);
}

static OTF2_CallbackCode note_window(OTF2_LocationRef id,
                                     OTF2_TimeStamp time,
                                     void *data,
                                     OTF2_AttributeList *attributes,
                                     OTF2_RmaWinRef window)
{
    (void)time;
    (void)attributes;
    (void)window;
    return esi_otf2_read_note(data, id);
}

static OTF2_CallbackCode note_completion(OTF2_LocationRef id,
                                         OTF2_TimeStamp time,
                                         void *data,
                                         OTF2_AttributeList *attributes,
                                         OTF2_RmaWinRef window,
                                         uint64_t access)
{
    (void)time;
    (void)attributes;
    (void)window;
    (void)access;
    return esi_otf2_read_note(data, id);
}

static OTF2_CallbackCode note_lock(OTF2_LocationRef id,
                                   OTF2_TimeStamp time,
                                   void *data,
                                   OTF2_AttributeList *attributes,
                                   OTF2_RmaWinRef window,
                                   uint32_t peer,
                                   uint64_t number,
                                   OTF2_LockType type)
{
    (void)time;
    (void)attributes;
    (void)window;
    (void)peer;
    (void)number;
    (void)type;
    return esi_otf2_read_note(data, id);
}

void esi_otf2_read_windows(OTF2_GlobalEvtReaderCallbacks *callbacks)
{
    OTF2_GlobalEvtReaderCallbacks_SetRmaCollectiveEndCallback(callbacks,
                                                              take_window_collective);
    OTF2_GlobalEvtReaderCallbacks_SetRmaGroupSyncCallback(callbacks, take_group_sync);
    OTF2_GlobalEvtReaderCallbacks_SetRmaPutCallback(callbacks, take_put);
    OTF2_GlobalEvtReaderCallbacks_SetRmaGetCallback(callbacks, take_get);
    OTF2_GlobalEvtReaderCallbacks_SetRmaAtomicCallback(callbacks, take_atomic);
    OTF2_GlobalEvtReaderCallbacks_SetRmaRequestLockCallback(callbacks, take_lock);
    OTF2_GlobalEvtReaderCallbacks_SetRmaReleaseLockCallback(callbacks, take_unlock);
}

void esi_otf2_read_notes(OTF2_GlobalEvtReaderCallbacks *callbacks)
{
    OTF2_GlobalEvtReaderCallbacks_SetMpiCollectiveBeginCallback(callbacks, note_begin);
    OTF2_GlobalEvtReaderCallbacks_SetRmaCollectiveBeginCallback(callbacks, note_begin);
    OTF2_GlobalEvtReaderCallbacks_SetMpiIsendCompleteCallback(callbacks, note_request);
    OTF2_GlobalEvtReaderCallbacks_SetMpiRequestTestCallback(callbacks, note_request);
    OTF2_GlobalEvtReaderCallbacks_SetRmaAcquireLockCallback(callbacks, note_lock);
    OTF2_GlobalEvtReaderCallbacks_SetRmaWinCreateCallback(callbacks, note_window);
    OTF2_GlobalEvtReaderCallbacks_SetRmaWinDestroyCallback(callbacks, note_window);
    OTF2_GlobalEvtReaderCallbacks_SetRmaOpCompleteBlockingCallback(callbacks,
                                                                   note_completion);
    OTF2_GlobalEvtReaderCallbacks_SetRmaOpCompleteNonBlockingCallback(callbacks,
                                                                      note_completion);
    OTF2_GlobalEvtReaderCallbacks_SetRmaOpTestCallback(callbacks, note_completion);
    OTF2_GlobalEvtReaderCallbacks_SetRmaOpCompleteRemoteCallback(callbacks,
                                                                 note_completion);
}
