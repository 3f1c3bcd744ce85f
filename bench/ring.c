/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The cost of writing and reading a trace element, relative to bare loops over the same
 * memory.
 *
 *   ring [ROUNDS]
 *
 * Each figure is the median of ROUNDS (default 11) rounds; the compared loops take
 * turns within a round.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/host.h"
#include "eventspace/clock.h"
#include "eventspace/run.h"
#include "tuplespace/segment.h"

#define WRITES 200000
#define ROUNDS_MAX 101
#define ELEMENTS_MAX 1948

static const int sizes[] = {14, 266, ELEMENTS_MAX};

struct bench {
    struct es_segment *segment;
    struct esi_writer *writers; /* of ELEMENTS_MAX elements */
    struct es_run *run;
    struct es_element_view **elements;
    struct es_tuple tuples[ELEMENTS_MAX]; /* result of a sweep */
    enum es_clock_kind kind;
    int rounds;
};

static double now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[count / 2];
}

static void figure(const char *name, double value, const char *unit)
{
    printf("figure: %s %.2f %s\n", name, value, unit);
}

/* --- Writing ------------------------------------------------------------------ */

/* Two clock reads, 36 bytes, one release: the lowest possible cost of recording an
 * operation. */
static double write_floor(struct bench *bench)
{
    struct esi_writer *writer = &bench->writers[0];
    struct esi_element_layout *element = writer->element;
    struct es_tuple *slots = (struct es_tuple *)(void *)writer->ring;
    double begin = now_ns();

    for (uint32_t i = 0; i < WRITES; i++) {
        uint64_t start = es_clock_ticks_of(bench->kind);
        uint64_t stop = es_clock_ticks_of(bench->kind);

        slots[writer->head & writer->mask] = (struct es_tuple){
            .stop = stop, .operation = 1, .start = start, .sequence = i, .bytes = 8};
        atomic_store_explicit(&element->head, ++writer->head, memory_order_release);
    }
    return (now_ns() - begin) / WRITES;
}

static double write_open_close(struct bench *bench)
{
    struct esi_writer *writer = &bench->writers[0];
    double begin = now_ns();

    for (uint32_t i = 0; i < WRITES; i++) {
        struct es_tuple tuple = {.operation = 1, .sequence = i, .bytes = 8};

        tuple.start = es_clock_ticks_of(bench->kind);
        if (esi_writer_is_enabled(writer))
            esi_writer_open(writer, &tuple);
        esi_writer_close(writer, es_clock_ticks_of(bench->kind));
    }
    return (now_ns() - begin) / WRITES;
}

static double write_whole(struct bench *bench)
{
    struct esi_writer *writer = &bench->writers[0];
    double begin = now_ns();

    for (uint32_t i = 0; i < WRITES; i++) {
        struct es_tuple tuple = {.operation = 1, .sequence = i, .bytes = 8};

        tuple.start = es_clock_ticks_of(bench->kind);
        tuple.stop = es_clock_ticks_of(bench->kind);
        esi_writer_write(writer, &tuple);
    }
    return (now_ns() - begin) / WRITES;
}

static void bench_writing(struct bench *bench)
{
    double floors[ROUNDS_MAX], open_closes[ROUNDS_MAX], wholes[ROUNDS_MAX];
    double floor, open_close, whole;

    for (int i = 0; i < bench->rounds; i++) {
        floors[i] = write_floor(bench);
        open_closes[i] = write_open_close(bench);
        wholes[i] = write_whole(bench);
    }
    floor = median(floors, bench->rounds);
    open_close = median(open_closes, bench->rounds);
    whole = median(wholes, bench->rounds);
    printf(
        "writing, ns per tuple          floor %6.2f   open+close %6.2f   write %6.2f\n",
        floor, open_close, whole);
    figure("ring.write.floor", floor, "ns");
    figure("ring.write.open_close", open_close, "ns");
    figure("ring.write.whole", whole, "ns");
    figure("ring.write.open_close_over_floor", open_close / floor, "ratio");
}

/* --- Reading the newest tuples ------------------------------------------------ */

/* The least that a correct reader does to gather the newest tuple of each element. */
static double sweep_floor(struct bench *bench, int count)
{
    double begin = now_ns();

    for (int i = 0; i < count; i++) {
        struct esi_writer *writer = &bench->writers[i];
        uint64_t head =
            atomic_load_explicit(&writer->element->head, memory_order_acquire);
        struct es_tuple *slots = (struct es_tuple *)(void *)writer->ring;

        bench->tuples[i] = slots[(head - 1) & writer->mask];
        atomic_thread_fence(memory_order_acquire);
        if (atomic_load_explicit(&writer->element->head, memory_order_relaxed) - head >=
            writer->mask)
            i--;
    }
    return now_ns() - begin;
}

static double sweep_latest(struct bench *bench, int count)
{
    double begin = now_ns();
    uint64_t position;

    for (int i = 0; i < count; i++)
        if (es_element_latest(bench->elements[i], &bench->tuples[i], &position) != 1)
            abort();
    return now_ns() - begin;
}

