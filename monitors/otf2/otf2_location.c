/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* otf2_location.c - the events of one location. */
#include "config.h"

#include "monitors/otf2/otf2_location.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/heap.h"
#include "base/pool.h"
#include "eventspace/tuple.h"
#include "monitors/otf2/otf2_operations.h"
#include "monitors/otf2/otf2_rma.h"
#include "tuplespace/operation_codes.h"

/* A call in progress. */
struct call {
    struct esi_otf2_record record;
    const struct es_operation *operation;
    OTF2_RegionRef region;
};

/* A posted operation that is not complete, or the completion of a send. */
struct request {
    struct esi_otf2_record record;
    const struct es_operation *operation;
    uint64_t number; /* request number; none for half of a send and receive */
};

/* A send that was posted and is not complete, for tests of it. */
struct posted_send {
    uint64_t number;
    uint32_t communicator;
    int32_t peer;
    int32_t tag;
};

/* Beyond this limit the older half is dropped. */
enum { POSTED_SENDS_MAX = 4096 };

struct esi_otf2_location {
    struct esi_otf2_definitions *definitions; /* borrowed, as the next */
    OTF2_EvtWriter *writer;
    OTF2_AttributeList *open; /* attributes of operations in progress */
    OTF2_ErrorCode code;      /* the first error */
    struct call *calls;       /* innermost last; owned, like all below */
    size_t call_count, call_capacity;
    struct esi_pool requests;
    struct esi_heap completing; /* requests by their stop */
    struct posted_send *sends;
    size_t send_count, send_capacity;
    struct esi_otf2_record *starts; /* of persistent requests, before their call */
    size_t start_count, start_capacity;
    struct esi_otf2_rma rma;
    uint64_t number; /* number of accesses so far */
    uint64_t now;    /* time of the last event */
    uint64_t open_count;
};

int esi_otf2_location_create(struct esi_otf2_definitions *definitions,
                             struct esi_otf2_location **ret_location)
{
    struct esi_otf2_location *location = calloc(1, sizeof *location);

    if (!location)
        return -ENOMEM;
    location->definitions = definitions;
    location->rma.definitions = definitions;
    location->open = OTF2_AttributeList_New();
    if (!location->open) {
        free(location);
        return -ENOMEM;
    }
    *ret_location = location;
    return 0;
}

void esi_otf2_location_destroy(struct esi_otf2_location *location)
{
    if (!location)
        return;
    OTF2_AttributeList_Delete(location->open);
    free(location->calls);
    esi_pool_fini(&location->requests);
    esi_heap_fini(&location->completing);
    free(location->sends);
    free(location->starts);
    esi_otf2_rma_fini(&location->rma);
    free(location);
}

void esi_otf2_location_begin(struct esi_otf2_location *location, OTF2_EvtWriter *writer)
{
    location->writer = writer;
    location->code = OTF2_SUCCESS;
    location->call_count = 0;
    esi_pool_fini(&location->requests);
    esi_pool_init(&location->requests, sizeof(struct request));
    location->completing.count = 0;
    location->send_count = 0;
    location->start_count = 0;
    esi_otf2_rma_clear(&location->rma);
    location->number = 0;
    location->now = 0;
    location->open_count = 0;
}

static void note_code(struct esi_otf2_location *location, OTF2_ErrorCode code)
{
    if (location->code == OTF2_SUCCESS)
        location->code = code;
}

/* Time of the next event, which OTF2 requires not to be before the last. */
static uint64_t advance_time(struct esi_otf2_location *location, uint64_t ns)
{
    if (ns > location->now)
        location->now = ns;
    return location->now;
}

/* --- Messages --------------------------------------------------------------------- */

static bool has_channel(const struct esi_otf2_record *record)
{
    return record->peer >= 0 && record->communicator != UINT32_MAX;
}

/* MPI_ANY_TAG of an incomplete receive is not written. */
static uint32_t tag_of(const struct esi_otf2_record *record)
{
    return record->tag >= 0 ? (uint32_t)record->tag : OTF2_UNDEFINED_UINT32;
}

