/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* activity.c - converts tuples to activities. */
#include "config.h"

#include "monitors/follow/activity.h"

#include <string.h>

#include "eventspace/operation.h"
#include "tuplespace/operation_codes.h"

/* Whether the peer in the call is a rank of the communicator in the tuple. */
static bool has_peer_there(const struct es_operation *operation)
{
    switch (operation ? operation->op_class : ES_CLASS_NONE) {
    case ES_CLASS_SEND:
    case ES_CLASS_RECEIVE:
    case ES_CLASS_COLLECTIVE:
    case ES_CLASS_ONE_SIDED:
        return true;
    default:
        return operation && operation->probe;
    }
}

void esi_activity_check_peer(struct esi_activity *activity, int64_t size)
{
    if (size <= 0 || activity->argument < size ||
        !has_peer_there(es_operation_find(activity->operation)))
        return;
    activity->has_no_peer = true;
    activity->peer = ES_PEER_UNKNOWN;
}

static void read_communicator(const struct es_scope *scope,
                              uint32_t origin,
                              const struct es_tuple *tuple,
                              struct esi_activity *activity)
{
    struct es_communicator_info info;

    if (tuple->communicator == ES_COMMUNICATOR_NONE ||
        es_scope_communicator(scope, origin, tuple->communicator, &info) < 0)
        return;
    activity->has_communicator = true;
    memcpy(activity->key, info.key, sizeof activity->key);
    memcpy(activity->communicator, info.name, sizeof activity->communicator);
    activity->communicator[sizeof activity->communicator - 1] = '\0';
    esi_activity_check_peer(activity,
                            info.remote_size > 0 ? info.remote_size : info.size);
}

/* Whether the tuple's sequence is an operation code. */
static bool is_about_requests(const struct es_operation *operation)
{
    if (!operation)
        return false;
    return operation->op_class == ES_CLASS_COMPLETION || operation->starts;
}

/* These calls have no matching number of their own.  If they wait for a collective, its
 * instance is in the tag. */
static void read_awaited(const struct es_tuple *tuple, struct esi_activity *activity)
{
    const struct es_operation *awaited;

    if (!is_about_requests(es_operation_find(tuple->operation)))
        return;
    activity->sequence = ES_SEQUENCE_UNKNOWN;
    if (tuple->sequence > UINT16_MAX)
        return;
    awaited = es_operation_find((uint16_t)tuple->sequence);
    if (!awaited)
        return;
    activity->awaited = awaited->code;
    if (awaited->op_class == ES_CLASS_COLLECTIVE ||
        awaited->op_class == ES_CLASS_COMMUNICATOR) {
        activity->sequence = (uint32_t)tuple->tag;
        activity->tag = 0;
    }
}

/* The tuple of the start of a collective has its code in the tag and its instance in
 * the usual place. */
static void read_begun(const struct es_tuple *tuple, struct esi_activity *activity)
{
    const struct es_operation *begun;

    if (tuple->operation != ES_OP_MPI_collective_post)
        return;
    activity->tag = 0;
    begun = es_operation_find((uint16_t)tuple->tag);
    if (begun)
        activity->awaited = begun->code;
}

void esi_activity_init(const struct es_tuple *tuple, struct esi_activity *ret_activity)
{
    *ret_activity = (struct esi_activity){
        .present = true,
        .operation = tuple->operation & (uint16_t)~ES_OPERATION_FAILED,
        .error = es_tuple_error(tuple),
        .communicator_index = tuple->communicator,
        .peer = tuple->peer == ES_PEER_ANY ? ES_PEER_ANY
                : tuple->peer < 0          ? ES_PEER_NONE
                                           : ES_PEER_UNKNOWN,
        .argument = tuple->peer,
        .tag = tuple->tag,
        .bytes = es_tuple_bytes(tuple),
        .sequence = tuple->sequence,
    };
    read_awaited(tuple, ret_activity);
    read_begun(tuple, ret_activity);
}

void esi_activity_read(const struct es_scope *scope,
                       uint32_t origin,
                       const struct es_tuple *tuple,
                       struct esi_activity *ret_activity)
{
    const struct es_origin *from = es_scope_origin(scope, origin);
    struct esi_activity activity;
    uint64_t stop_error_ns = 0;

    esi_activity_init(tuple, &activity);
    activity.origin = origin;
    activity.peer = es_scope_peer(scope, origin, tuple);
    if (tuple->peer >= 0 && activity.peer < 0)
        activity.peer = ES_PEER_UNKNOWN;
    activity.start_ns = es_origin_run_ns(from, tuple->start, &activity.error_ns);
    if (tuple->stop)
        activity.stop_ns = es_origin_run_ns(from, tuple->stop, &stop_error_ns);
    if (stop_error_ns > activity.error_ns)
        activity.error_ns = stop_error_ns;
    read_communicator(scope, origin, tuple, &activity);
    *ret_activity = activity;
}

static void describe_partner(struct esi_row *row,
                             const char *name,
                             bool is_any,
                             int number)
{
    if (is_any)
        esi_row_text(row, name, NULL, "any");
    else
        esi_row_signed(row, name, NULL, number);
}

void esi_activity_describe_subject(struct esi_row *row,
                                   const struct esi_activity *activity)
{
    bool is = activity->present;
    bool is_any = activity->peer == ES_PEER_ANY;

    esi_row_text(row, "communicator", NULL,
                 activity->has_communicator ? activity->communicator : NULL);
    describe_partner(esi_row_if(row, is && (is_any || activity->peer >= 0)), "peer",
                     is_any, activity->peer);
    describe_partner(esi_row_if(row, is), "tag", activity->tag == ES_TAG_ANY,
                     activity->tag);
    esi_row_unsigned(esi_row_if(row, is), "bytes", NULL, activity->bytes);
    esi_row_unsigned(esi_row_if(row, is && activity->sequence != ES_SEQUENCE_UNKNOWN),
                     "sequence", NULL, activity->sequence);
}

void esi_activity_describe(struct esi_row *row,
                           const struct esi_activity *activity,
                           uint64_t start_ns)
{
    bool is = activity->present;

    esi_activity_describe_subject(row, activity);
    esi_row_text(row, "failed", NULL,
                 activity->error ? es_error_name(activity->error) : NULL);
    if (start_ns || !esi_row_is_json(row)) {
        esi_row_signed(esi_row_if(row, is), "start_ns", NULL,
                       (int64_t)(activity->start_ns - start_ns));
        esi_row_signed(esi_row_if(row, activity->stop_ns), "stop_ns", NULL,
                       (int64_t)(activity->stop_ns - start_ns));
    }
    if (!esi_row_is_json(row))
        return;
    esi_row_unsigned(esi_row_if(row, is), "start_unix_ns", NULL, activity->start_ns);
    esi_row_unsigned(esi_row_if(row, activity->stop_ns), "stop_unix_ns", NULL,
                     activity->stop_ns);
}

const char *esi_activity_awaits(const struct esi_activity *activity)
{
    return activity->awaited ? es_operation_name(activity->awaited) : NULL;
}