/* Nanoseconds per sweep: the mean of many, because one is short. */
static double repeat(double (*sweep)(struct bench *, int),
                     struct bench *bench,
                     int count)
{
    int repeats = 200000 / count;
    double total = 0;

    for (int i = 0; i < repeats; i++)
        total += sweep(bench, count);
    return total / repeats;
}

static void bench_sweeps(struct bench *bench, int count)
{
    double floors[ROUNDS_MAX], latests[ROUNDS_MAX];
    double floor, latest;
    char name[64];

    for (int i = 0; i < bench->rounds; i++) {
        floors[i] = repeat(sweep_floor, bench, count);
        latests[i] = repeat(sweep_latest, bench, count);
    }
    floor = median(floors, bench->rounds);
    latest = median(latests, bench->rounds);
    printf(
        "newest of %4d, sweeps/s       floor %10.0f   latest %10.0f   (%.1f, %.1f ns "
        "per element)\n",
        count, 1e9 / floor, 1e9 / latest, floor / count, latest / count);
    snprintf(name, sizeof name, "ring.sweep.%d.floor", count);
    figure(name, 1e9 / floor, "sweeps/s");
    snprintf(name, sizeof name, "ring.sweep.%d.latest", count);
    figure(name, 1e9 / latest, "sweeps/s");
    snprintf(name, sizeof name, "ring.sweep.%d.latest_over_floor", count);
    figure(name, floor / latest, "ratio");
}

/* --- Reading everything --------------------------------------------------------- */

static double read_all(struct bench *bench)
{
    struct es_tuple tuples[256];
    uint64_t total = 0;
    double begin = now_ns();

    for (int i = 0; i < 200; i++) {
        struct es_cursor cursor;
        size_t got;

        es_cursor_init(&cursor, bench->elements[0], false);
        while ((got = es_element_read(bench->elements[0], &cursor, tuples, 256)) > 0)
            total += got;
    }
    return (now_ns() - begin) / (double)total;
}

static void bench_reading(struct bench *bench)
{
    double costs[ROUNDS_MAX];

    for (int i = 0; i < bench->rounds; i++)
        costs[i] = read_all(bench);
    figure("ring.read.batch", median(costs, bench->rounds), "ns/tuple");
}

/* --- Set-up --------------------------------------------------------------------- */

static void fail(const char *what, int rc, const struct es_error *error)
{
    fprintf(stderr, "ring: %s: %s\n", what,
            error->text[0] ? error->text : strerror(-rc));
    exit(2);
}

static void add_elements(struct bench *bench)
{
    static const struct es_error none;

    bench->writers = calloc(ELEMENTS_MAX, sizeof *bench->writers);
    if (!bench->writers)
        exit(2);
    for (int i = 0; i < ELEMENTS_MAX; i++) {
        char name[64];
        struct esi_element_config config = {.kind = ES_ELEMENT_TRACE,
                                            .name = name,
                                            .collector = "bench",
                                            .tuple_bytes = sizeof(struct es_tuple),
                                            .threshold = 1023,
                                            .peer = ES_PEER_NONE,
                                            .communicator = ES_COMMUNICATOR_NONE,
                                            .enabled = true};
        struct es_tuple tuple = {.stop = 2, .operation = 1, .start = 1};
        int rc;

        snprintf(name, sizeof name, "0.%d/bench", i);
        rc = esi_segment_add_element(bench->segment, &config, &bench->writers[i]);
        if (rc != 0)
            fail("element", rc, &none);
        esi_writer_write(&bench->writers[i], &tuple);
    }
}

static void set_up(struct bench *bench)
{
    struct es_error error = {.text = ""};
    char host[ES_HOST_NAME_BYTES];
    char run[32];
    struct esi_segment_config config;
    struct es_selection all;
    int rc;

    snprintf(run, sizeof run, "bench-ring-%d", (int)getpid());
    esi_segment_config_init(&config);
    config.run = run;
    config.host = esi_host_name(host);
    rc = esi_segment_create(&config, &error, &bench->segment);
    if (rc != 0)
        fail("segment", rc, &error);
    add_elements(bench);
    rc = es_run_open(run, &error, &bench->run);
    if (rc != 0)
        fail("run", rc, &error);
    es_selection_init(&all);
    rc = es_run_select(bench->run, &all, &bench->elements);
    if (rc != ELEMENTS_MAX)
        fail("elements", rc, &error);
}

static void tear_down(struct bench *bench)
{
    free(bench->elements);
    free(bench->writers);
    es_run_close(bench->run);
    esi_segment_destroy(bench->segment);
}

int main(int argc, char **argv)
{
    static struct bench bench;

    bench.kind = es_clock_kind();
    bench.rounds = argc > 1 ? atoi(argv[1]) : 11;
    if (bench.rounds < 1 || bench.rounds > ROUNDS_MAX) {
        fprintf(stderr, "usage: ring [ROUNDS], 1 to %d\n", ROUNDS_MAX);
        return 2;
    }
    set_up(&bench);
    bench_writing(&bench);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        bench_sweeps(&bench, sizes[i]);
    bench_reading(&bench);
    tear_down(&bench);
    return 0;
}
