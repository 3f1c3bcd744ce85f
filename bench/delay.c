/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * delay.c - the cost of the analysis of delays: bench/delay [EVENTS [RANKS]].
 *
 * Ranks exchange halos in a ring and perform a reduction in each fifth step; one rank
 * computes longer, and all vary at random.  Their tuples are processed by causality
 * alone, and with the analysis of delays, in turn.  Prints `figure: NAME VALUE UNIT`:
 * time per event of both, their ratio, events per second, the share of a core for 10^5
 * events per second, and the growth of memory after the first quarter of the stream.
 * Then ranks lock and unlock few targets in turn, and many: the time per event of
 * both, and their ratio.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "eventspace/operation.h"
#include "monitors/delay/delay.h"

enum {
    EVENTS = 2000000,
    RANKS = 1000,
    ROUNDS = 3,
    CALL_NS = 500,
    BYTES = 8,
    HALO_REQUESTS = 4,
    REDUCE_EVERY = 5,
    ADVANCE_TUPLES = 8192,
    REGULAR_NS = 100000,
    SLOW_NS = 300000,
    FEW_TARGETS = 10,
    MANY_TARGETS = 2000,
};

struct made_rank {
    uint32_t element;
    uint64_t now;
    uint64_t sent[2]; /* start of its sends in this step: right, left */
    uint64_t posted;
    uint64_t entered;
};

struct stream {
    size_t ranks;
    struct made_rank *of; /* owned */
    struct esi_causality *causality;
    uint64_t random;
    uint64_t tuples;
    uint32_t step;
    uint32_t reductions;
    uint16_t isend, irecv, waitall, allreduce;
};

static void fail(const char *what)
{
    fprintf(stderr, "delay: %s\n", what);
    exit(1);
}

static uint64_t draw_below(struct stream *stream, uint64_t limit)
{
    stream->random ^= stream->random << 13;
    stream->random ^= stream->random >> 7;
    stream->random ^= stream->random << 17;
    return stream->random % limit;
}

/* Processor time, because others may use the machine. */
static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double resident_mb(void)
{
    FILE *file = fopen("/proc/self/statm", "re");
    long pages = 0;

    if (!file || fscanf(file, "%*s %ld", &pages) != 1)
        fail("cannot read /proc/self/statm");
    fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1e6;
}

/* --- The stream ------------------------------------------------------------------- */

static int ignore_trace(void *data, uint32_t trace, const char *name)
{
    (void)data;
    (void)trace;
    (void)name;
    return 0;
}

static int ignore_event(void *data, const struct es_set_event *event)
{
    (void)data;
    (void)event;
    return 0;
}

static void add_rank(struct stream *stream, size_t rank)
{
    struct esi_run_process config = {
        .host = "made", .rank = (int)rank, .identity = rank + 1};
    struct esi_run_reported world = {.key = {1, 2},
                                     .name = "MPI_COMM_WORLD",
                                     .rank = (int)rank,
                                     .size = (int)stream->ranks};
    struct esi_run_process *process;

    if (esi_run_model_add_process(esi_causality_run(stream->causality), &config,
                                  &process) < 0 ||
        esi_causality_add_element(stream->causality, process, 0,
                                  &stream->of[rank].element) < 0 ||
        esi_run_model_set_communicator(esi_causality_run(stream->causality), process, 0,
                                       &world) < 0)
        fail("cannot add a rank");
    stream->of[rank].now = 1000;
}

static void begin_stream(struct stream *stream, size_t ranks, struct esi_delay *delay)
{
    struct esi_causality_config config = {
        .sink = {.trace = ignore_trace, .event = ignore_event}};

    *stream = (struct stream){
        .ranks = ranks,
        .of = calloc(ranks, sizeof *stream->of),
        .random = 88172645463325252u,
        .isend = es_operation_by_name("MPI_Isend")->code,
        .irecv = es_operation_by_name("MPI_Irecv")->code,
        .waitall = es_operation_by_name("MPI_Waitall")->code,
        .allreduce = es_operation_by_name("MPI_Allreduce")->code,
    };
    if (delay)
        config.listener = esi_delay_listener(delay);
    if (!stream->of || esi_causality_create(&config, &stream->causality) < 0)
        fail("no memory");
    for (size_t rank = 0; rank < ranks; rank++)
        add_rank(stream, rank);
}

static void end_stream(struct stream *stream)
{
    if (esi_causality_finish(stream->causality) < 0)
        fail("cannot finish");
    esi_causality_destroy(stream->causality);
    free(stream->of);
}

static uint64_t events_of(const struct stream *stream)
{
    struct esi_causality_totals totals;

    esi_causality_totals(stream->causality, &totals);
    return totals.events;
}

