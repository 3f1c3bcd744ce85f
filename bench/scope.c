/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* scope.c - the cost of a pull through an event scope, relative to bare loops over the
 * same elements.
 *
 * The views are those of section 6.2 of the EventSpace paper: 1 element, a thread (14),
 * a node (266) and all (1,948); then up to 10^5 elements to show the growth.  Floors:
 * one loop over es_element_latest(), and one over es_element_read(), into plain memory.
 * The heartbeat's view also reads the operation under way, the counters and the call
 * sites, beside the same floor.
 * Floor and scope take turns, and medians are compared, so that the ratio does not
 * depend on the load of the machine. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/now.h"
#include "eventspace/clock.h"
#include "eventspace/operation.h"
#include "eventspace/scope.h"
#include "tuplespace/segment.h"

enum {
    PER_THREAD = 14,   /* elements of a thread, as in the paper */
    PER_SEGMENT = 280, /* of a process: 20 threads */
    ROUNDS = 9,
    FILL = 64, /* tuples written to each element before a pull of every tuple */
};

static const uint64_t turn_ns = UINT64_C(20000000); /* length of each turn */

/* A run in shared memory, written by this process. */
struct load {
    char run[64];
    struct es_segment **segments;
    size_t segment_count;
    struct esi_writer *writers;
    size_t count;
    uint64_t ticks; /* of the next tuple; after the pairing of the segments' clocks */
};

static void die(const char *what, int code)
{
    fprintf(stderr, "scope: %s: %s\n", what, strerror(-code));
    exit(1);
}

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);

    if (!memory)
        die("memory", -12);
    return memory;
}

static struct es_segment *add_segment(struct load *load, int rank)
{
    struct esi_segment_config config;
    struct es_segment *segment;
    int result;

    esi_segment_config_init(&config);
    config.run = load->run;
    config.host = "bench";
    config.program = "scope";
    config.rank = rank;
    result = esi_segment_create(&config, NULL, &segment);
    if (result < 0)
        die("segment", result);
    load->segments[load->segment_count++] = segment;
    return segment;
}

static void add_element(struct load *load,
                        struct es_segment *segment,
                        int rank,
                        size_t index,
                        uint32_t threshold)
{
    char name[64];
    char collector[32];
    struct esi_element_config config = {
        .kind = ES_ELEMENT_TRACE,
        .name = name,
        .collector = collector,
        .rank = rank,
        .thread = (int)(index / PER_THREAD),
        .classes = 1u << ES_CLASS_SEND,
        .peer = ES_PEER_NONE,
        .communicator = ES_COMMUNICATOR_NONE,
        .tuple_bytes = sizeof(struct es_tuple),
        .threshold = threshold,
        .enabled = true,
    };
    int result;

    snprintf(collector, sizeof collector, "c%zu", index % PER_THREAD);
    snprintf(name, sizeof name, "%d.%d/%s", rank, config.thread, collector);
    result = esi_segment_add_element(segment, &config, &load->writers[load->count++]);
    if (result < 0)
        die("element", result);
}

static void load_open(struct load *load, size_t count, uint32_t threshold)
{
    static int runs;
    struct es_segment *segment = NULL;

    *load = (struct load){0};
    snprintf(load->run, sizeof load->run, "bench-scope-%d-%d", (int)getpid(), runs++);
    load->segments = allocate(count / PER_SEGMENT + 1, sizeof(struct es_segment *));
    load->writers = allocate(count, sizeof *load->writers);
    for (size_t i = 0; i < count; i++) {
        int rank = (int)(i / PER_SEGMENT);

        if (i % PER_SEGMENT == 0)
            segment = add_segment(load, rank);
        add_element(load, segment, rank, i % PER_SEGMENT, threshold);
    }
    load->ticks = es_clock_ticks_of(es_clock_kind());
}

static void load_close(struct load *load)
{
    for (size_t i = 0; i < load->segment_count; i++)
        esi_segment_destroy(load->segments[i]);
    free(load->segments);
    free(load->writers);
}

