/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* instances.c - combines the entries of all members of each communicator. */
#include "config.h"

#include "monitors/verdict/instances.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "eventspace/tuple.h"
#include "monitors/verdict/channels.h"
#include "tuplespace/operation_codes.h"
#include "tuplespace/operation_table.h"

enum es_order_kind esi_instance_order(const struct es_operation *operation)
{
    return operation->code == ES_OP_MPI_File_open
               ? ES_ORDER_ALL_TO_ALL
               : (enum es_order_kind)operation->order;
}

bool esi_instance_is_one(const struct esi_activity *activity)
{
    const struct es_operation *operation = esi_activity_subject(activity);

    return operation && esi_instance_order(operation) != ES_ORDER_NONE &&
           activity->sequence != ES_SEQUENCE_UNKNOWN && activity->has_communicator;
}

int esi_instance_window(const struct esi_activity *activity)
{
    enum es_rma_kind kind = esi_rma_kind(activity->operation);

    return kind == ES_RMA_FENCE || kind == ES_RMA_FREE ? activity->tag
                                                       : ESI_FACT_NO_WINDOW;
}

/* --- Mismatches ------------------------------------------------------------------- */

/* Variants of an operation count as the same. */
static uint16_t family_of(uint16_t code)
{
    const struct es_operation *operation = es_operation_find(code);

    if (!operation)
        return 0;
    if (operation->code == ES_OP_MPI_Comm_dup_with_info)
        return ES_OP_MPI_Comm_dup;
    if (operation->code == ES_OP_MPI_Comm_idup_with_info)
        return ES_OP_MPI_Comm_idup;
    return esi_operation_family(operation);
}

static bool is_alike(const struct esi_instance_entry *a,
                     const struct esi_instance_entry *b,
                     bool has_roots)
{
    if (a->operation != b->operation)
        return false;
    if (has_roots && a->root >= 0 && b->root >= 0 && a->root != b->root)
        return false;
    return a->hash == 0 || b->hash == 0 || a->hash == b->hash;
}

/* Compares with the first member that entered the instance.  Instances older than the
 * recorded ones are ignored. */
static int compare_entry(struct esi_instance_table *instances,
                         const struct esi_facts *facts,
                         uint32_t group,
                         uint32_t instance,
                         const struct esi_instance_entry *entry)
{
    struct esi_instance_record *record =
        &instances->records[(size_t)group * ESI_INSTANCE_WINDOW +
                            instance % ESI_INSTANCE_WINDOW];
    bool has_roots = esi_fact_group(facts, group)->sizes[1] == 0;

    if (entry->operation == 0 ||
        (record->used && (int32_t)(instance - record->instance) < 0))
        return 0;
    if (!record->used || record->instance != instance) {
        *record = (struct esi_instance_record){
            .used = true, .instance = instance, .first = *entry};
        return 0;
    }
    if (record->mismatched || is_alike(&record->first, entry, has_roots)) {
        /* Completes what the first member did not record. */
        if (record->first.hash == 0)
            record->first.hash = entry->hash;
        return 0;
    }
    if (ESI_ARRAY_RESERVE(instances->mismatches, instances->mismatch_capacity,
                          instances->mismatch_count + 1) < 0)
        return -ENOMEM;
    record->mismatched = true;
    instances->mismatches[instances->mismatch_count++] = (struct esi_instance_mismatch){
        .group = group, .instance = instance, .entries = {record->first, *entry}};
    return 0;
}

bool esi_instance_table_is_mismatched(const struct esi_instance_table *instances,
                                      uint32_t group,
                                      uint32_t instance)
{
    const struct esi_instance_record *record =
        &instances->records[(size_t)group * ESI_INSTANCE_WINDOW +
                            instance % ESI_INSTANCE_WINDOW];

    return record->used && record->instance == instance && record->mismatched;
}

/* --- Known entries ---------------------------------------------------------------- */

