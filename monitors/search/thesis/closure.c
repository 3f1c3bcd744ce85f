/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* closure.c - computes the convex closure of a set of events, by walking forward or by
 * greatest predecessors, and the closure of the union of two (Nichols, chapter 4). */
#include "config.h"

#include "monitors/search/thesis/closure.h"

#include <errno.h>
#include <stdlib.h>

struct esi_closure_maker {
    const struct es_order *order;
    enum esi_closure_method method;
    const struct esi_successors *successors;
    uint32_t traces;
    struct esi_event_list last;   /* of the set, on each of its traces */
    struct esi_event_list united; /* front and back of two closures */

    /* For the existing algorithm; the arrays by trace are 0 between calls. */
    struct esi_event_list minima;
    struct esi_event_list maxima;
    struct esi_event_list waiting; /* events from which to continue the walk */
    uint32_t *back;                /* index by trace; 0 = none */
    uint32_t *front;               /* least index reached */
    uint32_t *done;                /* walked from here to the back */
};

/* --- Closures --------------------------------------------------------------------- */

static int add_ends(struct esi_closure *closure,
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

static void clear_closure(struct esi_closure *closure)
{
    closure->ends.count = closure->first.count = closure->greatest.count = 0;
}

void esi_closure_fini(struct esi_closure *closure)
{
    esi_event_list_fini(&closure->ends);
    esi_event_list_fini(&closure->first);
    esi_event_list_fini(&closure->greatest);
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

/* --- Queries ---------------------------------------------------------------------- */

/* An entry of a timestamp, which is only read, not compared; 0 = none. */
static uint32_t entry_of_trace(struct esi_precedence *precedence,
                               struct es_event_id event,
                               uint32_t trace)
{
    int64_t index = es_order_greatest_predecessor(precedence->order, event, trace);

    precedence->unknown += index < 0;
    return index > 0 ? (uint32_t)index : 0;
}

/* a --> b or a = b. */
static bool is_or_precedes(struct esi_precedence *precedence,
                           struct es_event_id a,
                           struct es_event_id b)
{
    return esi_event_is(a, b) || esi_precedence_before(precedence, a, b);
}

/* --- The front, trace by trace from its back (4.9, and the improvements of 4.4) --- */

/* On a trace, from the greatest predecessor of the set's last events back to the start,
 * events succeed a first event of the set up to some point and none beyond it (lemma
 * 4.10).  This point is found by single steps, by binary search or by jumps of
 * decreasing length.  A first event that does not precede one event of the trace
 * precedes none before it, so it is not tested again. */

/* The known extent of a closure on one trace: the events from `inside` (0 if it is not
 * known whether `back` is inside) to `back` are in it, those up to `outside` are
 * not. */
struct trace_range {
    uint32_t trace;
    uint32_t outside;
    uint32_t inside;
    uint32_t back;
};

/* The search on one trace: `inside` is in the closure; `outside` is before it and not
 * in the closure, 0 = before the first event of the trace. */
struct front_search {
    struct esi_precedence *precedence;
    const struct esi_event_list *first;
    size_t at; /* first events before this index precede no event that remains to be
                  tested */
    uint32_t trace;
    uint32_t inside;
    uint32_t outside;
};

/* Events on the same trace are compared by index, without timestamps. */
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

/* Tests one event and narrows the range. */
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

/* O(t log i / log t).  A jump to an event outside costs up to t comparisons; t jumps to
 * events inside cost one each, t together, and so are worth one jump outside. */
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

/* Algorithm 4.9 on one trace: the front, which is the least event that is in `first` or
 * succeeds an event of it; 0 if there is none. */
static uint32_t find_front(enum esi_closure_method method,
                           struct esi_precedence *precedence,
                           const struct esi_event_list *first,
                           const struct trace_range *range)
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
    /* The known range may already determine the front. */
    if (search.outside >= search.inside)
        search.outside = search.inside - 1;
    /* An event of the set is often the front itself, which its predecessor on the trace
     * shows (4.4). */
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

/* --- The existing algorithm: the back (4.6) --------------------------------------- */

/* The back is found first, from the greatest predecessors of each of the set's maxima.
 * Then all paths from the set's minima are followed as long as they stay in the
 * closure.  An event reached by a path is in the closure if it is not after the back of
 * its trace, so that the walk compares no timestamps.  (The printed algorithm also
 * compares it with the backs of other traces, which is redundant.)  The walk visits
 * each event of the closure once, because each trace is followed to its back. */

static bool is_none(struct es_event_id event)
{
    return event.index == 0;
}

/* Copies the events, and marks (by index 0) those that succeed, or precede, another
 * one: S_front and S_back (definitions 4.2 and 4.3). */
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

        if (!is_none(minimum) && is_or_precedes(precedence, minimum, event))
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
            greatest.index = entry_of_trace(precedence, maximum, trace);
        if (is_none(greatest) || !succeeds_minimum(maker, precedence, greatest))
            continue;
        precedence->comparisons += back != 0;
        if (greatest.index > back)
            back = greatest.index;
    }
    return back;
}

