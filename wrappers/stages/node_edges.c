/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* node_edges.c - assembles the edge tuples of a node to operations. */
#include "config.h"

#include "wrappers/stages/node_edges.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "eventspace/operation.h"

/* Edges that look complete wait this long for tuples recorded at the same time in other
 * elements, in any order. */
#define SETTLING_NS UINT64_C(1000000)

void esi_node_edges_fini(struct esi_node_edges *table)
{
    free(table->edges);
    free(table->instances);
    free(table->communicators);
    free(table->lows);
    *table = (struct esi_node_edges){.edges = NULL};
}

static bool is_edge(const struct es_tuple *tuple)
{
    return tuple->operation >= ESI_NODE_CONTRIBUTE &&
           tuple->operation <= ESI_NODE_DEPARTURE_DOWN;
}

bool esi_tree_edge_has_message(int32_t tag, uint32_t bytes)
{
    const struct es_operation *operation =
        es_operation_find(esi_tree_tag_operation(tag));

    return bytes > 0 || (operation && operation->op_class == ES_CLASS_COLLECTIVE &&
                         operation->synchronizing);
}

bool esi_node_edges_takes(const struct es_tuple *tuple)
{
    const struct es_operation *operation;

    if (tuple->stop == 0 || tuple->sequence == ES_SEQUENCE_UNKNOWN)
        return false;
    if (is_edge(tuple))
        return true;
    operation = es_operation_find(tuple->operation);
    return operation && operation->op_class == ES_CLASS_COLLECTIVE;
}

/* --- Memory ----------------------------------------------------------------------- */

int esi_node_edges_reserve(struct esi_node_edges *table, size_t count)
{
    int result = -ENOMEM;

    if (table->edge_end + count < ESI_NODE_END)
        result = ESI_ARRAY_RESERVE(table->edges, table->edge_capacity,
                                   table->edge_end + count);
    if (result == 0)
        result =
            ESI_ARRAY_RESERVE(table->instances, table->capacity, table->count + count);
    if (result == 0)
        result = ESI_ARRAY_RESERVE(table->communicators, table->communicator_capacity,
                                   table->communicator_count + count);
    if (result == 0)
        result = ESI_ARRAY_RESERVE(table->lows, table->low_capacity,
                                   table->low_count + count);
    return result;
}

/* --- Finding ---------------------------------------------------------------------- */

static bool is_that(const struct esi_node_instance *instance,
                    uint16_t communicator,
                    uint32_t sequence)
{
    return instance->sequence == sequence && instance->communicator == communicator &&
           instance->state == ESI_NODE_OPEN;
}

/* Elements are read one after the other, each in order: the next tuple belongs to the
 * same operation as the last one, or to the one after it. */
struct esi_node_instance *esi_node_edges_find(struct esi_node_edges *table,
                                              uint16_t communicator,
                                              uint32_t sequence)
{
    for (size_t i = table->hint; i < table->count && i < table->hint + 4; i++)
        if (is_that(&table->instances[i], communicator, sequence)) {
            table->hint = i;
            return &table->instances[i];
        }
    for (size_t i = table->count; i > 0; i--)
        if (is_that(&table->instances[i - 1], communicator, sequence)) {
            table->hint = i - 1;
            return &table->instances[i - 1];
        }
    return NULL;
}

struct esi_node_instance *esi_node_edges_by_id(struct esi_node_edges *table,
                                               uint64_t id)
{
    size_t first = 0, end = table->count;

    while (first < end) {
        size_t middle = first + (end - first) / 2;

        if (table->instances[middle].id < id)
            first = middle + 1;
        else
            end = middle;
    }
    return first < table->count && table->instances[first].id == id
               ? &table->instances[first]
               : NULL;
}

static struct esi_node_communicator *find_communicator(
    const struct esi_node_edges *table,
    uint16_t index)
{
    for (size_t i = 0; i < table->communicator_count; i++)
        if (table->communicators[i].index == index)
            return &table->communicators[i];
    return NULL;
}

/* --- Adding ----------------------------------------------------------------------- */

