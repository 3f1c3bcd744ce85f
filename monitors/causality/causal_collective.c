/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* causal_collective.c - instances of collective operations, in a table of ends. */
#include "config.h"

#include "monitors/causality/causal_collective.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "tuplespace/operation_table.h"
#include "wrappers/stages/node_edges.h"

#define NO_SLOT UINT32_MAX
#define NO_WINDOW INT64_C(-1)
/* Multiple of the patience after which an instance is given up in any case. */
enum { LAST_RESORT = 60 };

/* The key under which an instance is found.  Its weight is the number of members. */
struct instance_end {
    struct esi_end end;
    struct esi_instance *instance;
};

void esi_instances_init(struct esi_instances *instances,
                        struct esi_matching *matching,
                        const struct esi_causality_config *config)
{
    instances->config = config;
    instances->matching = matching;
    esi_ends_init(&instances->ends, sizeof(struct instance_end), config->held_max);
}

/* --- Series ----------------------------------------------------------------------- */

static struct esi_series_set *set_of(struct esi_instances *instances,
                                     const struct esi_run_communicator *communicator)
{
    struct esi_series_set **set;

    if (ESI_ARRAY_RESERVE(instances->series, instances->series_capacity,
                          (size_t)communicator->number + 1) < 0)
        return NULL;
    while (instances->series_count <= communicator->number)
        instances->series[instances->series_count++] = NULL;
    set = &instances->series[communicator->number];
    if (!*set)
        *set = calloc(1, sizeof **set);
    if (*set)
        (*set)->communicator = communicator;
    return *set;
}

struct esi_series *esi_series_find(struct esi_instances *instances,
                                   const struct esi_run_communicator *communicator,
                                   int64_t window)
{
    struct esi_series_set *set = set_of(instances, communicator);
    struct esi_series **at = set ? &set->first : NULL;
    struct esi_series *series;

    if (!set)
        return NULL;
    while (*at && (*at)->window != window)
        at = &(*at)->next;
    series = *at;
    if (series) {
        *at = series->next; /* series in use are found first */
    } else {
        series = calloc(1, sizeof *series);
        if (!series)
            return NULL;
        series->set = set;
        series->window = window;
        series->trace = UINT32_MAX;
    }
    series->next = set->first;
    set->first = series;
    return series;
}

/* Each member has two epochs: one that accesses and one that exposes. */
static void forget_epochs(struct esi_series *series)
{
    size_t count = 2 * (size_t)series->set->communicator->size;

    for (size_t i = 0; series->epochs && i < count; i++)
        free(series->epochs[i].members);
    free(series->epochs);
    series->epochs = NULL;
}

static void drop_series(struct esi_series *series)
{
    struct esi_series **at = &series->set->first;

    while (*at != series)
        at = &(*at)->next;
    *at = series->next;
    forget_epochs(series);
    free(series->past);
    free(series);
}

void esi_instances_fini(struct esi_instances *instances)
{
    for (size_t i = 0; i < instances->series_count; i++) {
        struct esi_series_set *set = instances->series[i];

        if (!set)
            continue;
        while (set->first)
            drop_series(set->first);
        ESI_LIST_FOREACH_SAFE(struct esi_instance, unused, &set->unused, link)
            free(unused);
        free(set);
    }
    free(instances->series);
    esi_ends_fini(&instances->ends);
}

/* Numbers wrap around. */
static bool is_older(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) < 0;
}

static bool is_between(const struct esi_instance *instance)
{
    return instance->series->set->communicator->between;
}

/* Returns the number of members of an instance. */
static uint32_t size_of(const struct esi_instance *instance)
{
    return instance->series->set->communicator->size;
}

/* Returns whether the instance has a junction. */
static bool joins_all(const struct esi_instance *instance)
{
    return instance->facts.operation->order == ES_ORDER_ALL_TO_ALL &&
           size_of(instance) > 1 && !is_between(instance);
}

/* Adds an instance to the list of unreleased instances, by number. */
static void list_instance(struct esi_instance *instance)
{
    struct esi_list *list = &instance->series->unreleased;
    struct esi_list_link *next = NULL;
    struct esi_instance *after = ESI_LIST_ITEM(struct esi_instance, list->last, link);

    while (after && is_older(instance->facts.number, after->facts.number)) {
        next = &after->link;
        after = ESI_LIST_ITEM(struct esi_instance, next->previous, link);
    }
    instance->listed = true;
    esi_list_insert(list, &instance->link, next);
}

static void unlist_instance(struct esi_instance *instance)
{
    if (instance->listed)
        esi_list_remove(&instance->series->unreleased, &instance->link);
    instance->listed = false;
}

