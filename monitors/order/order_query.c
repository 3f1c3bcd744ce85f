/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * order_query.c - questions to an order, put together of what its store answers.
 *
 * On a trace, those that precede an event come first, then those that are concurrent
 * with it, then those that succeed it: each border is found by bisection.
 */
#include "config.h"

#include <errno.h>
#include <stdbool.h>

#include "monitors/order/order_state.h"

static uint32_t forgotten_of(const struct es_order *order, uint32_t trace)
{
    return order->ops->forgotten ? order->ops->forgotten(order->store, trace) : 0;
}

static bool is_there(const struct es_order *order, struct es_event_id id)
{
    return id.index >= 1 && id.index <= es_order_count(order, id.trace);
}

/* An event that is not forgotten when a question has been answered was not while it was
 * asked. */
static bool is_forgotten(const struct es_order *order, struct es_event_id id)
{
    return id.index <= forgotten_of(order, id.trace);
}

/* Of events that are there. */
static int precedes_event(const struct es_order *order,
                          struct es_event_id a,
                          struct es_event_id b)
{
    if (a.trace == b.trace)
        return a.index < b.index;
    return order->ops->precedes(order->store, a, b);
}

int es_order_precedes(const struct es_order *order,
                      struct es_event_id a,
                      struct es_event_id b)
{
    int answer;

    if (!is_there(order, a) || !is_there(order, b))
        return -EINVAL;
    answer = precedes_event(order, a, b);
    /* What a store knows is true for ever; but it may know too little. */
    if (answer == 0 && a.trace != b.trace &&
        (is_forgotten(order, a) || is_forgotten(order, b)))
        return -ESTALE;
    return answer;
}

int es_order_relation(const struct es_order *order,
                      struct es_event_id a,
                      struct es_event_id b)
{
    int before = es_order_precedes(order, a, b), after;

    if (before == 1)
        return ES_RELATION_BEFORE;
    if (before < 0 && before != -ESTALE)
        return before;
    after = es_order_precedes(order, b, a);
    if (after != 0)
        return after < 0 ? after : ES_RELATION_AFTER;
    if (before < 0)
        return before;
    return a.trace == b.trace ? ES_RELATION_EQUAL : ES_RELATION_CONCURRENT;
}

const char *es_relation_name(enum es_relation relation)
{
    switch (relation) {
    case ES_RELATION_EQUAL:
        return "equal";
    case ES_RELATION_BEFORE:
        return "before";
    case ES_RELATION_AFTER:
        return "after";
    case ES_RELATION_CONCURRENT:
        return "concurrent";
    }
    return "unknown";
}

/* Number of events of `trace` up to `count`, more than `low`, that precede `event`
 * (`is_before`) or do not succeed it; `low` are known to. */
static int64_t bisect_trace(const struct es_order *order,
                            struct es_event_id event,
                            uint32_t trace,
                            bool is_before,
                            uint32_t low)
{
    uint32_t high = es_order_count(order, trace);

    while (low < high) {
        struct es_event_id middle = {.trace = trace,
                                     .index = low + (high - low + 1) / 2};
        int answer = is_before ? precedes_event(order, middle, event)
                               : precedes_event(order, event, middle);

        if (answer < 0)
            return answer;
        if ((answer == 1) == is_before)
            low = middle.index;
        else
            high = middle.index - 1;
    }
    return low;
}

static bool is_question(const struct es_order *order,
                        struct es_event_id event,
                        uint32_t trace)
{
    return trace < es_order_traces(order) && is_there(order, event);
}

int64_t es_order_greatest_predecessor(const struct es_order *order,
                                      struct es_event_id event,
                                      uint32_t trace)
{
    uint32_t forgotten;
    int64_t found;

    if (!is_question(order, event, trace))
        return -EINVAL;
    if (trace == event.trace)
        return event.index - 1;
    found = order->ops->greatest_predecessor
                ? order->ops->greatest_predecessor(order->store, event, trace)
                : bisect_trace(order, event, trace, true, forgotten_of(order, trace));
    forgotten = forgotten_of(order, trace);
    /* It may be one of those that are forgotten, or none. */
    if (found >= 0 &&
        (is_forgotten(order, event) || (found <= forgotten && forgotten > 0)))
        return -ESTALE;
    return found;
}

/* Events of a trace up to the last that does not succeed the event. */
static int64_t not_after(const struct es_order *order,
                         struct es_event_id event,
                         uint32_t trace)
{
    /* No event that is kept precedes one that is forgotten. */
    int64_t last = bisect_trace(order, event, trace, false, forgotten_of(order, trace));

    return last >= 0 && is_forgotten(order, event) ? -ESTALE : last;
}

int64_t es_order_least_successor(const struct es_order *order,
                                 struct es_event_id event,
                                 uint32_t trace)
{
    uint32_t count = es_order_count(order, trace);
    int64_t last;

    if (!is_question(order, event, trace))
        return -EINVAL;
    if (trace == event.trace)
        return event.index < count ? (int64_t)event.index + 1 : 0;
    last = not_after(order, event, trace);
    if (last < 0)
        return last;
    return last < count ? last + 1 : 0;
}

int64_t es_order_greatest_concurrent(const struct es_order *order,
                                     struct es_event_id event,
                                     uint32_t trace)
{
    struct es_event_id found = {.trace = trace};
    int64_t last;
    int code;

    if (!is_question(order, event, trace))
        return -EINVAL;
    if (trace == event.trace)
        return 0;
    last = not_after(order, event, trace);
    if (last <= 0)
        return last;
    found.index = (uint32_t)last;
    code = precedes_event(order, found, event);
    if (code == 0 && (is_forgotten(order, found) || is_forgotten(order, event)))
        return -ESTALE;
    if (code < 0)
        return code;
    return code ? 0 : last;
}

int es_order_concurrent(const struct es_order *order,
                        struct es_event_id event,
                        uint32_t trace,
                        uint32_t *ret_first,
                        uint32_t *ret_last)
{
    int64_t before = es_order_greatest_predecessor(order, event, trace);
    int64_t last;

    if (before < 0 && before != -ESTALE)
        return (int)before;
    if (trace == event.trace)
        return 0;
    last = not_after(order, event, trace);
    if (last < 0)
        return (int)last;
    if (before == -ESTALE && last <= forgotten_of(order, trace))
        return -ESTALE;
    if (before >= last)
        return 0;
    *ret_first = before == -ESTALE ? 0 : (uint32_t)before + 1;
    *ret_last = (uint32_t)last;
    return 1;
}

bool es_order_is_forgotten(const struct es_order *order, struct es_event_id event)
{
    return is_forgotten(order, event);
}
