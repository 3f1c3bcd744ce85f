/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* otf2_read.c - converts the events of an archive to tuples and to an event set. */
#include "config.h"

#include "monitors/otf2/otf2_read.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "eventspace/tuple.h"
#include "monitors/otf2/otf2_archive.h"
#include "monitors/otf2/otf2_operations.h"
#include "monitors/otf2/otf2_read_private.h"
#include "monitors/otf2/otf2_world.h"
#include "tuplespace/operation_codes.h"

enum { READING_TUPLES = 8192 }; /* number of tuples between two updates of the order */

static OTF2_CallbackCode fail_reading(struct esi_otf2_reading *reading, int result)
{
    if (reading->result == 0)
        reading->result = result;
    return OTF2_CALLBACK_INTERRUPT;
}

/* --- Tuples ----------------------------------------------------------------------- */

static OTF2_CallbackCode add_tuple(struct esi_otf2_reading *reading,
                                   const struct esi_otf2_read_location *location,
                                   const struct es_tuple *tuple)
{
    const struct esi_causal_tuple told = {.tuple = *tuple,
                                          .start_ns = tuple->start,
                                          .stop_ns = tuple->stop,
                                          .error_ns = UINT64_MAX};
    int result = esi_causality_add(reading->causality, location->place.element, &told);

    if (result == 0 && ++reading->tuples % READING_TUPLES == 0)
        result = esi_causality_advance(reading->causality);
    return result < 0 ? fail_reading(reading, result) : OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode esi_otf2_read_add(struct esi_otf2_reading *reading,
                                    const struct esi_otf2_read_location *location,
                                    const struct esi_otf2_read_record *record,
                                    uint64_t start_ns,
                                    uint64_t stop_ns)
{
    const struct es_tuple tuple = {
        .start = start_ns,
        .stop = stop_ns > 0 ? stop_ns : 1,
        .operation = record->code,
        .communicator = record->communicator < ES_COMMUNICATOR_NONE
                            ? (uint16_t)record->communicator
                            : ES_COMMUNICATOR_NONE,
        .sequence = record->number,
        .peer = record->peer,
        .tag = record->tag,
        .bytes = record->bytes,
    };

    return add_tuple(reading, location, &tuple);
}

/* --- Locations of events ---------------------------------------------------------- */

/* The location of a record, once for each; NULL if it is not a thread of a rank. */
static struct esi_otf2_read_location *find_location(struct esi_otf2_reading *reading,
                                                    OTF2_LocationRef id)
{
    const struct esi_otf2_row *row = esi_otf2_row(&reading->tables.locations, id);
    struct esi_otf2_read_location *location =
        row ? &reading->locations[row - reading->tables.locations.rows] : NULL;

    reading->calls++;
    if (location && location->place.is_used)
        return location;
    reading->skipped++;
    return NULL;
}

OTF2_CallbackCode esi_otf2_read_note(struct esi_otf2_reading *reading,
                                     OTF2_LocationRef id)
{
    find_location(reading, id);
    return OTF2_CALLBACK_SUCCESS;
}

struct esi_otf2_row *esi_otf2_read_named(struct esi_otf2_reading *reading,
                                         const struct esi_otf2_table *table,
                                         const char *what,
                                         uint64_t id)
{
    struct esi_otf2_row *row = esi_otf2_row(table, id);

    if (!row)
        fail_reading(reading, es_error_set(reading->error, -EINVAL,
                                           "%s: an event names %s %" PRIu64
                                           ", which is not defined",
                                           reading->path, what, id));
    return row;
}

struct esi_otf2_read_location *esi_otf2_read_place(struct esi_otf2_reading *reading,
                                                   OTF2_LocationRef id,
                                                   uint64_t communicator,
                                                   uint32_t *ret_row)
{
    const struct esi_otf2_table *table = &reading->tables.communicators;
    struct esi_otf2_read_location *location = find_location(reading, id);
    const struct esi_otf2_row *row =
        location ? esi_otf2_read_named(reading, table, "communicator", communicator)
                 : NULL;

    if (!row)
        return NULL;
    *ret_row = (uint32_t)(row - table->rows);
    return location;
}

OTF2_CallbackCode esi_otf2_read_code(const struct esi_otf2_reading *reading)
{
    return reading->result < 0 ? OTF2_CALLBACK_INTERRUPT : OTF2_CALLBACK_SUCCESS;
}

struct esi_otf2_read_region *esi_otf2_read_innermost(
    const struct esi_otf2_read_location *location)
{
    return location->region_count > 0 ? &location->regions[location->region_count - 1]
                                      : NULL;
}

const struct es_operation *esi_otf2_read_call(
    const struct esi_otf2_read_location *location)
{
    const struct esi_otf2_read_region *region = esi_otf2_read_innermost(location);

    return region ? region->operation : NULL;
}

/* Operations started by a call are independent of the call. */
static bool is_in_start(const struct esi_otf2_read_location *location)
{
    const struct es_operation *call = esi_otf2_read_call(location);

    return call && call->starts;
}

static OTF2_CallbackCode take_enter(OTF2_LocationRef id,
                                    OTF2_TimeStamp time,
                                    void *data,
                                    OTF2_AttributeList *attributes,
                                    OTF2_RegionRef region)
{
    struct esi_otf2_reading *reading = data;
    struct esi_otf2_read_location *location = find_location(reading, id);
    const struct esi_otf2_row *row = esi_otf2_row(&reading->tables.regions, region);

    (void)attributes;
    if (!location)
        return OTF2_CALLBACK_SUCCESS;
    reading->skipped += !row || !row->operation;
    if (ESI_ARRAY_RESERVE(location->regions, location->region_capacity,
                          location->region_count + 1) < 0)
        return fail_reading(reading, -ENOMEM);
    location->regions[location->region_count++] = (struct esi_otf2_read_region){
        .operation = row ? row->operation : NULL,
        .start_ns = esi_otf2_time_ns(&reading->tables, time)};
    return OTF2_CALLBACK_SUCCESS;
}

/* An MPI call without a record: with MPI_PROC_NULL, or of another kind. */
static OTF2_CallbackCode add_plain(struct esi_otf2_reading *reading,
                                   const struct esi_otf2_read_location *location,
                                   const struct esi_otf2_read_region *region,
                                   uint64_t stop_ns)
{
    const struct esi_otf2_read_record record = {.code = region->operation->code,
                                                .communicator = ES_COMMUNICATOR_NONE,
                                                .peer = ES_PEER_NONE,
                                                .number = ES_SEQUENCE_UNKNOWN};

    if (region->operation->order != ES_ORDER_NONE && !region->operation->persistent)
        return OTF2_CALLBACK_SUCCESS;
    return esi_otf2_read_add(reading, location, &record, region->start_ns, stop_ns);
}

static OTF2_CallbackCode add_region(struct esi_otf2_reading *reading,
                                    const struct esi_otf2_read_location *location,
                                    const struct esi_otf2_read_region *region,
                                    uint64_t stop_ns)
{
    OTF2_CallbackCode code = OTF2_CALLBACK_SUCCESS;

    for (size_t i = 0; i < ESI_OTF2_READ_PARTS && code == OTF2_CALLBACK_SUCCESS; i++)
        if (region->records[i].is_there)
            code = esi_otf2_read_add(reading, location, &region->records[i],
                                     region->start_ns, stop_ns);
    if (code == OTF2_CALLBACK_SUCCESS && region->group)
        code = esi_otf2_read_members(reading, location, region, stop_ns);
    if (code == OTF2_CALLBACK_SUCCESS && region->operation && !region->is_told)
        code = add_plain(reading, location, region, stop_ns);
    return code;
}

static OTF2_CallbackCode take_leave(OTF2_LocationRef id,
                                    OTF2_TimeStamp time,
                                    void *data,
                                    OTF2_AttributeList *attributes,
                                    OTF2_RegionRef region)
{
    struct esi_otf2_reading *reading = data;
    struct esi_otf2_read_location *location = find_location(reading, id);

    (void)attributes;
    (void)region;
    if (!location || location->region_count == 0) {
        reading->skipped += location != NULL;
        return OTF2_CALLBACK_SUCCESS;
    }
    location->region_count--;
    reading->skipped += !location->regions[location->region_count].operation;
    if (!reading->causality)
        return OTF2_CALLBACK_SUCCESS;
    return add_region(reading, location, &location->regions[location->region_count],
                      esi_otf2_time_ns(&reading->tables, time));
}

/* --- Messages --------------------------------------------------------------------- */

OTF2_CallbackCode esi_otf2_read_keep(struct esi_otf2_reading *reading,
                                     const struct esi_otf2_read_location *location,
                                     const struct esi_otf2_read_record *record,
                                     enum esi_otf2_read_part part,
                                     OTF2_TimeStamp time)
{
    uint64_t ns = esi_otf2_time_ns(&reading->tables, time);
    struct esi_otf2_read_region *region = esi_otf2_read_innermost(location);

    if (!reading->causality)
        return OTF2_CALLBACK_SUCCESS;
    if (!region || region->records[part].is_there || is_in_start(location))
        return esi_otf2_read_add(reading, location, record, ns, ns);
    region->records[part] = *record;
    region->records[part].is_there = true;
    region->is_told = true;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode add_send(struct esi_otf2_reading *reading,
                                  OTF2_LocationRef id,
                                  OTF2_TimeStamp time,
                                  OTF2_CommRef communicator,
                                  struct esi_otf2_read_record record)
{
    const struct esi_otf2_read_location *location =
        esi_otf2_read_place(reading, id, communicator, &record.communicator);
    struct esi_otf2_channel channel = {.communicator = communicator,
                                       .peer = (uint32_t)record.peer,
                                       .tag = (uint32_t)record.tag,
                                       .kind = ESI_OTF2_MESSAGE};

    if (!location || !reading->causality)
        return esi_otf2_read_code(reading);
    record.code = esi_otf2_code_for(esi_otf2_read_call(location), ES_CLASS_SEND, false,
                                    record.code);
    channel.process = location->place.process;
    record.number = esi_otf2_count(&reading->sends, &channel);
    if (record.number == UINT32_MAX)
        return fail_reading(reading, -ENOMEM);
    return esi_otf2_read_keep(reading, location, &record, ESI_OTF2_READ_SEND, time);
}

static OTF2_CallbackCode take_send(OTF2_LocationRef id,
                                   OTF2_TimeStamp time,
                                   void *data,
                                   OTF2_AttributeList *attributes,
                                   uint32_t receiver,
                                   OTF2_CommRef communicator,
                                   uint32_t tag,
                                   uint64_t bytes)
{
    (void)attributes;
    return add_send(data, id, time, communicator,
                    (struct esi_otf2_read_record){.code = ES_OP_MPI_Send,
                                                  .peer = (int32_t)receiver,
                                                  .tag = (int32_t)tag,
                                                  .bytes = esi_otf2_read_bytes(bytes)});
}

static OTF2_CallbackCode take_isend(OTF2_LocationRef id,
                                    OTF2_TimeStamp time,
                                    void *data,
                                    OTF2_AttributeList *attributes,
                                    uint32_t receiver,
                                    OTF2_CommRef communicator,
                                    uint32_t tag,
                                    uint64_t bytes,
                                    uint64_t request)
{
    (void)attributes;
    (void)request;
    return add_send(data, id, time, communicator,
                    (struct esi_otf2_read_record){.code = ES_OP_MPI_Isend,
                                                  .peer = (int32_t)receiver,
                                                  .tag = (int32_t)tag,
                                                  .bytes = esi_otf2_read_bytes(bytes)});
}

/* The next post, which was added in the first pass. */
static OTF2_CallbackCode make_post(struct esi_otf2_reading *reading, size_t *ret_post)
{
    if (!reading->causality && esi_otf2_posts_add(&reading->posts) < 0)
        return fail_reading(reading, -ENOMEM);
    if (reading->next_post >= reading->posts.count)
        return fail_reading(reading, -EIO); /* the file has changed */
    *ret_post = reading->next_post++;
    return OTF2_CALLBACK_SUCCESS;
}

/* Sets the channel in the first pass, returns the number in the second. */
static uint32_t complete_post(struct esi_otf2_reading *reading,
                              size_t post,
                              const struct esi_otf2_channel *channel)
{
    if (!reading->causality)
        reading->posts.items[post].channel = *channel;
    return reading->posts.items[post].number;
}

static OTF2_CallbackCode take_receive(OTF2_LocationRef id,
                                      OTF2_TimeStamp time,
                                      void *data,
                                      OTF2_AttributeList *attributes,
                                      uint32_t sender,
                                      OTF2_CommRef communicator,
                                      uint32_t tag,
                                      uint64_t bytes)
{
    struct esi_otf2_reading *reading = data;
    struct esi_otf2_read_record record = {.peer = (int32_t)sender,
                                          .tag = (int32_t)tag,
                                          .bytes = esi_otf2_read_bytes(bytes)};
    const struct esi_otf2_read_location *location =
        esi_otf2_read_place(reading, id, communicator, &record.communicator);
    size_t post;

    (void)attributes;
    if (!location || make_post(reading, &post) != OTF2_CALLBACK_SUCCESS)
        return esi_otf2_read_code(reading);
    record.code = esi_otf2_code_for(esi_otf2_read_call(location), ES_CLASS_RECEIVE,
                                    false, ES_OP_MPI_Recv);
    record.number =
        complete_post(reading, post,
                      &(struct esi_otf2_channel){communicator, location->place.process,
                                                 sender, tag, ESI_OTF2_MESSAGE});
    return esi_otf2_read_keep(reading, location, &record, ESI_OTF2_READ_RECEIVE, time);
}

/* --- Requests --------------------------------------------------------------------- */

static OTF2_CallbackCode add_request(struct esi_otf2_reading *reading,
                                     OTF2_LocationRef id,
                                     OTF2_TimeStamp time,
                                     uint64_t number)
{
    struct esi_otf2_read_location *location = find_location(reading, id);
    struct esi_otf2_read_request request = {
        .id = number, .start_ns = esi_otf2_time_ns(&reading->tables, time)};
    struct esi_otf2_read_region *region;
    OTF2_CallbackCode code;

    if (!location)
        return OTF2_CALLBACK_SUCCESS;
    code = make_post(reading, &request.post);
    if (code != OTF2_CALLBACK_SUCCESS)
        return code;
    region = esi_otf2_read_innermost(location);
    if (region) {
        request.operation = region->operation;
        if (!is_in_start(location)) {
            request.start_ns = region->start_ns;
            region->is_told = true;
        }
    }
    if (ESI_ARRAY_RESERVE(location->requests, location->request_capacity,
                          location->request_count + 1) < 0)
        return fail_reading(reading, -ENOMEM);
    location->requests[location->request_count++] = request;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode take_request(OTF2_LocationRef id,
                                      OTF2_TimeStamp time,
                                      void *data,
                                      OTF2_AttributeList *attributes,
                                      uint64_t request)
{
    (void)attributes;
    return add_request(data, id, time, request);
}

/* Removes the request.  If it was never posted, posts it now. */
static OTF2_CallbackCode end_request(struct esi_otf2_reading *reading,
                                     struct esi_otf2_read_location *location,
                                     OTF2_TimeStamp time,
                                     uint64_t number,
                                     struct esi_otf2_read_request *ret_request)
{
    for (size_t i = location->request_count; i > 0; i--)
        if (location->requests[i - 1].id == number) {
            *ret_request = location->requests[i - 1];
            memmove(&location->requests[i - 1], &location->requests[i],
                    (location->request_count - i) * sizeof *location->requests);
            location->request_count--;
            return OTF2_CALLBACK_SUCCESS;
        }
    *ret_request = (struct esi_otf2_read_request){
        .start_ns = esi_otf2_time_ns(&reading->tables, time)};
    return make_post(reading, &ret_request->post);
}

/* Handles the completion of a request. */
static OTF2_CallbackCode complete_request(struct esi_otf2_reading *reading,
                                          const struct esi_otf2_read_location *location,
                                          OTF2_TimeStamp time,
                                          const struct esi_otf2_read_request *request,
                                          struct esi_otf2_channel channel,
                                          struct esi_otf2_read_record record)
{
    channel.process = location->place.process;
    record.number = complete_post(reading, request->post, &channel);
    if (!reading->causality)
        return OTF2_CALLBACK_SUCCESS;
    return esi_otf2_read_add(reading, location, &record, request->start_ns,
                             esi_otf2_time_ns(&reading->tables, time));
}

static OTF2_CallbackCode take_ireceive(OTF2_LocationRef id,
                                       OTF2_TimeStamp time,
                                       void *data,
                                       OTF2_AttributeList *attributes,
                                       uint32_t sender,
                                       OTF2_CommRef communicator,
                                       uint32_t tag,
                                       uint64_t bytes,
                                       uint64_t number)
{
    struct esi_otf2_reading *reading = data;
    struct esi_otf2_read_record record = {.peer = (int32_t)sender,
                                          .tag = (int32_t)tag,
                                          .bytes = esi_otf2_read_bytes(bytes)};
    struct esi_otf2_read_location *location =
        esi_otf2_read_place(reading, id, communicator, &record.communicator);
    struct esi_otf2_read_request request;

    (void)attributes;
    if (!location ||
        end_request(reading, location, time, number, &request) != OTF2_CALLBACK_SUCCESS)
        return esi_otf2_read_code(reading);
    record.code =
        esi_otf2_code_for(request.operation, ES_CLASS_RECEIVE, true, ES_OP_MPI_Irecv);
    return complete_request(reading, location, time, &request,
                            (struct esi_otf2_channel){.communicator = communicator,
                                                      .peer = sender,
                                                      .tag = tag,
                                                      .kind = ESI_OTF2_MESSAGE},
                            record);
}

static OTF2_CallbackCode take_cancelled(OTF2_LocationRef id,
                                        OTF2_TimeStamp time,
                                        void *data,
                                        OTF2_AttributeList *attributes,
                                        uint64_t number)
{
    struct esi_otf2_read_record record = {.communicator = ES_COMMUNICATOR_NONE,
                                          .peer = ES_PEER_NONE};
    struct esi_otf2_reading *reading = data;
    struct esi_otf2_read_location *location = find_location(reading, id);

    (void)attributes;
    for (size_t i = 0; location && i < location->request_count; i++) {
        struct esi_otf2_read_request request = location->requests[i];

        if (request.id != number)
            continue;
        location->requests[i] = location->requests[--location->request_count];
        record.code = esi_otf2_code_for(request.operation, ES_CLASS_RECEIVE, true,
                                        ES_OP_MPI_Irecv);
        return complete_request(reading, location, time, &request,
                                (struct esi_otf2_channel){.kind = ESI_OTF2_NOTHING},
                                record);
    }
    return OTF2_CALLBACK_SUCCESS;
}

/* --- Collective operations -------------------------------------------------------- */

/* The content of a collective record; its code is 0 if it is ignored. */
static struct esi_otf2_read_record describe_collective(
    const struct esi_otf2_reading *reading,
    const struct es_operation *region,
    bool nonblocking,
    OTF2_CollectiveOp name,
    uint32_t communicator,
    uint32_t root,
    struct esi_otf2_sizes sizes)
{
    const struct esi_otf2_row *row = &reading->tables.communicators.rows[communicator];
    const struct esi_otf2_row *group =
        esi_otf2_row(&reading->tables.groups, row->refers);
    bool is_named = region && esi_otf2_collective(region) == name &&
                    region->nonblocking == nonblocking &&
                    region->op_class != ES_CLASS_ONE_SIDED;
    bool persistent = region && region->starts;

    return (struct esi_otf2_read_record){
        .code = is_named ? region->code : esi_otf2_code_of(name, persistent),
        .communicator = communicator,
        .peer = root < OTF2_COLLECTIVE_ROOT_THIS_GROUP ? (int32_t)root : ES_PEER_NONE,
        .bytes = esi_otf2_bytes_of(name, sizes, group ? group->count : 0),
        .number = ES_SEQUENCE_UNKNOWN,
    };
}

OTF2_CallbackCode esi_otf2_read_number(struct esi_otf2_reading *reading,
                                       const struct esi_otf2_read_location *location,
                                       struct esi_otf2_read_record *record,
                                       uint32_t kind,
                                       uint64_t id)
{
    const struct esi_otf2_channel channel = {
        .communicator = id, .process = location->place.process, .kind = kind};
    OTF2_CallbackCode code;
    size_t post;

    if (es_operation_find(record->code)->order == ES_ORDER_NONE)
        return OTF2_CALLBACK_SUCCESS;
    code = make_post(reading, &post);
    if (code == OTF2_CALLBACK_SUCCESS)
        record->number = complete_post(reading, post, &channel);
    return code;
}

static OTF2_CallbackCode take_collective(OTF2_LocationRef id,
                                         OTF2_TimeStamp time,
                                         void *data,
                                         OTF2_AttributeList *attributes,
                                         OTF2_CollectiveOp name,
                                         OTF2_CommRef communicator,
                                         uint32_t root,
                                         uint64_t sent,
                                         uint64_t received)
{
    struct esi_otf2_reading *reading = data;
    uint32_t row;
    const struct esi_otf2_read_location *location =
        esi_otf2_read_place(reading, id, communicator, &row);
    struct esi_otf2_read_record record;

    (void)attributes;
    if (!location)
        return esi_otf2_read_code(reading);
    record = describe_collective(reading, esi_otf2_read_call(location), false, name,
                                 row, root, (struct esi_otf2_sizes){sent, received});
    if (record.code == 0 ||
        esi_otf2_read_number(reading, location, &record, ESI_OTF2_COLLECTIVE,
                             communicator) != OTF2_CALLBACK_SUCCESS)
        return esi_otf2_read_code(reading);
    return esi_otf2_read_keep(reading, location, &record, ESI_OTF2_READ_COLLECTIVE,
                              time);
}

static OTF2_CallbackCode take_complete_collective(OTF2_LocationRef id,
                                                  OTF2_TimeStamp time,
                                                  void *data,
                                                  OTF2_AttributeList *attributes,
                                                  OTF2_CollectiveOp name,
                                                  OTF2_CommRef communicator,
                                                  uint32_t root,
                                                  uint64_t sent,
                                                  uint64_t received,
                                                  uint64_t number)
{
    struct esi_otf2_reading *reading = data;
    uint32_t row;
    struct esi_otf2_read_location *location =
        esi_otf2_read_place(reading, id, communicator, &row);
    struct esi_otf2_read_request request;
    struct esi_otf2_read_record record;

    (void)attributes;
    if (!location ||
        end_request(reading, location, time, number, &request) != OTF2_CALLBACK_SUCCESS)
        return esi_otf2_read_code(reading);
    record = describe_collective(reading, request.operation, true, name, row, root,
                                 (struct esi_otf2_sizes){sent, received});
    if (record.code == 0)
        return OTF2_CALLBACK_SUCCESS;
    return complete_request(reading, location, time, &request,
                            (struct esi_otf2_channel){.communicator = communicator,
                                                      .kind = ESI_OTF2_COLLECTIVE},
                            record);
}

/* --- Reading ---------------------------------------------------------------------- */

static void set_callbacks(OTF2_GlobalEvtReaderCallbacks *callbacks)
{
    OTF2_GlobalEvtReaderCallbacks_SetEnterCallback(callbacks, take_enter);
    OTF2_GlobalEvtReaderCallbacks_SetLeaveCallback(callbacks, take_leave);
    OTF2_GlobalEvtReaderCallbacks_SetMpiSendCallback(callbacks, take_send);
    OTF2_GlobalEvtReaderCallbacks_SetMpiIsendCallback(callbacks, take_isend);
    OTF2_GlobalEvtReaderCallbacks_SetMpiRecvCallback(callbacks, take_receive);
    OTF2_GlobalEvtReaderCallbacks_SetMpiIrecvRequestCallback(callbacks, take_request);
    OTF2_GlobalEvtReaderCallbacks_SetMpiIrecvCallback(callbacks, take_ireceive);
    OTF2_GlobalEvtReaderCallbacks_SetMpiRequestCancelledCallback(callbacks,
                                                                 take_cancelled);
    OTF2_GlobalEvtReaderCallbacks_SetMpiCollectiveEndCallback(callbacks,
                                                              take_collective);
    OTF2_GlobalEvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(callbacks,
                                                                          take_request);
    OTF2_GlobalEvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(
        callbacks, take_complete_collective);
    esi_otf2_read_windows(callbacks);
    esi_otf2_read_notes(callbacks);
}

/* Opens the events of all locations; the library requires a selection. */
static OTF2_ErrorCode open_events(const struct esi_otf2_reading *reading,
                                  OTF2_Reader *reader)
{
    const struct esi_otf2_table *locations = &reading->tables.locations;
    OTF2_ErrorCode code = OTF2_SUCCESS;
    bool has_definitions;

    for (size_t i = 0; i < locations->count && code == OTF2_SUCCESS; i++)
        if (locations->rows[i].other > 0)
            code = OTF2_Reader_SelectLocation(reader, locations->rows[i].id);
    /* Not every tool writes definitions of locations. */
    has_definitions = OTF2_Reader_OpenDefFiles(reader) == OTF2_SUCCESS;
    if (code == OTF2_SUCCESS)
        code = OTF2_Reader_OpenEvtFiles(reader);
    for (size_t i = 0; i < locations->count && code == OTF2_SUCCESS; i++) {
        OTF2_DefReader *definitions;
        uint64_t count;

        if (locations->rows[i].other == 0)
            continue;
        definitions = has_definitions
                          ? OTF2_Reader_GetDefReader(reader, locations->rows[i].id)
                          : NULL;
        if (definitions) {
            code = OTF2_Reader_ReadAllLocalDefinitions(reader, definitions, &count);
            OTF2_Reader_CloseDefReader(reader, definitions);
        }
        if (!OTF2_Reader_GetEvtReader(reader, locations->rows[i].id))
            code = OTF2_ERROR_INVALID;
    }
    if (has_definitions)
        OTF2_Reader_CloseDefFiles(reader);
    return code;
}

static int read_events(struct esi_otf2_reading *reading, OTF2_Reader *reader)
{
    OTF2_GlobalEvtReaderCallbacks *callbacks = OTF2_GlobalEvtReaderCallbacks_New();
    OTF2_ErrorCode code = callbacks ? open_events(reading, reader) : OTF2_ERROR_ENOMEM;
    OTF2_GlobalEvtReader *events = NULL;
    uint64_t count = 0;

    if (reading->tables.event_count == 0) { /* an error for the library */
        OTF2_GlobalEvtReaderCallbacks_Delete(callbacks);
        return 0;
    }
    if (code == OTF2_SUCCESS) {
        events = OTF2_Reader_GetGlobalEvtReader(reader);
        code = events ? OTF2_SUCCESS : OTF2_ERROR_INVALID;
    }
    if (code == OTF2_SUCCESS) {
        set_callbacks(callbacks);
        code =
            OTF2_Reader_RegisterGlobalEvtCallbacks(reader, events, callbacks, reading);
    }
    if (code == OTF2_SUCCESS)
        code = OTF2_Reader_ReadAllGlobalEvents(reader, events, &count);
    reading->records = count;
    OTF2_GlobalEvtReaderCallbacks_Delete(callbacks);
    if (reading->result < 0)
        return reading->result;
    if (code != OTF2_SUCCESS)
        return esi_otf2_error(code, reading->path, reading->error);
    /* The library does not report truncated files.  EZTrace 2.0 defines fewer events
     * than it writes. */
    if (count >= reading->tables.event_count)
        return 0;
    return es_error_set(reading->error, -EINVAL,
                        "%s: the locations have %" PRIu64 " events instead of %" PRIu64,
                        reading->path, count, reading->tables.event_count);
}

static int prepare_reading(struct esi_otf2_reading *reading)
{
    const struct esi_otf2_table *locations = &reading->tables.locations;
    struct esi_otf2_world world = {.tables = &reading->tables,
                                   .causality = reading->causality,
                                   .path = reading->path,
                                   .error = reading->error};
    int result = esi_otf2_world_make(&world);

    reading->locations = calloc(locations->count + 1, sizeof *reading->locations);
    if (result == 0 && !reading->locations)
        result = -ENOMEM;
    for (size_t i = 0; i < locations->count && result == 0; i++)
        reading->locations[i].place = world.places[i];
    esi_otf2_world_fini(&world);
    return result;
}

static void finish_reading(struct esi_otf2_reading *reading)
{
    for (size_t i = 0; reading->locations && i < reading->tables.locations.count; i++) {
        free(reading->locations[i].regions);
        free(reading->locations[i].requests);
    }
    free(reading->locations);
    esi_otf2_tables_fini(&reading->tables);
    esi_otf2_counters_fini(&reading->sends);
}

/* Reads the archive once: definitions, or with them events. */
static int read_once(struct esi_otf2_reading *reading)
{
    OTF2_Reader *reader = OTF2_Reader_Open(reading->path);
    int result;

    if (!reader)
        return esi_otf2_error(OTF2_ERROR_INVALID, reading->path, reading->error);
    result = OTF2_Reader_SetSerialCollectiveCallbacks(reader) == OTF2_SUCCESS
                 ? esi_otf2_tables_read(&reading->tables, reader, reading->path,
                                        reading->error)
                 : -EINVAL;
    if (result == 0)
        result = prepare_reading(reading);
    if (result == 0)
        result = read_events(reading, reader);
    OTF2_Reader_Close(reader);
    finish_reading(reading);
    return result;
}

static int read_twice(const char *path,
                      struct esi_causality *causality,
                      struct esi_otf2_read_facts *facts,
                      struct es_error *error)
{
    struct esi_otf2_reading first = {.path = path, .error = error};
    struct esi_otf2_reading second = {
        .path = path, .error = error, .causality = causality};
    int result = read_once(&first);

    if (result == 0)
        result = esi_otf2_posts_number(&first.posts);
    second.posts = first.posts;
    if (result == 0)
        result = read_once(&second);
    free(first.posts.items);
    facts->records = second.records;
    facts->skipped = second.skipped + (second.records - second.calls);
    return result == 0 ? esi_causality_finish(causality) : result;
}

int esi_otf2_read(const char *path,
                  const struct es_set_sink *sink,
                  struct esi_otf2_read_facts *ret_facts,
                  struct es_error *error)
{
    const struct esi_causality_config config = {.sink = *sink, .attributes = true};
    struct esi_causality *causality;
    int result = esi_otf2_check_anchor(path, error);

    if (result == 0)
        result = esi_causality_create(&config, &causality);
    if (result < 0)
        return result;
    esi_otf2_begin_calls();
    result = read_twice(path, causality, ret_facts, error);
    esi_otf2_end_calls();
    if (result == 0) {
        esi_causality_totals(causality, &ret_facts->totals);
        ret_facts->is_incomplete = esi_causality_is_incomplete(causality);
    }
    esi_causality_destroy(causality);
    return result;
}