static struct esi_instance *first_unreleased(const struct esi_series *series)
{
    return ESI_LIST_FIRST(struct esi_instance, &series->unreleased, link);
}

/* --- Instances -------------------------------------------------------------------- */

static void unref_instance(struct esi_instance *instance)
{
    struct esi_series *series = instance->series;

    if (--instance->references > 0)
        return;
    esi_list_prepend(&series->set->unused, &instance->link);
    if (--series->instances == 0 && series->freed)
        drop_series(series);
}

/* Marks a window as freed once all members have freed it. */
static void note_free(const struct esi_instance *instance)
{
    struct esi_series *series = instance->series;

    if (instance->facts.operation->rma != ES_RMA_FREE || series->window < 0 ||
        instance->exits < size_of(instance))
        return;
    series->freed = true;
    forget_epochs(series);
}

/* Counts a finished instance as complete or incomplete. */
static void count_members(struct esi_instances *instances,
                          const struct esi_instance *instance)
{
    uint32_t size = size_of(instance);
    bool left = instance->exits + instance->open >= size;

    if (instance->given == size && instance->exits == size && !instance->short_of)
        instances->matching->totals.collectives++;
    else if (instance->short_of || instance->lost > 0 || (instance->exits > 0 && !left))
        instances->matching->totals.incomplete++;
}

static void wake_members(struct esi_instances *instances, struct esi_instance *instance)
{
    for (uint32_t i = 0; i < size_of(instance); i++)
        esi_waiters_wake(instances->matching, &instance->slots[i].waiters);
}

static void report_instance(struct esi_instances *instances,
                            struct esi_instance *instance)
{
    const struct esi_causal_listener *listener = &instances->config->listener;
    int result;

    if (!listener->instance || instance->reported || instance->facts.known == 0)
        return;
    instance->reported = true;
    result = listener->instance(listener->data, &instance->facts);
    if (instances->result == 0)
        instances->result = result;
}

/* Whether a missing member was seen in a later instance; in all that it was seen in if
 * `always`. */
static bool is_passed(const struct esi_instance *instance, bool always)
{
    const struct esi_past *past = instance->series->past;

    for (uint32_t i = 0; i < size_of(instance); i++)
        if (!instance->facts.parts[i].thread && past->members[i].seen &&
            is_older(instance->facts.number,
                     always ? past->members[i].first : past->members[i].newest))
            return true;
    return false;
}

/* Counts an instance if there are no events, and remembers its end.  If it has no part,
 * all that is known is that it uses a tree. */
static void note_past(struct esi_instances *instances, struct esi_instance *instance)
{
    struct esi_causality_totals *totals = &instances->matching->totals;
    struct esi_causal_instance *facts = &instance->facts;
    struct esi_past *past = instance->series->past;
    bool complete = facts->known == size_of(instance);
    size_t place = facts->number % ESI_PAST;

    if (facts->known == 0)
        return;
    facts->begins_late = !complete && is_passed(instance, true);
    if (complete)
        totals->collectives++;
    else if (facts->begins_late)
        totals->beginnings++;
    else
        totals->incomplete++;
    past->numbers[place] = facts->number;
    past->endings[place] = complete ? ESI_ENDING_COMPLETE : ESI_ENDING_GIVEN_UP;
}

static struct instance_end *next_end(const struct instance_end *end)
{
    return ESI_LIST_ITEM(struct instance_end, end->end.link.next, end.link);
}

/* The end with this key, which usually is the last one that was found, or the next. */
static struct instance_end *find_end(struct esi_instances *instances,
                                     const struct esi_ends_key *key)
{
    struct instance_end *found = instances->near;

    if (found && found->end.key.sequence != key->sequence)
        found = next_end(found);
    if (!found || !esi_ends_is_same(&found->end.key, key))
        found = esi_ends_find(&instances->ends, key);
    if (found)
        instances->near = found;
    return found;
}

/* Removes an instance from the table and wakes everything that waits for it. */
static void retire_instance(struct esi_instances *instances,
                            struct esi_instance *instance)
{
    if (instances->near && &instances->near->end == instance->end)
        instances->near = next_end(instances->near);
    esi_ends_forget(&instances->ends, instance->end);
    instance->end = NULL;
    unlist_instance(instance);
    if (instances->config->only_instances) {
        note_past(instances, instance);
    } else {
        count_members(instances, instance);
        note_free(instance);
        esi_waiters_wake(instances->matching, &instance->waiters);
        wake_members(instances, instance);
    }
    report_instance(instances, instance);
    unref_instance(instance);
}

static struct esi_causal_part *parts_of(const struct esi_instances *instances,
                                        struct esi_instance *instance)
{
    size_t slots = instances->config->only_instances ? 0 : size_of(instance);

