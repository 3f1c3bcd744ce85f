/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * closure_existing.c - convex closures by walking forward (Nichols, algorithms 4.6 and
 * 4.7).
 *
 * The back is found first, from the greatest predecessors of each of the set's maxima.
 * Then all paths are walked from the set's minima, as far as they stay in the closure;
 * an event to which a path leads is in it if it does not lie behind the back of its
 * trace, so that the walk compares no timestamps.  (The printed algorithm compares it
 * with the backs of other traces as well, which cannot say anything else.)  The walk
 * passes each event of the closure once: what it found on a trace, it has followed to
 * the back.
 */
#include "config.h"

#include <errno.h>

#include "monitors/search/thesis/closure_private.h"

/* --- The back (4.6) --------------------------------------------------------------- */

static bool is_none(struct es_event_id event)
{
    return event.index == 0;
}

/* Copies, and strikes out (index 0) the events that come after another one, or before
 * another one: S_front and S_back (definitions 4.2 and 4.3). */
static int keep_ends(struct esi_precedence *precedence,
                     const struct esi_event_list *events,
                     bool keeps_minima,
                     struct esi_event_list *kept)
{
    kept->count = 0;
    if (esi_event_list_add(kept, events->events, events->count) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < kept->count; i++)
        for (size_t j = 0; j < kept->count; j++) {
            struct es_event_id *a = &kept->events[i], *b = &kept->events[j];

            if (i != j && !is_none(*a) && !is_none(*b) &&
                esi_precedence_before(precedence, *a, *b))
                (keeps_minima ? b : a)->index = 0;
        }
    return 0;
}

/* Whether an event is one of the minima or succeeds one. */
static bool succeeds_minimum(const struct esi_closure_maker *maker,
                             struct esi_precedence *precedence,
                             struct es_event_id event)
{
    for (size_t k = 0; k < maker->minima.count; k++) {
        struct es_event_id minimum = maker->minima.events[k];

        if (!is_none(minimum) && esi_closure_reaches(precedence, minimum, event))
            return true;
    }
    return false;
}

static uint32_t back_on(const struct esi_closure_maker *maker,
                        struct esi_precedence *precedence,
                        uint32_t trace)
{
    uint32_t back = 0;

    for (size_t i = 0; i < maker->maxima.count; i++) {
        struct es_event_id maximum = maker->maxima.events[i];
        struct es_event_id greatest = {trace, maximum.index};

        if (is_none(maximum))
            continue;
        if (maximum.trace != trace)
            greatest.index = esi_closure_entry(precedence, maximum, trace);
        if (is_none(greatest) || !succeeds_minimum(maker, precedence, greatest))
            continue;
        precedence->comparisons += back != 0;
        if (greatest.index > back)
            back = greatest.index;
    }
    return back;
}

/* --- The front (4.7) -------------------------------------------------------------- */

/* Notes an event to walk on from, if it is in the closure and was not passed yet. */
static int reach_event(struct esi_closure_maker *maker, struct es_event_id event)
{
    uint32_t *front = &maker->front[event.trace];

    if (event.index > maker->back[event.trace] || (*front && *front <= event.index))
        return 0;
    *front = event.index;
    return esi_event_list_push(&maker->waiting, event);
}

/* Immediate successors on other traces from a table: rows up to `end` on the trace. */
static int walk_rows(struct esi_closure_maker *maker,
                     struct es_event_id event,
                     uint32_t end)
{
    size_t count, at = esi_successors_from(maker->successors, event);
    const struct esi_successor *rows = esi_successors_rows(maker->successors, &count);
    int result = 0;

    for (; event.index < end && result == 0; event.index++)
        for (; at < count && esi_event_is(rows[at].from, event) && result == 0; at++)
            result = reach_event(maker, rows[at].to);
    return result;
}

/* The same from the order: the least successor on another trace, unless a later event
 * precedes it, too. */
static int walk_order(struct esi_closure_maker *maker, struct es_event_id event)
{
    int result = 0;

    for (uint32_t trace = 0; trace < maker->traces && result == 0; trace++) {
        struct es_event_id next = {trace, 0};
        int64_t index;

        if (trace == event.trace || !maker->back[trace])
            continue;
        index = es_order_least_successor(maker->order, event, trace);
        if (index <= 0 || index > maker->back[trace])
            continue;
        next.index = (uint32_t)index;
        if (es_order_greatest_predecessor(maker->order, next, event.trace) ==
            event.index)
            result = reach_event(maker, next);
    }
    return result;
}

/* Walks along the trace to where it was walked before, or behind the back. */
static int walk_events(struct esi_closure_maker *maker, struct es_event_id event)
{
    uint32_t *done = &maker->done[event.trace];
    uint32_t end = *done ? *done : maker->back[event.trace] + 1;
    struct es_event_id from = event;
    int result = 0;

    if (event.index >= end)
        return 0;
    *done = event.index;
    if (maker->successors)
        return walk_rows(maker, event, end);
    for (; from.index < end && result == 0; from.index++)
        result = walk_order(maker, from);
    return result;
}

static int walk_forward(struct esi_closure_maker *maker)
{
    int result = 0;

    maker->waiting.count = 0;
    for (size_t i = 0; i < maker->minima.count && result == 0; i++)
        if (!is_none(maker->minima.events[i]))
            result = reach_event(maker, maker->minima.events[i]);
    while (maker->waiting.count && result == 0)
        result = walk_events(maker, maker->waiting.events[--maker->waiting.count]);
    return result;
}

/* --- Both ------------------------------------------------------------------------- */

/* Every trace that has a back has a front: the minimum before the back leads there. */
static int take_ends(struct esi_closure_maker *maker, struct esi_closure *closure)
{
    int result = 0;

    for (uint32_t trace = 0; trace < maker->traces; trace++) {
        if (result == 0 && maker->front[trace])
            result = esi_closure_add_ends(closure, trace, maker->front[trace],
                                          maker->back[trace]);
        maker->front[trace] = maker->back[trace] = maker->done[trace] = 0;
    }
    return result;
}

int esi_closure_existing(struct esi_closure_maker *maker,
                         struct esi_precedence *precedence,
                         struct esi_closure *closure)
{
    int result, taken;

    result = keep_ends(precedence, &closure->first, true, &maker->minima);
    if (result == 0)
        result = keep_ends(precedence, &maker->last, false, &maker->maxima);
    if (result < 0)
        return result;
    for (uint32_t trace = 0; trace < maker->traces; trace++)
        maker->back[trace] = back_on(maker, precedence, trace);
    result = walk_forward(maker);
    /* Also after a failure: it leaves the arrays empty. */
    taken = take_ends(maker, closure);
    return result < 0 ? result : taken;
}