/* Compares sequence numbers that wrap around at 2^32. */
static bool is_after(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) > 0;
}

static void note_progress(struct esi_node_edges *table, const struct es_tuple *tuple)
{
    struct esi_node_communicator *communicator =
        find_communicator(table, tuple->communicator);

    if (!communicator) {
        communicator = &table->communicators[table->communicator_count++];
        *communicator = (struct esi_node_communicator){.index = tuple->communicator,
                                                       .newest = tuple->sequence};
    }
    if (is_after(tuple->sequence, communicator->newest))
        communicator->newest = tuple->sequence;
}

static void note_edge(struct esi_node_instance *instance, const struct es_tuple *tuple)
{
    if (!is_edge(tuple)) {
        instance->ended = true;
        if (!instance->edges)
            instance->operation = tuple->operation;
        return;
    }
    instance->edges = true;
    instance->tag = tuple->tag;
    instance->operation = esi_tree_tag_operation(tuple->tag);
    switch (tuple->operation) {
    case ESI_NODE_CONTRIBUTE:
        instance->contributed = true;
        instance->below = tuple->peer >= 0;
        break;
    case ESI_NODE_ARRIVAL_UP:
        instance->arrivals++;
        break;
    case ESI_NODE_ARRIVAL_DOWN:
        instance->came_down = true;
        break;
    case ESI_NODE_DEPARTURE_UP:
        instance->sent_up = true;
        break;
    default:
        instance->departures++;
        break;
    }
}

static struct esi_node_instance *new_instance(struct esi_node_edges *table,
                                              const struct es_tuple *tuple)
{
    struct esi_node_instance *instance = &table->instances[table->count];

    *instance = (struct esi_node_instance){.id = ++table->next_id,
                                           .sequence = tuple->sequence,
                                           .communicator = tuple->communicator,
                                           .first = ESI_NODE_END};
    table->hint = table->count++;
    return instance;
}

/* Adds a tuple to an operation. */
static void append_edge(struct esi_node_edges *table,
                        struct esi_node_instance *instance,
                        const struct es_tuple *tuple,
                        const struct es_mark *mark)
{
    bool is_used_again = table->edge_count++ < table->edge_end;
    uint32_t index = is_used_again ? table->free_edges : table->edge_end++;
    struct esi_node_edge *edge = &table->edges[index];

    if (is_used_again)
        table->free_edges = edge->next;
    *edge =
        (struct esi_node_edge){.tuple = *tuple, .mark = *mark, .next = ESI_NODE_END};
    if (instance->first == ESI_NODE_END)
        instance->first = index;
    else
        table->edges[instance->last].next = index;
    instance->last = index;
}

void esi_node_edges_add(struct esi_node_edges *table,
                        const struct es_tuple *tuple,
                        const struct es_mark *mark,
                        uint64_t now_ns)
{
    struct esi_node_instance *instance =
        esi_node_edges_find(table, tuple->communicator, tuple->sequence);

    if (!instance)
        instance = new_instance(table, tuple);
    append_edge(table, instance, tuple, mark);
    instance->changed = table->reading;
    instance->changed_ns = now_ns;
    note_edge(instance, tuple);
    note_progress(table, tuple);
}

void esi_node_edges_add_other(struct esi_node_edges *table,
                              const struct es_tuple *tuple,
                              const struct es_mark *mark)
{
    size_t hint = table->hint;
    struct esi_node_instance *instance = new_instance(table, tuple);

    append_edge(table, instance, tuple, mark);
    instance->state = ESI_NODE_CLASSIFIED;
    instance->goes = ESI_NODE_AS_PIECES;
    table->hint = hint;
}

void esi_node_edges_read_all(struct esi_node_edges *table)
{
    table->reading++;
    for (size_t i = 0; i < table->communicator_count; i++) {
        table->communicators[i].confirmed = table->communicators[i].newest;
        table->communicators[i].is_confirmed = true;
    }
}

/* --- Classifying ------------------------------------------------------------------ */

/* The directions of data in an operation. */
struct ways {
    bool up;
    bool down;
    bool blocking;
};