static void load_write(struct load *load, int tuples)
{
    struct es_tuple tuple = {.operation = es_operation_by_name("MPI_Send")->code};

    for (size_t i = 0; i < load->count; i++) {
        for (int j = 0; j < tuples; j++) {
            tuple.start = load->ticks++;
            tuple.stop = load->ticks++;
            esi_writer_write(&load->writers[i], &tuple);
        }
    }
}

/* --- What takes turns -------------------------------------------------------- */

struct variant {
    const char *name; /* of the figure */
    enum es_take take;
    enum es_shape shape;
    enum es_sorting sorting;
    bool details; /* also open operations, counters and call sites */
    bool in_turn; /* elements are written in turn, otherwise FILL tuples of each */
};

struct contest {
    const struct variant *variant;
    struct load *load;
    struct es_run *run;
    struct es_element_view **elements;
    size_t count;
    struct es_scope *scope;
    struct es_cursor *cursors;
    struct es_tuple *tuples;
    uint64_t sum; /* prevents the compiler from removing work */
};

static void latest_floor(struct contest *contest)
{
    uint64_t position;

    for (size_t i = 0; i < contest->count; i++)
        if (es_element_latest(contest->elements[i], &contest->tuples[i], &position) > 0)
            contest->sum += position;
}

static void every_floor(struct contest *contest)
{
    size_t read = 0;

    for (size_t i = 0; i < contest->count; i++)
        read += es_element_read(contest->elements[i], &contest->cursors[i],
                                contest->tuples + read, FILL * 4);
    contest->sum += read;
}

static void pull(struct contest *contest)
{
    const struct es_batch *batch;
    int result;

    do {
        result = es_scope_pull(contest->scope, 0, &batch);
        if (result < 0)
            die("pull", result);
        contest->sum += batch->count;
    } while (batch->more);
}

/* Nanoseconds per call over one turn; the caches are those of the other at first. */
static double time_latest(struct contest *contest, void (*call)(struct contest *))
{
    uint64_t calls = 0;
    uint64_t begun;
    uint64_t gone;

    call(contest);
    begun = esi_now_ns(CLOCK_MONOTONIC);
    do {
        for (int i = 0; i < 16; i++)
            call(contest);
        calls += 16;
        gone = esi_now_ns(CLOCK_MONOTONIC) - begun;
    } while (gone < turn_ns);
    return (double)gone / (double)calls;
}

static void fill_elements(struct contest *contest)
{
    int turns = contest->variant->in_turn ? FILL : 1;

    for (int i = 0; i < turns; i++)
        load_write(contest->load, FILL / turns);
}

/* Nanoseconds to read FILL new tuples of each element; writing them is not included. */
static double time_every(struct contest *contest, void (*call)(struct contest *))
{
    uint64_t spent = 0;
    uint64_t calls = 0;

    /* Reads the tuples written in the other's turn. */
    call(contest);
    while (spent < turn_ns / 2 && calls < 50) {
        uint64_t begun;

        fill_elements(contest);
        begun = esi_now_ns(CLOCK_MONOTONIC);
        call(contest);
        spent += esi_now_ns(CLOCK_MONOTONIC) - begun;
        calls++;
    }
    return (double)spent / (double)calls;
}

static int compare(const void *a, const void *b)
{
    double first = *(const double *)a;
    double second = *(const double *)b;

    return (first > second) - (first < second);
}

static double median(double values[ROUNDS])
{
    qsort(values, ROUNDS, sizeof *values, compare);
    return values[ROUNDS / 2];
}

static void open_contest(struct contest *contest,
                         struct load *load,
                         const struct variant *variant)
{
    struct es_scope_config config;
    int result;

    *contest = (struct contest){.variant = variant, .load = load};
    result = es_run_open(load->run, NULL, &contest->run);
    if (result < 0)
        die("run", result);
    es_scope_config_init(&config);
    config.take = variant->take;
    config.tree.shape = variant->shape;
    config.sorting = variant->sorting;
    config.open = config.counters = config.sites = variant->details;
    config.window_ns = 0;
    config.max = SIZE_MAX / 2;
    result = es_run_select(contest->run, &config.view.selection, &contest->elements);
    if (result < 0)
        die("select", result);
    contest->count = (size_t)result;
    contest->cursors = allocate(contest->count, sizeof *contest->cursors);
    contest->tuples = allocate(contest->count * FILL * 4, sizeof *contest->tuples);
    for (size_t i = 0; i < contest->count; i++)
        es_cursor_init(&contest->cursors[i], contest->elements[i], true);
    result = es_scope_open(contest->run, &config, NULL, &contest->scope);
    if (result < 0)
        die("scope", result);
}