    return (struct esi_causal_part *)(void *)&instance->slots[slots];
}

static struct esi_instance *make_instance(const struct esi_instances *instances,
                                          struct esi_series *series)
{
    const struct esi_causality_config *config = instances->config;
    size_t size = series->set->communicator->size;
    size_t bytes = sizeof(struct esi_instance);
    struct esi_instance *instance =
        ESI_LIST_POP(struct esi_instance, &series->set->unused, link);

    if (!config->only_instances)
        bytes += size * sizeof(struct esi_causal_slot);
    if (config->only_instances || config->listener.instance)
        bytes += size * sizeof(struct esi_causal_part);
    if (!instance)
        instance = malloc(bytes);
    if (!instance)
        return NULL;
    memset(instance, 0, bytes);
    instance->series = series;
    instance->facts.communicator = series->set->communicator;
    instance->facts.parts = parts_of(instances, instance);
    return instance;
}

/* Removes the oldest instances until at most `held_max` members are held. */
static void bound_members(struct esi_instances *instances)
{
    struct instance_end *oldest;

    while ((oldest = esi_ends_excess(&instances->ends)) != NULL) {
        instances->matching->totals.crowded++;
        retire_instance(instances, oldest->instance);
    }
}

static struct esi_instance *begin_instance(struct esi_instances *instances,
                                           struct esi_series *series,
                                           const struct esi_ends_key *key,
                                           const struct es_operation *operation)
{
    struct esi_instance *instance = make_instance(instances, series);
    struct instance_end *end = instance ? esi_ends_add(&instances->ends, key) : NULL;
    bool only = instances->config->only_instances;

    if (!end) {
        free(instance);
        return NULL;
    }
    end->instance = instance;
    instance->end = &end->end;
    instance->facts.operation = operation;
    instance->facts.number = key->sequence;
    instance->facts.root = -1;
    instance->facts.least_bytes = UINT32_MAX;
    instance->serial = ++instances->count;
    instance->root = NO_SLOT;
    instance->references = 1;
    series->instances++;
    if (!only && joins_all(instance))
        list_instance(instance);
    esi_ends_wait(&instances->ends, instance->end, only ? 1 : size_of(instance));
    bound_members(instances);
    return instance;
}

static struct esi_ends_key key_of(const struct esi_run_communicator *communicator,
                                  int64_t window,
                                  uint32_t number)
{
    return (struct esi_ends_key){
        .communicator = {communicator->number, (uint64_t)window}, .sequence = number};
}

/* Finds or creates an instance; NULL if there is no memory. */
static struct esi_instance *meet_instance(struct esi_instances *instances,
                                          const struct esi_item *item)
{
    const struct esi_run_communicator *communicator = item->member->communicator;
    int64_t window =
        item->action == ESI_WINDOW_COLLECTIVE ? item->told.tuple.tag : NO_WINDOW;
    struct esi_ends_key key = key_of(communicator, window, item->told.tuple.sequence);
    struct esi_series *series = esi_series_find(instances, communicator, window);
    struct instance_end *found = find_end(instances, &key);

    if (!series)
        return NULL;
    return found ? found->instance
                 : begin_instance(instances, series, &key, item->operation);
}

/* Returns whether the dependences of the item can be determined. */
static bool has_order(const struct esi_item *item)
{
    return item->member && item->member->slot < item->member->communicator->size &&
           item->told.tuple.sequence != ES_SEQUENCE_UNKNOWN;
}

/* On an intercommunicator, only the group without the root names the root. */
static void note_root(struct esi_instances *instances,
                      struct esi_instance *instance,
                      const struct esi_item *item)
{
    enum es_order_kind order = (enum es_order_kind)instance->facts.operation->order;

    if (instance->root != NO_SLOT ||
        (order != ES_ORDER_ROOT_TO_ALL && order != ES_ORDER_ALL_TO_ROOT))
        return;
    instance->root = esi_run_peer_slot(item->member, item->told.tuple.peer);
    if (instance->root != NO_SLOT && is_between(instance))
        wake_members(instances, instance);
}

/* Sets the item's instance, if it has one. */
static int join_instance(struct esi_instances *instances, struct esi_item *item)
{
    struct esi_instance *instance;

    if (!has_order(item))
        return 0;
    instance = meet_instance(instances, item);
    if (!instance)
        return -ENOMEM;
    note_root(instances, instance, item);
    item->empty &= !is_between(instance); /* the groups have separate counts */
    instance->references++;
    item->instance = instance;
    item->slot = item->member->slot;
    return 0;
}

