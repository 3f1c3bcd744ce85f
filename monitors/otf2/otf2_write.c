/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * otf2_write.c - writes the operations of a run as an OTF2 archive.
 *
 * Event sets have partial order, OTF2 has time order per location, and a request posted
 * before other calls is known only at its completion.  So all operations are sorted
 * first (otf2_sort.h), then written one location at a time.
 */
#include "config.h"

#include "monitors/otf2/otf2_write.h"

#include <errno.h>
#include <stdlib.h>

#include "monitors/otf2/otf2_archive.h"
#include "monitors/otf2/otf2_definitions.h"
#include "monitors/otf2/otf2_location.h"
#include "monitors/otf2/otf2_sort.h"
#include "tuplespace/operation_codes.h"
#include "tuplespace/operation_table.h"

enum { CANCELS = 64 };
enum { PSEUDO_FIRST = 900, PSEUDO_LAST = 999 }; /* codes that are not calls */

/* A call of MPI_Cancel. */
struct cancel {
    uint64_t ns;
    uint32_t trace;
    uint32_t communicator;
    int32_t tag;
};

struct esi_otf2_write {
    struct esi_otf2_write_config config;
    struct esi_otf2_archive archive;
    struct esi_otf2_definitions definitions;
    struct esi_otf2_sort *sort;
    struct esi_otf2_write_counts counts;
    struct cancel cancels[CANCELS]; /* the newest; by number modulo CANCELS */
    uint32_t cancel_count;
};

int esi_otf2_write_open(const struct esi_otf2_write_config *config,
                        struct es_error *error,
                        struct esi_otf2_write **ret_write)
{
    struct esi_otf2_write *write = calloc(1, sizeof *write);
    int result;

    if (!write)
        return -ENOMEM;
    write->config = *config;
    esi_otf2_begin_calls();
    result = esi_otf2_definitions_init(&write->definitions);
    if (result == 0)
        result = esi_otf2_sort_create(0, &write->sort);
    if (result == 0)
        result = esi_otf2_archive_open(config->path, error, &write->archive);
    if (result < 0) {
        esi_otf2_write_destroy(write);
        return result;
    }
    *ret_write = write;
    return 0;
}

void esi_otf2_write_destroy(struct esi_otf2_write *write)
{
    if (!write)
        return;
    esi_otf2_archive_discard(&write->archive);
    esi_otf2_end_calls();
    esi_otf2_sort_destroy(write->sort);
    esi_otf2_definitions_fini(&write->definitions);
    free(write);
}

/* --- Incoming operations ---------------------------------------------------------- */

static int take_trace(void *data, uint32_t trace, const char *name)
{
    struct esi_otf2_write *write = data;

    return trace == write->definitions.thread_count
               ? esi_otf2_add_trace(&write->definitions, name)
               : -EINVAL;
}

struct es_set_sink esi_otf2_write_sink(struct esi_otf2_write *write)
{
    return (struct es_set_sink){.trace = take_trace, .data = write};
}

/* An operation is recorded once: at its end, or at its start if it has not ended. */
static bool is_told_here(const struct esi_causal_call *call)
{
    bool is_open = call->told->tuple.stop == 0;

    if (call->role == ESI_ROLE_ENTER)
        return call->posted ? !call->operation->persistent : is_open;
    if (call->role == ESI_ROLE_SEND)
        return is_open || call->operation->rma != ES_RMA_COMPLETE;
    return true;
}

static enum esi_otf2_part part_of(const struct esi_causal_call *call)
{
    const struct es_operation *operation = call->operation;

    if (call->posted)
        return ESI_OTF2_POST;
    if (call->told->tuple.stop == 0)
        return ESI_OTF2_CALL;
    if (operation->persistent && (operation->op_class != ES_CLASS_COLLECTIVE ||
                                  call->told->tuple.sequence == ES_SEQUENCE_UNKNOWN))
        return ESI_OTF2_CALL;
    return operation->nonblocking ||
                   (operation->code >= PSEUDO_FIRST && operation->code <= PSEUDO_LAST)
               ? ESI_OTF2_REQUEST
               : ESI_OTF2_CALL;
}

static void note_cancel(struct esi_otf2_write *write,
                        const struct esi_otf2_record *record)
{
    write->cancels[write->cancel_count++ % CANCELS] = (struct cancel){
        record->start, record->location, record->communicator, record->tag};
}

