/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* closure.c - the convex closure of a set of events: from its first and last events to
 * greatest predecessors (Nichols, algorithm 4.8). */
#include "config.h"

#include "monitors/search/thesis/closure.h"

#include <errno.h>
#include <stdlib.h>

#include "monitors/search/thesis/closure_private.h"

/* --- Closures --------------------------------------------------------------------- */

int esi_closure_add_ends(struct esi_closure *closure,
                         uint32_t trace,
                         uint32_t front,
                         uint32_t back)
{
    int result =
        esi_event_list_push(&closure->ends, (struct es_event_id){trace, front});

    if (result < 0)
        return result;
    return esi_event_list_push(&closure->ends, (struct es_event_id){trace, back});
}

void esi_closure_clear(struct esi_closure *closure)
{
    closure->ends.count = closure->first.count = closure->greatest.count = 0;
}

void esi_closure_fini(struct esi_closure *closure)
{
    esi_event_list_fini(&closure->ends);
    esi_event_list_fini(&closure->first);
    esi_event_list_fini(&closure->greatest);
}

size_t esi_closure_traces(const struct esi_closure *closure)
{
    return closure->ends.count / 2;
}

struct es_event_id esi_closure_front(const struct esi_closure *closure, size_t at)
{
    return closure->ends.events[2 * at];
}

struct es_event_id esi_closure_back(const struct esi_closure *closure, size_t at)
{
    return closure->ends.events[2 * at + 1];
}

uint64_t esi_closure_bytes(const struct esi_closure *closure)
{
    return (closure->ends.capacity + closure->first.capacity +
            closure->greatest.capacity) *
           sizeof *closure->ends.events;
}

uint64_t esi_closure_size(const struct esi_closure *closure)
{
    uint64_t size = 0;

    for (size_t i = 0; i < closure->ends.count; i += 2)
        size += closure->ends.events[i + 1].index - closure->ends.events[i].index + 1;
    return size;
}

/* --- Asking ----------------------------------------------------------------------- */

uint32_t esi_closure_entry(struct esi_precedence *precedence,
                           struct es_event_id event,
                           uint32_t trace)
{
    int64_t index = es_order_greatest_predecessor(precedence->order, event, trace);

    precedence->unknown += index < 0;
    return index > 0 ? (uint32_t)index : 0;
}

bool esi_closure_reaches(struct esi_precedence *precedence,
                         struct es_event_id a,
                         struct es_event_id b)
{
    return esi_event_is(a, b) || esi_precedence_before(precedence, a, b);
}

/* --- Making ----------------------------------------------------------------------- */

static int add_arrays(struct esi_closure_maker *maker)
{
    size_t traces = maker->traces ? maker->traces : 1;

    if (maker->method != ES_CLOSURE_EXISTING)
        return 0;
    maker->back = calloc(traces, sizeof *maker->back);
    maker->front = calloc(traces, sizeof *maker->front);
    maker->done = calloc(traces, sizeof *maker->done);
    return maker->back && maker->front && maker->done ? 0 : -ENOMEM;
}

int esi_closure_maker_create(const struct es_order *order,
                             enum esi_closure_method method,
                             const struct esi_successors *successors,
                             struct esi_closure_maker **ret_maker)
{
    struct esi_closure_maker *maker = calloc(1, sizeof *maker);

    if (!maker)
        return -ENOMEM;
    maker->order = order;
    maker->method = method;
    maker->successors = successors;
    maker->traces = es_order_traces(order);
    if (add_arrays(maker) < 0) {
        esi_closure_maker_destroy(maker);
        return -ENOMEM;
    }
    *ret_maker = maker;
    return 0;
}

void esi_closure_maker_destroy(struct esi_closure_maker *maker)
{
    if (!maker)
        return;
    esi_event_list_fini(&maker->last);
    esi_event_list_fini(&maker->united);
    esi_event_list_fini(&maker->minima);
    esi_event_list_fini(&maker->maxima);
    esi_event_list_fini(&maker->waiting);
    free(maker->back);
    free(maker->front);
    free(maker->done);
    free(maker);
}

