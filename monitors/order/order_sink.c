/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* order_sink.c - appends what an ordered stream of events brings. */
#include "config.h"

#include <errno.h>

#include "monitors/order/order_state.h"

static bool is_same(struct es_event_id a, struct es_event_id b)
{
    return a.trace == b.trace && a.index == b.index;
}

static bool is_next(const struct es_order *order, struct es_event_id id)
{
    return id.trace < es_order_traces(order) && id.index >= 1 &&
           id.index - 1 == es_order_count(order, id.trace);
}

static int take_trace(void *data, uint32_t trace, const char *name)
{
    struct es_order *order = data;

    (void)name;
    return trace == es_order_traces(order) ? es_order_add_trace(order) : -EINVAL;
}

static int take_half(struct es_order *order, const struct es_set_event *event)
{
    int code;

    if (event->partner_count != 1)
        return -EINVAL;
    if (!order->is_half) {
        if (!is_next(order, event->partners[0]))
            return -EINVAL;
        order->half = event->id;
        order->half_partner = event->partners[0];
        order->is_half = true;
        return 0;
    }
    if (!is_same(event->id, order->half_partner) ||
        !is_same(event->partners[0], order->half))
        return -EINVAL;
    code = es_order_append_sync(order, order->half.trace, event->id.trace);
    order->is_half = code < 0;
    return code;
}

static int take_event(void *data, const struct es_set_event *event)
{
    struct es_order *order = data;

    if (!is_next(order, event->id))
        return -EINVAL;
    if (event->kind == ES_EVENT_SYNC)
        return take_half(order, event);
    if (order->is_half)
        return -EINVAL;
    return es_order_append(order, event->id.trace, event->kind, event->partners,
                           event->partner_count);
}

struct es_set_sink es_order_sink(struct es_order *order)
{
    return (struct es_set_sink){
        .trace = take_trace, .event = take_event, .data = order};
}

int es_order_sink_end(const struct es_order *order)
{
    return order->is_half ? -EINVAL : 0;
}