void esi_collective_leave(struct esi_item *item)
{
    if (item->instance)
        unref_instance(item->instance);
    item->instance = NULL;
}

/* --- Parts ------------------------------------------------------------------------ */

/* Adds what is known of all parts together. */
static void sum_up_part(struct esi_causal_instance *facts,
                        const struct esi_causal_tuple *told)
{
    uint32_t bytes = es_tuple_bytes(&told->tuple);
    uint64_t error_ns = told->error_ns;

    if (bytes > facts->most_bytes)
        facts->most_bytes = bytes;
    if (bytes < facts->least_bytes)
        facts->least_bytes = bytes;
    if (error_ns > facts->errors_ns[0]) {
        facts->errors_ns[1] = facts->errors_ns[0];
        facts->errors_ns[0] = error_ns;
    } else if (error_ns > facts->errors_ns[1]) {
        facts->errors_ns[1] = error_ns;
    }
}

/* Numbers the instances that a member was seen in. */
static void note_member(struct esi_past *past, uint32_t slot, uint32_t number)
{
    bool seen = past->members[slot].seen;

    past->members[slot].seen = true;
    if (!seen || is_older(number, past->members[slot].first))
        past->members[slot].first = number;
    if (!seen || is_older(past->members[slot].newest, number))
        past->members[slot].newest = number;
}

/* Adds the part of a member; the last one completes the instance. */
static void add_part(struct esi_instances *instances,
                     struct esi_instance *instance,
                     uint32_t slot,
                     const struct esi_run_thread *thread,
                     const struct es_operation *operation,
                     const struct esi_causal_tuple *told)
{
    struct esi_causality_totals *totals = &instances->matching->totals;
    struct esi_causal_instance *facts = &instance->facts;
    struct esi_causal_part *part = &parts_of(instances, instance)[slot];
    int32_t root = told->tuple.peer < 0 ? -1 : told->tuple.peer;

    if (instance->reported)
        return;
    if (facts->known > 0 &&
        (facts->root != root ||
         esi_operation_family(facts->operation) != esi_operation_family(operation))) {
        totals->mismatched++;
        return;
    }
    if (part->thread) {
        totals->duplicates++;
        return;
    }
    if (!facts->operation)
        facts->operation = operation;
    facts->root = root;
    *part = (struct esi_causal_part){thread, told->start_ns, told->stop_ns, told->site};
    sum_up_part(facts, told);
    if (instance->series->past)
        note_member(instance->series->past, slot, facts->number);
    if (++facts->known < size_of(instance))
        return;
    if (instances->config->only_instances)
        retire_instance(instances, instance);
    else
        report_instance(instances, instance);
}

/* --- Without events --------------------------------------------------------------- */

/* Finds the series of a communicator, usually the last one, with what is remembered of
 * it; NULL if there is no memory. */
static struct esi_series *series_of(struct esi_instances *instances,
                                    const struct esi_run_communicator *communicator)
{
    struct esi_series *series = instances->last;

    if (series && series->set->communicator == communicator)
        return series;
    series = esi_series_find(instances, communicator, NO_WINDOW);
    if (series && !series->past)
        series->past =
            calloc(1, sizeof *series->past +
                          communicator->size * sizeof *series->past->members);
    if (!series || !series->past)
        return NULL;
    return instances->last = series;
}

/* Whether so many later instances are finished that this one is not remembered. */
static bool is_forgotten(const struct esi_past *past, uint32_t number)
{
    return past->endings[number % ESI_PAST] != ESI_ENDING_NONE &&
           is_older(number, past->numbers[number % ESI_PAST]);
}

static enum esi_ending ending_of(const struct esi_past *past, uint32_t number)
{
    return past->numbers[number % ESI_PAST] == number
               ? (enum esi_ending)past->endings[number % ESI_PAST]
               : ESI_ENDING_NONE;
}

/* A tree only shows that the operation uses it: the times are in the operation's own
 * tuples. */
static void add_tree(struct esi_instance *instance, const struct es_tuple *tuple)
{
    instance->facts.tree = true;
    instance->facts.version = esi_tree_tag_version(tuple->tag);
}

static bool is_sound(const struct esi_run_member *member,
                     const struct es_operation *operation,
                     const struct esi_causal_tuple *told)
{
    uint32_t size = member->communicator->size;

    return operation && member->slot < size && told->start_ns > 0 &&
           told->stop_ns >= told->start_ns && told->tuple.peer < (int64_t)size;
}