static struct ways ways_of(const struct esi_node_instance *instance)
{
    const struct es_operation *operation = es_operation_find(instance->operation);
    struct ways ways = {.up = instance->arrivals || instance->sent_up,
                        .down = instance->departures || instance->came_down};

    if (!operation)
        return ways;
    ways.blocking = !operation->nonblocking;
    ways.up |= operation->order == ES_ORDER_ALL_TO_ALL ||
               operation->order == ES_ORDER_ALL_TO_ROOT;
    ways.down |= operation->order == ES_ORDER_ALL_TO_ALL ||
                 operation->order == ES_ORDER_ROOT_TO_ALL;
    return ways;
}

/* Ranks that exchange have no parent but send up. */
static bool is_exchange(const struct esi_node_instance *instance)
{
    return instance->contributed && !instance->below && instance->sent_up;
}

/* Returns whether the edges may be complete. */
static bool is_consistent(const struct esi_node_edges *table,
                          const struct esi_node_instance *instance,
                          const struct ways *ways)
{
    bool has_parent = instance->below || instance->sent_up || instance->came_down;
    /* A leaf's message to its parent is its contribution. */
    bool sent = instance->sent_up || (instance->contributed && !instance->arrivals);

    if (is_exchange(instance))
        return true; /* the number of rounds is not known here */
    if (ways->up && !instance->contributed && table->wants_contributions)
        return false;
    if (ways->up && has_parent && !sent)
        return false;
    if (ways->down && has_parent && !instance->came_down)
        return false;
    return !ways->up || !ways->down || instance->arrivals == instance->departures;
}

/* Returns whether a later blocking operation has begun, and everything was read
 * since. */
static bool is_passed(const struct esi_node_edges *table,
                      const struct esi_node_instance *instance)
{
    const struct esi_node_communicator *communicator =
        find_communicator(table, instance->communicator);

    return communicator && communicator->is_confirmed &&
           is_after(communicator->confirmed, instance->sequence);
}

/* Returns whether the edges alone show that they are complete. */
static bool is_counted(const struct esi_node_instance *instance,
                       const struct ways *ways)
{
    if (ways->up && ways->down)
        return instance->departures > 0; /* comes last in an exchange */
    return ways->up && instance->sent_up;
}

static bool has_evidence(const struct esi_node_edges *table,
                         const struct esi_node_instance *instance,
                         const struct ways *ways,
                         const struct esi_node_conditions *conditions)
{
    bool rests = instance->changed < table->reading;

    if (conditions->now ||
        conditions->now_ns >= instance->changed_ns + conditions->patience_ns)
        return true;
    if (!conditions->all)
        return false;
    if ((instance->ended && rests) || (ways->blocking && is_passed(table, instance)))
        return true;
    return rests && conditions->now_ns >= instance->changed_ns + SETTLING_NS &&
           is_counted(instance, ways) && is_consistent(table, instance, ways);
}

enum esi_node_class esi_node_edges_classify(
    const struct esi_node_edges *table,
    const struct esi_node_instance *instance,
    const struct esi_node_conditions *conditions)
{
    struct ways ways = ways_of(instance);

    if (!has_evidence(table, instance, &ways, conditions))
        return ESI_NODE_WAIT;
    /* The MPI library performed it, or there was nothing to send. */
    if (!instance->edges)
        return ESI_NODE_LEAF;
    if (!is_consistent(table, instance, &ways))
        return ESI_NODE_INCOMPLETE;
    return instance->arrivals || instance->departures ? ESI_NODE_COMPLETE
                                                      : ESI_NODE_LEAF;
}

/* --- Results ---------------------------------------------------------------------- */

/* The findings from the tuples of an operation; NULL if there is no such tuple. */
struct findings {
    const struct esi_node_edge *contribution;
    const struct esi_node_edge *first_arrival; /* by time */
    const struct esi_node_edge *last_arrival;
    const struct esi_node_edge *came_down;
    const struct esi_node_edge *sent_up;
    const struct esi_node_edge *first_departure;
    const struct esi_node_edge *last_departure;
    const struct esi_node_edge *up_mark; /* the first by element and position */
    const struct esi_node_edge *down_mark;
};

