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

#include "monitors/order/order_state.h"

static uint32_t forgotten_of(const struct es_order *order, uint32_t trace)
{
    return order->ops->forgotten ? order->ops->forgotten(order->store, trace) : 0;
}

/* 0, -EINVAL or -ESTALE. */
static int check_event(const struct es_order *order, struct es_event_id id)
{
    if (id.index < 1 || id.index > es_order_count(order, id.trace))
        return -EINVAL;
    return id.index <= forgotten_of(order, id.trace) ? -ESTALE : 0;
}

/* Of events that are there. */
static int precedes(const struct es_order *order,
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
    int code = check_event(order, a);

    if (code >= 0)
        code = check_event(order, b);
    return code < 0 ? code : precedes(order, a, b);
}

int es_order_relation(const struct es_order *order,
                      struct es_event_id a,
                      struct es_event_id b)
{
    int code = es_order_precedes(order, a, b);

    if (code != 0)
        return code < 0 ? code : ES_RELATION_BEFORE;
    if (a.trace == b.trace && a.index == b.index)
        return ES_RELATION_EQUAL;
    code = precedes(order, b, a);
    if (code != 0)
        return code < 0 ? code : ES_RELATION_AFTER;
    return ES_RELATION_CONCURRENT;
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
static int64_t bisect(const struct es_order *order,
                      struct es_event_id event,
                      uint32_t trace,
                      bool is_before,
                      uint32_t low)
{
    uint32_t high = es_order_count(order, trace);

    while (low < high) {
        struct es_event_id middle = {.trace = trace,
                                     .index = low + (high - low + 1) / 2};
        int answer =
            is_before ? precedes(order, middle, event) : precedes(order, event, middle);

        if (answer < 0)
            return answer;
        if ((answer == 1) == is_before)
            low = middle.index;
        else
            high = middle.index - 1;
    }
    return low;
}

static int check_question(const struct es_order *order,
                          struct es_event_id event,
                          uint32_t trace)
{
    if (trace >= es_order_traces(order))
        return -EINVAL;
    return check_event(order, event);
}

int64_t es_order_greatest_predecessor(const struct es_order *order,
                                      struct es_event_id event,
                                      uint32_t trace)
{
    int code = check_question(order, event, trace);
    uint32_t forgotten;
    int64_t found;

    if (code < 0)
        return code;
    if (trace == event.trace)
        return event.index - 1;
    if (order->ops->greatest_predecessor)
        return order->ops->greatest_predecessor(order->store, event, trace);
    forgotten = forgotten_of(order, trace);
    found = bisect(order, event, trace, true, forgotten);
    /* It may be one of those that are forgotten, or none. */
    return found == forgotten && forgotten > 0 ? -ESTALE : found;
}

/* Events of a trace up to the last that does not succeed the event. */
static int64_t not_after(const struct es_order *order,
                         struct es_event_id event,
                         uint32_t trace)
{
    /* No event that is kept precedes one that is forgotten. */
    return bisect(order, event, trace, false, forgotten_of(order, trace));
}

int64_t es_order_least_successor(const struct es_order *order,
                                 struct es_event_id event,
                                 uint32_t trace)
{
    int code = check_question(order, event, trace);
    uint32_t count = es_order_count(order, trace);
    int64_t last;

    if (code < 0)
        return code;
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
    int code = check_question(order, event, trace);
    int64_t last;

    if (code < 0)
        return code;
    if (trace == event.trace)
        return 0;
    last = not_after(order, event, trace);
    if (last <= 0)
        return last;
    if (last <= forgotten_of(order, trace))
        return -ESTALE;
    code = precedes(
        order, (struct es_event_id){.trace = trace, .index = (uint32_t)last}, event);
    if (code < 0)
        return code;
    return code ? 0 : last;
}