/* A receive without message: from MPI_PROC_NULL, or cancelled. */
static bool was_cancelled(const struct esi_otf2_write *write,
                          const struct esi_otf2_record *record)
{
    for (uint32_t i = 0; i < CANCELS && i < write->cancel_count; i++) {
        const struct cancel *cancel = &write->cancels[i];

        if (cancel->trace == record->location && cancel->ns >= record->start &&
            cancel->ns <= record->stop &&
            cancel->communicator == record->communicator && cancel->tag == record->tag)
            return true;
    }
    return false;
}

static void note_times(struct esi_otf2_definitions *definitions,
                       const struct esi_otf2_record *record)
{
    uint64_t end_ns = record->open ? record->start : record->stop;

    definitions->has_times = true;
    if (record->start < definitions->begin_ns)
        definitions->begin_ns = record->start;
    if (end_ns > definitions->end_ns)
        definitions->end_ns = end_ns;
}

/* Adds the sends that a call has completed; other requests have their own records. */
static int add_completions(struct esi_otf2_write *write,
                           uint32_t trace,
                           const struct esi_causal_call *call)
{
    int result = 0;

    for (size_t i = 0; i < call->completed_count && result == 0; i++) {
        const struct esi_completed *completed = &call->completed[i];
        struct esi_otf2_record record = {.start = call->told->start_ns,
                                         .stop = call->told->stop_ns,
                                         .location = trace,
                                         .event = completed->index,
                                         .communicator = UINT32_MAX,
                                         .operation = completed->operation->code,
                                         .part = ESI_OTF2_COMPLETION};

        if (completed->operation->op_class == ES_CLASS_SEND && !completed->unsure &&
            completed->member)
            result = esi_otf2_sort_add(write->sort, &record);
    }
    return result;
}

static int add_call(struct esi_otf2_write *write,
                    uint32_t trace,
                    uint32_t event,
                    const struct esi_causal_call *call)
{
    const struct esi_causal_tuple *told = call->told;
    struct esi_otf2_record record = {
        .start = told->start_ns,
        .stop = told->stop_ns,
        .location = trace,
        .event = event,
        .peer = told->tuple.peer,
        .tag = told->tuple.tag,
        .bytes = es_tuple_bytes(&told->tuple),
        .sequence = told->tuple.sequence,
        .lost = call->lost,
        .operation = call->operation->code,
        .part = (uint8_t)part_of(call),
        .open = told->tuple.stop == 0,
        .communicator = call->member ? call->member->communicator->number : UINT32_MAX,
    };
    int result = esi_otf2_note_call(&write->definitions, trace, call);

    if (result < 0)
        return result;
    if (esi_operation_family(call->operation) == ES_OP_MPI_Cancel)
        note_cancel(write, &record);
    record.cancelled = record.part == ESI_OTF2_REQUEST && record.peer < 0 &&
                       call->operation->op_class == ES_CLASS_RECEIVE &&
                       was_cancelled(write, &record);
    note_times(&write->definitions, &record);
    write->counts.lost += call->lost;
    result = esi_otf2_sort_add(write->sort, &record);
    return result < 0 ? result : add_completions(write, trace, call);
}

static bool is_wanted(const struct esi_otf2_write *write,
                      const struct esi_causal_call *call)
{
    return !write->config.has_rank ||
           write->config.has_rank(write->config.data, call->thread->process->rank);
}

static int take_call(void *data,
                     const struct es_set_event *event,
                     const struct esi_causal_call *call)
{
    struct esi_otf2_write *write = data;

    if (!call || !call->operation || !is_told_here(call) || !is_wanted(write, call))
        return 0;
    return add_call(write, event->id.trace, event->id.index, call);
}

static int take_member(void *data, uint32_t trace, const struct esi_causal_call *call)
{
    struct esi_otf2_write *write = data;

    return call->member && is_wanted(write, call) ? add_call(write, trace, 0, call) : 0;
}

struct esi_causal_listener esi_otf2_write_listener(struct esi_otf2_write *write)
{
    return (struct esi_causal_listener){
        .told = take_call, .member = take_member, .data = write};
}

int esi_otf2_write_communicators(struct esi_otf2_write *write,
                                 const struct esi_run_model *run)
{
    return esi_otf2_add_communicators(&write->definitions, run);
}

/* --- Writing ---------------------------------------------------------------------- */

/* The location being written. */
struct event_output {
    struct esi_otf2_write *write;
    struct esi_otf2_location *location;
    OTF2_EvtWriter *writer; /* NULL = none yet */
    uint32_t trace;
};