static const struct esi_node_edge *node_edges_earlier(const struct esi_node_edge *a,
                                                      const struct esi_node_edge *b)
{
    return !a || b->tuple.stop < a->tuple.stop ? b : a;
}

static const struct esi_node_edge *node_edges_later(const struct esi_node_edge *a,
                                                    const struct esi_node_edge *b)
{
    return !a || b->tuple.stop >= a->tuple.stop ? b : a;
}

static const struct esi_node_edge *node_edges_lesser(const struct esi_node_edge *a,
                                                     const struct esi_node_edge *b)
{
    if (!a || b->mark.origin < a->mark.origin)
        return b;
    return b->mark.origin == a->mark.origin && b->mark.position < a->mark.position ? b
                                                                                   : a;
}

static struct findings look_at(const struct esi_node_edges *table,
                               const struct esi_node_instance *instance)
{
    struct findings found = {.contribution = NULL};

    for (uint32_t i = instance->first; i != ESI_NODE_END; i = table->edges[i].next) {
        const struct esi_node_edge *edge = &table->edges[i];

        switch (edge->tuple.operation) {
        case ESI_NODE_CONTRIBUTE:
            found.contribution = edge;
            break;
        case ESI_NODE_ARRIVAL_UP:
            found.first_arrival = node_edges_earlier(found.first_arrival, edge);
            found.last_arrival = node_edges_later(found.last_arrival, edge);
            found.up_mark = node_edges_lesser(found.up_mark, edge);
            break;
        case ESI_NODE_ARRIVAL_DOWN:
            found.came_down = edge;
            break;
        case ESI_NODE_DEPARTURE_UP:
            found.sent_up = edge;
            break;
        case ESI_NODE_DEPARTURE_DOWN:
            if (!found.first_departure ||
                edge->tuple.start < found.first_departure->tuple.start)
                found.first_departure = edge;
            found.last_departure = node_edges_later(found.last_departure, edge);
            found.down_mark = node_edges_lesser(found.down_mark, edge);
            break;
        default:
            break;
        }
    }
    return found;
}

/* Nanoseconds between two times; 0 if the second is earlier. */
static uint32_t node_edges_span(const struct es_clock *clock,
                                uint64_t from,
                                uint64_t to)
{
    uint64_t ns = to > from ? es_clock_span_ns(clock, to - from) : 0;

    return ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
}

static struct es_tuple result_of(const struct esi_node_instance *instance,
                                 uint16_t code)
{
    return (struct es_tuple){.operation = code,
                             .communicator = instance->communicator,
                             .sequence = instance->sequence,
                             .peer = ES_PEER_NONE,
                             .tag = instance->tag};
}

static struct es_tuple result_up(const struct esi_node_instance *instance,
                                 const struct findings *found,
                                 const struct es_clock *clock)
{
    struct es_tuple tuple = result_of(instance, ESI_NODE_UP);

    tuple.start = found->first_arrival->tuple.stop;
    tuple.stop = found->last_arrival->tuple.stop;
    tuple.peer = found->last_arrival->tuple.peer;
    if (found->contribution)
        tuple.bytes =
            node_edges_span(clock, found->contribution->tuple.stop, tuple.stop);
    return tuple;
}

static struct es_tuple result_down(const struct esi_node_instance *instance,
                                   const struct findings *found,
                                   const struct es_clock *clock)
{
    struct es_tuple tuple = result_of(instance, ESI_NODE_DOWN);
    uint64_t ready = found->last_arrival ? found->last_arrival->tuple.stop : 0;

    if (found->contribution && found->contribution->tuple.stop > ready)
        ready = found->contribution->tuple.stop;
    if (found->sent_up && ready)
        tuple.bytes = node_edges_span(clock, ready, found->sent_up->tuple.stop);
    if (found->last_departure) {
        tuple.start = found->came_down ? found->came_down->tuple.stop
                                       : found->first_departure->tuple.start;
        tuple.stop = found->last_departure->tuple.stop;
        tuple.peer = found->last_departure->tuple.peer;
    } else {
        tuple.start = tuple.stop = found->sent_up->tuple.stop;
    }
    return tuple;
}