/* Records an instance, if it is the `newest` of several, and compares it. */
static int note_entry(struct esi_instance_table *instances,
                      const struct esi_facts *facts,
                      const struct esi_fact_process *process,
                      const struct esi_ledger_instance *entry,
                      bool newest)
{
    uint32_t group = esi_fact_group_of(process, entry->communicator);
    struct esi_fact_entered entered = {.window = ESI_FACT_NO_WINDOW,
                                       .rank = process->rank,
                                       .instance = entry->instance};
    int result;

    if (group == ESI_FACT_NO_GROUP)
        return 0;
    memcpy(entered.key, esi_fact_group(facts, group)->key, sizeof entered.key);
    result = newest ? esi_fact_entries_note(&instances->entered, &entered) : 0;
    return result < 0
               ? result
               : compare_entry(instances, facts, group, entry->instance,
                               &(struct esi_instance_entry){
                                   .rank = process->rank,
                                   .operation = family_of(entry->operation),
                                   .root = esi_fact_world_rank(
                                       process, entry->communicator, entry->root),
                                   .hash = entry->hash});
}

/* Counts the collective calls on a window. */
static int note_window(struct esi_instance_table *instances,
                       const struct esi_facts *facts,
                       const struct esi_fact_process *process,
                       const struct esi_ledger_epoch_count *count)
{
    uint32_t group = esi_fact_group_of(process, count->communicator);
    struct esi_fact_entered entered = {
        .window = count->window, .rank = process->rank, .instance = count->started - 1};

    if (count->peer != ES_PEER_NONE || count->started == 0 ||
        group == ESI_FACT_NO_GROUP)
        return 0;
    memcpy(entered.key, esi_fact_group(facts, group)->key, sizeof entered.key);
    return esi_fact_entries_note(&instances->entered, &entered);
}

/* The operation in progress may be newer than the ledger, or not be in it. */
static int note_open(struct esi_instance_table *instances,
                     const struct esi_facts *facts,
                     const struct esi_fact_process *process,
                     const struct esi_thread_state *thread)
{
    const struct esi_activity *open = &thread->open;
    const struct es_operation *operation;
    struct esi_fact_entered entered = {.key = {open->key[0], open->key[1]},
                                       .rank = process->rank,
                                       .instance = open->sequence};
    uint32_t group;
    int result;

    if (!open->present || !esi_instance_is_one(open))
        return 0;
    entered.window = esi_instance_window(open);
    result = esi_fact_entries_note(&instances->entered, &entered);
    group = esi_fact_group_of(process, open->communicator_index);
    operation = esi_activity_subject(open);
    if (result < 0 || group == ESI_FACT_NO_GROUP ||
        entered.window != ESI_FACT_NO_WINDOW || open->awaited)
        return result;
    return compare_entry(
        instances, facts, group, open->sequence,
        &(struct esi_instance_entry){.rank = process->rank,
                                     .operation = family_of(operation->code),
                                     .root = open->peer});
}

static int note_process(struct esi_instance_table *instances,
                        const struct esi_facts *facts,
                        const struct esi_fact_process *process)
{
    const struct esi_ledger *ledger = process->ledger;
    int result = 0;

    for (size_t i = 0; ledger && i < ledger->instance_count && result == 0; i++) {
        const struct esi_ledger_instance *entry = &ledger->instances[i];
        bool newest = i + 1 == ledger->instance_count ||
                      entry[1].communicator != entry->communicator ||
                      (int32_t)(entry[1].instance - entry->instance) < 0;

        result = note_entry(instances, facts, process, entry, newest);
    }
    for (size_t i = 0; ledger && i < ledger->epoch_count_count && result == 0; i++)
        result = note_window(instances, facts, process, &ledger->epoch_counts[i]);
    for (size_t i = 0; i < process->thread_count && result == 0; i++)
        result = note_open(instances, facts, process,
                           &facts->threads[process->first_thread + i]);
    return result;
}

int esi_instance_table_init(struct esi_instance_table *instances,
                            const struct esi_facts *facts)
{
    int result = 0;

    *instances = (struct esi_instance_table){0};
    instances->records = calloc(esi_fact_group_count(facts) * ESI_INSTANCE_WINDOW + 1,
                                sizeof *instances->records);
    if (!instances->records)
        return -ENOMEM;
    for (size_t i = 0; facts->entered && i < facts->entered->count && result == 0; i++)
        result = esi_fact_entries_note(&instances->entered, &facts->entered->items[i]);
    for (size_t i = 0; i < facts->process_count && result == 0; i++)
        result = note_process(instances, facts, &facts->processes[i]);
    if (result < 0)
        esi_instance_table_fini(instances);
    return result;
}