/* Adds a tuple that belongs to an instance. */
static int match_member(struct esi_instances *instances,
                        const struct esi_run_member *member,
                        const struct esi_run_thread *thread,
                        const struct es_operation *operation,
                        const struct esi_causal_tuple *told)
{
    struct esi_causality_totals *totals = &instances->matching->totals;
    bool is_tree = operation->op_class == ES_CLASS_CONTRIBUTE;
    uint32_t number = told->tuple.sequence;
    struct esi_series *series = series_of(instances, member->communicator);
    struct esi_past *past = series ? series->past : NULL;
    struct esi_ends_key key = key_of(member->communicator, NO_WINDOW, number);
    struct instance_end *found = find_end(instances, &key);
    struct esi_instance *instance = found ? found->instance : NULL;

    if (!past)
        return -ENOMEM;
    if (!instance) {
        enum esi_ending ending = ending_of(past, number);

        if (ending != ESI_ENDING_NONE || (is_tree && is_forgotten(past, number))) {
            totals->duplicates += !is_tree && ending == ESI_ENDING_COMPLETE;
            totals->late += !is_tree && ending == ESI_ENDING_GIVEN_UP;
            return 0;
        }
        instance = begin_instance(instances, series, &key, is_tree ? NULL : operation);
        if (!instance)
            return -ENOMEM;
    }
    if (told->stop_ns > instance->newest_ns)
        instance->newest_ns = told->stop_ns;
    if (is_tree)
        add_tree(instance, &told->tuple);
    else
        add_part(instances, instance, member->slot, thread, operation, told);
    return 0;
}

int esi_collective_match(struct esi_instances *instances,
                         const struct esi_run_thread *thread,
                         const struct esi_causal_tuple *told)
{
    struct esi_causality_totals *totals = &instances->matching->totals;
    const struct es_tuple *tuple = &told->tuple;
    const struct esi_run_member *member =
        esi_run_member(thread->process, tuple->communicator);
    const struct es_operation *operation = instances->operation;

    if (tuple->operation != instances->code) {
        operation = instances->operation = es_operation_find(tuple->operation);
        instances->code = tuple->operation;
    }
    if (es_tuple_error(tuple) != 0 ||
        (operation && operation->op_class != ES_CLASS_COLLECTIVE &&
         operation->op_class != ES_CLASS_CONTRIBUTE))
        return 0;
    /* The call that initializes a persistent operation has no number; each start has
     * one. */
    if (!member || tuple->stop == 0 || tuple->sequence == ES_SEQUENCE_UNKNOWN) {
        totals->unplaced++;
        return 0;
    }
    if (member->communicator->between) {
        totals->between++;
        return 0;
    }
    if (!is_sound(member, operation, told)) {
        totals->invalid++;
        return 0;
    }
    return match_member(instances, member, thread, operation, told);
}

void esi_instances_expire(struct esi_instances *instances)
{
    uint64_t patience_ns = instances->matching->patience_ns;
    uint64_t now_ns = instances->matching->newest_ns;

    ESI_LIST_FOREACH_SAFE(struct instance_end, at, &instances->ends.waiting, end.link) {
        const struct esi_instance *instance = at->instance;
        uint64_t age_ns =
            now_ns > instance->newest_ns ? now_ns - instance->newest_ns : 0;

        if (age_ns / LAST_RESORT >= patience_ns ||
            (age_ns >= patience_ns && is_passed(instance, false)))
            retire_instance(instances, at->instance);
    }
}

/* --- Reading ---------------------------------------------------------------------- */

/* Records that a member will not enter. */
static int lose_member(struct esi_instances *instances,
                       struct esi_instance *instance,
                       uint32_t slot);

/* Places the enter.  If it is too late for its place, no event may depend on it. */
static int place_enter(struct esi_instances *instances, struct esi_item *item)
{
    struct esi_instance *instance = item->instance;
    struct esi_causal_slot *slot = instance ? &instance->slots[item->slot] : NULL;

    if (slot &&
        (slot->entry == ESI_ENTRY_READ || slot->entry == ESI_ENTRY_GIVEN ||
         (slot->entry == ESI_ENTRY_LOST && item->action == ESI_LATER_COLLECTIVE)))
        return 0;
    if (!esi_thread_has_place(item->element->thread, item->told.tuple.start)) {
        instances->matching->totals.late++;
        return slot ? lose_member(instances, instance, item->slot) : 0;
    }
    if (slot && slot->entry == ESI_ENTRY_UNSEEN)
        slot->entry = ESI_ENTRY_READ;
    return esi_thread_place(item, ESI_ROLE_ENTER);
}

