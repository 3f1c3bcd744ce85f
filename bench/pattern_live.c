/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * pattern_live.c - how fast ten patterns are searched at once while events arrive.
 *
 * usage: pattern_live [EVENTS [TRACES]]
 *
 * Events are made as an MPI program of so many processes gives them: sends to a
 * neighbour and their receives, computing in between.  Prints a line for the order
 * alone, one for the order and ten patterns, and one for each of the patterns alone:
 * events, seconds, events a second, matches, events kept, bytes, whether anything was
 * lost.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/now.h"
#include "monitors/order/order.h"
#include "monitors/patterns/live.h"

/* Rare events make matches rare: patterns look for what should not be. */
static const char patterns[] =
    "Send := [type = \"MPI_Send\"]; Recv := [type = \"MPI_Recv\"];\n"
    "Rare := [type = \"compute\", tag = 77]; Late := [type = \"compute\", tag = 78];\n"
    "Huge := [type = \"MPI_Send\", bytes > 999000];\n"
    "Odd := [type = \"MPI_Recv\", bytes > 999000];\n"
    "Rare $r; Late $l; Huge $h; Odd $o;\n"
    "P0 := $r --> $l;\n"
    "P1 := $r || $l;\n"
    "P2 := $h => Recv;\n"
    "P3 := ($h --> $r) within 1ms;\n"
    "P4 := ($h --> $o) & $h.bytes = $o.bytes;\n"
    "P5 := ($r --> $h) & ($h --> $l);\n"
    "P6 := ($h || Huge) within 100us;\n"
    "P7 := Huge.Odd;\n"
    "P8 := ($o --> $r) | ($o --> $l);\n"
    "P9 := ($r --> $l) & ($r --> $h) & ($l || $h);\n";

enum { PATTERNS = 10 };

/* --- Events -------------------------------------------------------------------------
 */

struct maker {
    uint64_t state;
    uint32_t traces;
    uint32_t *counts;
    struct es_event_id *sent; /* to each trace; index 0: nothing */
    int64_t *bytes;
};

static uint32_t draw(struct maker *maker, uint32_t limit)
{
    maker->state ^= maker->state << 13;
    maker->state ^= maker->state >> 7;
    maker->state ^= maker->state << 17;
    return (uint32_t)((maker->state >> 16) % limit);
}

static int give_event(struct maker *maker,
                      uint64_t number,
                      const struct es_set_sink *sink)
{
    uint32_t trace = draw(maker, maker->traces), to = (trace + 1) % maker->traces;
    int64_t start = (int64_t)number * 1000;
    struct es_event_attribute attributes[] = {
        {"operation", "MPI", 0},
        {"tag", NULL, draw(maker, 50000)},
        {"bytes", NULL, draw(maker, 1000000)},
        {"start", NULL, start},
        {"stop", NULL, start + draw(maker, 100000)},
    };
    struct es_set_event event = {.id = {trace, ++maker->counts[trace]},
                                 .type = "compute",
                                 .text = "",
                                 .attributes = attributes,
                                 .attribute_count =
                                     sizeof attributes / sizeof *attributes};

    if (maker->sent[trace].index > 0) {
        event.kind = ES_EVENT_RECEIVE;
        event.type = "MPI_Recv";
        event.partners = &maker->sent[trace];
        event.partner_count = 1;
        attributes[2].number = maker->bytes[trace];
    } else if (maker->sent[to].index == 0 && draw(maker, 3) > 0) {
        event.kind = ES_EVENT_SEND;
        event.type = "MPI_Send";
        maker->sent[to] = event.id;
        maker->bytes[to] = attributes[2].number;
    }
    if (event.kind == ES_EVENT_RECEIVE) {
        int result = sink->event(sink->data, &event);
        maker->sent[trace].index = 0;
        return result;
    }
    return sink->event(sink->data, &event);
}