void esi_instance_table_fini(struct esi_instance_table *instances)
{
    for (size_t i = 0; i < instances->count; i++) {
        free(instances->spaces[i].members);
        free(instances->spaces[i].ranks);
        free(instances->spaces[i].waiting);
    }
    free(instances->spaces);
    free(instances->records);
    free(instances->mismatches);
    esi_hash_fini(&instances->numbers);
    esi_fact_entries_fini(&instances->entered);
    *instances = (struct esi_instance_table){0};
}

/* --- Spaces ----------------------------------------------------------------------- */

static int compare_members(const void *a, const void *b)
{
    const struct esi_instance_member *first = a;
    const struct esi_instance_member *second = b;

    if (first->newest != second->newest)
        return first->newest < second->newest ? -1 : 1;
    return (first->rank > second->rank) - (first->rank < second->rank);
}

static void read_newest(const struct esi_instance_table *instances,
                        const struct esi_facts *facts,
                        struct esi_instance_space *space,
                        struct esi_instance_member *member,
                        bool *has_reference)
{
    struct esi_fact_entered wanted = {.window = space->window, .rank = member->rank};
    const struct esi_fact_entered *found;

    memcpy(wanted.key, esi_fact_group(facts, space->group)->key, sizeof wanted.key);
    found = esi_fact_entries_find(&instances->entered, &wanted);
    member->process = esi_facts_find_process(facts, member->rank);
    member->newest = INT64_MIN;
    if (!found)
        return;
    if (!*has_reference)
        space->reference = found->instance;
    *has_reference = true;
    member->newest = (int32_t)(found->instance - space->reference);
}

static int list_members(const struct esi_instance_table *instances,
                        const struct esi_facts *facts,
                        struct esi_instance_space *space)
{
    const struct esi_run_communicator *group = esi_fact_group(facts, space->group);
    size_t count = group->sizes[0] + group->sizes[1];
    struct esi_instance_member *members = calloc(count + 1, sizeof *members);
    int *ranks = calloc(count + 1, sizeof *ranks);
    size_t *waiting = calloc(count + 1, sizeof *waiting);
    bool has_reference = false;

    if (!members || !ranks || !waiting) {
        free(members);
        free(ranks);
        free(waiting);
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        members[i].rank = i < group->sizes[0]
                              ? esi_run_side_ranks(group, 0)[i]
                              : esi_run_side_ranks(group, 1)[i - group->sizes[0]];
        read_newest(instances, facts, space, &members[i], &has_reference);
    }
    qsort(members, count, sizeof *members, compare_members);
    for (size_t i = 0; i < count; i++)
        ranks[i] = members[i].rank;
    space->members = members;
    space->member_count = count;
    space->ranks = ranks;
    space->waiting = waiting;
    return 0;
}

struct esi_instance_space *esi_instance_table_find_space(
    struct esi_instance_table *instances,
    const struct esi_facts *facts,
    uint32_t group,
    int window,
    int *ret_error)
{
    const struct esi_run_communicator *members = esi_fact_group(facts, group);
    uint64_t hash = esi_hash_mix(group, (uint64_t)(uint32_t)window);
    struct esi_instance_space *space = NULL;

    *ret_error = 0;
    if (members->sizes[0] == 0 || !esi_run_side_ranks(members, 0) ||
        (members->sizes[1] && !esi_run_side_ranks(members, 1)))
        return NULL;
    ESI_HASH_FOREACH(slot, &instances->numbers, hash) {
        struct esi_instance_space *known =
            &instances->spaces[esi_hash_index(&instances->numbers, slot)];

        if (known->group == group && known->window == window)
            return known;
    }
    if (ESI_ARRAY_RESERVE(instances->spaces, instances->capacity,
                          instances->count + 1) < 0 ||
        esi_hash_reserve(&instances->numbers, instances->count + 1) < 0) {
        *ret_error = -ENOMEM;
        return NULL;
    }
    space = &instances->spaces[instances->count];
    *space = (struct esi_instance_space){.group = group,
                                         .window = window,
                                         .known = {SIZE_MAX, SIZE_MAX},
                                         .holding = SIZE_MAX};
    *ret_error = list_members(instances, facts, space);
    if (*ret_error < 0)
        return NULL;
    esi_hash_insert(&instances->numbers, hash, instances->count++);
    return space;
}

size_t esi_instance_space_missing(const struct esi_instance_space *space,
                                  uint32_t instance)
{
    int64_t wanted = (int32_t)(instance - space->reference);
    size_t low = 0, high = space->member_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (space->members[middle].newest < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