static void add_tuple(struct stream *stream,
                      size_t rank,
                      const char *site,
                      struct es_tuple tuple)
{
    struct esi_causal_tuple told = {
        .start_ns = tuple.start, .stop_ns = tuple.stop, .site = site, .tuple = tuple};

    if (tuple.bytes == 0)
        told.tuple.bytes = BYTES;
    if (esi_causality_add(stream->causality, stream->of[rank].element, &told) < 0)
        fail("cannot add a tuple");
    if (++stream->tuples % ADVANCE_TUPLES == 0 &&
        esi_causality_advance(stream->causality) < 0)
        fail("cannot go on");
}

static void add_message(struct stream *stream,
                        size_t rank,
                        uint16_t operation,
                        size_t peer,
                        int tag,
                        uint64_t start,
                        uint64_t stop)
{
    add_tuple(stream, rank, tag ? "halo.c:11" : "halo.c:10",
              (struct es_tuple){.operation = operation,
                                .start = start,
                                .stop = stop,
                                .peer = (int32_t)peer,
                                .tag = tag,
                                .sequence = stream->step});
}

static void begin_halo(struct stream *stream, size_t rank)
{
    struct made_rank *of = &stream->of[rank];
    size_t right = (rank + 1) % stream->ranks;
    size_t left = (rank + stream->ranks - 1) % stream->ranks;
    uint64_t regular_ns = rank == stream->ranks / 2 ? SLOW_NS : REGULAR_NS;

    of->posted = of->now;
    of->now += regular_ns + draw_below(stream, regular_ns / 4);
    of->sent[0] = of->now;
    of->sent[1] = of->now + CALL_NS;
    of->now += 2 * CALL_NS;
    add_message(stream, rank, stream->isend, right, 0, of->sent[0], of->sent[1]);
    add_message(stream, rank, stream->isend, left, 1, of->sent[1], of->now);
}

static void end_halo(struct stream *stream, size_t rank)
{
    struct made_rank *of = &stream->of[rank];
    size_t right = (rank + 1) % stream->ranks;
    size_t left = (rank + stream->ranks - 1) % stream->ranks;
    uint64_t begin = of->now;
    uint64_t sent = stream->of[left].sent[0];

    if (stream->of[right].sent[1] > sent)
        sent = stream->of[right].sent[1];
    if (sent > of->now)
        of->now = sent;
    of->now += CALL_NS;
    add_message(stream, rank, stream->irecv, left, 0, of->posted, of->now);
    add_message(stream, rank, stream->irecv, right, 1, of->posted, of->now);
    add_tuple(stream, rank, "halo.c:12",
              (struct es_tuple){.operation = stream->waitall,
                                .start = begin,
                                .stop = of->now,
                                .peer = (int32_t)left,
                                .sequence = stream->irecv,
                                .bytes = HALO_REQUESTS});
}

static void reduce(struct stream *stream)
{
    uint64_t last = 0;

    for (size_t rank = 0; rank < stream->ranks; rank++) {
        stream->of[rank].entered = stream->of[rank].now;
        if (stream->of[rank].now > last)
            last = stream->of[rank].now;
    }
    for (size_t rank = 0; rank < stream->ranks; rank++) {
        stream->of[rank].now = last + CALL_NS + rank;
        add_tuple(stream, rank, "halo.c:13",
                  (struct es_tuple){.operation = stream->allreduce,
                                    .start = stream->of[rank].entered,
                                    .stop = stream->of[rank].now,
                                    .peer = ES_PEER_NONE,
                                    .sequence = stream->reductions});
    }
    stream->reductions++;
}

static void run_step(struct stream *stream)
{
    for (size_t rank = 0; rank < stream->ranks; rank++)
        begin_halo(stream, rank);
    for (size_t rank = 0; rank < stream->ranks; rank++)
        end_halo(stream, rank);
    if (++stream->step % REDUCE_EVERY == 0)
        reduce(stream);
}

/* --- Measuring -------------------------------------------------------------------- */

struct measured {
    double ns;       /* per event */
    double grown_mb; /* after the first quarter of the stream */
    double most_mb;
};

static struct measured run_stream(uint64_t events,
                                  size_t ranks,
                                  struct esi_delay *delay)
{
    struct measured measured;
    struct stream stream;
    double begin_s = now_s();
    double quarter_mb = 0;
    uint64_t count = 0;

    begin_stream(&stream, ranks, delay);
    while (count < events) {
        run_step(&stream);
        count = events_of(&stream);
        if (quarter_mb == 0 && count >= events / 4)
            quarter_mb = resident_mb();
    }
    measured.most_mb = resident_mb();
    measured.grown_mb = measured.most_mb - quarter_mb;
    if (delay && (esi_delay_settle(delay) < 0 || esi_delay_find_critical(delay) < 0))
        fail("cannot end");
    measured.ns = (now_s() - begin_s) * 1e9 / (double)count;
    end_stream(&stream);
    return measured;
}