static void close_contest(struct contest *contest)
{
    es_scope_close(contest->scope);
    es_run_close(contest->run);
    free(contest->elements);
    free(contest->cursors);
    free(contest->tuples);
}

/* --- Tables ------------------------------------------------------------------ */

static const struct variant variants[] = {
    {.name = "latest_flat", .take = ES_TAKE_LATEST, .shape = ES_SHAPE_FLAT},
    {.name = "latest_views", .take = ES_TAKE_LATEST},
    {.name = "latest_of_thread", .take = ES_TAKE_LATEST_OF_THREAD},
    {.name = "heartbeat", .take = ES_TAKE_LATEST_OF_THREAD, .details = true},
    {.name = "every_views", .take = ES_TAKE_EVERY},
    {.name = "every_sorted", .take = ES_TAKE_EVERY, .sorting = ES_SORTING_STOP},
    {.name = "every_in_turn",
     .take = ES_TAKE_EVERY,
     .sorting = ES_SORTING_STOP,
     .in_turn = true},
};

static void measure(struct load *load, const struct variant *variant)
{
    bool every = variant->take == ES_TAKE_EVERY;
    double (*time_calls)(struct contest *, void (*)(struct contest *)) =
        every ? time_every : time_latest;
    double floors[ROUNDS];
    double pulls[ROUNDS];
    struct contest contest;
    double floor_ns;
    double pull_ns;
    double items;

    load_write(load, 1);
    open_contest(&contest, load, variant);
    pull(&contest);
    for (int i = 0; i < ROUNDS; i++) {
        floors[i] = time_calls(&contest, every ? every_floor : latest_floor);
        pulls[i] = time_calls(&contest, pull);
    }
    floor_ns = median(floors);
    pull_ns = median(pulls);
    items = (double)contest.count * (every ? FILL : 1);
    printf("%-17s %7zu %12.0f %12.0f %9.2f %9.2f %7.2f\n", variant->name, contest.count,
           1e9 / floor_ns, 1e9 / pull_ns, floor_ns / items, pull_ns / items,
           floor_ns / pull_ns);
    printf("figure: scope_%s_%zu_of_floor %.3f ratio\n", variant->name, contest.count,
           floor_ns / pull_ns);
    printf("figure: scope_%s_%zu_rate %.0f pulls/s\n", variant->name, contest.count,
           1e9 / pull_ns);
    if (contest.sum == 0)
        die("nothing was read", -5);
    close_contest(&contest);
}

static void measure_view(size_t elements, uint32_t threshold, size_t variant_count)
{
    struct load load;

    load_open(&load, elements, threshold);
    for (size_t i = 0; i < variant_count; i++)
        measure(&load, &variants[i]);
    load_close(&load);
}

int main(void)
{
    static const size_t views[] = {1, 14, 266, 1948};
    static const size_t growth[] = {100, 1000, 10000, 100000};
    enum { ALL = sizeof variants / sizeof *variants, LATEST_ONLY = 4 };

    printf("%-17s %7s %12s %12s %9s %9s %7s\n", "scope", "elements", "floor/s",
           "pulls/s", "floor ns", "pull ns", "ratio");
    for (size_t i = 0; i < sizeof views / sizeof *views; i++)
        measure_view(views[i], 200, ALL);
    puts("\ngrowth (elements of 15 tuples):");
    for (size_t i = 0; i < sizeof growth / sizeof *growth; i++)
        measure_view(growth[i], 15, LATEST_ONLY);
    return 0;
}
