/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Feeds logs to the reader of ShiViz logs.  The first byte chooses the options: '1' a
 * header, '2' executions, else none.  The output must be an ordered stream, and each
 * error has a text.
 */
#include "config.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "monitors/order/order.h"
#include "monitors/eventset/formats/shiviz_read.h"
#include "tests/fuzz/fuzz_target.h"

/* Reads a text to its end, for sanitizers. Always returns 0. */
static int take_text(const char *text)
{
    return strlen(text) == SIZE_MAX;
}

struct checking {
    struct es_set_sink sink;
};

static int take_trace(void *data, uint32_t trace, const char *name)
{
    const struct checking *checking = data;

    return take_text(name) ? 1 : checking->sink.trace(checking->sink.data, trace, name);
}

/* The order refuses unordered events with -EINVAL; that would be a fault of the
 * reader. */
static int take_event(void *data, const struct es_set_event *event)
{
    const struct checking *checking = data;
    int result = take_text(event->type) + take_text(event->text);

    for (size_t i = 0; i < event->attribute_count; i++)
        result += take_text(event->attributes[i].text);
    require(result == 0 && checking->sink.event(checking->sink.data, event) == 0);
    return 0;
}

FUZZ_TARGET(fuzz_shiviz, data, size)
{
    struct checking checking;
    struct esi_shiviz_config config = {
        .sink = {.trace = take_trace, .event = take_event, .data = &checking},
        .header = size > 0 && data[0] == '1',
        .delimiter = size > 0 && data[0] == '2' ? "^--(?<trace>.*)$" : NULL,
    };
    struct es_error error = {.text = ""};
    struct esi_order_config order_config = {.store = "dense"};
    struct es_order *order;

    if (size == 0)
        return 0;
    require(esi_order_create(&order_config, NULL, &order) >= 0);
    checking.sink = es_order_sink(order);
    require(esi_shiviz_read_text((const char *)data + 1, size - 1, "log", &config, NULL,
                                 &error) >= 0 ||
            error.text[0] != '\0');
    es_order_destroy(order);
    return 0;
}
