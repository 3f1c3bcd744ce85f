/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * pattern_live.c - the speed of searching ten patterns at once while events arrive.
 *
 * usage: pattern_live [EVENTS [TRACES [SET [PATTERN]]]]
 *
 * Events are those of an MPI program with this number of processes: sends to a
 * neighbour and their receives, with computation in between.  Prints a line for the
 * order alone, one for the order and ten patterns, and one for each of the patterns
 * alone: events, seconds of a core, events per second, matches, events kept,
 * candidates, bytes, the largest resident memory so far, and whether anything was lost.
 * SET: rare (default), frequent, universal or mixed.  With PATTERN, its number, only
 * that one.  The order forgets beyond 64 MiB.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/now.h"
#include "monitors/order/order.h"
#include "monitors/search/live/live.h"

/* Rare events make matches rare: the patterns describe errors. */
static const char rare[] =
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

/* Each event is in some of these classes. */
static const char frequent[] =
    "Send := [type = \"MPI_Send\"]; Recv := [type = \"MPI_Recv\"];\n"
    "Send $s; Recv $r;\n"
    "P0 := $s => $r;\n"
    "P1 := ($s => $r) & $s.bytes = $r.bytes;\n"
    "P2 := ($s => $r) & $s.bytes != $r.bytes;\n"
    "P3 := ($s => $r) within 20us;\n"
    "P4 := Send.Recv;\n"
    "P5 := Recv.Send;\n"
    "P6 := ($s => $r) & $s.tag = $r.tag;\n"
    "P7 := ($s => $r) & $r.bytes > 500000;\n"
    "P8 := ($s => $r) & $s.start < $r.start;\n"
    "P9 := (Send => Recv) within 1ms;\n";

/* With frequent universal classes, and with many candidates. */
static const char universal[] =
    "Send := [type = \"MPI_Send\"]; Recv := [type = \"MPI_Recv\"];\n"
    "Comp := [type = \"compute\"]; Rare := [type = \"compute\", tag = 77];\n"
    "Seldom := [type = \"compute\", tag < 100];\n"
    "Received := Send.Recv; Rare $r; Seldom $l; Send $s;\n"
    "Send *send; Recv *recv; Comp *comp; Received *received; Seldom *seldom;\n"
    "P0 := $s !<-> *received;\n"
    "P1 := $l !--> *recv;\n"
    "P2 := $l !<-> *received;\n"
    "P3 := *comp !--> $l;\n"
    "P4 := $r -(Comp)-> $s;\n"
    "P5 := $r || *seldom;\n"
    "P6 := ($r => Recv) & ($r !--> *send);\n"
    "P7 := *seldom !--> $r;\n"
    "P8 := $l !<-> *send;\n"
    "P9 := $r --> at least 3 of Seldom;\n";

/* Typical questions about all messages and all computation: three and four variables,
 * chains, times, attributes, limits, counts. */
static const char mixed[] =
    "Send := [type = \"MPI_Send\"]; Recv := [type = \"MPI_Recv\"];\n"
    "Comp := [type = \"compute\"]; Seldom := [type = \"compute\", tag < 100];\n"
    "Send $s; Recv $r; Send $t; Recv $u; Seldom $l; Seldom *seldom;\n"
    "P0 := ($s => $r) & ($t => $u) & ($s --> $t) & ($u --> $r);\n"
    "P1 := (($s => $r) & ($r --> $t) & ($t => $u)) within 200us;\n"
    "P2 := ($s => $r) & ($s => $u) & $r.start != $u.start;\n"
    "P3 := ($s --> $r --> $t) within 50us;\n"
    "P4 := ($s || $r) within 2us;\n"
    "P5 := $r -(Comp)-> $s;\n"
    "P6 := ($s => $r) & (*seldom !--> $s);\n"
    "P7 := ($s --> $r) & $s.tag = $r.tag;\n"
    "P8 := $s --> at least 3 of Recv;\n"
    "P9 := $l --> at most 5 of Send;\n";

static const struct {
    const char *name;
    const char *patterns;
} sets[] = {{"rare", rare},
            {"frequent", frequent},
            {"universal", universal},
            {"mixed", mixed}};

enum { PATTERNS = 10, SETS = sizeof sets / sizeof *sets };

/* --- Events ----------------------------------------------------------------------- */