/* T_front and T_back (definitions 4.4 and 4.5): a set that is sorted has them at the
 * ends of the run of each trace.  O(e), nothing is compared. */
static int find_first_and_last(struct esi_closure_maker *maker,
                               const struct es_event_id *events,
                               size_t count,
                               struct esi_closure *closure)
{
    int result = 0;

    maker->last.count = 0;
    for (size_t i = 0; i < count && result == 0; i++) {
        struct es_event_id event = events[i];

        if (i == 0 || events[i - 1].trace != event.trace)
            result = esi_event_list_push(&closure->first, event);
        if (result == 0 && (i + 1 == count || events[i + 1].trace != event.trace))
            result = esi_event_list_push(&maker->last, event);
    }
    return result;
}

/* The greatest of all predecessors of last events on a trace, where an event is its own
 * greatest predecessor on its own trace. */
static uint32_t greatest_on(const struct esi_closure_maker *maker,
                            struct esi_precedence *precedence,
                            uint32_t trace)
{
    uint32_t greatest = 0;

    for (size_t i = 0; i < maker->last.count; i++) {
        struct es_event_id event = maker->last.events[i];
        uint32_t index = event.trace == trace
                             ? event.index
                             : esi_closure_entry(precedence, event, trace);

        if (greatest && index)
            precedence->comparisons++;
        if (index > greatest)
            greatest = index;
    }
    return greatest;
}

/* Algorithm 4.8, as corrected: a superset of the back, which 4.9 cuts down. */
static int find_greatest(struct esi_closure_maker *maker,
                         struct esi_precedence *precedence,
                         struct esi_closure *closure)
{
    int result = 0;

    for (uint32_t trace = 0; trace < maker->traces && result == 0; trace++) {
        uint32_t index = greatest_on(maker, precedence, trace);

        if (index)
            result = esi_event_list_push(&closure->greatest,
                                         (struct es_event_id){trace, index});
    }
    return result;
}

/* Algorithm 4.9.  All between an event of the set and the back is in the closure, too
 * (4.4, the second improvement). */
static int find_fronts(const struct esi_closure_maker *maker,
                       struct esi_precedence *precedence,
                       struct esi_closure *closure)
{
    size_t known = 0;
    int result = 0;

    for (size_t i = 0; i < closure->greatest.count && result == 0; i++) {
        struct es_event_id back = closure->greatest.events[i];
        struct esi_closure_range range = {.trace = back.trace, .back = back.index};
        uint32_t front;

        while (known < closure->first.count &&
               closure->first.events[known].trace < back.trace)
            known++;
        if (known < closure->first.count &&
            closure->first.events[known].trace == back.trace)
            range.inside = closure->first.events[known].index;
        front =
            esi_closure_find_front(maker->method, precedence, &closure->first, &range);
        if (front)
            result = esi_closure_add_ends(closure, back.trace, front, back.index);
    }
    return result;
}

static int make_closure(struct esi_closure_maker *maker,
                        struct esi_precedence *precedence,
                        const struct es_event_id *events,
                        size_t count,
                        struct esi_closure *closure)
{
    int result = find_first_and_last(maker, events, count, closure);

    if (result < 0 || count == 0)
        return result;
    if (maker->method == ES_CLOSURE_EXISTING)
        return esi_closure_existing(maker, precedence, closure);
    result = find_greatest(maker, precedence, closure);
    if (result < 0)
        return result;
    /* An event has nothing between it and itself. */
    if (count == 1)
        return esi_closure_add_ends(closure, events[0].trace, events[0].index,
                                    events[0].index);
    return find_fronts(maker, precedence, closure);
}

int esi_closure_make(struct esi_closure_maker *maker,
                     struct esi_precedence *precedence,
                     const struct es_event_id *events,
                     size_t count,
                     struct esi_closure *closure)
{
    int result;

    esi_closure_clear(closure);
    result = make_closure(maker, precedence, events, count, closure);
    if (result < 0)
        esi_closure_clear(closure);
    return result;
}
