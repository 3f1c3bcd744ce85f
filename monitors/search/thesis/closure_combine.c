/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * closure_combine.c - the closure of the union of two sets, of their closures (Nichols,
 * 4.5).
 *
 * The greatest predecessors of both are those of the union, with nothing asked.  Left
 * of a closure's front on a trace, and up to its greatest predecessor on a trace that
 * it does not have, nothing succeeds its set: there only the first events of the other
 * set are asked, and only where that has not been answered for it, either.  So where
 * both closures have a trace, nothing is asked at all.
 */
#include "config.h"

#include "monitors/search/thesis/closure_private.h"

/* --- What two closures say of a trace --------------------------------------------- */

/* A closure that is gone through, trace by trace. */
struct closure_side {
    const struct esi_closure *closure;
    size_t greatest;
    size_t ends;
};

/* What it says of one trace. */
struct said {
    uint32_t greatest; /* 0 = nothing of the trace precedes its set, nor is in it */
    uint32_t front;    /* 0 = it does not have the trace */
};

/* The next trace of which a side has something to say; `none` at its end. */
static uint32_t next_trace(const struct closure_side *side, uint32_t none)
{
    const struct esi_event_list *greatest = &side->closure->greatest;

    return side->greatest < greatest->count ? greatest->events[side->greatest].trace
                                            : none;
}

/* Every trace that a closure has has a greatest predecessor. */
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
                         struct esi_closure_range *range)
{
    int asked;

    if (said[0].front && said[1].front)
        return lesser_event(said[0].front, said[1].front);
    /* Of the two, one has told all that matters here: it has the trace, or its greatest
     * predecessor is the back.  The other one's is as far as that tells. */
    asked = said[0].front || (!said[1].front && said[0].greatest > said[1].greatest);
    range->inside = said[!asked].front;
    range->outside = said[asked].greatest;
    return esi_closure_find_front(maker->method, precedence, &sets[asked]->first,
                                  range);
}

static int combine_trace(const struct esi_closure_maker *maker,
                         struct esi_precedence *precedence,
                         struct closure_side sides[2],
                         uint32_t trace,
                         struct esi_closure *closure)
{
    const struct esi_closure *sets[2] = {sides[0].closure, sides[1].closure};
    struct said said[2] = {take_event(&sides[0], trace), take_event(&sides[1], trace)};
    struct esi_closure_range range = {.trace = trace, .back = said[0].greatest};
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
    return front ? esi_closure_add_ends(closure, trace, front, range.back) : 0;
}

/* Both sets' first events, the lesser one of each trace. */
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

/* --- Making anew ------------------------------------------------------------------ */

/* The closures' fronts and backs, as a set of events. */
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

    esi_closure_clear(closure);
    if (maker->method == ES_CLOSURE_EXISTING) {
        result = unite_ends(&a->ends, &b->ends, &maker->united);
        if (result < 0)
            return result;
        return esi_closure_make(maker, precedence, maker->united.events,
                                maker->united.count, closure);
    }
    result = combine_sides(maker, precedence, a, b, closure);
    if (result < 0)
        esi_closure_clear(closure);
    return result;
}