int esi_collective_add(struct esi_instances *instances, struct esi_item *item)
{
    const struct es_tuple *tuple = &item->told.tuple;
    int result = join_instance(instances, item);

    if (result < 0)
        return result;
    if (!item->member)
        instances->matching->totals.unplaced++;
    else if (tuple->sequence == ES_SEQUENCE_UNKNOWN)
        instances->matching->totals.unnumbered++;
    result = place_enter(instances, item);
    if (result < 0)
        return result;
    if (tuple->stop != 0)
        return esi_thread_place(item, ESI_ROLE_EXIT);
    if (item->instance)
        item->instance->open++;
    return 0;
}

int esi_collective_add_post(struct esi_instances *instances, struct esi_item *item)
{
    int result;

    if (!item->operation || item->told.tuple.sequence == ES_SEQUENCE_UNKNOWN)
        return 0;
    result = join_instance(instances, item);
    return result < 0 || !item->instance ? result : place_enter(instances, item);
}

/* --- Junctions -------------------------------------------------------------------- */

static bool is_ready(const struct esi_instance *instance)
{
    return instance->given + instance->lost >= size_of(instance);
}

static struct esi_edge edge_of(const struct esi_instance *instance, uint32_t slot)
{
    return (struct esi_edge){.operation = instance->facts.operation,
                             .ns = instance->slots[slot].entered_ns,
                             .trace = instance->slots[slot].enter.trace};
}

/* Collects the enters of all members, and finds the last. */
static int collect_all(struct esi_partners *partners, struct esi_instance *instance)
{
    partners->count = 0;
    for (uint32_t i = 0; i < size_of(instance); i++) {
        const struct esi_causal_slot *slot = &instance->slots[i];

        if (slot->entry != ESI_ENTRY_GIVEN)
            continue;
        if (partners->count == 0 || slot->entered_ns > instance->release.edge.ns)
            instance->release.edge = edge_of(instance, i);
        if (esi_partners_add(partners, slot->enter, NULL) < 0)
            return -ENOMEM;
    }
    return 0;
}

/* An instance that is older than the last released one gets no junction: it would be
 * placed after that one. */
static int release_instance(struct esi_instances *instances,
                            struct esi_instance *instance)
{
    struct esi_series *series = instance->series;
    bool in_order = !series->has_released ||
                    is_older(series->last_released, instance->facts.number);
    int result = 0;

    unlist_instance(instance);
    instance->released = true;
    if (in_order) {
        series->has_released = true;
        series->last_released = instance->facts.number;
        result = collect_all(&instances->matching->partners, instance);
        if (result == 0)
            result = instances->release(instances->data, instance);
    }
    instance->short_of |= !in_order || instance->lost > 0;
    esi_waiters_wake(instances->matching, &instance->waiters);
    return result;
}

/* Releases instances that are ready, oldest first. */
static int advance_instances(struct esi_instances *instances, struct esi_series *series)
{
    struct esi_instance *first;
    int result = 0;

    while (result >= 0 && (first = first_unreleased(series)) != NULL && is_ready(first))
        result = release_instance(instances, first);
    return result;
}

/* Called when an enter has changed on which waiting exits of an instance depend. */
static int note_entry(struct esi_instances *instances,
                      struct esi_instance *instance,
                      uint32_t slot)
{
    esi_waiters_wake(instances->matching, &instance->slots[slot].waiters);
    if (!is_ready(instance))
        return 0;
    if (joins_all(instance))
        return advance_instances(instances, instance->series);
    esi_waiters_wake(instances->matching, &instance->waiters);
    return 0;
}

static int lose_member(struct esi_instances *instances,
                       struct esi_instance *instance,
                       uint32_t slot)
{
    if (instance->slots[slot].entry != ESI_ENTRY_UNSEEN)
        return 0;
    instance->slots[slot].entry = ESI_ENTRY_LOST;
    instance->lost++;
    return note_entry(instances, instance, slot);
}

/* Marks members as lost that would have been read if they had entered before `ns`. */
static int lose_missing(struct esi_instances *instances,
                        struct esi_instance *instance,
                        uint64_t ns)
{
    const struct esi_run_communicator *communicator =
        instance->series->set->communicator;
    int result = 0;

    if (instance->checked == instances->matching->settles + 1 || is_ready(instance))
        return 0;
    instance->checked = instances->matching->settles + 1;
    for (uint32_t i = 0; i < communicator->size && result >= 0; i++)
        if (instance->slots[i].entry == ESI_ENTRY_UNSEEN &&
            esi_thread_has_passed(instances->matching, communicator, i, ns))
            result = lose_member(instances, instance, i);
    return result;
}

/* An exit from an instance implies that all members have also entered the older
 * ones. */