static void write_send(struct esi_otf2_location *location,
                       const struct esi_otf2_record *record,
                       const struct es_operation *operation)
{
    if (operation->persistent || !has_channel(record))
        return;
    if (!operation->posts) {
        note_code(location,
                  OTF2_EvtWriter_MpiSend(location->writer, NULL, location->now,
                                         (uint32_t)record->peer, record->communicator,
                                         tag_of(record), record->bytes));
        return;
    }
    note_code(location,
              OTF2_EvtWriter_MpiIsend(location->writer, NULL, location->now,
                                      (uint32_t)record->peer, record->communicator,
                                      tag_of(record), record->bytes, record->event));
    if (location->send_count == POSTED_SENDS_MAX) {
        location->send_count = POSTED_SENDS_MAX / 2;
        memcpy(location->sends, location->sends + POSTED_SENDS_MAX / 2,
               location->send_count * sizeof *location->sends);
    }
    if (ESI_ARRAY_RESERVE(location->sends, location->send_capacity,
                          location->send_count + 1) < 0) {
        note_code(location, OTF2_ERROR_ENOMEM);
        return;
    }
    location->sends[location->send_count++] = (struct posted_send){
        record->event, record->communicator, record->peer, record->tag};
}

static void write_receive(struct esi_otf2_location *location,
                          const struct esi_otf2_record *record)
{
    if (has_channel(record) && !record->open)
        note_code(location,
                  OTF2_EvtWriter_MpiRecv(location->writer, NULL, location->now,
                                         (uint32_t)record->peer, record->communicator,
                                         tag_of(record), record->bytes));
}

static void complete_send(struct esi_otf2_location *location, uint64_t number)
{
    struct posted_send *send = location->sends;
    const struct posted_send *end = send + location->send_count;

    while (send < end && send->number != number)
        send++;
    if (send < end) {
        memmove(send, send + 1, (size_t)(end - send - 1) * sizeof *send);
        location->send_count--;
    }
    note_code(location, OTF2_EvtWriter_MpiIsendComplete(location->writer, NULL,
                                                        location->now, number));
}

/* A wait for an access names its window. */
static void complete_access(struct esi_otf2_location *location,
                            const struct esi_otf2_record *record)
{
    const struct es_operation *awaited =
        record->sequence <= UINT16_MAX ? es_operation_find((uint16_t)record->sequence)
                                       : NULL;

    if (!record->open && record->bytes == 1 && awaited &&
        awaited->op_class == ES_CLASS_ONE_SIDED)
        note_code(location, esi_otf2_rma_complete(&location->rma, record,
                                                  location->writer, location->now));
}

/* --- Collective operations -------------------------------------------------------- */

struct collective_facts {
    OTF2_CollectiveOp name;
    uint32_t root;
    struct esi_otf2_sizes sizes;
};

static uint32_t root_of(const struct es_operation *operation,
                        const struct esi_otf2_record *record)
{
    if (operation->order != ES_ORDER_ROOT_TO_ALL &&
        operation->order != ES_ORDER_ALL_TO_ROOT)
        return OTF2_COLLECTIVE_ROOT_NONE;
    /* In an intercommunicator, the root is in the group that sends the data. */
    return record->peer >= 0 ? (uint32_t)record->peer : OTF2_COLLECTIVE_ROOT_THIS_GROUP;
}

/* Whether a thread's rank is the root of a collective operation. */
static bool is_root(const struct esi_otf2_location *location,
                    const struct esi_otf2_record *record,
                    const struct esi_run_communicator *communicator)
{
    int rank = location->definitions->threads[record->location].rank;

    return record->peer >= 0 && !communicator->between &&
           (uint32_t)record->peer < communicator->size &&
           communicator->world_ranks[record->peer] == rank;
}

static struct collective_facts describe_collective(
    const struct esi_otf2_location *location,
    const struct es_operation *operation,
    const struct esi_otf2_record *record)
{
    const struct esi_run_communicator *communicator =
        &location->definitions->communicators[record->communicator].of;

    return (struct collective_facts){
        .name = esi_otf2_collective(operation),
        .root = root_of(operation, record),
        .sizes =
            esi_otf2_sizes(operation, record->bytes,
                           is_root(location, record, communicator), communicator->size),
    };
}

/* On a known window. */
static bool is_one_sided(const struct call *call)
{
    return call->operation->op_class == ES_CLASS_ONE_SIDED &&
           call->record.communicator != UINT32_MAX && call->record.tag >= 0;
}

static bool is_collective(const struct call *call)
{
    return call->record.communicator != UINT32_MAX && !call->operation->nonblocking &&
           !call->operation->persistent &&
           call->operation->op_class != ES_CLASS_ONE_SIDED &&
           esi_otf2_collective(call->operation) != ESI_OTF2_NO_COLLECTIVE;
}

