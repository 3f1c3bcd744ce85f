/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* time_link.c - derives match keys from operations. */
#include "config.h"

#include "monitors/events/time_link.h"

#include "eventspace/operation.h"
#include "tuplespace/plan/tree_rules.h"
#include "wrappers/stages/node_edges.h"

static void link_message(const struct esi_run_member *member,
                         const struct esi_activity *activity,
                         const struct es_operation *operation,
                         struct esi_time_link *ret_link)
{
    bool receives = operation->op_class == ES_CLASS_RECEIVE ||
                    operation->op_class == ES_CLASS_ARRIVAL;
    struct esi_ends_key key;

    if (!esi_channel_key(member, activity->argument, !receives, &key) ||
        key.source == key.destination)
        return;
    key.kind = esi_message_kind_of(operation);
    key.tag = activity->tag;
    key.sequence = activity->sequence;
    *ret_link =
        (struct esi_time_link){.key = key,
                               .ends = receives ? ES_TIME_AFTER : ES_TIME_BEFORE,
                               .members = 2,
                               .befores = 1};
}

/* Only operations with a certain order of their members have a match: if each member
 * has its own count, some may not have to wait. */
static void link_collective(const struct esi_run_member *member,
                            const struct esi_activity *activity,
                            struct esi_time_link *ret_link)
{
    const struct esi_run_communicator *communicator = member->communicator;
    uint32_t bit = esi_tree_operation_of_code(activity->operation);
    uint32_t kinds = (bit | bit >> ES_TREE_KIND_COUNT) & ES_TREE_ALL_BLOCKING;
    bool from_root = kinds & (1u << ES_TREE_BCAST | 1u << ES_TREE_SCATTER);
    bool to_root = kinds & (1u << ES_TREE_REDUCE | 1u << ES_TREE_GATHER);
    bool is_root = activity->argument == member->rank;

    if (!kinds || communicator->between || communicator->size < 2 ||
        (activity->bytes == 0 && kinds != 1u << ES_TREE_BARRIER))
        return;
    *ret_link = (struct esi_time_link){
        .key = {.communicator = {communicator->number},
                .sequence = activity->sequence,
                .kind = ES_TIME_COLLECTIVE},
        .ends = (!from_root || is_root ? ES_TIME_BEFORE : 0) |
                ((to_root && !is_root) || (from_root && is_root) ? 0 : ES_TIME_AFTER),
        .members = communicator->size,
        .befores = from_root ? 1 : communicator->size,
    };
}

void esi_time_link_read(const struct esi_run_process *process,
                        const struct esi_activity *activity,
                        struct esi_time_link *ret_link)
{
    const struct es_operation *operation = es_operation_find(activity->operation);
    const struct esi_run_member *member =
        esi_run_member(process, activity->communicator_index);

    *ret_link = (struct esi_time_link){.ends = 0};
    if (!operation || !member || activity->sequence == ES_SEQUENCE_UNKNOWN)
        return;
    switch (operation->op_class) {
    case ES_CLASS_SEND:
    case ES_CLASS_RECEIVE:
        link_message(member, activity, operation, ret_link);
        break;
    case ES_CLASS_COLLECTIVE:
        link_collective(member, activity, ret_link);
        break;
    case ES_CLASS_ARRIVAL:
    case ES_CLASS_DEPARTURE:
        if (esi_tree_edge_has_message(activity->tag, activity->bytes))
            link_message(member, activity, operation, ret_link);
        break;
    default:
        break;
    }
}