struct maker {
    uint64_t state;
    uint32_t traces;
    uint32_t *counts;
    struct es_event_id *sent; /* to each trace; index 0 if none */
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

/* --- Searches --------------------------------------------------------------------- */

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

/* The maximum so far. */
static long resident_mb(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024;
}

static void print_line(const char *name,
                       uint64_t events,
                       double seconds,
                       const struct esi_live_statistics *statistics)
{
    printf("%-8s %10" PRIu64 " events %8.3f s %10.0f events/s %8" PRIu64
           " matches %8" PRIu64 " kept %6" PRIu64 " candidates %8.1f MB of %ld%s\n",
           name, events, seconds, (double)events / seconds, statistics->matches,
           statistics->kept_events, statistics->candidates,
           (double)statistics->bytes / 1e6, resident_mb(),
           statistics->is_complete ? "" : " (not all known)");
}

/* Searches predicates [first, first + count) of the ten; none: the order alone. */
static double measure(const struct es_pattern_file *file,
                      unsigned first,
                      unsigned count,
                      uint64_t events,
                      uint32_t traces)
{
    struct esi_live_statistics statistics = {.is_complete = true};
    struct esi_live_wanted wanted[PATTERNS];
    struct esi_order_config order_config = {.memory_bytes = UINT64_C(64) << 20};
    struct esi_live_config config;
    struct es_error error = {.text = ""};
    struct esi_live *live = NULL;
    struct es_set_sink sink;
    struct es_order *order;
    char name[16];
    uint64_t begin_ns;

    for (unsigned i = 0; i < count; i++) {
        snprintf(name, sizeof name, "P%u", first + i);
        wanted[i] =
            (struct esi_live_wanted){es_pattern_find(file, name), {ignore, NULL}};
    }
    if (esi_order_create(&order_config, &error, &order) < 0)
        fail("order", &error);
    esi_live_config_init(&config);
    config.traces_are_told = true;
    sink = es_order_sink(order);
    if (count > 0) {
        if (esi_live_create(file, wanted, count, order, &config, &live, &error) < 0)
            fail("live", &error);
        sink = esi_live_sink(live);
    }
    begin_ns = esi_now_ns(CLOCK_PROCESS_CPUTIME_ID);
    if (stream(events, traces, &sink) < 0 || (live && esi_live_end(live) < 0))
        fail("stream", &error);
    begin_ns = esi_now_ns(CLOCK_PROCESS_CPUTIME_ID) - begin_ns;
    if (live)
        esi_live_statistics(live, &statistics);
    print_line(count == 0  ? "order"
               : count > 1 ? "all ten"
                           : name,
               events, (double)begin_ns / 1e9, &statistics);
    esi_live_destroy(live);
    es_order_destroy(order);
    return (double)events * 1e9 / (double)begin_ns;
}

static struct es_pattern_file *parse_set(unsigned set)
{
    struct es_pattern_file *file;
    struct es_error error = {.text = ""};

    if (es_pattern_file_parse(sets[set].patterns, strlen(sets[set].patterns),
                              sets[set].name, &file, &error) < 0)
        fail("patterns", &error);
    return file;
}

/* One set of ten. */
static void measure_set(unsigned set, uint64_t events, uint32_t traces)
{
    struct es_pattern_file *file = parse_set(set);
    double alone, ten, one, slowest = 0;

    alone = measure(file, 0, 0, events, traces);
    ten = measure(file, 0, PATTERNS, events, traces);
    for (unsigned i = 0; i < PATTERNS; i++) {
        one = measure(file, i, 1, events, traces);
        if (slowest == 0 || one < slowest)
            slowest = one;
    }
    printf("figure: pattern_live_%s_order %.0f events/s\n", sets[set].name, alone);
    printf("figure: pattern_live_%s_ten %.0f events/s\n", sets[set].name, ten);
    printf("figure: pattern_live_%s_slowest %.0f events/s\n", sets[set].name, slowest);
    printf("figure: pattern_live_%s_resident %ld MB\n", sets[set].name, resident_mb());
    es_pattern_file_destroy(file);
}

int main(int argc, char **argv)
{
    uint64_t events = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
    uint32_t traces = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 64;
    unsigned set = 0;

    while (argc > 3 && set < SETS && strcmp(argv[3], sets[set].name) != 0)
        set++;
    if (events == 0 || traces < 2 || set == SETS) {
        fputs("usage: pattern_live [EVENTS [TRACES [rare|frequent|universal|mixed "
              "[PATTERN]]]]\n",
              stderr);
        return 2;
    }
    if (argc > 4) {
        struct es_pattern_file *file = parse_set(set);

        measure(file, (unsigned)strtoul(argv[4], NULL, 10) % PATTERNS, 1, events,
                traces);
        es_pattern_file_destroy(file);
    } else {
        measure_set(set, events, traces);
    }
    return 0;
}
