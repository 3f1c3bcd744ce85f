/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* causal_collective.c - instances of collective operations, in a table of ends. */
#include "config.h"

#include "monitors/causality/causal_collective.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "tuplespace/operation_codes.h"

#define NO_SLOT UINT32_MAX

/* The key under which an instance is found.  Its weight is the number of members. */
struct instance_end {
    struct esi_end end;
    struct esi_instance *instance;
};

void esi_instances_init(struct esi_instances *instances,
                        struct esi_matching *matching,
                        size_t max)
{
    instances->matching = matching;
    esi_ends_init(&instances->ends, sizeof(struct instance_end), max);
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
    return instance->operation->order == ES_ORDER_ALL_TO_ALL && size_of(instance) > 1 &&
           !is_between(instance);
}

/* Adds an instance to the list of unreleased instances, by number. */
static void list_instance(struct esi_instance *instance)
{
    struct esi_list *list = &instance->series->unreleased;
    struct esi_list_link *next = NULL;
    struct esi_instance *after = ESI_LIST_ITEM(struct esi_instance, list->last, link);

    while (after && is_older(instance->number, after->number)) {
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

    if (instance->operation->rma != ES_RMA_FREE || series->window < 0 ||
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

/* Removes an instance from the table and wakes everything that waits for it. */
static void retire_instance(struct esi_instances *instances,
                            struct esi_instance *instance)
{
    esi_ends_forget(&instances->ends, instance->end);
    instance->end = NULL;
    unlist_instance(instance);
    count_members(instances, instance);
    note_free(instance);
    esi_waiters_wake(instances->matching, &instance->waiters);
    wake_members(instances, instance);
    unref_instance(instance);
}

static struct esi_instance *make_instance(struct esi_series_set *set)
{
    size_t bytes = sizeof(struct esi_instance) +
                   set->communicator->size * sizeof(struct esi_causal_slot);
    struct esi_instance *instance =
        ESI_LIST_POP(struct esi_instance, &set->unused, link);

    if (!instance)
        instance = malloc(bytes);
    return instance ? memset(instance, 0, bytes) : NULL;
}

/* Removes the oldest instances until at most `held_max` members are held. */
static void bound_members(struct esi_instances *instances)
{
    struct instance_end *oldest;

    while ((oldest = esi_ends_excess(&instances->ends)) != NULL)
        retire_instance(instances, oldest->instance);
}

static struct esi_instance *begin_instance(struct esi_instances *instances,
                                           struct esi_series *series,
                                           const struct esi_ends_key *key,
                                           const struct es_operation *operation)
{
    struct esi_instance *instance = make_instance(series->set);
    struct instance_end *end = instance ? esi_ends_add(&instances->ends, key) : NULL;

    if (!end) {
        free(instance);
        return NULL;
    }
    end->instance = instance;
    instance->end = &end->end;
    instance->series = series;
    instance->operation = operation;
    instance->serial = ++instances->count;
    instance->number = key->sequence;
    instance->root = NO_SLOT;
    instance->references = 1;
    series->instances++;
    if (joins_all(instance))
        list_instance(instance);
    esi_ends_wait(&instances->ends, instance->end, size_of(instance));
    bound_members(instances);
    return instance;
}

/* Finds or creates an instance; NULL if there is no memory. */
static struct esi_instance *meet_instance(struct esi_instances *instances,
                                          const struct esi_item *item)
{
    const struct esi_run_communicator *communicator = item->member->communicator;
    int64_t window =
        item->action == ESI_WINDOW_COLLECTIVE ? (int64_t)item->told.tuple.tag : -1;
    struct esi_ends_key key = {
        .communicator = {communicator->number, (uint64_t)window},
        .sequence = item->told.tuple.sequence,
    };
    struct esi_series *series = esi_series_find(instances, communicator, window);
    struct instance_end *found = esi_ends_find(&instances->ends, &key);

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
    enum es_order_kind order = (enum es_order_kind)instance->operation->order;

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
    return (struct esi_edge){.operation = instance->operation,
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
    bool in_order =
        !series->has_released || is_older(series->last_released, instance->number);
    int result = 0;

    unlist_instance(instance);
    instance->released = true;
    if (in_order) {
        series->has_released = true;
        series->last_released = instance->number;
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
    switch ((enum es_order_kind)instance->operation->order) {
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

    switch ((enum es_order_kind)instance->operation->order) {
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
    switch ((enum es_order_kind)instance->operation->order) {
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
    if (!item->instance)
        return;
    item->instance->exits++;
    leave_instance(instances, item->instance);
}

void esi_instances_finish(struct esi_instances *instances)
{
    struct instance_end *oldest;

    while ((oldest = esi_ends_oldest(&instances->ends)) != NULL)
        retire_instance(instances, oldest->instance);
}