/* --- The existing algorithm: the front (4.7) -------------------------------------- */

/* Queues an event for the walk if it is in the closure and was not visited. */
static int reach_event(struct esi_closure_maker *maker, struct es_event_id event)
{
    uint32_t *front = &maker->front[event.trace];

    if (event.index > maker->back[event.trace] || (*front && *front <= event.index))
        return 0;
    *front = event.index;
    return esi_event_list_push(&maker->waiting, event);
}

/* Follows immediate successors on other traces, from a table: rows up to `end` on the
 * trace. */
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

/* The same from the order: the least successor on another trace, unless it also
 * succeeds a later event. */
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

/* Walks along the trace up to an event visited before or to the back. */
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

/* Every trace with a back has a front, because the minimum before the back leads to
 * it. */
static int take_ends(struct esi_closure_maker *maker, struct esi_closure *closure)
{
    int result = 0;

    for (uint32_t trace = 0; trace < maker->traces; trace++) {
        if (result == 0 && maker->front[trace])
            result = add_ends(closure, trace, maker->front[trace], maker->back[trace]);
        maker->front[trace] = maker->back[trace] = maker->done[trace] = 0;
    }
    return result;
}

/* Computes the ends from the first and the last events. */
static int fill_existing(struct esi_closure_maker *maker,
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
    /* Also needed after a failure, because it clears the arrays. */
    taken = take_ends(maker, closure);
    return result < 0 ? result : taken;
}

/* --- Computing -------------------------------------------------------------------- */

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

/* T_front and T_back (definitions 4.4 and 4.5): in a sorted set these are the ends of
 * each trace's run.  O(e), without comparisons of timestamps. */
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

/* The greatest predecessor of the last events on a trace, where an event is its own
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
                             : entry_of_trace(precedence, event, trace);

        if (greatest && index)
            precedence->comparisons++;
        if (index > greatest)
            greatest = index;
    }
    return greatest;
}

/* Algorithm 4.8, as corrected: a superset of the back, which 4.9 reduces. */
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

/* Algorithm 4.9.  All events between an event of the set and the back are in the
 * closure, too (4.4, the second improvement). */
static int find_fronts(const struct esi_closure_maker *maker,
                       struct esi_precedence *precedence,
                       struct esi_closure *closure)
{
    size_t known = 0;
    int result = 0;

    for (size_t i = 0; i < closure->greatest.count && result == 0; i++) {
        struct es_event_id back = closure->greatest.events[i];
        struct trace_range range = {.trace = back.trace, .back = back.index};
        uint32_t front;

        while (known < closure->first.count &&
               closure->first.events[known].trace < back.trace)
            known++;
        if (known < closure->first.count &&
            closure->first.events[known].trace == back.trace)
            range.inside = closure->first.events[known].index;
        front = find_front(maker->method, precedence, &closure->first, &range);
        if (front)
            result = add_ends(closure, back.trace, front, back.index);
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
        return fill_existing(maker, precedence, closure);
    result = find_greatest(maker, precedence, closure);
    if (result < 0)
        return result;
    /* A single event is its own closure. */
    if (count == 1)
        return add_ends(closure, events[0].trace, events[0].index, events[0].index);
    return find_fronts(maker, precedence, closure);
}

int esi_closure_make(struct esi_closure_maker *maker,
                     struct esi_precedence *precedence,
                     const struct es_event_id *events,
                     size_t count,
                     struct esi_closure *closure)
{
    int result;

    clear_closure(closure);
    result = make_closure(maker, precedence, events, count, closure);
    if (result < 0)
        clear_closure(closure);
    return result;
}

/* --- Facts of two closures about a trace (4.5) ------------------------------------ */

/* The greatest predecessors of the union are the maxima of those of both sets, and need
 * no comparison.  Before a closure's front on a trace, and up to its greatest
 * predecessor on a trace without a front, no event succeeds its set.  There only the
 * first events of the other set are tested, and only where this is not known for that
 * set either.  So if both closures are on a trace, nothing is tested. */

/* Iterates over a closure, trace by trace. */
struct closure_side {
    const struct esi_closure *closure;
    size_t greatest;
    size_t ends;
};

/* The facts of a closure about one trace. */
struct said {
    uint32_t greatest; /* 0 = no event of the trace precedes its set or is in it */
    uint32_t front;    /* 0 = it has no events on the trace */
};

/* The next trace for which a side has facts; `none` at its end. */
static uint32_t next_trace(const struct closure_side *side, uint32_t none)
{
    const struct esi_event_list *greatest = &side->closure->greatest;

    return side->greatest < greatest->count ? greatest->events[side->greatest].trace
                                            : none;
}

/* Every trace of a closure has a greatest predecessor. */
static struct said take_event(struct closure_side *side, uint32_t trace)
{
    const struct esi_closure *closure = side->closure;
    struct said said = {0, 0};