static int lose_missing_up_to(struct esi_instances *instances,
                              struct esi_instance *instance,
                              uint64_t ns)
{
    struct esi_instance *older = first_unreleased(instance->series);
    int result = 0;

    /* The links of instances that are released meanwhile stay valid. */
    for (; older && older != instance && result >= 0;
         older = ESI_LIST_ITEM(struct esi_instance, older->link.next, link))
        result = lose_missing(instances, older, ns);
    if (result >= 0)
        result = lose_missing(instances, instance, ns);
    return result;
}

/* --- Emitting --------------------------------------------------------------------- */

bool esi_collective_is_named(const struct esi_item *enter)
{
    const struct esi_instance *instance = enter->instance;

    if (!instance || size_of(instance) < 2)
        return false;
    switch ((enum es_order_kind)instance->facts.operation->order) {
    case ES_ORDER_ROOT_TO_ALL: /* on an intercommunicator, the root itself names no
                                  root */
        return is_between(instance) ? enter->told.tuple.peer < 0
                                    : enter->slot == instance->root;
    case ES_ORDER_ALL_TO_ROOT:
        return is_between(instance) ? enter->told.tuple.peer >= 0
                                    : enter->slot != instance->root;
    case ES_ORDER_NONE:
        return false;
    default:
        return true;
    }
}

/* Retires an instance that all members have left. */
static void leave_instance(struct esi_instances *instances,
                           struct esi_instance *instance)
{
    if (instance->end && instance->exits + instance->open >= size_of(instance) &&
        is_ready(instance))
        retire_instance(instances, instance);
}

int esi_collective_entered(struct esi_instances *instances,
                           const struct esi_item *item,
                           const struct esi_emitted *enter)
{
    struct esi_instance *instance = item->instance;
    int result;

    if (!instance || instance->slots[item->slot].entry != ESI_ENTRY_READ)
        return 0;
    instance->slots[item->slot].entry = ESI_ENTRY_GIVEN;
    instance->slots[item->slot].enter = enter->id;
    instance->slots[item->slot].entered_ns = enter->edge.ns;
    instance->given++;
    result = note_entry(instances, instance, item->slot);
    if (result >= 0)
        leave_instance(instances, instance);
    return result;
}

/* Waits until the enter of a member is there or will not come. */
static int await_member(struct esi_instances *instances,
                        const struct esi_item *item,
                        uint32_t slot)
{
    struct esi_instance *instance = item->instance;
    struct esi_causal_thread *thread = item->element->thread;
    struct esi_causal_slot *awaited;

    if (slot >= size_of(instance))
        return 1;
    awaited = &instance->slots[slot];
    if (awaited->entry == ESI_ENTRY_UNSEEN &&
        esi_thread_has_passed(instances->matching, instance->series->set->communicator,
                              slot, item->told.stop_ns)) {
        int result = lose_member(instances, instance, slot);

        if (result < 0)
            return result;
    }
    if (awaited->entry >= ESI_ENTRY_GIVEN)
        return 1;
    if (thread->forced || !instance->end)
        return 1;
    esi_thread_wait(thread, &awaited->waiters);
    return 0;
}

/* Waits until all members have entered. */
static int await_all(struct esi_instances *instances, const struct esi_item *item)
{
    struct esi_instance *instance = item->instance;
    struct esi_causal_thread *thread = item->element->thread;
    bool joins = joins_all(instance);
    int result = 0;

    if (joins ? instance->released : is_ready(instance))
        return 1;
    if (instance->listed)
        result = lose_missing_up_to(instances, instance, item->told.stop_ns);
    else
        result = lose_missing(instances, instance, item->told.stop_ns);
    if (result < 0)
        return result;
    if ((joins ? instance->released : is_ready(instance)) || thread->forced ||
        !instance->end)
        return 1;
    esi_thread_wait(thread, &instance->waiters);
    return 0;
}

/* The enters on which an exit depends. */
struct dependence {
    bool on_release;
    bool on_all;
    const int32_t *members; /* NULL = `count` slots from `first` on */
    uint32_t first;
    uint32_t count;
    int32_t root; /* storage for `members` if it is a single one */
};

static uint32_t member_of(const struct dependence *dependence, uint32_t i)
{
    return dependence->members ? (uint32_t)dependence->members[i]
                               : dependence->first + i;
}

static int await_each(struct esi_instances *instances,
                      const struct esi_item *item,
                      const struct dependence *dependence)
{
    int result = 1;

    for (uint32_t i = 0; i < dependence->count && result == 1; i++)
        result = await_member(instances, item, member_of(dependence, i));
    return result;
}