size_t esi_node_edges_results(const struct esi_node_edges *table,
                              const struct esi_node_instance *instance,
                              const struct es_clock *clock,
                              struct es_tuple ret_tuples[2],
                              struct es_mark ret_marks[2])
{
    struct findings found = look_at(table, instance);
    size_t count = 0;

    if (found.last_arrival) {
        ret_tuples[count] = result_up(instance, &found, clock);
        ret_marks[count++] = found.up_mark->mark;
    }
    if (found.last_departure || found.sent_up) {
        ret_tuples[count] = result_down(instance, &found, clock);
        ret_marks[count++] =
            found.last_departure ? found.down_mark->mark : found.sent_up->mark;
    }
    for (size_t i = 0; i < count; i++)
        ret_marks[i].flags = ES_MARK_DERIVED;
    return count;
}

/* --- Removing --------------------------------------------------------------------- */

static struct esi_node_low *low_of(struct esi_node_edges *table, uint32_t origin)
{
    for (size_t i = 0; i < table->low_count; i++)
        if (table->lows[i].origin == origin)
            return &table->lows[i];
    table->lows[table->low_count] =
        (struct esi_node_low){.origin = origin, .position = UINT64_MAX};
    return &table->lows[table->low_count++];
}

/* Nothing after the instance's tuples may be emitted. */
static void hold_instance(struct esi_node_edges *table,
                          struct esi_node_instance *instance)
{
    instance->held = true;
    for (uint32_t i = instance->first; i != ESI_NODE_END; i = table->edges[i].next) {
        const struct es_mark *mark = &table->edges[i].mark;
        struct esi_node_low *low = low_of(table, mark->origin);

        if (mark->position < low->position)
            low->position = mark->position;
    }
}

static bool is_behind_held(struct esi_node_edges *table,
                           const struct esi_node_instance *instance)
{
    for (uint32_t i = instance->first; i != ESI_NODE_END; i = table->edges[i].next)
        if (table->edges[i].mark.position >=
            low_of(table, table->edges[i].mark.origin)->position)
            return true;
    return false;
}

static void free_edges(struct esi_node_edges *table,
                       const struct esi_node_instance *instance,
                       esi_node_edge_fn fn,
                       void *data)
{
    for (uint32_t i = instance->first, next; i != ESI_NODE_END; i = next) {
        next = table->edges[i].next;
        if (fn)
            fn(data, instance, &table->edges[i]);
        table->edges[i].next = table->free_edges;
        table->free_edges = i;
        table->edge_count--;
    }
}

void esi_node_edges_hold(struct esi_node_edges *table, enum esi_node_state state)
{
    bool none = true, more;

    table->low_count = 0;
    for (size_t i = 0; i < table->count; i++) {
        struct esi_node_instance *instance = &table->instances[i];

        instance->held = false;
        if (instance->state <= state || instance->stays) {
            hold_instance(table, instance);
            none = false;
        }
    }
    do {
        more = false;
        /* Usually the later ones would be visited again, so one direction is enough. */
        for (size_t i = none ? 0 : table->count; i > 0; i--) {
            struct esi_node_instance *instance = &table->instances[i - 1];

            if (!instance->held && is_behind_held(table, instance)) {
                hold_instance(table, instance);
                more = true;
            }
        }
    } while (more);
}

void esi_node_edges_retire(struct esi_node_edges *table,
                           esi_node_edge_fn fn,
                           void *data)
{
    size_t kept = 0;

    esi_node_edges_hold(table, ESI_NODE_QUEUED);
    for (size_t i = 0; i < table->count; i++) {
        if (table->instances[i].held)
            table->instances[kept++] = table->instances[i];
        else
            free_edges(table, &table->instances[i], fn, data);
    }
    if (kept < table->count)
        table->hint = 0;
    table->count = kept;
}
