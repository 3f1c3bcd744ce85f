/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * closure_front.c - the front of a convex closure, trace by trace from its back
 * (Nichols, algorithm 4.9, and the improvements of 4.4).
 *
 * On a trace, from the greatest predecessor of the set's last events back to the start,
 * events succeed a first event of the set up to some point and none from there on
 * (lemma 4.10).  The point is found by single steps, by binary search or by jumps that
 * get shorter.  A first event that does not precede one event of the trace precedes
 * none to the left of it: it is not asked again.
 */
#include "config.h"

#include "monitors/patterns/closure_private.h"

/* The search on one trace: `inside` is in the closure, `outside` is not, and lies to
 * the left; 0 = before the first event of the trace. */
struct front_search {
    struct es_precedence *precedence;
    const struct es_closure_events *first;
    size_t at; /* first events before this one precede nothing that is left to see */
    uint32_t trace;
    uint32_t inside;
    uint32_t outside;
};

/* Of events on one trace their indexes tell, no timestamp is compared. */
static bool reaches(struct front_search *search,
                    struct es_event_id first,
                    struct es_event_id event)
{
    if (first.trace == event.trace)
        return first.index <= event.index;
    return es_precedence_before(search->precedence, first, event);
}

/* Whether an event of the trace is a first event of the set or succeeds one. */
static bool is_inside(struct front_search *search, uint32_t index)
{
    struct es_event_id event = {search->trace, index};

    for (size_t at = search->at; at < search->first->count; at++)
        if (reaches(search, search->first->events[at], event)) {
            search->at = at;
            return true;
        }
    return false;
}

/* Tells on which side an event is. */
static void look(struct front_search *search, uint32_t index)
{
    if (is_inside(search, index))
        search->inside = index;
    else
        search->outside = index;
}

/* O(c + t) comparisons, for c events of the closure on the trace. */
static void step_back(struct front_search *search)
{
    while (search->inside - search->outside > 1) {
        look(search, search->inside - 1);
        if (search->outside)
            break;
    }
}

/* O(t log i) for i events before the back. */
static void halve(struct front_search *search)
{
    while (search->inside - search->outside > 1)
        look(search, search->outside + (search->inside - search->outside) / 2);
}

/* O(t log i / log t): a jump to an event outside costs up to t comparisons, so that t
 * jumps to events inside, which cost one each and t together, are worth one of these.
 */
static void jump_back(struct front_search *search)
{
    uint32_t divisor = search->first->count > 1 ? (uint32_t)search->first->count : 2;
    uint32_t jump = search->inside / divisor;

    while (search->inside - search->outside > 1) {
        uint32_t before = search->outside;

        if (jump >= search->inside - search->outside)
            jump = search->inside - search->outside - 1;
        if (jump == 0)
            jump = 1;
        look(search, search->inside - jump);
        if (search->outside != before)
            jump /= divisor;
    }
}

static void find_front(enum es_closure_method method, struct front_search *search)
{
    switch (method) {
    case ES_CLOSURE_STEP:
        step_back(search);
        break;
    case ES_CLOSURE_JUMP:
        jump_back(search);
        break;
    case ES_CLOSURE_EXISTING:
    case ES_CLOSURE_BINARY:
        halve(search);
        break;
    }
}

/* Adds the ends on the trace of a greatest predecessor, if it is in the closure.
 * `inside`: index of an event that is known to be, or 0. */
static int add_ends(enum es_closure_method method,
                    struct front_search *search,
                    struct es_event_id back,
                    uint32_t inside,
                    struct es_closure *closure)
{
    int result;

    search->at = 0;
    search->trace = back.trace;
    if (!inside && !is_inside(search, back.index))
        return 0;
    /* All between an event that is inside and the back is inside, too (4.4, the second
     * improvement). */
    search->inside = inside ? inside : back.index;
    search->outside = 0;
    find_front(method, search);
    result = esi_closure_add(&closure->ends, back.trace, search->inside);
    if (result < 0)
        return result;
    return esi_closure_add(&closure->ends, back.trace, back.index);
}

int esi_closure_fronts(enum es_closure_method method,
                       struct es_precedence *precedence,
                       const struct es_closure_events *inside,
                       struct es_closure *closure)
{
    struct front_search search = {.precedence = precedence, .first = &closure->first};
    size_t known = 0;
    int result = 0;

    for (size_t i = 0; i < closure->greatest.count && result == 0; i++) {
        struct es_event_id back = closure->greatest.events[i];

        while (known < inside->count && inside->events[known].trace < back.trace)
            known++;
        result =
            add_ends(method, &search, back,
                     known < inside->count && inside->events[known].trace == back.trace
                         ? inside->events[known].index
                         : 0,
                     closure);
    }
    return result;
}