    if (next_trace(side, UINT32_MAX) != trace)
        return said;
    said.greatest = closure->greatest.events[side->greatest++].index;
    if (side->ends < closure->ends.count &&
        closure->ends.events[side->ends].trace == trace) {
        said.front = closure->ends.events[side->ends].index;
        side->ends += 2;
    }
    return said;
}

/* --- Combining -------------------------------------------------------------------- */

static uint32_t lesser_event(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t front_on(const struct esi_closure_maker *maker,
                         struct esi_precedence *precedence,
                         const struct esi_closure *sets[2],
                         const struct said said[2],
                         struct trace_range *range)
{
    int asked;

    if (said[0].front && said[1].front)
        return lesser_event(said[0].front, said[1].front);
    /* One side determines all that matters here: it is on the trace, or its greatest
     * predecessor is the back.  The other is tested up to the limits of that. */
    asked = said[0].front || (!said[1].front && said[0].greatest > said[1].greatest);
    range->inside = said[!asked].front;
    range->outside = said[asked].greatest;
    return find_front(maker->method, precedence, &sets[asked]->first, range);
}

static int combine_trace(const struct esi_closure_maker *maker,
                         struct esi_precedence *precedence,
                         struct closure_side sides[2],
                         uint32_t trace,
                         struct esi_closure *closure)
{
    const struct esi_closure *sets[2] = {sides[0].closure, sides[1].closure};
    struct said said[2] = {take_event(&sides[0], trace), take_event(&sides[1], trace)};
    struct trace_range range = {.trace = trace, .back = said[0].greatest};
    uint32_t front;
    int result;

    precedence->comparisons += said[0].greatest && said[1].greatest;
    if (said[1].greatest > range.back)
        range.back = said[1].greatest;
    result = esi_event_list_push(&closure->greatest,
                                 (struct es_event_id){trace, range.back});
    if (result < 0)
        return result;
    front = front_on(maker, precedence, sets, said, &range);
    return front ? add_ends(closure, trace, front, range.back) : 0;
}

/* The first events of both sets, the lesser one on each trace. */
static int merge_first(const struct esi_event_list *a,
                       const struct esi_event_list *b,
                       struct esi_event_list *merged)
{
    size_t i = 0, j = 0;
    int result = 0;

    while ((i < a->count || j < b->count) && result == 0) {
        uint32_t a_trace = i < a->count ? a->events[i].trace : UINT32_MAX;
        uint32_t b_trace = j < b->count ? b->events[j].trace : UINT32_MAX;
        uint32_t index = a_trace <= b_trace ? a->events[i].index : UINT32_MAX;

        if (b_trace <= a_trace)
            index = lesser_event(index, b->events[j].index);
        result = esi_event_list_push(
            merged, (struct es_event_id){lesser_event(a_trace, b_trace), index});
        i += a_trace <= b_trace;
        j += b_trace <= a_trace;
    }
    return result;
}

static int combine_sides(const struct esi_closure_maker *maker,
                         struct esi_precedence *precedence,
                         const struct esi_closure *a,
                         const struct esi_closure *b,
                         struct esi_closure *closure)
{
    struct closure_side sides[2] = {{.closure = a}, {.closure = b}};
    int result = merge_first(&a->first, &b->first, &closure->first);

    while (result == 0) {
        uint32_t trace = lesser_event(next_trace(&sides[0], UINT32_MAX),
                                      next_trace(&sides[1], UINT32_MAX));

        if (trace == UINT32_MAX)
            break;
        result = combine_trace(maker, precedence, sides, trace, closure);
    }
    return result;
}

/* --- Recomputing ------------------------------------------------------------------ */

/* The fronts and backs of both closures, as a set of events. */
static int unite_ends(const struct esi_event_list *a,
                      const struct esi_event_list *b,
                      struct esi_event_list *united)
{
    size_t i = 0, j = 0;
    int result = 0;

    united->count = 0;
    while ((i < a->count || j < b->count) && result == 0) {
        bool takes_a =
            j == b->count ||
            (i < a->count && esi_event_compare(a->events[i], b->events[j]) < 0);
        struct es_event_id next = takes_a ? a->events[i++] : b->events[j++];

        if (united->count == 0 ||
            !esi_event_is(next, united->events[united->count - 1]))
            result = esi_event_list_push(united, next);
    }
    return result;
}

int esi_closure_combine(struct esi_closure_maker *maker,
                        struct esi_precedence *precedence,
                        const struct esi_closure *a,
                        const struct esi_closure *b,
                        struct esi_closure *closure)
{
    int result;

    clear_closure(closure);
    if (maker->method == ES_CLOSURE_EXISTING) {
        result = unite_ends(&a->ends, &b->ends, &maker->united);
        if (result < 0)
            return result;
        return esi_closure_make(maker, precedence, maker->united.events,
                                maker->united.count, closure);
    }
    result = combine_sides(maker, precedence, a, b, closure);
    if (result < 0)
        clear_closure(closure);
    return result;
}