static void end_collective(struct esi_otf2_location *location, const struct call *call)
{
    const struct esi_otf2_record *record = &call->record;
    struct collective_facts found =
        describe_collective(location, call->operation, record);

    note_code(location, OTF2_EvtWriter_MpiCollectiveEnd(
                            location->writer, NULL, location->now, found.name,
                            record->communicator, found.root, found.sizes.sent,
                            found.sizes.received));
}

/* --- Requests --------------------------------------------------------------------- */

static bool is_collective_request(const struct request *request)
{
    return request->operation->op_class != ES_CLASS_RECEIVE;
}

static void write_posted(struct esi_otf2_location *location, struct request *request)
{
    const struct esi_otf2_record *record = &request->record;

    if (!request->operation->nonblocking) /* half of a blocking call */
        return;
    if (is_collective_request(request)) {
        if (record->communicator == UINT32_MAX)
            return;
        request->number = record->event;
        note_code(location,
                  OTF2_EvtWriter_NonBlockingCollectiveRequest(
                      location->writer, NULL, location->now, request->number));
    } else if (has_channel(record) || record->cancelled) {
        request->number = record->event;
        note_code(location,
                  OTF2_EvtWriter_MpiIrecvRequest(location->writer, NULL, location->now,
                                                 request->number));
    }
}

static void complete_collective(struct esi_otf2_location *location,
                                const struct request *request)
{
    const struct esi_otf2_record *record = &request->record;
    struct collective_facts found;

    if (request->number == 0 ||
        esi_otf2_collective(request->operation) == ESI_OTF2_NO_COLLECTIVE)
        return;
    found = describe_collective(location, request->operation, record);
    note_code(location, OTF2_EvtWriter_NonBlockingCollectiveComplete(
                            location->writer, NULL, location->now, found.name,
                            record->communicator, found.root, found.sizes.sent,
                            found.sizes.received, request->number));
}

static void complete_request(struct esi_otf2_location *location,
                             const struct request *request)
{
    const struct esi_otf2_record *record = &request->record;

    advance_time(location, record->stop);
    if (record->part == ESI_OTF2_COMPLETION)
        complete_send(location, record->event);
    else if (!request->operation->nonblocking)
        write_receive(location, record);
    else if (is_collective_request(request))
        complete_collective(location, request);
    else if (record->cancelled)
        note_code(location,
                  OTF2_EvtWriter_MpiRequestCancelled(location->writer, NULL,
                                                     location->now, request->number));
    else if (request->number > 0)
        note_code(location, OTF2_EvtWriter_MpiIrecv(
                                location->writer, NULL, location->now,
                                (uint32_t)record->peer, record->communicator,
                                tag_of(record), record->bytes, request->number));
}

/* Completes requests up to a time, or to just before it. */
static void complete_until(struct esi_otf2_location *location,
                           uint64_t ns,
                           bool including)
{
    while (location->completing.count > 0) {
        struct esi_heap_entry entry = esi_heap_top(&location->completing);
        uint32_t index = (uint32_t)entry.item;
        struct request *request = esi_pool_at(&location->requests, index);

        if (entry.key > ns || (entry.key == ns && !including))
            return;
        esi_heap_pop(&location->completing);
        complete_request(location, request);
        request->number = 0;
        esi_pool_give(&location->requests, index);
    }
}

static void add_request(struct esi_otf2_location *location,
                        const struct esi_otf2_record *record,
                        const struct es_operation *operation)
{
    uint32_t number;
    struct request *request = esi_pool_take(&location->requests, &number);

    if (!request ||
        esi_heap_reserve(&location->completing, location->requests.made) < 0) {
        note_code(location, OTF2_ERROR_ENOMEM);
        return;
    }
    *request = (struct request){.record = *record, .operation = operation};
    write_posted(location, request);
    if (!record->open)
        /* Requests that complete at the same time keep their order. */
        esi_heap_push(&location->completing, record->stop,
                      (uint64_t)record->order << 32 | number);
}

/* --- Unsuccessful tests ----------------------------------------------------------- */

static bool is_channel(const struct esi_otf2_record *test, int32_t peer, int32_t tag)
{
    return (test->peer == peer || test->peer == ES_PEER_ANY) &&
           (test->tag == tag || test->tag == ES_TAG_ANY);
}