static OTF2_ErrorCode end_location(struct event_output *output)
{
    OTF2_Archive *archive = output->write->archive.archive;
    struct esi_otf2_thread *thread;
    OTF2_ErrorCode code;

    if (!output->writer)
        return OTF2_SUCCESS;
    thread = &output->write->definitions.threads[output->trace];
    code = esi_otf2_location_end(output->location, &thread->open);
    output->write->counts.open += thread->open;
    if (code == OTF2_SUCCESS)
        code = OTF2_EvtWriter_GetNumberOfEvents(output->writer, &thread->events);
    if (code == OTF2_SUCCESS)
        code = OTF2_Archive_CloseEvtWriter(archive, output->writer);
    output->writer = NULL;
    return code;
}

/* Opens the files of a location.  Its local definitions are empty: events use global
 * numbers. */
static OTF2_ErrorCode open_location(OTF2_Archive *archive,
                                    OTF2_LocationRef location,
                                    OTF2_EvtWriter **ret_writer)
{
    OTF2_DefWriter *definitions = OTF2_Archive_GetDefWriter(archive, location);

    *ret_writer = OTF2_Archive_GetEvtWriter(archive, location);
    if (!definitions || !*ret_writer)
        return OTF2_ERROR_INVALID;
    return OTF2_Archive_CloseDefWriter(archive, definitions);
}

static OTF2_ErrorCode begin_location(struct event_output *output, uint32_t trace)
{
    const struct esi_otf2_thread *thread = &output->write->definitions.threads[trace];
    OTF2_ErrorCode code = open_location(output->write->archive.archive,
                                        esi_otf2_location_of(thread), &output->writer);

    output->trace = trace;
    if (code == OTF2_SUCCESS)
        esi_otf2_location_begin(output->location, output->writer);
    return code;
}

static OTF2_ErrorCode write_record(struct event_output *output,
                                   struct esi_otf2_record *record)
{
    OTF2_ErrorCode code = OTF2_SUCCESS;

    if (record->open)
        record->stop = output->write->definitions.end_ns;
    if (!output->writer || output->trace != record->location) {
        code = end_location(output);
        if (code == OTF2_SUCCESS)
            code = begin_location(output, record->location);
    }
    return code == OTF2_SUCCESS ? esi_otf2_location_add(output->location, record)
                                : code;
}

/* Readers expect event files of every location, even without events. */
static OTF2_ErrorCode write_silent_ranks(struct esi_otf2_write *write)
{
    OTF2_Archive *archive = write->archive.archive;
    OTF2_ErrorCode code = OTF2_SUCCESS;

    for (uint32_t rank = 0;
         rank < write->definitions.rank_count && code == OTF2_SUCCESS; rank++) {
        OTF2_EvtWriter *writer;

        if (esi_otf2_first_thread(&write->definitions, rank))
            continue;
        writer = OTF2_Archive_GetEvtWriter(archive, rank);
        code =
            writer ? OTF2_Archive_CloseEvtWriter(archive, writer) : OTF2_ERROR_INVALID;
    }
    return code;
}

static int write_records(struct event_output *output, struct es_error *error)
{
    struct esi_otf2_write *write = output->write;
    struct esi_otf2_record record;
    OTF2_ErrorCode code = OTF2_SUCCESS;
    int result = esi_otf2_sort_finish(write->sort);

    while (result == 0 && code == OTF2_SUCCESS &&
           (result = esi_otf2_sort_next(write->sort, &record)) > 0) {
        code = write_record(output, &record);
        result = 0;
    }
    if (code == OTF2_SUCCESS && result == 0)
        code = end_location(output);
    if (code == OTF2_SUCCESS && result == 0)
        code = write_silent_ranks(write);
    if (code != OTF2_SUCCESS)
        return esi_otf2_error(code, write->config.path, error);
    return result;
}

int esi_otf2_write_close(struct esi_otf2_write *write,
                         struct esi_otf2_write_counts *ret_counts,
                         struct es_error *error)
{
    struct event_output output = {.write = write};
    int result = esi_otf2_location_create(&write->definitions, &output.location);

    if (result < 0)
        return result;
    result = esi_otf2_number_groups(&write->definitions);
    if (result == 0)
        result = write_records(&output, error);
    esi_otf2_location_destroy(output.location);
    if (result == 0)
        result = esi_otf2_write_definitions(&write->definitions, write->archive.archive,
                                            write->config.path, error);
    if (result == 0)
        result = esi_otf2_archive_close(&write->archive, error);
    if (result == 0)
        *ret_counts = write->counts;
    return result;
}