static int stream(uint64_t events, uint32_t traces, const struct es_set_sink *sink)
{
    struct maker maker = {.state = UINT64_C(88172645463325252), .traces = traces};
    int result = 0;

    maker.counts = calloc(traces, sizeof *maker.counts);
    maker.sent = calloc(traces, sizeof *maker.sent);
    maker.bytes = calloc(traces, sizeof *maker.bytes);
    if (!maker.counts || !maker.sent || !maker.bytes)
        abort();
    for (uint32_t trace = 0; trace < traces && result == 0; trace++) {
        char name[16];
        snprintf(name, sizeof name, "P%" PRIu32, trace);
        result = sink->trace(sink->data, trace, name);
    }
    for (uint64_t i = 0; i < events && result == 0; i++)
        result = give_event(&maker, i, sink);
    free(maker.counts);
    free(maker.sent);
    free(maker.bytes);
    return result;
}

/* --- Searches -----------------------------------------------------------------------
 */

static int ignore(void *data, const struct es_event_id *events, size_t count)
{
    (void)data;
    (void)events;
    (void)count;
    return 0;
}

static void fail(const char *what, const struct es_error *error)
{
    fprintf(stderr, "pattern_live: %s: %s\n", what, error->text);
    exit(1);
}

static void print_line(const char *name,
                       uint64_t events,
                       double seconds,
                       const struct es_live_statistics *statistics)
{
    printf("%-8s %10" PRIu64 " events %8.3f s %10.0f events/s %8" PRIu64
           " matches %8" PRIu64 " kept %8.1f MB%s\n",
           name, events, seconds, (double)events / seconds, statistics->matches,
           statistics->kept_events, (double)statistics->bytes / 1e6,
           statistics->is_complete ? "" : " (not all known)");
}

/* Predicates [first, first + count) of the ten; none: the order alone. */
static void measure(const struct es_pattern_file *file,
                    unsigned first,
                    unsigned count,
                    uint64_t events,
                    uint32_t traces)
{
    struct es_live_statistics statistics = {.is_complete = true};
    struct es_live_wanted wanted[PATTERNS];
    struct es_order_config order_config;
    struct es_live_config config;
    struct es_error error = {.text = ""};
    struct es_live *live = NULL;
    struct es_set_sink sink;
    struct es_order *order;
    char name[16];
    uint64_t begin_ns;

    for (unsigned i = 0; i < count; i++) {
        snprintf(name, sizeof name, "P%u", first + i);
        wanted[i] =
            (struct es_live_wanted){es_pattern_find(file, name), {ignore, NULL}};
    }
    es_order_config_init(&order_config);
    if (es_order_create(&order_config, &error, &order) < 0)
        fail("order", &error);
    es_live_config_init(&config);
    config.traces_are_told = true;
    sink = es_order_sink(order);
    if (count > 0) {
        if (es_live_create(file, wanted, count, order, &config, &live, &error) < 0)
            fail("live", &error);
        sink = es_live_sink(live);
    }
    begin_ns = es_now_ns(CLOCK_MONOTONIC);
    if (stream(events, traces, &sink) < 0 || (live && es_live_end(live) < 0))
        fail("stream", &error);
    begin_ns = es_now_ns(CLOCK_MONOTONIC) - begin_ns;
    if (live)
        es_live_statistics(live, &statistics);
    print_line(count == 0  ? "order"
               : count > 1 ? "all ten"
                           : name,
               events, (double)begin_ns / 1e9, &statistics);
    es_live_destroy(live);
    es_order_destroy(order);
}

int main(int argc, char **argv)
{
    uint64_t events = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
    uint32_t traces = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 64;
    struct es_pattern_file *file;
    struct es_error error = {.text = ""};

    if (events == 0 || traces < 2) {
        fputs("usage: pattern_live [EVENTS [TRACES]]\n", stderr);
        return 2;
    }
    if (es_pattern_file_parse(patterns, strlen(patterns), "patterns", &file, &error) <
        0)
        fail("patterns", &error);
    measure(file, 0, 0, events, traces);
    measure(file, 0, PATTERNS, events, traces);
    for (unsigned i = 0; i < PATTERNS; i++)
        measure(file, i, 1, events, traces);
    es_pattern_file_destroy(file);
    return 0;
}