static bool is_tested(const struct request *request,
                      const struct esi_otf2_record *test,
                      const struct es_operation *tested)
{
    const struct esi_otf2_record *record = &request->record;

    if (request->number == 0 || record->communicator != test->communicator ||
        request->operation->op_class != tested->op_class)
        return false;
    return is_collective_request(request) ? record->sequence == (uint32_t)test->tag
                                          : is_channel(test, record->peer, record->tag);
}

/* The oldest request that a test may refer to; 0 = none known. */
static uint64_t find_tested(const struct esi_otf2_location *location,
                            const struct esi_otf2_record *test,
                            const struct es_operation *tested)
{
    uint64_t number = 0;

    for (size_t i = 0; i < location->requests.made; i++) {
        const struct request *request = esi_pool_at(&location->requests, i);

        if (is_tested(request, test, tested) &&
            (number == 0 || request->number < number))
            number = request->number;
    }
    for (size_t i = 0; i < location->send_count && number == 0; i++) {
        const struct posted_send *send = &location->sends[i];

        if (tested->op_class == ES_CLASS_SEND &&
            send->communicator == test->communicator &&
            is_channel(test, send->peer, send->tag))
            number = send->number;
    }
    return number;
}

/* An unsuccessful test of one request names it, like a wait; other tests name none. */
static void write_test(struct esi_otf2_location *location,
                       const struct esi_otf2_record *test)
{
    const struct es_operation *tested = es_operation_find((uint16_t)test->sequence);
    uint64_t number = tested ? find_tested(location, test, tested) : 0;

    if (number > 0)
        note_code(location, OTF2_EvtWriter_MpiRequestTest(location->writer, NULL,
                                                          location->now, number));
}

/* --- Calls ------------------------------------------------------------------------ */

static void enter_call(struct esi_otf2_location *location,
                       const struct esi_otf2_record *record,
                       const struct es_operation *operation)
{
    struct call call = {.record = *record,
                        .operation = operation,
                        .region =
                            esi_otf2_region(location->definitions, operation->code)};

    if (location->call_count > 0 &&
        location->calls[location->call_count - 1].record.stop < record->stop)
        call.record.stop = location->calls[location->call_count - 1].record.stop;
    if (record->open) {
        location->open_count++;
        note_code(location, OTF2_AttributeList_AddStringRef(
                                location->open, ESI_OTF2_STATE, ESI_OTF2_TEXT_OPEN));
    }
    note_code(location, OTF2_EvtWriter_Enter(location->writer,
                                             record->open ? location->open : NULL,
                                             location->now, call.region));
    if (ESI_ARRAY_RESERVE(location->calls, location->call_capacity,
                          location->call_count + 1) < 0)
        note_code(location, OTF2_ERROR_ENOMEM);
    else
        location->calls[location->call_count++] = call;
}

static void begin_call(struct esi_otf2_location *location,
                       const struct esi_otf2_record *record,
                       const struct es_operation *operation)
{
    const struct call *call;

    enter_call(location, record, operation);
    if (location->code != OTF2_SUCCESS || record->part == ESI_OTF2_POST)
        return;
    call = &location->calls[location->call_count - 1];
    if (operation->op_class == ES_CLASS_SEND)
        write_send(location, record, operation);
    else if (is_collective(call))
        note_code(location, OTF2_EvtWriter_MpiCollectiveBegin(location->writer, NULL,
                                                              location->now));
    else if (is_one_sided(call))
        note_code(location, esi_otf2_rma_enter(&location->rma, record, location->writer,
                                               location->now, &location->number));
}

static void end_records(struct esi_otf2_location *location, const struct call *call)
{
    const struct es_operation *operation = call->operation;

    if (call->record.part == ESI_OTF2_POST)
        return;
    if (operation->op_class == ES_CLASS_RECEIVE && !operation->persistent)
        write_receive(location, &call->record);
    else if (operation->poll && !operation->probe &&
             call->record.sequence <= UINT16_MAX)
        write_test(location, &call->record);
    else if ((operation->waits || operation->poll) && !operation->probe)
        complete_access(location, &call->record);
    else if (is_collective(call) && !call->record.open)
        end_collective(location, call);
    else if (is_one_sided(call) && !call->record.open)
        note_code(location, esi_otf2_rma_leave(&location->rma, &call->record,
                                               location->writer, location->now));
}

