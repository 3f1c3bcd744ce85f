/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* time_link.c - derives match keys from operations. */
#include "config.h"

#include "monitors/events/time_link.h"

#include <string.h>

#include "eventspace/operation.h"
#include "tuplespace/operation_codes.h"
#include "tuplespace/plan/tree_rules.h"

/* The low bits of a tree tuple's tag are the operation's code. */
#define TAG_OPERATION 0xffff

static void link_message(const struct esi_activity *activity,
                         int rank,
                         bool receives,
                         enum esi_match_kind kind,
                         struct esi_time_link *link)
{
    if (activity->peer < 0 || activity->peer == rank)
        return;
    link->key.kind = kind;
    link->key.source = receives ? activity->peer : rank;
    link->key.destination = receives ? rank : activity->peer;
    link->key.tag = activity->tag;
    link->key.sequence = activity->sequence;
    link->ends = receives ? ES_TIME_AFTER : ES_TIME_BEFORE;
    link->members = 2;
    link->befores = 1;
}

/* Tree kind of a collective operation with a certain order of its members;
 * ES_TREE_KIND_COUNT = none.  If each member has its own count, some may not have to
 * wait. */
static enum esi_tree_kind kind_of(uint16_t operation)
{
    uint32_t bit = esi_tree_operation_of_code(operation);

    for (unsigned kind = 0; kind < ES_TREE_KIND_COUNT; kind++)
        if (bit & (1u << kind | ES_TREE_NONBLOCKING(kind)))
            return (enum esi_tree_kind)kind;
    return ES_TREE_KIND_COUNT;
}

static void link_collective(const struct esi_activity *activity,
                            bool is_root,
                            int size,
                            struct esi_time_link *link)
{
    enum esi_tree_kind kind = kind_of(activity->operation);
    bool from_root = kind == ES_TREE_BCAST || kind == ES_TREE_SCATTER;
    bool to_root = kind == ES_TREE_REDUCE || kind == ES_TREE_GATHER;

    if (kind == ES_TREE_KIND_COUNT || size < 2 ||
        (kind != ES_TREE_BARRIER && activity->bytes == 0))
        return;
    link->key.kind = ES_MATCH_COLLECTIVE;
    link->key.sequence = activity->sequence;
    link->members = (uint32_t)size;
    link->befores = from_root ? 1 : (uint32_t)size;
    link->ends = (!from_root || is_root ? ES_TIME_BEFORE : 0) |
                 ((to_root && !is_root) || (from_root && is_root) ? 0 : ES_TIME_AFTER);
}

/* An edge of a tree that carried a message. */
static void link_edge(const struct esi_activity *activity,
                      int rank,
                      bool arrives,
                      struct esi_time_link *link)
{
    bool up = activity->operation == ES_OP_tree_arrival_up ||
              activity->operation == ES_OP_tree_departure_up;

    if (activity->bytes == 0 &&
        kind_of((uint16_t)(activity->tag & TAG_OPERATION)) != ES_TREE_BARRIER)
        return;
    link_message(activity, rank, arrives, up ? ES_MATCH_EDGE_UP : ES_MATCH_EDGE_DOWN,
                 link);
}

void esi_time_link_read(const struct esi_activity *activity,
                        int rank,
                        int size,
                        struct esi_time_link *ret_link)
{
    const struct es_operation *operation = es_operation_find(activity->operation);
    struct esi_time_link link = {.ends = 0};

    if (operation && activity->has_communicator &&
        activity->sequence != ES_SEQUENCE_UNKNOWN) {
        switch (operation->op_class) {
        case ES_CLASS_SEND:
        case ES_CLASS_RECEIVE:
            link_message(activity, rank, operation->op_class == ES_CLASS_RECEIVE,
                         ES_MATCH_MESSAGE, &link);
            break;
        case ES_CLASS_COLLECTIVE:
            link_collective(activity, activity->peer == rank, size, &link);
            break;
        case ES_CLASS_ARRIVAL:
        case ES_CLASS_DEPARTURE:
            link_edge(activity, rank, operation->op_class == ES_CLASS_ARRIVAL, &link);
            break;
        default:
            break;
        }
    }
    if (link.key.kind)
        memcpy(link.key.communicator, activity->key, sizeof link.key.communicator);
    *ret_link = link;
}