static void check_found(const struct esi_delay *delay)
{
    struct esi_delay_totals totals;

    esi_delay_totals(delay, &totals);
    if (totals.waits == 0 || totals.forgotten > 0)
        fail("waits were not found");
    printf("waits %llu, %.1f s of waiting, %llu reach back further, elsewhere %.3f s\n",
           (unsigned long long)totals.waits, totals.waited / 1e9,
           (unsigned long long)totals.truncated, totals.elsewhere / 1e9);
}

static struct measured run_with_delay(uint64_t events, size_t ranks)
{
    const struct esi_delay_config config = {.window = 0};
    struct measured measured;
    struct esi_delay *delay;

    if (esi_delay_create(&config, &delay) < 0)
        fail("no memory");
    measured = run_stream(events, ranks, delay);
    check_found(delay);
    esi_delay_destroy(delay);
    return measured;
}

static int compare_numbers(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;

    return a < b ? -1 : a > b;
}

static double median_of(double *numbers)
{
    qsort(numbers, ROUNDS, sizeof *numbers, compare_numbers);
    return numbers[ROUNDS / 2];
}

/* --- Locks ------------------------------------------------------------------------ */

/* Median of the nanoseconds per event of `events` locks and unlocks of so many targets,
 * each of a window of its own. */
static double time_locks(uint64_t events, size_t ranks, uint32_t targets)
{
    const struct esi_delay_config config = {.window = 0};
    const uint16_t operations[] = {es_operation_by_name("MPI_Win_lock")->code,
                                   es_operation_by_name("MPI_Win_unlock")->code};
    double times[ROUNDS];

    for (int round = 0; round < ROUNDS; round++) {
        double begin_s = now_s();
        struct esi_delay *delay;
        struct stream stream;

        if (esi_delay_create(&config, &delay) < 0)
            fail("no memory");
        begin_stream(&stream, ranks, delay);
        for (uint64_t i = 0; i < events / 2; i++) {
            size_t rank = i % ranks;
            uint64_t *now = &stream.of[rank].now;
            uint32_t target = (uint32_t)draw_below(&stream, targets);

            for (int half = 0; half < 2; half++, *now += 2 * CALL_NS)
                add_tuple(&stream, rank, "lock.c:20",
                          (struct es_tuple){.operation = operations[half],
                                            .start = *now,
                                            .stop = *now + CALL_NS,
                                            .peer = (int32_t)(target % ranks),
                                            .tag = (int32_t)target});
        }
        end_stream(&stream);
        times[round] = (now_s() - begin_s) * 1e9 / (double)events;
        esi_delay_destroy(delay);
    }
    return median_of(times);
}

int main(int argc, char **argv)
{
    uint64_t events = argc > 1 ? strtoull(argv[1], NULL, 10) : EVENTS;
    size_t ranks = argc > 2 ? strtoul(argv[2], NULL, 10) : RANKS;
    double alone[ROUNDS], both[ROUNDS], ratios[ROUNDS];
    struct measured last;
    double alone_ns, both_ns, few_ns, many_ns;

    if (events == 0 || ranks < 3)
        fail("usage: delay [EVENTS [RANKS]], of 3 ranks at least");
    for (int round = 0; round < ROUNDS; round++) {
        alone[round] = run_stream(events, ranks, NULL).ns;
        last = run_with_delay(events, ranks);
        both[round] = last.ns;
        ratios[round] = both[round] / alone[round];
    }
    alone_ns = median_of(alone);
    both_ns = median_of(both);
    printf("figure: causality %.1f ns/event\n", alone_ns);
    printf("figure: delay %.1f ns/event\n", both_ns);
    printf("figure: ratio %.2f\n", median_of(ratios));
    printf("figure: rate %.3g events/s\n", 1e9 / both_ns);
    printf("figure: share_at_100000 %.2f %%\n", both_ns * 1e5 / 1e9 * 100);
    printf("figure: memory %.1f MB\n", last.most_mb);
    printf("figure: memory_growth %.1f MB\n", last.grown_mb);
    few_ns = time_locks(events / 10 + 2, ranks, FEW_TARGETS);
    many_ns = time_locks(events / 10 + 2, ranks, MANY_TARGETS);
    printf("figure: locks_%d_targets %.1f ns/event\n", FEW_TARGETS, few_ns);
    printf("figure: locks_%d_targets %.1f ns/event\n", MANY_TARGETS, many_ns);
    printf("figure: locks_ratio %.2f\n", many_ns / few_ns);
    return 0;
}