/* Ends the innermost call, and the requests that complete in it. */
static void leave_call(struct esi_otf2_location *location)
{
    const struct call *call = &location->calls[location->call_count - 1];

    complete_until(location, call->record.stop, true);
    advance_time(location, call->record.stop);
    end_records(location, call);
    note_code(location, OTF2_EvtWriter_Leave(location->writer, NULL, location->now,
                                             call->region));
    location->call_count--;
}

static void leave_until(struct esi_otf2_location *location, uint64_t ns)
{
    while (location->call_count > 0 &&
           location->calls[location->call_count - 1].record.stop <= ns)
        leave_call(location);
    complete_until(location, ns, false);
}

/* Whether a receive or collective operation was posted by a call that has no tuple. */
static bool has_own_call(const struct es_operation *operation)
{
    return operation->op_class == ES_CLASS_RECEIVE && operation->nonblocking &&
           !operation->combined && operation->code < ES_OP_MPI_Sendrecv_receive;
}

static void post_request(struct esi_otf2_location *location,
                         const struct esi_otf2_record *record,
                         const struct es_operation *operation)
{
    OTF2_RegionRef region;

    if (operation->op_class == ES_CLASS_SEND) { /* completed by other calls */
        write_send(location, record, operation);
        return;
    }
    if (!has_own_call(operation)) {
        add_request(location, record, operation);
        return;
    }
    region = esi_otf2_region(location->definitions, operation->code);
    note_code(location,
              OTF2_EvtWriter_Enter(location->writer, NULL, location->now, region));
    add_request(location, record, operation);
    note_code(location,
              OTF2_EvtWriter_Leave(location->writer, NULL, location->now, region));
}

static void add_record(struct esi_otf2_location *location,
                       const struct esi_otf2_record *record)
{
    const struct es_operation *operation = es_operation_find(record->operation);
    uint64_t before;

    leave_until(location, record->start);
    before = location->now > 0 ? location->now : record->start;
    advance_time(location, record->start);
    if (record->lost > 0)
        note_code(location, OTF2_EvtWriter_BufferFlush(location->writer, NULL, before,
                                                       location->now));
    if (record->part == ESI_OTF2_REQUEST)
        post_request(location, record, operation);
    else
        begin_call(location, record, operation);
}

/* --- Starts ----------------------------------------------------------------------- */

static bool is_start(const struct esi_otf2_record *record)
{
    const struct es_operation *operation = es_operation_find(record->operation);

    return record->part == ESI_OTF2_REQUEST &&
           (operation->persistent ||
            (operation->code >= ES_OP_MPI_Start_send &&
             operation->code <= ES_OP_MPI_Start_partitioned_receive));
}

static bool is_member(const struct esi_otf2_record *record)
{
    return record->operation == ES_OP_MPI_Win_post_member ||
           record->operation == ES_OP_MPI_Win_start_member;
}

static void add_starts(struct esi_otf2_location *location)
{
    for (size_t i = 0; i < location->start_count; i++)
        add_record(location, &location->starts[i]);
    location->start_count = 0;
}

/* The tuples of started operations begin before that of the starting call: the region
 * begins with the first of them. */
OTF2_ErrorCode esi_otf2_location_add(struct esi_otf2_location *location,
                                     const struct esi_otf2_record *record)
{
    struct esi_otf2_record call = *record;

    if (record->part == ESI_OTF2_COMPLETION) { /* ends with the call before it */
        if (location->call_count > 0)
            call.stop = location->calls[location->call_count - 1].record.stop;
        add_request(location, &call, es_operation_find(record->operation));
        return location->code;
    }
    if (is_member(record)) {
        note_code(location, esi_otf2_rma_add_member(&location->rma, record));
        return location->code;
    }
    if (is_start(record)) {
        if (ESI_ARRAY_RESERVE(location->starts, location->start_capacity,
                              location->start_count + 1) < 0)
            return OTF2_ERROR_ENOMEM;
        location->starts[location->start_count++] = *record;
        return location->code;
    }
    if (location->start_count > 0 && es_operation_find(record->operation)->starts)
        call.start = location->starts[0].start;
    else
        add_starts(location);
    add_record(location, &call);
    add_starts(location);
    return location->code;
}

OTF2_ErrorCode esi_otf2_location_end(struct esi_otf2_location *location,
                                     uint64_t *ret_open)
{
    add_starts(location);
    leave_until(location, UINT64_MAX);
    *ret_open = location->open_count;
    return location->code;
}
