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

#include "monitors/search/thesis/closure_private.h"

/* The search on one trace: `inside` is in the closure, `outside` is not, and lies to
 * the left; 0 = before the first event of the trace. */
struct front_search {
    struct esi_precedence *precedence;
    const struct esi_event_list *first;
    size_t at; /* first events before this one precede nothing that is left to see */
    uint32_t trace;
    uint32_t inside;
    uint32_t outside;
};

/* Of events on one trace their indexes tell, no timestamp is compared. */
static bool reaches_event(struct front_search *search,
                          struct es_event_id first,
                          struct es_event_id event)
{
    if (first.trace == event.trace)
        return first.index <= event.index;
    return esi_precedence_before(search->precedence, first, event);
}

/* Whether an event of the trace is a first event of the set or succeeds one. */
static bool is_inside(struct front_search *search, uint32_t index)
{
    struct es_event_id event = {search->trace, index};

    for (size_t at = search->at; at < search->first->count; at++)
        if (reaches_event(search, search->first->events[at], event)) {
            search->at = at;
            return true;
        }
    return false;
}

/* Tells on which side an event is. */
static void look_back(struct front_search *search, uint32_t index)
{
    if (is_inside(search, index))
        search->inside = index;
    else
        search->outside = index;
}

/* O(c + t) comparisons, for c events of the closure on the trace. */
static void step_back(struct front_search *search)
{
    while (search->inside - search->outside > 1)
        look_back(search, search->inside - 1);
}

/* O(t log i) for i events before the back. */
static void halve_range(struct front_search *search)
{
    while (search->inside - search->outside > 1)
        look_back(search, search->outside + (search->inside - search->outside) / 2);
}

/* O(t log i / log t): a jump to an event outside costs up to t comparisons, so that t
 * jumps to events inside, which cost one each and t together, are worth one of these.
 */
static void jump_back(struct front_search *search)
{
    uint32_t divisor = search->first->count > 1 ? (uint32_t)search->first->count : 2;
    uint32_t jump = (search->inside - search->outside) / divisor;

    while (search->inside - search->outside > 1) {
        uint32_t before = search->outside;

        if (jump >= search->inside - search->outside)
            jump = search->inside - search->outside - 1;
        if (jump == 0)
            jump = 1;
        look_back(search, search->inside - jump);
        if (search->outside != before)
            jump /= divisor;
    }
}

uint32_t esi_closure_find_front(enum esi_closure_method method,
                                struct esi_precedence *precedence,
                                const struct esi_event_list *first,
                                const struct esi_closure_range *range)
{
    struct front_search search = {
        .precedence = precedence,
        .first = first,
        .trace = range->trace,
        .inside = range->inside ? range->inside : range->back,
        .outside = range->outside,
    };

    if (!range->inside &&
        (range->back <= range->outside || !is_inside(&search, range->back)))
        return 0;
    /* What is known may leave nothing open. */
    if (search.outside >= search.inside)
        search.outside = search.inside - 1;
    /* An event of the set is often the front itself: its neighbour tells (4.4). */
    if (range->inside && search.inside - search.outside > 1)
        look_back(&search, search.inside - 1);
    switch (method) {
    case ES_CLOSURE_STEP:
        step_back(&search);
        break;
    case ES_CLOSURE_JUMP:
        jump_back(&search);
        break;
    case ES_CLOSURE_EXISTING:
    case ES_CLOSURE_BINARY:
        halve_range(&search);
        break;
    }
    return search.inside;
}