static int collect_each(struct esi_partners *partners,
                        const struct esi_item *item,
                        const struct dependence *dependence)
{
    struct esi_instance *instance = item->instance;

    for (uint32_t i = 0; i < dependence->count; i++) {
        uint32_t slot = member_of(dependence, i);
        struct esi_edge edge;

        if (slot >= size_of(instance) || slot == item->slot)
            continue;
        if (instance->slots[slot].entry != ESI_ENTRY_GIVEN) {
            instance->short_of = true;
            continue;
        }
        edge = edge_of(instance, slot);
        if (esi_partners_add(partners, instance->slots[slot].enter, &edge) < 0)
            return -ENOMEM;
    }
    return 0;
}

static void depend_on_other_group(const struct esi_item *item, struct dependence *ret)
{
    ret->first = item->member->peer_slot;
    ret->count = item->member->peers;
}

/* The dependences on an intercommunicator.  Which member of the root's group is the
 * root is known from the first tuple of the other group. */
static void depend_between(const struct esi_item *item, struct dependence *ret)
{
    const struct esi_instance *instance = item->instance;
    bool is_root_side = item->told.tuple.peer < 0;

    switch ((enum es_order_kind)instance->facts.operation->order) {
    case ES_ORDER_ALL_TO_ALL:
        depend_on_other_group(item, ret);
        break;
    case ES_ORDER_ROOT_TO_ALL:
        ret->first = esi_run_peer_slot(item->member, item->told.tuple.peer);
        ret->count = !is_root_side;
        break;
    case ES_ORDER_ALL_TO_ROOT:
        if (is_root_side && (instance->root == NO_SLOT || instance->root == item->slot))
            depend_on_other_group(item, ret);
        break;
    default:
        break;
    }
}

static void add_dependence(const struct esi_item *item, struct dependence *ret)
{
    struct esi_instance *instance = item->instance;
    const struct esi_run_member *member = item->member;

    *ret = (struct dependence){.count = 0};
    if (size_of(instance) < 2 || item->empty)
        return;
    if (is_between(instance)) {
        depend_between(item, ret);
        return;
    }
    switch ((enum es_order_kind)instance->facts.operation->order) {
    case ES_ORDER_ALL_TO_ALL:
        ret->on_release = true;
        break;
    case ES_ORDER_ROOT_TO_ALL:
        ret->root = (int32_t)instance->root;
        ret->members = &ret->root;
        ret->count = instance->root != NO_SLOT && instance->root != item->slot;
        break;
    case ES_ORDER_ALL_TO_ROOT:
        ret->on_all = instance->root == item->slot;
        ret->count = ret->on_all ? size_of(instance) : 0;
        break;
    case ES_ORDER_PREFIX:
    case ES_ORDER_EXCLUSIVE_PREFIX:
        ret->count = item->slot;
        break;
    case ES_ORDER_NEIGHBOURS:
        ret->members = member->neighbours;
        ret->count = member->neighbours ? member->neighbour_count : 0;
        instance->short_of |=
            !member->neighbours || member->neighbours_read < member->neighbour_count;
        break;
    default:
        break;
    }
}

static int collect_dependences(struct esi_partners *partners,
                               const struct esi_item *item,
                               const struct dependence *dependence)
{
    struct esi_instance *instance = item->instance;

    partners->count = 0;
    if (!dependence->on_release)
        return collect_each(partners, item, dependence);
    if (instance->release.id.index != 0)
        return esi_partners_add(partners, instance->release.id,
                                &instance->release.edge);
    instance->short_of = true;
    return 0;
}

int esi_collective_await(struct esi_instances *instances,
                         const struct esi_item *item,
                         bool *ret_receives)
{
    struct dependence dependence;
    int result;

    *ret_receives = false;
    if (!item->instance)
        return ESI_READY;
    add_dependence(item, &dependence);
    if (dependence.on_release || dependence.on_all)
        result = await_all(instances, item);
    else
        result = await_each(instances, item, &dependence);
    if (result <= 0)
        return result;
    *ret_receives = dependence.on_release || dependence.count > 0;
    result = collect_dependences(&instances->matching->partners, item, &dependence);
    return result < 0 ? result : ESI_READY;
}

void esi_collective_exited(struct esi_instances *instances, const struct esi_item *item)
{
    struct esi_instance *instance = item->instance;

    if (!instance)
        return;
    instance->exits++;
    if (instances->config->listener.instance && !is_between(instance) &&
        item->operation->op_class == ES_CLASS_COLLECTIVE)
        add_part(instances, instance, item->slot, item->element->thread->of,
                 item->operation, &item->told);
    leave_instance(instances, instance);
}

void esi_instances_finish(struct esi_instances *instances)
{
    struct instance_end *oldest;

    while ((oldest = esi_ends_oldest(&instances->ends)) != NULL)
        retire_instance(instances, oldest->instance);
}
